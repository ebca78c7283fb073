"""What the kernel says has happened in a working tree since it was last asked (inotify), at the cost of one read.

The kernel queues a notice inside the system call that makes the change, before that call returns to whoever made it. Who
reads the queue before an answer therefore knows of every change that had ended by then; a library that delivers from a
thread of its own would know of it later. For the same reason a queue is only worth something that was there before the look
at the tree that it continues: folders are watched first, then listed.

Not told: writes by another machine to a network file system (such trees are never watched), writes through a memory map, and
through a hard link that was made after the look. Whoever relies on notices looks for himself now and then.
"""

from __future__ import annotations

import os
import re
import select

from inotify_simple import INotify, flags

from smp.adapters.sources_git.unchanged import Look

LOCAL_TYPES = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "jfs", "tmpfs", "overlay"})
"""File systems all of whose changes go through this kernel."""
MOUNTS = "/proc/self/mountinfo"
_ENTRIES = flags.CREATE | flags.DELETE | flags.MOVED_FROM | flags.MOVED_TO
_CONTENT = flags.MODIFY | flags.ATTRIB | flags.CLOSE_WRITE
_SELF = flags.DELETE_SELF | flags.MOVE_SELF
_LOST = flags.Q_OVERFLOW | flags.UNMOUNT
_ESCAPED = re.compile(r"\\([0-7]{3})")


class Notices:
    """Watches on the folders of one tree; not for several threads at once.

    Args:
        root: Of the tree, without links in it.

    Raises:
        OSError: No watches are left, or the system has none; or the tree lies where notices do not tell everything.
    """

    def __init__(self, root: str) -> None:
        self.over = False
        """Nothing is told any more: this process is a fork of the one that watches, or something else is mounted."""
        self._root = root
        self._process = os.getpid()
        # Asked whether mounts have changed before they are read: a change in between is then told, not missed.
        self._mount_table = open(MOUNTS, encoding="utf-8", errors="surrogateescape")  # noqa: SIM115 - kept open
        self._mount_changes = select.poll()
        self._mount_changes.register(self._mount_table, select.POLLPRI | select.POLLERR)
        self._mount_changes.poll(0)
        self._mounts = mounts_below(root, self._mount_table.read())
        if not self._mounts or not {kind for _, kind in self._mounts} <= LOCAL_TYPES:
            self._mount_table.close()
            raise OSError("the tree, or a part of it, lies on a file system whose changes may come from elsewhere")
        self._queue = INotify(nonblocking=True)
        self._places: dict[int, str] = {}

    def close(self) -> None:
        """Give the watches back."""
        self._queue.close()
        self._mount_table.close()

    def cover(self, look: Look) -> None:
        """Watch everything that a look rests on, and no more; what has been watched stays so without a gap.

        Raises:
            OSError: No watches are left.
        """
        places: dict[int, str] = {}
        for folder in look.folders:
            self._watch(folder, places, flags.ONLYDIR | flags.DONT_FOLLOW)
        for place in look.apart:
            self._watch(place, places, flags.DONT_FOLLOW)
        for gone in self._places.keys() - places.keys():
            self._forget(gone)
        self._places = places

    def add(self, folder: str) -> None:
        """Watch one more folder. Raises what `cover` raises."""
        self._watch(folder, self._places, flags.ONLYDIR | flags.DONT_FOLLOW)

    def _watch(self, place: str, places: dict[int, str], how: int) -> None:
        mask = _ENTRIES | _CONTENT | _SELF | how
        try:
            places[self._queue.add_watch(place, mask)] = place
        except (FileNotFoundError, NotADirectoryError):
            return  # gone since: the folder above tells, or the look that follows

    def _forget(self, watch: int) -> None:
        try:
            self._queue.rm_watch(watch)
        except OSError:
            return  # the kernel has forgotten it already

    def news(self, look: Look) -> frozenset[str] | None:
        """Places that something has happened to since this was last asked; what no listing rests on is left out.

        Returns:
            Absolute paths; None where only a look at everything can tell: notices were lost, a folder was renamed, or
            these notices are over.
        """
        if os.getpid() != self._process or self._remounted():
            self.over = True
            return None
        lost = False
        found: set[str] = set()
        for watch, mask, _, name in self._queue.read(timeout=0):
            folder = self._places.get(watch)
            if mask & flags.IGNORED:
                self._places.pop(watch, None)
            elif mask & _LOST:
                lost = True
            elif folder is None:
                continue  # of a watch that was given back
            elif mask & flags.MOVE_SELF or (mask & flags.ISDIR and mask & (flags.MOVED_FROM | flags.MOVED_TO)):
                lost = True
            else:
                place = f"{folder}/{name}" if name else folder
                if mask & (_ENTRIES | _SELF) or look.knows(place):
                    found.add(place)
        return None if lost else frozenset(found)

    def _remounted(self) -> bool:
        """Whether other file systems are mounted at the tree than when it began to be watched."""
        if not self._mount_changes.poll(0):
            return False
        self._mount_table.seek(0)
        return mounts_below(self._root, self._mount_table.read()) != self._mounts


def mounts_below(root: str, table: str) -> tuple[tuple[str, str], ...]:
    """(place, type) of the mount that holds a folder, and of every one below the folder; () where the table does not tell.

    Args:
        table: Of the kernel's format of `/proc/self/mountinfo`, later mounts last.
    """
    holds: tuple[str, str, str] = ("", "", "")
    below: list[tuple[str, str]] = []
    for line in table.splitlines():
        fields, _, rest = line.partition(" - ")
        _, _, device, _, place, *_ = fields.split(" ")
        place = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), place)
        kind = rest.split(" ", 1)[0]
        if place.startswith(root + "/"):
            below.append((place, kind))
        elif (root + "/").startswith(place.rstrip("/") + "/") and len(place) >= len(holds[0]):
            holds = (place, kind, device)
    number = os.stat(root).st_dev
    # btrfs gives each subvolume a number of its own, which the table does not show
    if holds[1] != "btrfs" and holds[2] != f"{os.major(number)}:{os.minor(number)}":
        return ()
    return ((holds[0], holds[1]), *below)
