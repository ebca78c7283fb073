"""Takes a box's files out of what its guest says, into folders on the host.

A guest is not trusted: paths are walked from descriptors without following a link, kinds and modes are from a short list,
and how much there may be is bounded. Everything is put beside the box's present files first and takes their place in one step.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import stat
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from smp.adapters.sandbox_bubblewrap.once import remove_tree, storage_errors
from smp.domain.errors import SandboxFailed

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_DEPTH = 4_000
_MAX_ENTRIES = 2_000_000
_SYS_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}
_RENAME_EXCHANGE = 2  # linux/fs.h

_libc = ctypes.CDLL(None, use_errno=True)


class Entry(Struct, frozen=True, kw_only=True):
    """path: bytes of the file system as JSON text, below `tree`; empty for the tree itself."""

    tree: Literal["upper", "out", "trace", "logs"]
    path: str
    kind: Literal["folder", "file", "link", "deletion"]
    mode: int = 0o755
    mtime_ns: int = 0
    size: int = 0
    opaque: bool = False
    target: str = ""


class Unpacker:
    """Writes entries, in the order in which they come, below a staging folder.

    Args:
        owner: Whose the files are to be; None: ours.
        limit_bytes: Of all files together.
    """

    def __init__(self, staging: Path, *, owner: int | None, limit_bytes: int) -> None:
        self._staging = staging
        self._owner = owner
        self._left = limit_bytes
        self._entries = 0
        self._modes: list[tuple[str, str, int]] = []
        self._file = -1
        self._file_left = 0
        self._mtime_ns = 0
        with storage_errors("cannot take the box's files"):
            remove_tree(staging)
            staging.mkdir(mode=0o700)

    def entry(self, entry: Entry) -> None:
        """Begin what an entry names.

        Raises:
            SandboxFailed: No path within the tree, too many, or the disk is full.
        """
        self.finish_file()
        self._entries += 1
        parts = entry.path.split("/") if entry.path else []
        if (
            self._entries > _MAX_ENTRIES
            or len(parts) > _MAX_DEPTH
            or any(part in ("", ".", "..") or "\0" in part for part in parts)
        ):
            raise SandboxFailed(f"the guest names a file that cannot be taken: {entry.path[:200]!r}")
        with storage_errors("cannot take the box's files"):
            if not parts:
                (self._staging / entry.tree).mkdir(mode=0o755)
                self._own(entry.tree, None)
                return
            parent = self._open([entry.tree, *parts[:-1]])
            try:
                self._make(parent, parts[-1], entry)
            finally:
                os.close(parent)

    def _make(self, parent: int, name: str, entry: Entry) -> None:
        mode = stat.S_IMODE(entry.mode) & 0o777
        if entry.kind == "folder":
            os.mkdir(name, 0o700, dir_fd=parent)
            if entry.opaque:
                self._mark_opaque(parent, name)
            self._modes.append((entry.tree, entry.path, mode))
        elif entry.kind == "link":
            os.symlink(entry.target, name, dir_fd=parent)
            os.utime(name, ns=(entry.mtime_ns, entry.mtime_ns), dir_fd=parent, follow_symlinks=False)
        elif entry.kind == "deletion":
            os.mknod(name, stat.S_IFCHR | 0o600, os.makedev(0, 0), dir_fd=parent)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(name, flags, 0o600, dir_fd=parent)
            self._file_left, self._mtime_ns = entry.size, entry.mtime_ns
            if self._owner is not None:
                os.fchown(self._file, self._owner, self._owner)
            os.fchmod(self._file, mode)
            return
        self._own(name, parent)

    def piece(self, body: bytes) -> None:
        """Bytes of the file that was named last."""
        self._left -= len(body)
        self._file_left -= len(body)
        if self._left < 0:
            raise SandboxFailed("the box has more files than its disk limit allows, and they were not taken over")
        if self._file < 0 or self._file_left < 0:
            raise SandboxFailed("the guest says more of a file than it has announced")
        with storage_errors("cannot take the box's files"):
            left = memoryview(body)
            while left:
                left = left[os.write(self._file, left) :]

    def finish_file(self) -> None:
        """No more of the present file comes."""
        if self._file >= 0:
            os.utime(self._file, ns=(self._mtime_ns, self._mtime_ns))
            os.close(self._file)
            self._file = -1

    def take_over(self, places: dict[str, Path]) -> None:
        """Put each tree in its place, in exchange for what stands there."""
        self.finish_file()
        with storage_errors("cannot take the box's files"):
            for tree, path, mode in reversed(self._modes):  # last, as a folder may be closed to its owner
                folder = self._open([tree, *path.split("/")])
                try:
                    os.fchmod(folder, mode)
                finally:
                    os.close(folder)
            for tree, place in places.items():
                made = self._staging / tree
                if not made.is_dir():
                    raise SandboxFailed(f"the guest gave back no {tree!r}")
                _exchange(made, place)
            self.discard()

    def discard(self) -> None:
        """Remove the staging folder with what it holds."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        remove_tree(self._staging)

    def _open(self, parts: list[str]) -> int:
        folder = os.open(self._staging, _FOLDER)
        for part in parts:
            try:
                deeper = os.open(part, _FOLDER, dir_fd=folder)
            finally:
                os.close(folder)
            folder = deeper
        return folder

    def _own(self, name: str, parent: int | None) -> None:
        if self._owner is not None:
            path = name if parent is not None else str(self._staging / name)
            os.chown(path, self._owner, self._owner, dir_fd=parent, follow_symlinks=False)

    def _mark_opaque(self, parent: int, name: str) -> None:
        folder = os.open(name, _FOLDER, dir_fd=parent)
        try:
            os.setxattr(folder, "trusted.overlay.opaque" if os.geteuid() == 0 else "user.overlay.opaque", b"y")
        finally:
            os.close(folder)


def decode_entry(body: bytes) -> Entry:
    """Raises: SandboxFailed: It is none."""
    try:
        # Names need not be UTF-8; the guest's JSON has their odd bytes as lone surrogates, which msgspec does not take.
        return msgspec.convert(json.loads(body), type=Entry)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise SandboxFailed(f"the guest speaks no entry: {body[:100]!r}") from error


def _exchange(made: Path, place: Path) -> None:
    if not place.exists():
        os.rename(made, place)
        return
    number = _SYS_RENAMEAT2[platform.machine()]
    here = ctypes.c_int(-100)
    if _libc.syscall(number, here, os.fsencode(made), here, os.fsencode(place), _RENAME_EXCHANGE) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(place))
