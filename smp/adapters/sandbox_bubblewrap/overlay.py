"""Reading and writing the files of a box from outside, while nothing runs in it.

The upper folder of the overlay was written by the box. Every step into it is taken from a descriptor and follows no
link, so that nothing outside the box's own files can be read or written through it. In overlayfs' format a deletion is
a character device 0/0, and a folder whose `overlay.opaque` attribute is `y` hides what the checkout has there.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from smp.adapters.sandbox_bubblewrap.ignored import IgnoreRules
from smp.adapters.sandbox_bubblewrap.once import remove_tree, storage_errors
from smp.adapters.sandbox_bubblewrap.state import BoxFolder
from smp.domain.errors import Invalid, SandboxFailed
from smp.domain.ids import FilePath
from smp.domain.sandboxes import ChangedFile

_OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
MAX_DEPTH = 200
"""Folders within each other; a descriptor is held for each while they are compared, and the box decides how many."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class OverlayFiles:
    """The files of one box; a context that holds the box's lock."""

    def __init__(self, folder: BoxFolder, lower: Callable[[], Path], *, owner: int | None) -> None:
        self._folder = folder
        self._find_lower = lower
        self._owner = owner
        self._held = folder.held()

    def __enter__(self) -> OverlayFiles:
        self._held.__enter__()
        try:
            self._folder.read()
            self._lower = self._find_lower()
            self._upper = os.open(self._folder.upper, _FOLDER)
        except BaseException:
            self._held.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._upper)
        self._held.__exit__(kind, error, trace)

    def read(self, path: FilePath) -> ChangedFile:
        """A file as the box sees it; content None where there is none, or a folder."""
        parts = _parts(path)
        found, hidden = self._in_upper(parts)
        if found is not None:
            return found
        if hidden:
            return ChangedFile(path=path, content=None)
        return _read_at(os.open(self._lower, _FOLDER), parts, path)

    def changes(self) -> tuple[ChangedFile, ...]:
        """What differs from the checkout, sorted by path."""
        rules = IgnoreRules(self._ignore_file)
        found: dict[str, ChangedFile] = {}
        self._compare(self._upper, "", found, rules)
        return tuple(found[path] for path in sorted(found))

    def write(self, files: tuple[ChangedFile, ...], *, limit_bytes: int) -> None:
        """Write or delete; everything is staged before the first file is replaced.

        Raises:
            Invalid: A path leaves the checkout, touches `.git`, or has a file where a folder is needed.
            SandboxFailed: The disk is full or read-only, or the box's limit would be passed.
        """
        # Repeated writing is not summed up: the supervisor measures the whole at the next command.
        size = sum(len(file.content or b"") for file in files)
        if size > limit_bytes:
            raise SandboxFailed(f"{size} bytes do not fit into the box's disk limit of {limit_bytes} bytes")
        wanted = [(file, _parts(file.path)) for file in files]
        for file, parts in wanted:
            self._check_place(file, parts)
        staging = self._folder.path / "staged"
        with storage_errors("cannot write to the box"):
            remove_tree(staging)  # of a writer that was killed
            staging.mkdir(mode=0o700)
            try:
                staged = [self._stage(staging / str(number), file) for number, (file, _) in enumerate(wanted)]
                for source, (_, parts) in zip(staged, wanted, strict=True):
                    self._put(source, parts)
            finally:
                remove_tree(staging)

    # --- reading -----------------------------------------------------------------------------------------------------

    def _in_upper(self, parts: list[str]) -> tuple[ChangedFile | None, bool]:
        """The file if the upper folder has it; else whether the checkout's is hidden."""
        path = FilePath("/".join(parts))
        folder, hidden = os.dup(self._upper), False
        try:
            for name in parts[:-1]:
                try:
                    deeper = os.open(name, _FOLDER, dir_fd=folder)
                except FileNotFoundError:
                    return None, hidden
                except OSError:
                    return None, True  # a file, a link or a deletion stands where the checkout may have a folder
                os.close(folder)
                folder = deeper
                hidden = hidden or _opaque(folder)
            if _lstat(folder, parts[-1]) is None:
                return None, hidden
            return _entry(folder, parts[-1], path), True
        finally:
            os.close(folder)

    def _ignore_file(self, path: str) -> bytes | None:
        return self.read(FilePath(path)).content

    def _compare(
        self, folder: int, base: str, found: dict[str, ChangedFile], rules: IgnoreRules, *, hiding: bool = False
    ) -> None:
        if base.count("/") >= MAX_DEPTH:
            raise SandboxFailed(
                f"{base[:60] + '…'!r} in the box is nested more than {MAX_DEPTH} folders deep; remove it with a command there"
            )
        names = sorted(os.listdir(folder))
        hiding = hiding or bool(base and _opaque(folder))
        if hiding:
            for name in self._lower_names(base):
                if name not in names:
                    self._add_deletions(f"{base}/{name}", found)
        for name in names:
            path = f"{base}/{name}" if base else name
            if path == ".git":
                continue
            kind = _lstat(folder, name)
            if kind is None:
                continue
            if stat.S_ISDIR(kind.st_mode):
                self._descend(folder, name, path, found, rules, hiding=hiding)
            elif _is_deletion(kind):
                self._add_deletions(path, found)
            elif stat.S_ISREG(kind.st_mode) or stat.S_ISLNK(kind.st_mode):
                self._compare_file(folder, name, path, found, rules)

    def _descend(
        self, folder: int, name: str, path: str, found: dict[str, ChangedFile], rules: IgnoreRules, *, hiding: bool
    ) -> None:
        lower = self._lower_kind(path)
        if lower is None and rules.ignored(path, folder=True):
            return
        if lower is not None and not stat.S_ISDIR(lower):
            found[path] = ChangedFile(path=FilePath(path), content=None)  # a file became a folder
        with _readable(folder, name, 0o700):
            deeper = os.open(name, _FOLDER, dir_fd=folder)
            try:
                self._compare(deeper, path, found, rules, hiding=hiding)
            finally:
                os.close(deeper)

    def _compare_file(
        self, folder: int, name: str, path: str, found: dict[str, ChangedFile], rules: IgnoreRules
    ) -> None:
        lower = self._lower_kind(path)
        if lower is None and rules.ignored(path, folder=False):
            return
        if lower is not None and stat.S_ISDIR(lower):
            self._add_deletions(path, found)
        now = _entry(folder, name, FilePath(path))
        if lower is None or now != _read_at(os.open(self._lower, _FOLDER), path.split("/"), FilePath(path)):
            found[path] = now

    def _lower_kind(self, path: str) -> int | None:
        try:
            return os.lstat(self._lower / path).st_mode
        except OSError:
            return None

    def _lower_names(self, path: str) -> list[str]:
        try:
            return os.listdir(self._lower / path)
        except OSError:
            return []

    def _add_deletions(self, path: str, found: dict[str, ChangedFile]) -> None:
        for gone in self._lower_files(path):
            found[gone] = ChangedFile(path=FilePath(gone), content=None)

    def _lower_files(self, path: str) -> Iterator[str]:
        """All files at or below a path of the checkout."""
        kind = self._lower_kind(path)
        if kind is not None and not stat.S_ISDIR(kind):
            yield path
        elif kind is not None:
            for base, folders, files in os.walk(self._lower / path):
                links = [name for name in folders if os.path.islink(os.path.join(base, name))]
                for name in [*files, *links]:
                    yield os.path.relpath(os.path.join(base, name), self._lower)

    # --- writing -----------------------------------------------------------------------------------------------------

    def _check_place(self, file: ChangedFile, parts: list[str]) -> None:
        for depth in range(1, len(parts)):
            found, _ = self._in_upper(parts[:depth])
            above = "/".join(parts[:depth])
            in_upper_file = found is not None and (found.content is not None or found.link is not None)
            lower = self._lower_kind(above)
            hidden = self._in_upper(parts[:depth])[1]
            if in_upper_file or (lower is not None and not stat.S_ISDIR(lower) and not hidden):
                raise Invalid(f"{above!r} is a file in the box; {file.path!r} cannot lie below it", path="file_path")
        if stat.S_ISDIR(self._seen_kind(parts) or 0) and file.content is not None:
            raise Invalid(f"{file.path!r} is a folder in the box; name a file", path="file_path")

    def _seen_kind(self, parts: list[str]) -> int | None:
        folder = os.dup(self._upper)
        try:
            for name in parts[:-1]:
                try:
                    deeper = os.open(name, _FOLDER, dir_fd=folder)
                except OSError:
                    return self._lower_kind("/".join(parts))
                os.close(folder)
                folder = deeper
            kind = _lstat(folder, parts[-1])
            return kind.st_mode if kind is not None else self._lower_kind("/".join(parts))
        finally:
            os.close(folder)

    def _stage(self, target: Path, file: ChangedFile) -> Path | None:
        if file.link is not None:
            target.symlink_to(file.link)
        elif file.content is None:
            return None
        else:
            target.write_bytes(file.content)
            target.chmod(0o755 if file.mode & 0o111 else 0o644)
        if self._owner is not None:
            os.chown(target, self._owner, self._owner, follow_symlinks=False)
        return target

    def _put(self, source: Path | None, parts: list[str]) -> None:
        folder, hidden = os.dup(self._upper), False
        try:
            for depth, name in enumerate(parts[:-1], 1):
                lower = None if hidden else self._lower_kind("/".join(parts[:depth]))
                deeper = self._enter(folder, name, lower, make=source is not None)
                if deeper is None:
                    return  # a deletion below a folder that is not there
                os.close(folder)
                folder = deeper
                hidden = hidden or _opaque(folder)
            if source is not None:
                os.rename(source, parts[-1], dst_dir_fd=folder)
            else:
                self._delete(folder, parts[-1], in_lower=not hidden and self._lower_kind("/".join(parts)) is not None)
        finally:
            os.close(folder)

    def _enter(self, folder: int, name: str, lower: int | None, *, make: bool) -> int | None:
        kind = _lstat(folder, name)
        if kind is not None and stat.S_ISDIR(kind.st_mode):
            return os.open(name, _FOLDER, dir_fd=folder)
        deleted = kind is not None and _is_deletion(kind)
        visible = lower is not None and stat.S_ISDIR(lower) and not deleted
        if not make and not visible:
            return None
        if deleted:
            os.unlink(name, dir_fd=folder)
        os.mkdir(name, stat.S_IMODE(lower) if visible and lower is not None else 0o755, dir_fd=folder)
        made = os.open(name, _FOLDER, dir_fd=folder)
        if deleted:
            # Else what the checkout has in the folder that the box had removed would come back.
            os.setxattr(made, _OPAQUE[0] if self._owner is not None else _OPAQUE[1], b"y")
        if self._owner is not None:
            os.chown(made, self._owner, self._owner)
        return made

    def _delete(self, folder: int, name: str, *, in_lower: bool) -> None:
        kind = _lstat(folder, name)
        if kind is not None and not _is_deletion(kind):
            os.unlink(name, dir_fd=folder)
            kind = None
        if kind is None and in_lower:
            os.mknod(name, stat.S_IFCHR | 0o600, os.makedev(0, 0), dir_fd=folder)


def _parts(path: FilePath) -> list[str]:
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts) or parts[0] == ".git":
        raise Invalid(f"{path!r} is no path of a file in the checkout", path="file_path")
    return parts


@contextlib.contextmanager
def _readable(folder: int, name: str, bits: int) -> Iterator[None]:
    """Give an ordinary user, who owns them, the rights that the box took away from its files, for a moment.

    Nothing runs in the box meanwhile, so the name still stands for what was looked at before.
    """
    kind = os.stat(name, dir_fd=folder, follow_symlinks=False)
    closed = os.geteuid() != 0 and kind.st_mode & bits != bits
    if closed:
        os.chmod(name, stat.S_IMODE(kind.st_mode) | bits, dir_fd=folder)
    try:
        yield
    finally:
        if closed:
            os.chmod(name, stat.S_IMODE(kind.st_mode), dir_fd=folder)


def _lstat(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _is_deletion(kind: os.stat_result) -> bool:
    return stat.S_ISCHR(kind.st_mode) and kind.st_rdev == 0


def _opaque(folder: int) -> bool:
    for name in _OPAQUE:
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"y":
                return True
    return False


def _read_at(top: int, parts: list[str], path: FilePath) -> ChangedFile:
    folder = top
    try:
        for name in parts[:-1]:
            try:
                deeper = os.open(name, _FOLDER, dir_fd=folder)
            except OSError:
                return ChangedFile(path=path, content=None)
            os.close(folder)
            folder = deeper
        return _entry(folder, parts[-1], path)
    finally:
        os.close(folder)


def _entry(folder: int, name: str, path: FilePath) -> ChangedFile:
    kind = _lstat(folder, name)
    if kind is None:
        return ChangedFile(path=path, content=None)
    if stat.S_ISLNK(kind.st_mode):
        link = os.readlink(name, dir_fd=folder)
        return ChangedFile(path=path, content=os.fsencode(link), mode=0o120000, link=link)
    if not stat.S_ISREG(kind.st_mode):
        return ChangedFile(path=path, content=None)
    with _readable(folder, name, 0o400):
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        mode = 0o755 if kind.st_mode & 0o100 else 0o644
        return ChangedFile(path=path, content=file.read(), mode=mode)
