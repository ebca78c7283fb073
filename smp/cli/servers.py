"""Which servers have a repository open: each leaves a note in its data directory and holds a lock on it while it lives.

The kernel lets the lock go however the process ends, so that a note without one is old, and is removed by who finds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from smp.settings import Settings

FOLDER = "servers"


class RunningServer(Struct, frozen=True, kw_only=True):
    """A process that answers for a repository. address: a URL, or `stdio`."""

    pid: int
    address: str


@contextlib.contextmanager
def announced(settings: Settings, address: str) -> Iterator[None]:
    """Be listed by `running` until the context ends, or the process."""
    folder = settings.data_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{os.getpid()}.json"
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, msgspec.json.encode(RunningServer(pid=os.getpid(), address=address)))
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def running(settings: Settings) -> tuple[RunningServer, ...]:
    """The servers that live, by process id."""
    found: list[RunningServer] = []
    for path in sorted((settings.data_dir / FOLDER).glob("*.json")):
        with contextlib.suppress(OSError, msgspec.DecodeError):
            found += _living(path)
    return tuple(sorted(found, key=lambda server: server.pid))


def _living(path: Path) -> list[RunningServer]:
    with path.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return [msgspec.json.decode(stream.read(), type=RunningServer)]
        path.unlink(missing_ok=True)
        return []
