"""Whether a working tree is as it was when git last listed it, without asking git.

Git takes some ten milliseconds to list a small tree; a look at every file, every folder and what git's answer rests on
beside them (its index, its ignore rules, its settings) takes microseconds each. A file that comes or goes changes its
folder's time stamp, one that is edited its own. What was written so shortly before the look that a further write could
have the same stamp is not trusted, so that right after an edit git is asked every time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

RACY_NS = 2_000_000_000
"""A file written this shortly before it was looked at may change again under the same time stamp."""

Stamp = tuple[int, int, int, int]
_REF_BYTES = 8192
_ABSENT: Stamp = (-1, -1, -1, -1)


def stamp_of(status: os.stat_result) -> Stamp:
    """What changes whenever a file's content does."""
    return (status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)


class Look:
    """Stamps of many places.

    Args:
        began: When the work began that the look is to vouch for; what was written since, or shortly before, is not trusted.
    """

    def __init__(self, places: Iterable[str], began: int) -> None:
        self._stamps = {place: _look(place) for place in places}
        newest = max((max(stamp[1], stamp[3]) for stamp in self._stamps.values()), default=0)
        self._trusted = began - newest >= RACY_NS

    def holds(self) -> bool:
        """Whether all places are as they were; never when one had just been written."""
        lstat = os.lstat
        if not self._trusted:
            return False
        try:
            for place, known in self._stamps.items():
                if known is _ABSENT:
                    if _look(place) is not _ABSENT:
                        return False
                    continue
                found = lstat(place)
                if (found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns) != known:
                    return False
        except OSError:
            return False
        return True


def places_of(root: Path, files: Iterable[str], skipped: Callable[[str], bool], beside: Iterable[str]) -> Iterator[str]:
    """Everything that a listing rests on.

    Args:
        files: Relative paths that git lists.
        skipped: Whether a folder, by its relative path, holds nothing that could be listed anew.
        beside: Further places: git's own files.
    """
    yield from beside
    base = str(root)
    for path in files:
        full = f"{base}/{path}"
        yield full
        if os.path.islink(full):
            yield os.path.realpath(full)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        full = f"{base}/{folder}" if folder else base
        yield full
        try:
            with os.scandir(full) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.name == ".gitignore":
                        yield f"{base}/{path}"
                    elif entry.is_dir(follow_symlinks=False) and not skipped(path):
                        waiting.append(path)
        except OSError:
            continue


def head_key(git_dir: Path, common_dir: Path) -> bytes | None:
    """What HEAD says and what it leads to: equal keys, equal commits. None where the files do not tell (reftable)."""
    try:
        head = _content(f"{git_dir}/HEAD")
        if not head.startswith(b"ref: "):
            return head
        name = os.fsdecode(head[5:].strip())
        if name.endswith("/.invalid"):
            return None
        try:
            return head + _content(f"{common_dir}/{name}")
        except FileNotFoundError:
            return head + repr(_look(f"{common_dir}/packed-refs")).encode()
    except OSError:
        return None


def _content(place: str) -> bytes:
    """Of a file of a few bytes; asked for with every answer, where a `Path` would cost more than the reading.

    Raises:
        OSError: It is not there, or cannot be read.
    """
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _REF_BYTES)
    finally:
        os.close(descriptor)


def _look(place: str) -> Stamp:
    try:
        return stamp_of(os.lstat(place))
    except OSError:
        return _ABSENT
