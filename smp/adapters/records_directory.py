"""Records as files below the data directory (spec/records.md sections 1 and 7)."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from smp.domain.errors import Unavailable
from smp.ports.record_files import RecordFile, RecordFiles
from smp.settings import Settings

LOCK = ".lock"


class DirectoryRecordFiles(RecordFiles):
    """See the port. The lock is `flock` on a file beside the records, so that a killed process gives it back."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.data_dir

    def read(self, file: RecordFile) -> bytes | None:
        with _translated(file):
            try:
                return self._path(file).read_bytes()
            except FileNotFoundError:
                return None

    def writing(self, file: RecordFile) -> AbstractContextManager[None]:
        return self._writing(file)

    def append(self, file: RecordFile, lines: Iterable[bytes]) -> int:
        with _translated(file):
            descriptor = os.open(self._path(file), os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                length = os.fstat(descriptor).st_size
                if length and os.pread(descriptor, 1, length - 1) != b"\n":
                    length += os.write(descriptor, b"\n")
                for line in lines:
                    length += _write_whole(descriptor, line + b"\n", length)
                os.fsync(descriptor)
                return length
            finally:
                os.close(descriptor)

    def replace(self, file: RecordFile, body: bytes) -> None:
        path = self._path(file)
        with _translated(file):
            descriptor, written = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(body)
                    stream.flush()
                    os.fchmod(stream.fileno(), 0o644)
                    os.fsync(stream.fileno())
                os.replace(written, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(written)
                raise

    def set_aside(self, file: RecordFile) -> None:
        path = self._path(file)
        with _translated(file), suppress(FileNotFoundError):
            os.replace(path, path.with_name(f"{path.name}.corrupt"))

    def delete(self, files: Iterable[RecordFile]) -> None:
        for file in files:
            with _translated(file):
                self._path(file).unlink(missing_ok=True)

    def place(self, file: RecordFile) -> str:
        return str(self._path(file).parent)

    def _path(self, file: RecordFile) -> Path:
        return self._root / file

    @contextmanager
    def _writing(self, file: RecordFile) -> Iterator[None]:
        folder = self._path(file).parent
        with _translated(file):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            with _translated(file):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _write_whole(descriptor: int, line: bytes, before: int) -> int:
    """One write a line; where the disk takes only a part of it, that part is taken back."""
    written = os.write(descriptor, line)
    if written != len(line):
        os.ftruncate(descriptor, before)
        raise OSError(28, "no space left on device")
    return written


@contextmanager
def _translated(file: RecordFile) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"{file.value} of the data directory: {error.strerror}; check its permissions and the room on disk",
            backend="records",
        ) from error
