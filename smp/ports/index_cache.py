"""What the indexer remembers between runs: content hashes, per-file summaries, facts read while linking."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from smp.domain.ids import ContentHash, FilePath


class IndexCache(abc.ABC):
    @abc.abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Everything that this thread writes inside commits together, or not at all when the block raises.

        Covers the graph, metadata and telemetry stores that share the cache's database. A transaction inside a
        transaction joins it. Other threads and processes see nothing of it before it has ended.
        """

    def steady(self) -> AbstractContextManager[None]:
        """For questions that take next to no time: inside, this thread may be told what was true when it began. A store to
        which looking for changes costs something overrides this."""
        return nullcontext()

    @abc.abstractmethod
    def file_hashes(self) -> dict[FilePath, ContentHash]:
        """Content hash of every indexed file."""

    @abc.abstractmethod
    def put_file_hashes(self, hashes: dict[FilePath, ContentHash], removed: Iterable[FilePath]) -> None:
        """Record what has been indexed. Part of the transaction opened by `transaction`, when one is open."""

    @abc.abstractmethod
    def blobs(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """Stored bytes by key; missing keys are left out. Kinds: `summary`, `facts`, `meta` …"""

    @abc.abstractmethod
    def put_blobs(self, kind: str, blobs: dict[str, bytes]) -> None:
        """Store bytes by key, replacing."""

    @abc.abstractmethod
    def drop_blobs(self, kind: str, keys: Iterable[str]) -> None:
        """Forget these keys."""

    @abc.abstractmethod
    def keys(self, kind: str) -> tuple[str, ...]:
        """All keys of a kind, sorted."""
