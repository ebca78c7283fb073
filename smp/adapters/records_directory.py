"""Records as files below the data directory (spec/records.md sections 1 and 7)."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
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
                descriptor = self._open(file, os.O_RDONLY | os.O_NONBLOCK)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as stream:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise OSError(errno.EINVAL, "is no file")
                return stream.read()

    def writing(self, file: RecordFile) -> AbstractContextManager[None]:
        return self._writing(file)

    def append(self, file: RecordFile, lines: Iterable[bytes]) -> int:
        with _translated(file):
            descriptor = self._open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT)
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

    def _open(self, file: RecordFile, flags: int) -> int:
        """Never through a link: what stands there may have come with the repository."""
        self._own_folder(file)
        return os.open(self._path(file), flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)

    def _own_folder(self, file: RecordFile) -> None:
        folder = self._path(file).parent
        if folder.is_symlink():
            raise OSError(errno.ELOOP, f"the folder {folder.name!r} is a link")

    def _path(self, file: RecordFile) -> Path:
        return self._root / file

    @contextmanager
    def _writing(self, file: RecordFile) -> Iterator[None]:
        folder = self._path(file).parent
        with _translated(file):
            folder.mkdir(parents=True, exist_ok=True)
            self._own_folder(file)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(folder / LOCK, flags, 0o644)
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
        raise OSError(errno.ENOSPC, "no space left on device")
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
