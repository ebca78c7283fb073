"""System calls that the standard library of Python 3.11 does not offer, by their numbers in the kernel's headers.

Everything in `host` runs in the supervisor of a box, a process of its own that is started with `-I -S`: standard
library only, one thread, no import of the rest of the platform.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import os
import platform
import socket
import struct

# linux/sched.h
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
# linux/mount.h
MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
# linux/prctl.h, linux/seccomp.h
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 8
# asm/unistd.h; the numbers from 424 on are the same everywhere
SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
SYS_PIDFD_GETFD = 438
# linux/sockios.h, linux/if.h
SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Move the calling process into new namespaces."""
    _check(_libc.unshare(flags), "unshare")


def enter(namespace: int) -> None:
    """Move the calling thread into the namespace that a descriptor of /proc/PID/ns names."""
    _check(_libc.setns(namespace, 0), "setns")


def mount(source: str, target: str, kind: str | None, *, flags: int = 0, options: str = "") -> None:
    """mount(2); an error names the target."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        os.fsencode(options),
    )
    _check(result, f"mount {target}")


def bind(descriptor: int, target: str, *, recursive: bool = True) -> None:
    """Bind what an O_PATH descriptor names; it must have been opened in the mount namespace of the caller."""
    mount(f"/proc/self/fd/{descriptor}", target, None, flags=MS_BIND | (MS_REC if recursive else 0))


def die_with_parent() -> None:
    """SIGKILL when the thread that forked this process ends; cleared by a change of user."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl")


def install_listener(program: bytes) -> int:
    """Put a seccomp filter on the calling process and its future children.

    Args:
        program: Classic BPF, eight bytes an instruction; it answers USER_NOTIF for what the supervisor decides.

    Returns:
        The listener's descriptor.
    """
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    held = ctypes.create_string_buffer(program, len(program))
    filter_ = _Program(len(program) // 8, ctypes.addressof(held))
    number = SYS_SECCOMP[platform.machine()]
    arguments = (SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, ctypes.byref(filter_))
    return _check(_libc.syscall(number, *arguments), "seccomp listener")


def take_descriptor(pid: int, number: int) -> int:
    """Duplicate a descriptor of another process into this one."""
    handle = os.pidfd_open(pid)
    try:
        return _check(_libc.syscall(SYS_PIDFD_GETFD, handle, number, 0), "pidfd_getfd")
    finally:
        os.close(handle)


def raise_loopback() -> None:
    """Set `lo` of the present network namespace up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def send_descriptor(channel: socket.socket, descriptor: int) -> None:
    """Pass a descriptor over a Unix socket."""
    channel.sendmsg([b"f"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))])


def receive(channel: socket.socket) -> tuple[str, int | None]:
    """One message of a packet socket and the descriptor that came with it; ConnectionError at its end."""
    text, ancillary, _, _ = channel.recvmsg(4096, socket.CMSG_SPACE(4))
    if not text:
        raise ConnectionError("the launcher ended before the box was set up")
    passed = array.array("i", ancillary[0][2])[0] if ancillary else None
    return text.decode(errors="replace").strip(), passed
