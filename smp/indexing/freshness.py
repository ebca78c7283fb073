"""Is the index that of the working tree? Asked before every answer, so it must cost next to nothing while nothing changes.

A source tree gives the same `Listing` object while the tree is unchanged, and every change of the graph raises the
generation; what was found for a listing, a generation and the pushed content holds while all three stay.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
        self._told: tuple[_Compared, Freshness] | None = None
        """What was said of a tree that had just been seen to be of the commit that is indexed; it holds for both."""
        self._looked = threading.local()
        """Per thread what the question at hand has found when it looked at the tree: one look serves all of an answer."""

    def begin(self) -> None:
        """A question begins on this thread."""
        if not self.settled:
            self._looked.found = None

    @property
    def settled(self) -> bool:
        """Whether this thread has looked for the question at hand, and all was as it is indexed (`settling`)."""
        return getattr(self._looked, "settled", False)

    @contextmanager
    def settling(self, index_format: int) -> Iterator[bool]:
        """Look once for all of a question; says whether the index holds, and while it does `settled` is true."""
        self.begin()
        self._looked.settled = holds = self.holds(index_format)
        try:
            yield holds
        finally:
            self._looked.settled = False

    def holds(self, index_format: int) -> bool:
        """Whether the index is of this format, of the tree as it lies there, and of the commit checked out."""
        if self.settled:
            return True
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
        commit, told = record.commit_sha if record else None, self._told
        if self.settled and told is not None and told[0] is compared and told[1].commit_sha == commit:
            return told[1]
        answer = Freshness(commit_sha=commit, dirty=self._sources.dirty(compared.listing), stale=compared.stale)
        if self.settled:
            self._told = (compared, answer)
        return answer

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


@contextmanager
def at_once(lock: threading.RLock, cache: IndexCache, freshness: IndexFreshness, index_format: int) -> Iterator[bool]:
    """Look at the tree for a question that must not wait.

    Args:
        lock: Held by whoever indexes.

    Returns:
        False where somebody indexes, or has to before the question can be answered. Otherwise this thread takes the index for
        that of the tree, as it has just seen it, while the context is open.
    """
    if not lock.acquire(blocking=False):
        yield False
        return
    try:
        with cache.steady(), freshness.settling(index_format) as holds:
            yield holds
    finally:
        lock.release()
