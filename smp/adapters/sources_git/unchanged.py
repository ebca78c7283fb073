"""Whether a working tree is as it was when git last listed it, without asking git.

Git takes some ten milliseconds to list a small tree; a look at every file, every folder and what git's answer rests on
beside them (its index, its ignore rules, its settings) takes microseconds each. A file that comes or goes changes its
folder's time stamp, one that is edited its own. What was written so shortly before the look that a further write could
have the same stamp is not trusted, so that right after an edit git is asked every time.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

RACY_NS = 2_000_000_000
"""A file written this shortly before it was looked at may change again under the same time stamp."""

Stamp = tuple[int, int, int, int]
_REF_BYTES = 8192
_ABSENT: Stamp = (-1, -1, -1, -1)


def stamp_of(status: os.stat_result) -> Stamp:
    """What changes whenever a file's content does."""
    return (status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)


class Look(Struct):
    """Stamps of everything that a listing rests on.

    Attributes:
        stamps: By place, absolute; of links their own, and that of what they lead to.
        folders: Places that are folders, each of which may come to hold a file that is listed.
        rules: Files of ignore rules in them that are not listed themselves.
        apart: Files that can change without a change in their folder being told: those behind links, and those with
            several names.
        beside: Git's own files.
        trusted: Whether nothing had just been written, so that equal stamps mean equal content.
    """

    stamps: dict[str, Stamp]
    folders: tuple[str, ...]
    rules: tuple[str, ...]
    apart: frozenset[str]
    beside: tuple[str, ...]
    trusted: bool

    def holds(self, *, noticed: bool = False) -> bool:
        """Whether all places are as they were.

        Args:
            noticed: No write since the look has gone unnoticed, so that even what had just been written may be believed.
        """
        return (noticed or self.trusted) and _all_hold(self.stamps.items())

    def holds_beside(self) -> bool:
        """Whether git's own files are as they were."""
        return _all_hold((place, self.stamps[place]) for place in self.beside)

    def knows(self, place: str) -> bool:
        """Whether a listing rests on this place itself, and not only on the folder that it is in."""
        return place in self.stamps

    def settle(self, moment: int) -> None:
        """Trust the look if by this moment nothing had just been written.

        Args:
            moment: Nanoseconds since the epoch. No write before it has gone unnoticed, or came between stamp and content.
        """
        newest = max((max(stamp[1], stamp[3]) for stamp in self.stamps.values()), default=0)
        self.trusted = moment - newest >= RACY_NS

    def look_again(self, changed: Iterable[str], files: Iterable[str], folders: Iterable[str]) -> None:
        """Follow a change: forget these places and all below them, and look at what is there now.

        Args:
            changed: Places that something has happened to.
            files: What git lists of them now: plain files of one name each.
            folders: What is a folder of them now, with those below.
        """
        gone = tuple(changed)
        below = tuple(f"{place}/" for place in gone)
        if any(place in self.stamps or f"{place}/.gitignore" in self.stamps for place in gone):
            kept = {p: stamp for p, stamp in self.stamps.items() if p not in gone and not p.startswith(below)}
            self.stamps = kept
            self.folders = tuple(folder for folder in self.folders if folder in kept)
            self.rules = tuple(rule for rule in self.rules if rule in kept)
        added = tuple(folders)
        self.folders += added
        parents = {os.path.dirname(place) for place in gone}
        for place in (*files, *added, *(parent for parent in parents if parent in self.stamps)):
            self.stamps[place] = _look(place)
        self.trusted = False


def take_look(
    files: Iterable[str], folders: Iterable[str], rules: Iterable[str], beside: Iterable[str], *, began: int
) -> Look:
    """Look at places; all of them absolute.

    Args:
        began: When the work began that the look is to vouch for; what was written since, or shortly before, is not trusted.
    """
    stamps: dict[str, Stamp] = {}
    apart: set[str] = set()
    for place in files:
        try:
            status = os.lstat(place)
        except OSError:
            stamps[place] = _ABSENT
            continue
        stamps[place] = stamp_of(status)
        if stat.S_ISLNK(status.st_mode):
            target = os.path.realpath(place)
            stamps[target] = _look(target)
            apart.add(target)
        elif status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
            apart.add(place)
    kept = tuple(folders), tuple(rules), frozenset(apart), tuple(beside)
    for place in (*kept[0], *kept[1], *kept[3]):
        stamps[place] = _look(place)
    look = Look(stamps, *kept, trusted=False)
    look.settle(began)
    return look


def walk_folders(
    root: str, start: Iterable[str], skipped: Callable[[str], bool], entering: Callable[[str], None] | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Folders, and the files of ignore rules in them; absolute.

    Args:
        start: Where to begin, relative; these themselves are among the answer.
        skipped: Whether a folder, by its relative path, holds nothing that could be listed anew.
        entering: Called with each folder before it is read.
    """
    folders: list[str] = []
    rules: list[str] = []
    waiting = list(start)
    while waiting:
        folder = waiting.pop()
        full = f"{root}/{folder}" if folder else root
        folders.append(full)
        if entering is not None:
            entering(full)
        try:
            with os.scandir(full) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.name == ".gitignore":
                        rules.append(f"{root}/{path}")
                    elif entry.is_dir(follow_symlinks=False) and not skipped(path):
                        waiting.append(path)
        except OSError:
            continue
    return tuple(folders), tuple(rules)


def _all_hold(stamps: Iterable[tuple[str, Stamp]]) -> bool:
    lstat = os.lstat
    for place, known in stamps:
        try:
            found = lstat(place)
        except OSError:
            if known != _ABSENT:
                return False
            continue
        if (found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns) != known:
            return False
    return True


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
