"""Is the index that of the working tree? Asked before every answer, so it must cost next to nothing while nothing changes.

A source tree gives the same `Listing` object while the tree is unchanged, and every change of the graph raises the
generation; what was found for a listing, a generation and the pushed content holds while all three stay.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import NamedTuple

from smp.domain.ids import FilePath
from smp.indexing.merkle import build_tree
from smp.indexing.records import IndexRecord, Pushed, load_pushed, load_record
from smp.indexing.reports import Freshness, IndexState
from smp.indexing.requests import target_of
from smp.ports.index_cache import IndexCache
from smp.ports.source_tree import Listing, SourceTree


class _Compared(NamedTuple):
    """stale: files that differ. overtaken: whether pushed content has been overtaken by the disk."""

    listing: Listing
    generation: int
    pushes: Mapping[FilePath, Pushed]
    stale: tuple[FilePath, ...]
    overtaken: bool


class IndexFreshness:
    """Compares tree and index; any thread may ask."""

    def __init__(self, cache: IndexCache, sources: SourceTree) -> None:
        self._cache = cache
        self._sources = sources
        self._known: _Compared | None = None
        self._looked = threading.local()
        """Per thread what the question at hand has found when it looked at the tree: one look serves all of an answer."""

    def begin(self) -> None:
        """A question begins on this thread."""
        self._looked.found = None

    def holds(self, index_format: int) -> bool:
        """Whether the index is of this format, of the tree as it lies there, and of the commit checked out."""
        record = load_record(self._cache)
        if record is None or record.format != index_format or record.commit_sha != self._sources.head():
            return False
        compared = self._compare(record)
        fresh = not compared.stale and not compared.overtaken
        self._looked.found = compared if fresh else None
        return fresh

    def of_answer(self) -> Freshness:
        """What an answer that is given now is made from."""
        record = load_record(self._cache)
        found: _Compared | None = getattr(self._looked, "found", None)
        as_seen = found is not None and record is not None and found.generation == record.generation
        compared = found if as_seen and found is not None else self._compare(record)
        return Freshness(
            commit_sha=record.commit_sha if record else None,
            dirty=self._sources.dirty(compared.listing),
            stale=compared.stale,
        )

    def state(self) -> IndexState:
        """Which tree the graph was built from, and which files have changed since."""
        record = load_record(self._cache)
        return IndexState(
            commit_sha=record.commit_sha if record else None,
            root_hash=record.root_hash if record else build_tree({}).hash,
            files=len(self._cache.file_hashes()),
            built_at=record.built_at if record else None,
            stale=self._compare(record).stale,
        )

    def _compare(self, record: IndexRecord | None) -> _Compared:
        generation = record.generation if record else 0
        listing, pushes, known = self._sources.list(), load_pushed(self._cache), self._known
        if known is None or known.listing is not listing or known.generation != generation or known.pushes != pushes:
            indexed, target = self._cache.file_hashes(), target_of(listing, pushes)
            paths = indexed.keys() | target.files.keys()
            stale = sorted(path for path in paths if indexed.get(path) != target.files.get(path))
            known = _Compared(listing, generation, pushes, tuple(stale), bool(target.overtaken))
            self._known = known
        return known
