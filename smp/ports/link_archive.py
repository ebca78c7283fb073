"""Where the last link of a family of files is kept beside the index, so that a new process need not link everything anew.

An archive is written whole and never changed; who reads it takes from it what a question needs. It is a cache: whoever finds
none, or one that is damaged, works it out again.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable


class DamagedArchive(Exception):
    """What an archive holds is not what was written; it is to be made anew."""


class LinkArchive(abc.ABC):
    """One archive, open; it stays readable when it is replaced meanwhile."""

    @abc.abstractmethod
    def get(self, key: str) -> bytes | None:
        """What was written under a key. Raises `DamagedArchive`."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let go of the file; nothing can be read afterwards."""


class LinkArchives(abc.ABC):
    """The archives of one index."""

    @abc.abstractmethod
    def open(self, name: str, stamp: str) -> LinkArchive | None:
        """The archive of a name; None if there is none, or none that was written whole and with this stamp."""

    @abc.abstractmethod
    def write(self, name: str, stamp: str, entries: Iterable[tuple[str, bytes]]) -> bool:
        """Replace an archive, whole or not at all; each key once. False: it cannot be written, and the one before is gone."""

    @abc.abstractmethod
    def drop(self, name: str) -> None:
        """Forget an archive."""
