"""Whether a worker of a repository lives on this machine: it holds a shared lock that dies with it."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

LOCK_FILE = "worker.lock"
"""In the data directory; `smp.cli.worker_process` asks for it exclusively to find out."""


@contextlib.contextmanager
def alive(data_dir: Path) -> Iterator[None]:
    """Count as a living worker while the context lasts, or until the process ends in whatever way."""
    with (data_dir / LOCK_FILE).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield
