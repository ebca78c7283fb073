"""Files of the working tree, taken as they are and put back exactly: bytes, permission bits, symbolic links, absence.

A path is followed only inside the repository: every folder on the way is resolved first, and the last part is never
followed, so that a link that leads out can be saved and restored as a link but nothing behind it is read or written.
Each file is replaced by rename, so that a reader sees the old or the new one, never half of either.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from smp.domain.errors import Invalid, TooLarge, Unavailable
from smp.domain.ids import FilePath
from smp.domain.sessions import FileSnapshot

MAX_SNAPSHOT_BYTES = 64_000_000
"""A larger file is not snapshotted: a checkpoint is kept in the session store."""


class WorkingTree:
    """The checkout at a root folder."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def snapshot(self, file: FilePath) -> FileSnapshot:
        """A file as it is now; `content` is None when there is none.

        Raises:
            Invalid: The path leads out of the repository, or to something that is neither file nor link.
            TooLarge: More than `MAX_SNAPSHOT_BYTES`.
            Unavailable: It cannot be read.
        """
        place = self._place(file)
        try:
            found = place.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return FileSnapshot(path=file, content=None)
        except OSError as error:
            raise _unavailable(file, error) from error
        if stat.S_ISLNK(found.st_mode):
            return FileSnapshot(path=file, content=b"", mode=0o777, link=os.readlink(place))
        if not stat.S_ISREG(found.st_mode):
            raise Invalid(f"{file!r} is neither a file nor a link; name a file", path="files")
        if found.st_size > MAX_SNAPSHOT_BYTES:
            raise TooLarge(
                f"{file!r} has more than {MAX_SNAPSHOT_BYTES} bytes; keep it in version control instead",
                limit=MAX_SNAPSHOT_BYTES,
            )
        try:
            return FileSnapshot(path=file, content=place.read_bytes(), mode=stat.S_IMODE(found.st_mode))
        except OSError as error:
            raise _unavailable(file, error) from error

    def is_folder(self, path: FilePath) -> bool:
        """Whether a folder lies there."""
        return (self._root / path).is_dir()

    def read(self, file: FilePath, *, path: str) -> bytes | None:
        """Content of a regular file inside the repository, through links that stay inside; None when there is none.

        Args:
            path: Name of the parameter, for errors.

        Raises:
            Invalid: A link on the way leads out of the repository.
        """
        place = self._place(file, path=path)
        if place.is_symlink():
            resolved = place.resolve()
            if not resolved.is_relative_to(self._root):
                raise Invalid(f"{file!r} is a link out of the repository; name a file inside", path=path)
        try:
            return place.read_bytes() if place.is_file() else None
        except OSError as error:
            raise _unavailable(file, error) from error

    def restore(self, snapshot: FileSnapshot) -> None:
        """Put a file back as it was; repeating is harmless.

        Raises:
            Invalid: The path leads out of the repository by now.
            Unavailable: It cannot be written; nothing was changed.
        """
        place = self._place(snapshot.path)
        try:
            if snapshot.content is None:
                place.unlink(missing_ok=True)
                return
            place.parent.mkdir(parents=True, exist_ok=True)
            spare = place.with_name(f".{place.name[:100]}.{secrets.token_hex(6)}.smp-restore")
            try:
                if snapshot.link is not None:
                    spare.symlink_to(snapshot.link)
                else:
                    _write(spare, snapshot.content, snapshot.mode)
                spare.replace(place)
            finally:
                spare.unlink(missing_ok=True)
        except NotADirectoryError:
            # A file stands where a folder was: what was absent is absent, what was there cannot come back.
            if snapshot.content is not None:
                raise Invalid(
                    f"a file stands in the way of {snapshot.path!r}; remove it and roll back again", path="files"
                ) from None
        except OSError as error:
            raise _unavailable(snapshot.path, error) from error

    def _place(self, file: FilePath, *, path: str = "files") -> Path:
        place = self._root / file
        try:
            parent = place.parent.resolve()
        except (OSError, RuntimeError) as error:
            raise Invalid(f"the folder of {file!r} cannot be resolved; check its links", path=path) from error
        if not parent.is_relative_to(self._root):
            raise Invalid(f"a link leads from {file!r} out of the repository; name a file inside", path=path)
        return parent / place.name


def _write(spare: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    spare.chmod(mode)


def _unavailable(file: FilePath, error: OSError) -> Unavailable:
    return Unavailable(f"{file!r}: {error.strerror}; put it right and repeat the call", backend="working tree")
