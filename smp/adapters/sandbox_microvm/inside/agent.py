"""First process of a guest: runs one command under the same supervisor that bubblewrap boxes have, and gives back its files.

Started at boot; it says `ready` and waits. In this state the machine is stored. A machine restored from it gets one
request, answers, and is ended from outside. Requests and answers go over one virtio-serial port (`frames.py`).

Standard library only; the supervisor is imported before the machine is stored, so that a restored one need not.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import stat
import struct
import time
from collections.abc import Iterator
from typing import Any

from smp.adapters.sandbox_bubblewrap.host import kernel, supervise
from smp.adapters.sandbox_microvm.inside import frames

RUN = "/run/smp"
GROUPS = "/sys/fs/cgroup/smp"
DISKS = ("layer", "tree", "objects", "scratch")
_BLKFLSBUF = 0x1261  # linux/fs.h
_RNDADDENTROPY, _RNDRESEEDCRNG = 0x40085203, 0x5207  # linux/random.h
_OPAQUE, _USER_OPAQUE = "trusted.overlay.opaque", "user.overlay.opaque"


def main() -> None:
    """Entry point; never returns."""
    port = os.open(_port("smp"), os.O_RDWR | os.O_CLOEXEC)
    try:
        _prepare()
        frames.send(port, frames.READY, b"")
        request = _receive(port)
        _serve(port, request)
    except BaseException as error:  # noqa: BLE001 - the last frame of this process
        frames.send(port, frames.FAILED, f"{type(error).__name__}: {error}".encode(errors="replace")[:4000])
    while True:
        signal.pause()  # whoever started the machine ends it


def _port(name: str) -> str:
    base = "/sys/class/virtio-ports"
    for entry in os.listdir(base):
        with open(f"{base}/{entry}/name") as file:
            if file.read().strip() == name:
                return f"/dev/{entry}"
    raise FileNotFoundError(name)


def _prepare() -> None:
    os.environ.clear()
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    kernel.mount("none", "/sys/fs/cgroup", "cgroup2")
    os.mkdir(GROUPS)
    for folder in (os.path.dirname(GROUPS), GROUPS):
        _write(f"{folder}/cgroup.subtree_control", "+memory +pids +cpu")
    kernel.raise_loopback()
    for name in DISKS:
        os.makedirs(f"{RUN}/{name}", exist_ok=True)


def _receive(port: int) -> dict[str, Any]:
    size = struct.unpack("<I", frames.read_exactly(port, 4))[0]
    found: dict[str, Any] = json.loads(frames.read_exactly(port, size))
    return found


def _serve(port: int, request: dict[str, Any]) -> None:
    _become_another(request)
    _mount_disks()
    exchange, logs = f"{RUN}/scratch/exchange", f"{RUN}/scratch/logs"
    uid = int(request["order"]["uid"])
    for path in (exchange, f"{exchange}/out", f"{exchange}/trace"):
        os.mkdir(path)
        os.chown(path, uid, uid)
    os.mkdir(logs, 0o700)
    for folder, files in request["groups"].items():
        os.makedirs(folder, exist_ok=True)
        for name, value in files.items():
            path = f"{folder}/{name.rstrip('?')}"
            if not name.endswith("?") or os.path.exists(path):
                _write(path, value)
    complaint = _supervise(port, json.dumps(request["order"]).encode() + b"\n")
    frames.send(port, frames.STDERR, complaint)
    frames.send(port, frames.OOM_KILLS, str(_oom_kills(request["groups"])).encode())
    for name, folder in (
        ("upper", f"{RUN}/scratch/upper"),
        ("out", f"{exchange}/out"),
        ("trace", f"{exchange}/trace"),
        ("logs", logs),
    ):
        _send_tree(port, name, folder)
    frames.send(port, frames.DONE, b"")


def _become_another(request: dict[str, Any]) -> None:
    """A restored machine has its twin's clock and its twin's random numbers to come."""
    time.clock_settime(time.CLOCK_REALTIME, float(request["now"]))
    entropy = bytes.fromhex(request["entropy"])
    with open("/dev/urandom", "wb") as device:
        fcntl.ioctl(device, _RNDADDENTROPY, struct.pack("ii", 8 * len(entropy), len(entropy)) + entropy)
        fcntl.ioctl(device, _RNDRESEEDCRNG)


def _mount_disks() -> None:
    for disk in sorted(os.listdir("/sys/block")):
        try:
            with open(f"/sys/block/{disk}/serial") as file:
                name = file.read().strip()
        except OSError:
            continue
        if name in DISKS:
            with open(f"/dev/{disk}", "rb") as device:
                fcntl.ioctl(device, _BLKFLSBUF)  # what was read of the disk that stood here when the machine was stored
            _mount_disk(f"/dev/{disk}", f"{RUN}/{name}", read_only=name != "scratch")
    for base, folders, _ in os.walk(f"{RUN}/scratch/upper"):
        for folder in folders:
            path = os.path.join(base, folder)
            # The host marks what it may: an ordinary user has no `trusted` attributes.
            with contextlib.suppress(OSError):
                if not os.path.islink(path) and os.getxattr(path, _USER_OPAQUE) == b"y":
                    os.setxattr(path, _OPAQUE, b"y")
                    os.removexattr(path, _USER_OPAQUE)


def _mount_disk(device: str, place: str, *, read_only: bool) -> None:
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | (kernel.MS_RDONLY if read_only else 0)
    kernel.mount(device, place, "ext4", flags=flags, options="noload" if read_only else "nobarrier,discard")


def _supervise(port: int, order: bytes) -> bytes:
    """Run the supervisor and pass on what it says; its complaints are returned."""
    into, said, complaints = os.pipe(), os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _become_supervisor(into, said, complaints, port)
    for descriptor in (into[0], said[1], complaints[1]):
        os.close(descriptor)
    left = order
    while left:
        left = left[os.write(into[1], left[: 1 << 16]) :]
    complaint = bytearray()
    poll = select.poll()
    waiting = {said[0], complaints[0]}
    for descriptor in waiting:
        poll.register(descriptor, select.POLLIN)
    while waiting:
        for descriptor, _ in poll.poll():
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                poll.unregister(descriptor)
                waiting.discard(descriptor)
            elif descriptor == said[0]:
                frames.send(port, frames.STDOUT, piece)
            else:
                complaint = (complaint + piece)[-4000:]
    os.close(into[1])
    os.waitpid(child, 0)
    return bytes(complaint)


def _become_supervisor(into: tuple[int, int], said: tuple[int, int], complaints: tuple[int, int], port: int) -> None:
    code = 1
    try:
        for number, descriptor in enumerate((into[0], said[1], complaints[1])):
            os.dup2(descriptor, number)
        for descriptor in {*into, *said, *complaints, port} - {0, 1, 2}:
            os.close(descriptor)
        supervise.main()
        code = 0
    except BaseException as error:  # noqa: BLE001 - the edge of a process
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(code)


def _oom_kills(groups: dict[str, dict[str, str]]) -> int:
    for folder in groups:
        with contextlib.suppress(OSError), open(f"{folder}/memory.events") as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    return 0


def _send_tree(port: int, name: str, folder: str) -> None:
    """Folders, files, links, and overlayfs' deletions; what else there is (sockets, pipes) stays behind."""
    for path, kind in _walk(folder):
        relative = os.path.relpath(path, folder)
        if relative == ".":
            relative = ""
        entry: dict[str, object] = {"tree": name, "path": relative, "mode": stat.S_IMODE(kind.st_mode) & 0o777}
        entry["mtime_ns"] = kind.st_mtime_ns
        if stat.S_ISDIR(kind.st_mode):
            entry |= {"kind": "folder", "opaque": _opaque(path)}
        elif stat.S_ISLNK(kind.st_mode):
            entry |= {"kind": "link", "target": os.readlink(path)}
        elif stat.S_ISCHR(kind.st_mode) and kind.st_rdev == 0:
            entry |= {"kind": "deletion"}
        elif stat.S_ISREG(kind.st_mode):
            entry |= {"kind": "file", "size": kind.st_size}
        else:
            continue
        frames.send(port, frames.ENTRY, json.dumps(entry).encode())
        if entry["kind"] == "file":
            with open(path, "rb", buffering=0) as file:
                left = kind.st_size
                while left and (piece := file.read(min(left, frames.MAX_BYTES))):
                    frames.send(port, frames.PIECE, piece)
                    left -= len(piece)


def _walk(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    pending = [folder]
    while pending:
        path = pending.pop()
        kind = os.lstat(path)
        yield path, kind
        if stat.S_ISDIR(kind.st_mode):
            pending += sorted((os.path.join(path, name) for name in os.listdir(path)), reverse=True)


def _opaque(path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.getxattr(path, _OPAQUE) == b"y"
    return False


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
