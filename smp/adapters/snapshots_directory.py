"""Snapshots as files: `<data_dir>/snapshots/<snapshot_id>.tar.zst`. Nothing here deletes one."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from smp.domain.errors import SnapshotInvalid, Unavailable
from smp.ports.snapshot_store import SnapshotStore
from smp.settings import Settings

FOLDER = "snapshots"
SUFFIX = ".tar.zst"
_ID = re.compile(r"snap_[A-Za-z0-9_-]{1,100}")


class DirectorySnapshotStore(SnapshotStore):
    """See the port. A file is written beside its place, synchronised and then renamed, so that a kill leaves no half."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data_dir / FOLDER

    def create(self, snapshot_id: str) -> AbstractContextManager[BinaryIO]:
        return self._create(self._path(snapshot_id))

    def open(self, snapshot_id: str) -> AbstractContextManager[BinaryIO]:
        return self._open(self._path(snapshot_id), snapshot_id)

    def _path(self, snapshot_id: str) -> Path:
        """An id that is no file name of ours names nothing, so that no path can leave the folder."""
        if _ID.fullmatch(snapshot_id) is None:
            raise _unknown(snapshot_id)
        return self._folder / f"{snapshot_id}{SUFFIX}"

    @contextmanager
    def _create(self, path: Path) -> Iterator[BinaryIO]:
        with _translated():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, written = tempfile.mkstemp(prefix=".writing-", dir=self._folder)
        try:
            with _translated(), os.fdopen(descriptor, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            with _translated():
                os.replace(written, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(written)
            raise

    @contextmanager
    def _open(self, path: Path, snapshot_id: str) -> Iterator[BinaryIO]:
        with _translated():
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError as error:
                raise _unknown(snapshot_id) from error
            with os.fdopen(descriptor, "rb") as stream:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise SnapshotInvalid(f"snapshot {snapshot_id!r} is no file", snapshot_id=snapshot_id)
                yield stream


def _unknown(snapshot_id: str) -> SnapshotInvalid:
    return SnapshotInvalid(
        f"no snapshot {snapshot_id!r} here; put the file into the {FOLDER} folder of the data directory, "
        "or make one with smp/index/export",
        snapshot_id=snapshot_id,
    )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"the {FOLDER} folder of the data directory: {error.strerror}; check its permissions and the room on disk",
            backend=FOLDER,
        ) from error
