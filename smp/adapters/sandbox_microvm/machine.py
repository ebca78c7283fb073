"""One virtual machine of QEMU: its arguments, its keeper, the port to its agent; storing one, and restoring it.

QEMU runs as a user of its own in a network namespace of its own, under its own seccomp filter, and gets descriptors in
place of paths. It has no network device, no shared folder, no monitor: disks and one serial port are all there is.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from smp.adapters.sandbox_bubblewrap.once import make_once, remove_tree, storage_errors
from smp.adapters.sandbox_bubblewrap.state import boot_id, present_process
from smp.adapters.sandbox_microvm.guest import Guest, find_qemu, identity, make_ramdisk
from smp.adapters.sandbox_microvm.images import DEVICE_BYTES
from smp.adapters.sandbox_microvm.inside import frames
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import Limits

MACHINE_UID = 64201
"""Host user of QEMU when root starts it: neither root nor the user whose the boxes' files are."""
NAME = "smp-microvm"
_PACKAGE_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from smp.adapters.sandbox_microvm.host.keeper import main; main()"
)
_APPEND = "console=ttyS0 quiet reboot=t panic=-1 random.trust_cpu=1"
# Without these a guest that is emulated hangs in the calibration of its timers.
_EMULATED = "tsc=unstable no_timer_check lpj=4000000 tsc_early_khz=2400000"
_LAYOUT = "3"  # changes with the arguments of a machine, so that none is restored into another
_UNUSED_S = 7 * 24 * 3600.0
_OWN_MB = 256  # kernel, agent and supervisor, beside the box
_STEP_MB = 1024
_BOOT_S = 180.0
_KVM_BOOT_S = 10.0
_BEAT_S = 0.5


class Shape(Struct, frozen=True, kw_only=True):
    """What a machine has; stored machines are kept per shape. accelerator: `kvm` or `tcg`."""

    memory_mb: int
    cores: int
    accelerator: str


class Stored(Struct, frozen=True, kw_only=True):
    """A machine that waits for its request."""

    shape: Shape
    kernel: Path
    root: Path
    ramdisk: Path
    state: Path


def shape_for(limits: Limits, accelerator: str) -> Shape:
    """Room for a box with these limits, in few sizes. The box's own limit is its control group in the guest."""
    steps = -(-(limits.memory_mb + _OWN_MB) // _STEP_MB)
    cores = max(1, min(-(-limits.cpu_pct // 100), os.cpu_count() or 1))
    return Shape(memory_mb=steps * _STEP_MB, cores=cores, accelerator=accelerator)


class Machine:
    """A running machine; used as a context that ends it."""

    def __init__(
        self,
        stored: Stored,
        *,
        label: str,
        disks: dict[str, Path],
        restore: bool,
        console: Path | None = None,
        monitor: socket.socket | None = None,
    ) -> None:
        self._port, theirs = socket.socketpair()
        opened: list[int] = [theirs.fileno()]
        try:
            with storage_errors("cannot open the machine's files"):
                argv = _arguments(stored, label, disks, theirs.fileno(), opened, restore=restore)
                if console is not None:
                    argv += ["-serial", f"file:/dev/fd/{_open(console, opened, os.O_WRONLY | os.O_CREAT)}"]
                else:
                    argv += ["-serial", "null"]
            if monitor is not None:
                argv += ["-chardev", f"socket,id=monitor,fd={monitor.fileno()}", "-mon", "chardev=monitor,mode=control"]
            passed = (*opened, *((monitor.fileno(),) if monitor is not None else ()))
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_PACKAGE_ROOT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=passed,
                cwd="/",
                bufsize=0,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
            )
        except BaseException:
            self._port.close()
            raise
        finally:
            theirs.close()
            for descriptor in opened[1:]:
                os.close(descriptor)
        uid = MACHINE_UID if os.geteuid() == 0 else None
        order = {"argv": argv, "uid": uid, "owner": os.getpid(), "max_file": DEVICE_BYTES}
        assert self._keeper.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._keeper.stdin.write(json.dumps(order).encode() + b"\n")
        self._heard = bytearray()

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self._port.close()
        assert self._keeper.stdin is not None
        assert self._keeper.stderr is not None
        self._keeper.stdin.close()  # the keeper kills the machine by this
        self._keeper.wait()
        self._keeper.stderr.close()

    def ask(self, request: dict[str, object]) -> None:
        """Send the one request."""
        body = json.dumps(request).encode()
        try:
            self._port.sendall(len(body).to_bytes(4, "little") + body)
        except OSError as error:
            raise SandboxFailed(self._last_words()) from error

    def frames(self, beat: Callable[[], None], deadline: float) -> Iterator[tuple[bytes, bytes]]:
        """What the guest says, kind and body, to its last frame.

        Args:
            beat: Called at least once a second; what it raises is passed on.
            deadline: Of `time.monotonic()`.

        Raises:
            SandboxFailed: The machine has ended, says nonsense, or takes too long.
        """
        next_beat = time.monotonic() + _BEAT_S
        poll = select.poll()
        poll.register(self._port, select.POLLIN)
        while True:
            while (frame := self._next_frame()) is not None:
                if frame[0] == frames.FAILED:
                    raise SandboxFailed(f"the box cannot be entered: {frame[1].decode(errors='replace')[:500]}")
                yield frame
                if frame[0] == frames.DONE:
                    return
            if poll.poll(_BEAT_S * 1000):
                piece = self._receive()
                if not piece:
                    raise SandboxFailed(self._last_words())
                self._heard += piece
            now = time.monotonic()
            if now >= next_beat:
                beat()
                next_beat = now + _BEAT_S
            if now > deadline:
                raise SandboxFailed("the virtual machine did not answer in time, and was ended")

    def wait_ready(self, seconds: float) -> None:
        """Until the agent says that it waits for its request.

        Raises:
            SandboxFailed: See `frames`.
        """
        for kind, _ in self.frames(lambda: None, time.monotonic() + seconds):
            if kind == frames.READY:
                return

    def _receive(self) -> bytes:
        try:
            return self._port.recv(1 << 20)
        except OSError:
            return b""

    def _next_frame(self) -> tuple[bytes, bytes] | None:
        if len(self._heard) < frames.HEAD.size:
            return None
        kind, size = frames.HEAD.unpack_from(self._heard)
        if kind not in frames.KINDS or size > frames.MAX_BYTES:
            raise SandboxFailed("the guest speaks nonsense on its port")
        end = frames.HEAD.size + size
        if len(self._heard) < end:
            return None
        body = bytes(self._heard[frames.HEAD.size : end])
        del self._heard[:end]
        return kind, body

    def _last_words(self) -> str:
        assert self._keeper.stdin is not None
        assert self._keeper.stderr is not None
        self._keeper.stdin.close()
        self._keeper.wait()
        said = self._keeper.stderr.read().decode(errors="replace").strip()[-400:]
        return f"the virtual machine ended: {said or 'without a word'}"


def _arguments(
    stored: Stored, label: str, disks: dict[str, Path], port: int, opened: list[int], *, restore: bool
) -> list[str]:
    shape = stored.shape
    emulated = shape.accelerator == "tcg"
    argv = [find_qemu(), "-name", f"{NAME}:{label}", "-M", f"microvm,accel={shape.accelerator}"]
    argv += ["-cpu", "max" if emulated else "host", "-smp", str(shape.cores), "-m", f"{shape.memory_mb}M"]
    argv += ["-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-no-reboot"]
    argv += [
        "-kernel",
        f"/dev/fd/{_open(stored.kernel, opened)}",
        "-initrd",
        f"/dev/fd/{_open(stored.ramdisk, opened)}",
    ]
    argv += ["-append", f"{_APPEND} {_EMULATED}" if emulated else _APPEND]
    for number, (name, path) in enumerate({"root": stored.root, **disks}.items(), start=1):
        writable = name == "scratch"
        descriptor = _open(path, opened, os.O_RDWR if writable else os.O_RDONLY)
        argv += ["-add-fd", f"fd={descriptor},set={number}"]
        file = f"file.driver=file,file.filename=/dev/fdset/{number},file.locking=off"
        mode = "cache.no-flush=on,discard=unmap" if writable else "read-only=on"
        argv += ["-blockdev", f"driver=raw,node-name={name},{mode},{file}"]
        argv += ["-device", f"virtio-blk-device,drive={name},serial={name}"]
    argv += ["-device", "virtio-serial-device", "-chardev", f"socket,id=port,fd={port}"]
    argv += ["-device", "virtserialport,chardev=port,name=smp"]
    argv += ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"]
    return [*argv, "-incoming", f"fd:{_open(stored.state, opened)}"] if restore else argv


def _open(path: Path, opened: list[int], flags: int = os.O_RDONLY) -> int:
    opened.append(os.open(path, flags | os.O_CLOEXEC, 0o644))
    return opened[-1]


def label_of(box: str, session: str) -> str:
    """Box, session and owner, as they stand in the arguments of the process."""
    owner = present_process()
    return f"{box}:{session}:{owner.pid}:{owner.started}:{owner.boot}"


def store(guest: Guest, shape: Shape, cache_dir: Path, progress: Callable[[str], None]) -> Stored:
    """A machine of a shape that has booted and waits, kept as a file; made once.

    Raises:
        SandboxFailed: It does not boot; the message ends in the last lines of its console.
    """
    ramdisk = make_ramdisk(guest, cache_dir)
    text = f"{_LAYOUT} {identity(guest, ramdisk)} {shape} {_qemu_version()} {_APPEND} {_EMULATED} {DEVICE_BYTES}"
    if shape.accelerator == "kvm":
        text += Path("/proc/cpuinfo").read_text().partition("\n\n")[0].partition("flags")[2]
    target = cache_dir / "microvm" / f"state-{hashlib.sha256(text.encode()).hexdigest()[:24]}"

    def make(staging: Path) -> None:
        progress(f"booting a virtual machine with {shape.memory_mb} MB to store it ({shape.accelerator}, once)")
        (staging / "ramdisk").write_bytes(ramdisk)
        (staging / "ramdisk").chmod(0o644)
        (staging / "empty").touch()
        os.truncate(staging / "empty", DEVICE_BYTES)
        (staging / "empty").chmod(0o644)
        with (staging / "state").open("wb"):
            (staging / "state").chmod(0o644)
        _boot_and_store(_at(staging, guest, shape), staging)
        _prune(target.parent)

    made = make_once(target, make)
    with contextlib.suppress(OSError):  # a cache that has become read-only still has the machine
        os.utime(made)
    return _at(made, guest, shape)


def _prune(folder: Path) -> None:
    """Remove stored machines that nobody has asked for in a while; running ones hold what they need of theirs."""
    for path in folder.glob("state-*"):
        with storage_errors("cannot remove a stored machine"):
            if time.time() - path.stat().st_mtime > _UNUSED_S:
                remove_tree(path)


def _at(folder: Path, guest: Guest, shape: Shape) -> Stored:
    return Stored(shape=shape, kernel=guest.kernel, root=guest.root, ramdisk=folder / "ramdisk", state=folder / "state")


def _boot_and_store(stored: Stored, folder: Path) -> None:
    console = folder / "console"
    console.touch(mode=0o666)
    console.chmod(0o666)
    scratch = folder / "scratch"
    scratch.touch()
    os.truncate(scratch, DEVICE_BYTES)
    ours, theirs = socket.socketpair()
    empty = folder / "empty"
    disks = {"layer": empty, "tree": empty, "objects": empty, "scratch": scratch}
    patience = _KVM_BOOT_S if stored.shape.accelerator == "kvm" else _BOOT_S
    with ours, theirs:
        ours.settimeout(_BOOT_S)
        with Machine(stored, label="store:::", disks=disks, restore=False, console=console, monitor=theirs) as machine:
            try:
                machine.wait_ready(patience)
                _Monitor(ours).migrate(stored.state)
            except (SandboxFailed, OSError, ValueError) as error:
                last = console.read_text(errors="replace").strip().splitlines()[-3:]
                raise SandboxFailed(f"a virtual machine cannot be stored: {error} {' | '.join(last)}") from error
    scratch.unlink()
    console.unlink()


class _Monitor:
    """As much of QMP as storing a machine takes (docs/interop/qmp-spec.txt of QEMU)."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lines = link.makefile("rb")
        self._lines.readline()  # the greeting
        self._ask("qmp_capabilities")

    def migrate(self, target: Path) -> None:
        """Write the machine's state; it stops when all is written, and a restored one runs on by itself."""
        with target.open("r+b") as file:
            self._ask("getfd", {"fdname": "state"}, pass_on=file.fileno())
            self._ask("migrate-set-parameters", {"max-bandwidth": 1 << 40})
            self._ask("migrate", {"uri": "fd:state"})
            while True:
                status = self._ask("query-migrate").get("status")
                if status == "completed":
                    return
                if status in ("failed", "cancelled"):
                    raise SandboxFailed(f"QEMU cannot write the machine's state: {status}")
                time.sleep(0.02)

    def _ask(self, command: str, arguments: dict[str, object] | None = None, *, pass_on: int = -1) -> dict[str, str]:
        line = json.dumps({"execute": command, **({"arguments": arguments} if arguments else {})}).encode() + b"\n"
        if pass_on >= 0:
            socket.send_fds(self._link, [line], [pass_on])
        else:
            self._link.sendall(line)
        while answer := self._lines.readline():
            said = json.loads(answer)
            if "error" in said:
                raise SandboxFailed(f"QEMU refuses {command}: {said['error'].get('desc', '')}")
            if "return" in said:
                return dict(said["return"])
        raise SandboxFailed("QEMU ended")


@functools.cache
def _qemu_version() -> str:
    done = subprocess.run([find_qemu(), "--version"], capture_output=True, text=True, check=False, timeout=30)
    return done.stdout.partition("\n")[0]


def choose_accelerator(guest: Guest, cache_dir: Path, progress: Callable[[str], None]) -> str:
    """`kvm` where a machine boots under it, else `tcg`. A device that opens proves nothing; what came of it is kept per boot."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    known = (
        cache_dir
        / "microvm"
        / f"accelerator-{hashlib.sha256(f'{boot_id()} {_qemu_version()}'.encode()).hexdigest()[:16]}"
    )
    with contextlib.suppress(OSError):
        return known.read_text()
    found = "kvm"
    try:
        store(guest, Shape(memory_mb=_STEP_MB, cores=1, accelerator="kvm"), cache_dir, progress)
    except SandboxFailed:
        progress("no machine boots under KVM here; machines are emulated (TCG)")
        found = "tcg"
    with storage_errors("cannot record the accelerator"):
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(found)
    return found
