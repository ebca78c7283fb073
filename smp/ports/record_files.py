"""The files of records and of the graph over them (spec/records.md section 1). Bytes only: what they mean is not decided here."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from contextlib import AbstractContextManager
from enum import StrEnum


class RecordFile(StrEnum):
    """Each file, by its path below the data directory."""

    EPISODES = "memory/episodes.jsonl"
    FACTS = "memory/facts.jsonl"
    RULES = "evolve/rules.json"
    EDGES = "graph/edges.jsonl"
    INDEX = "graph/edges.index.json"


class RecordFiles(abc.ABC):
    """Reading creates nothing; only `writing` and what is done under it touches the disk."""

    @abc.abstractmethod
    def read(self, file: RecordFile) -> bytes | None:
        """The whole file; None when there is none.

        Raises:
            Unavailable: It cannot be read.
        """

    @abc.abstractmethod
    def writing(self, file: RecordFile) -> AbstractContextManager[None]:
        """The right to write the file and those beside it, held by one process and thread at a time; waits for it.

        Raises:
            Unavailable: Its folder cannot be made or written.
        """

    @abc.abstractmethod
    def append(self, file: RecordFile, lines: Iterable[bytes]) -> int:
        """Add whole lines (without their newline), each by one write; a torn line before them is ended first.

        Returns:
            The file's length in bytes afterwards.

        Raises:
            Unavailable: There is no room, or no right to write; what was written stays whole lines.
        """

    @abc.abstractmethod
    def replace(self, file: RecordFile, body: bytes) -> None:
        """Put a new file in the old one's place: readers see the one or the other, also after a crash.

        Raises:
            Unavailable: See `append`.
        """

    @abc.abstractmethod
    def set_aside(self, file: RecordFile) -> None:
        """Rename a damaged file to `<name>.corrupt`, for people to look at."""

    @abc.abstractmethod
    def delete(self, files: Iterable[RecordFile]) -> None:
        """Delete files; those that are not there are no error."""

    @abc.abstractmethod
    def place(self, file: RecordFile) -> str:
        """The folder that holds the file, for people."""
