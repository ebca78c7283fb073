"""Where snapshots of an index lie."""

from __future__ import annotations

import abc
from contextlib import AbstractContextManager
from typing import BinaryIO


class SnapshotStore(abc.ABC):
    @abc.abstractmethod
    def create(self, snapshot_id: str) -> AbstractContextManager[BinaryIO]:
        """A stream to write a new snapshot to; it is there when the block ends, whole, and not at all when it raises.

        Raises:
            Unavailable: It cannot be written.
        """

    @abc.abstractmethod
    def open(self, snapshot_id: str) -> AbstractContextManager[BinaryIO]:
        """A stream to read a snapshot from, sequentially.

        Raises:
            SnapshotInvalid: There is none of this id.
            Unavailable: It cannot be read.
        """
