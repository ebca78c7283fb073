"""Bytes below a folder that a box writes while we look.

The box decides how deep its folders are. By path nothing below 4,096 bytes of name could be opened, and what is not
measured has no limit; so a folder that far down is held by a descriptor, and what lies below it is named from there.

Each file and folder counts `ENTRY_BYTES` besides its blocks: an empty one takes an inode and a name, and removing millions
of them takes the host minutes.

A file that was deleted while a process holds it open or mapped is below no folder, and takes its room all the same.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable

_LONGEST = 256
"""Of a name relative to a descriptor. The kernel takes 4,096 bytes, but walks all of a name at each opening."""
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
UNMEASURABLE = 1 << 62
ENTRY_BYTES = 1 << 10
_DELETED = " (deleted)"


class _Anchor:
    """A folder that is held open as long as a name is relative to it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __del__(self) -> None:
        os.close(self.descriptor)


def bytes_below(folders: Iterable[str]) -> int:
    """Disk that some folders and all below them take.

    Returns:
        The sum; `UNMEASURABLE` when the tree needs more descriptors than this process may have.
    """
    total = 0
    pending: list[tuple[_Anchor | None, str]] = [(None, folder) for folder in folders]
    while pending:
        anchor, name = pending.pop()
        try:
            here = _Anchor(os.open(name, _FLAGS, dir_fd=anchor.descriptor if anchor else None))
            far = len(os.fsencode(name)) > _LONGEST
            total += os.fstat(here.descriptor).st_blocks * 512 + ENTRY_BYTES
            with os.scandir(here.descriptor) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append((here, entry.name) if far else (anchor, f"{name}/{entry.name}"))
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512 + ENTRY_BYTES
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                return UNMEASURABLE
            continue  # removed while we looked
    return total


def bytes_of_deleted(proc: str, places: tuple[str, ...]) -> int:
    """Disk that deleted files take which processes still hold.

    Args:
        proc: A mounted /proc whose processes are looked at.
        places: Beginnings of the names, as those processes see them, that count.

    Returns:
        The sum; of files that are mapped but not open any more, the length of the mapping.
    """
    held: dict[tuple[object, ...], int] = {}
    for pid in filter(str.isdigit, os.listdir(proc)):
        with contextlib.suppress(OSError):  # ended while we looked
            for number in os.listdir(f"{proc}/{pid}/fd"):
                _note_open(f"{proc}/{pid}/fd/{number}", places, held)
            with open(f"{proc}/{pid}/maps", "rb") as maps:
                _note_mapped(maps, places, held)
    return sum(held.values())


def _note_open(link: str, places: tuple[str, ...], held: dict[tuple[object, ...], int]) -> None:
    with contextlib.suppress(OSError):
        name = os.readlink(link)
        if name.endswith(_DELETED) and name.startswith(places):
            kind = os.stat(link)
            held[kind.st_dev, kind.st_ino] = kind.st_blocks * 512


def _note_mapped(maps: Iterable[bytes], places: tuple[str, ...], held: dict[tuple[object, ...], int]) -> None:
    """Lines are `from-to rights offset device inode name`."""
    for line in maps:
        fields = line.rstrip(b"\n").split(maxsplit=5)
        name = os.fsdecode(fields[5]) if len(fields) == 6 else ""
        if name.endswith(_DELETED) and name.startswith(places):
            begin, end = (int(number, 16) for number in fields[0].split(b"-"))
            key = (fields[3], fields[4])
            held[key] = max(held.get(key, 0), end - begin)
