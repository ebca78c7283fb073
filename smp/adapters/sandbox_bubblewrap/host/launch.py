"""From the supervisor to the command: namespaces, mounts, the keeper, bubblewrap.

Three processes, each forked by the one before it:

    stem     enters the cgroups and the namespaces, opens the sockets of name server and relay, installs the listener
    keeper   process 1 of an outer pid namespace; mounts; ends when its pipe from the supervisor ends, and with it,
             by the kernel's hand, everything below, in whatever state bubblewrap is (`--die-with-parent` alone leaves
             a gap while bubblewrap starts). It also measures what the box has written to disk
    bwrap    as the box's user, with an allow-list of mounts

Mounts live in a private mount namespace: they are never seen on the host and cannot be left behind. All sources are
opened first and then bound below a fresh tmpfs on /tmp, so that no host path (with whatever characters) reaches an
option string, and so that the box's user need not be able to walk to them.
"""

from __future__ import annotations

import os
import resource
import select
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from smp.adapters.sandbox_bubblewrap.host import kernel
from smp.adapters.sandbox_bubblewrap.host.measure import bytes_below, bytes_of_deleted
from smp.adapters.sandbox_bubblewrap.host.order import Order

STAGE = "/tmp"  # noqa: S108 - hidden below a private tmpfs before anything is made in it
BOX_UID = 1000
FAILED = 125
DISK_EXCEEDED = 122
_SAMPLE_MS = 50
_MAX_OVERSHOOT = 512 << 20  # what can be written between two samples, several times over
_ETC = [
    "ssl",
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "mime.types",
    "protocols",
    "services",
    "ca-certificates.conf",
]


@dataclass(frozen=True)
class Ends:
    """The launcher's ends of the pipes that it shares with the supervisor."""

    stdout: int
    stderr: int
    status: int
    alive: int
    channel: socket.socket


def run_stem(order: Order, ends: Ends) -> int:
    """Set the box up and wait for its end; runs in a fresh fork of the supervisor.

    Returns:
        The exit status of the keeper.
    """
    uid, gid = os.getuid(), os.getgid()
    for folder in order.limit_files:
        _write(f"{folder}/cgroup.procs", "0")
    flags = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET
    if order.uid is None:
        kernel.unshare(flags | kernel.CLONE_NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"0 {uid} 1")
        _write("/proc/self/gid_map", f"0 {gid} 1")
    else:
        kernel.unshare(flags)
    kernel.raise_loopback()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as names:
        names.bind(("127.0.0.1", 53))
        kernel.send_descriptor(ends.channel, names.fileno())
    for way in order.ways:
        with socket.create_server((way.address, way.port), backlog=64) as waiting:
            kernel.send_descriptor(ends.channel, waiting.fileno())
    listener = kernel.install_listener(order.listener_program()) if order.listener else -1
    _tell(ends, f"listener {listener}")
    if os.read(ends.channel.fileno(), 1) != b"g":
        return FAILED  # the supervisor is gone
    if listener >= 0:
        os.close(listener)
    keeper = os.fork()
    if keeper == 0:
        _run(lambda: _run_keeper(order, ends), ends)
    _tell(ends, f"keeper {keeper}")
    for descriptor in (ends.stdout, ends.stderr, ends.status, ends.alive):
        os.close(descriptor)
    return _exit_code(os.waitpid(keeper, 0)[1])


def _run_keeper(order: Order, ends: Ends) -> int:
    _make_mounts(order)
    box = os.fork()
    if box == 0:
        _run(lambda: _become_bwrap(order, ends), ends)
    handle = os.pidfd_open(box)
    ends.channel.close()
    for descriptor in (0, ends.stdout, ends.stderr, ends.status):
        os.close(descriptor)
    poll = select.poll()
    poll.register(ends.alive, select.POLLIN)
    poll.register(handle, select.POLLIN)
    limit, before = order.disk_mb << 20, _bytes_written()
    if before > limit + _MAX_OVERSHOOT:
        return DISK_EXCEEDED
    # A box that is over its limit may still be looked at and cleaned up, but must not grow for ever by small steps.
    limit = max(limit, before)
    wait_ms = _SAMPLE_MS
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(wait_ms)]
        # First: once the box has ended the supervisor may close its end before we look.
        if handle in ready:
            return _exit_code(os.waitpid(box, 0)[1])
        if ends.alive in ready:
            return 137
        begin = time.monotonic()
        if _bytes_written() > limit:
            return DISK_EXCEEDED
        # A tree with very many files must not cost more than a tenth of a core.
        wait_ms = max(_SAMPLE_MS, int((time.monotonic() - begin) * 10_000))


def _bytes_written() -> int:
    named = bytes_below((f"{STAGE}/changes/upper", f"{STAGE}/exchange"))
    return named + bytes_of_deleted(f"{STAGE}/proc", ("/work/", "/smp/"))


def _make_mounts(order: Order) -> None:
    kernel.mount("none", "/", None, flags=kernel.MS_REC | kernel.MS_PRIVATE)
    sources = {"lower": order.lower, "changes": order.changes, "exchange": order.exchange}
    if order.root != "/":
        sources["root"] = order.root
    sources |= {f"bind{number}": source for number, (source, _) in enumerate(order.binds)}
    opened = {name: os.open(source, os.O_PATH | os.O_CLOEXEC) for name, source in sources.items()}
    kernel.mount(
        "tmpfs", STAGE, "tmpfs", flags=kernel.MS_NOSUID | kernel.MS_NODEV, options="size=4m,nr_inodes=1k,mode=755"
    )
    for name, descriptor in opened.items():
        target = f"{STAGE}/{name}"
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            os.mkdir(target)
        else:
            _write(target, "", create=True)
        kernel.bind(descriptor, target)
        os.close(descriptor)
    os.mkdir(f"{STAGE}/proc")
    kernel.mount("proc", f"{STAGE}/proc", "proc", flags=kernel.MS_NOSUID | kernel.MS_NODEV)
    os.mkdir(f"{STAGE}/merged")
    layers = f"lowerdir={STAGE}/lower,upperdir={STAGE}/changes/upper,workdir={STAGE}/changes/work"
    if order.uid is None:
        layers += ",userxattr"
    try:
        kernel.mount("overlay", f"{STAGE}/merged", "overlay", flags=kernel.MS_NOSUID | kernel.MS_NODEV, options=layers)
    except OSError as error:
        raise OSError(
            error.errno,
            f"the copy-on-write checkout cannot be mounted ({os.strerror(error.errno or 0)}); the data directory must "
            "lie on ext4, xfs, btrfs or tmpfs, not on an overlay or a network file system: choose another with "
            "--data-dir",
        ) from error
    os.mkdir(f"{STAGE}/etc")
    for name, text in order.files.items():
        _write(f"{STAGE}/etc/{name}", text, create=True)


def _become_bwrap(order: Order, ends: Ends) -> int:
    for name, limit in order.rlimits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(number, (value, value))
    if order.uid is not None:
        os.setgroups([])
        os.setresgid(order.uid, order.uid, order.uid)
        os.setresuid(order.uid, order.uid, order.uid)
    kernel.die_with_parent()
    program = os.memfd_create("seccomp", 0)
    os.write(program, order.seccomp_program())
    os.lseek(program, 0, os.SEEK_SET)
    arguments = _bwrap_arguments(order, status=ends.status, seccomp=program)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(ends.stdout, 1)
    os.dup2(ends.stderr, 2)
    os.set_inheritable(ends.status, True)
    ends.channel.close()
    os.umask(0o022)
    os.execv(order.bwrap, arguments)  # noqa: S606 - a list of arguments is the point


def _bwrap_arguments(order: Order, *, status: int, seccomp: int) -> list[str]:
    size = str(order.disk_mb << 20)
    made = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    made += [*order.bwrap_options, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    made += ["--uid", str(BOX_UID), "--gid", str(BOX_UID), "--hostname", "box"]
    root = "/" if order.root == "/" else f"{STAGE}/root"
    made += ["--ro-bind", os.path.join(root, "usr"), "/usr"]
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        path = os.path.join(root, name)
        if os.path.islink(path):
            made += ["--symlink", os.readlink(path), f"/{name}"]
        elif os.path.isdir(path):
            made += ["--ro-bind", path, f"/{name}"]
    made += ["--dir", "/etc", "--dir", "/var/tmp", "--dir", "/run"]  # noqa: S108 - paths in the box
    for name in _ETC:
        made += ["--ro-bind-try", os.path.join(root, "etc", name), f"/etc/{name}"]
    for name in order.files:
        made += ["--ro-bind", f"{STAGE}/etc/{name}", f"/etc/{name}"]
    # Kernel settings are their owner's to write, capabilities or not: a box of uid 0 must not find them writable.
    made += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    made += ["--dev", "/dev", *_tmpfs("/dev/shm", size), "--remount-ro", "/dev"]  # noqa: S108
    made += [*_tmpfs("/tmp", size), *_tmpfs("/home/agent", size)]  # noqa: S108
    for number, (_, target) in enumerate(order.binds):
        made += ["--ro-bind", f"{STAGE}/bind{number}", target]
    made += ["--bind", f"{STAGE}/exchange", "/smp", "--bind", f"{STAGE}/merged", "/work", "--chdir", "/work"]
    made += ["--remount-ro", "/", "--json-status-fd", str(status), "--seccomp", str(seccomp), "--clearenv"]
    for key, value in order.environment.items():
        made += ["--setenv", key, value]
    return [*made, "--", "/bin/sh", "-c", order.command]


def _tmpfs(target: str, size: str) -> list[str]:
    return ["--size", size, "--tmpfs", target]


def _run(step: Callable[[], int], ends: Ends) -> None:
    """Run a child's whole life; never returns into the parent's code."""
    code = FAILED
    try:
        code = step()
    except OSError as error:
        _tell(ends, f"failed {error.strerror or error}")
    except BaseException as error:  # noqa: BLE001 - the edge of a process
        _tell(ends, f"failed {type(error).__name__}: {error}")
    finally:
        os._exit(code)


def start(order: Order, ends: Ends, foreign: tuple[int, ...]) -> int:
    """Fork the stem; `foreign` are the supervisor's own ends, which nobody below may hold. Returns its pid."""
    pid = os.fork()
    if pid == 0:
        for descriptor in foreign:
            os.close(descriptor)
        _run(lambda: run_stem(order, ends), ends)
    return pid


def _tell(ends: Ends, line: str) -> None:
    try:
        os.write(ends.channel.fileno(), line.replace("\n", " ").encode(errors="replace")[:2000] + b"\n")
    except OSError as error:
        sys.stderr.write(f"{line}: {error}\n")


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _write(path: str, text: str, *, create: bool = False) -> None:
    flags = os.O_WRONLY | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
    descriptor = os.open(path, flags, 0o644)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
