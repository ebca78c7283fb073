"""A box on disk: its folder, its record, its lock.

<data_dir>/boxes/<id>/box.json     what it was made from, and the process that made it
                      lock         held while anyone works with the box; freed by the kernel when he dies
                      layer/upper  what the box has changed (overlayfs); layer/work is overlayfs' own
                      logs/        both streams of the last command, whole, where they did not fit; not seen in the box
                      exchange/    bound writable into the box at /smp: out/ and trace/
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from smp.adapters.sandbox_bubblewrap.once import open_lock, release, storage_errors
from smp.domain.errors import SandboxFailed, SandboxNotFound
from smp.domain.ids import SandboxId
from smp.domain.sandboxes import Sandbox

_POLL_S = 0.02


class Owner(Struct, frozen=True, kw_only=True):
    """A process, told apart from a later one with the same number. started: clock ticks since boot."""

    pid: int
    started: int
    boot: str

    def alive(self) -> bool:
        """Whether it still runs, on this boot."""
        return self.boot == boot_id() and start_time(self.pid) == self.started


class Record(Struct, frozen=True, kw_only=True):
    """box.json."""

    box: Sandbox
    owner: Owner


class BoxFolder:
    """Paths and locking of one box."""

    def __init__(self, boxes: Path, sandbox_id: SandboxId) -> None:
        if not sandbox_id or not all(char.isalnum() or char in "_-" for char in sandbox_id):
            raise SandboxNotFound(sandbox_id)
        self.id = sandbox_id
        self.path = boxes / sandbox_id
        self.layer = self.path / "layer"
        self.upper = self.layer / "upper"
        self.work = self.layer / "work"
        self.exchange = self.path / "exchange"
        self.logs = self.path / "logs"
        self._record = self.path / "box.json"

    def exists(self) -> bool:
        return self._record.is_file()

    def read(self) -> Record:
        """Raises: SandboxNotFound."""
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=Record)
        except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError) as error:
            raise SandboxNotFound(self.id) from error

    def save(self, box: Sandbox) -> None:
        """Write the record, whole or not at all; it makes the box exist."""
        with storage_errors("cannot record the box"):
            staging = self._record.with_suffix(".new")
            staging.write_bytes(msgspec.json.encode(Record(box=box, owner=present_process())))
            os.replace(staging, self._record)

    @contextmanager
    def held(self, waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Be the only one, of all processes and threads, to work with the box.

        Args:
            waiting: Called while another one holds it.

        Raises:
            SandboxNotFound: There is no such box, or it was destroyed while we waited.
        """
        try:
            with storage_errors("cannot lock the box"):
                descriptor = open_lock(self.path / "lock")
        except SandboxFailed as error:
            if not self.path.is_dir():
                raise SandboxNotFound(self.id) from error
            raise
        try:
            while not _try_lock(descriptor):
                if waiting:
                    waiting()
                time.sleep(_POLL_S)
            if not self.path.is_dir():
                raise SandboxNotFound(self.id)
            yield
        finally:
            release(descriptor)

    def busy(self) -> bool:
        """Whether a living process works with the box at this moment."""
        try:
            descriptor = open_lock(self.path / "lock")
        except OSError:
            return False
        try:
            return not _try_lock(descriptor)
        finally:
            release(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def present_process() -> Owner:
    """Ourselves."""
    return Owner(pid=os.getpid(), started=start_time(os.getpid()), boot=boot_id())


def start_time(pid: int) -> int:
    """When a process started, in clock ticks since boot; 0 when there is none."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    except OSError:
        return 0


def boot_id() -> str:
    """Differs between any two boots of any two machines."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
