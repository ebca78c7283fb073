"""Bytes below a folder that a box writes while we look.

The box decides how deep its folders are. By path nothing below 4,096 bytes of name could be opened, and what is not
measured has no limit; so a folder that far down is held by a descriptor, and what lies below it is named from there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable

_LONGEST = 2048
"""Of a name relative to a descriptor; half of what the kernel takes, so that one more component always fits."""
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
UNMEASURABLE = 1 << 62


class _Anchor:
    """A folder that is held open as long as a name is relative to it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __del__(self) -> None:
        os.close(self.descriptor)


def bytes_below(folders: Iterable[str]) -> int:
    """Disk that the files below some folders take.

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
            with os.scandir(here.descriptor) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append((here, entry.name) if far else (anchor, f"{name}/{entry.name}"))
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                return UNMEASURABLE
            continue  # removed while we looked
    return total
