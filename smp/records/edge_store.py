"""The store of edges: always usable, bounded, and never written by a read (record-graph.txt section 6).

What is wrong on disk degrades it to what can still be read and is said in `warnings`; it never raises for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from smp.domain.errors import Unavailable
from smp.domain.records import RecordEdge, instant
from smp.ports.record_files import RecordFile, RecordFiles
from smp.records.edge_files import Corrupt, encode_index, encode_line, parse_index, parse_log

MAX_EDGES = 20_000


class EdgeStore:
    """One opening of the store.

    Attributes:
        edges: By id, in the order of the log; `at`, `run_id` and `note` as last seen.
        warnings: What was found wrong, for people.
    """

    def __init__(self, files: RecordFiles) -> None:
        self._files = files
        self.warnings: list[str] = []
        self.edges: dict[str, RecordEdge] = {}
        self._log_bytes = 0
        self._index: bytes | None = None
        self._corrupt = False
        self._load()

    @property
    def log_bytes(self) -> int:
        """Length of the log."""
        return self._log_bytes

    def add(self, sightings: Iterable[RecordEdge]) -> int:
        """Take edges in: new ones are appended to the log, known ones refreshed in the index alone. Hold `locked`.

        Returns:
            How many are new.
        """
        merged = dict(self.edges)
        for edge in sightings:
            known = merged.get(edge.id)
            if known is None or instant(edge.at) >= instant(known.at):
                merged[edge.id] = edge
        kept = _newest(merged)
        fresh = [edge for key, edge in kept.items() if key not in self.edges]
        dropped = len(self.edges) + len(fresh) - len(kept)
        self.edges = kept
        self._write(fresh, rewrite=dropped > 0)
        return len(fresh)

    def prune(self, before: str) -> int:
        """Drop edges that were last seen at or before a moment (RFC 3339). Hold `locked`.

        Returns:
            How many were dropped.
        """
        kept = {key: edge for key, edge in self.edges.items() if instant(edge.at) > instant(before)}
        dropped = len(self.edges) - len(kept)
        self.edges = kept
        self._write((), rewrite=dropped > 0)
        return dropped

    def _load(self) -> None:
        try:
            log = self._files.read(RecordFile.EDGES) or b""
            self._index = self._files.read(RecordFile.INDEX)
        except Unavailable as error:
            self.warnings.append(error.message)
            return
        self._log_bytes = len(log)
        if self._index is not None:
            try:
                length, edges = parse_index(self._index)
            except Corrupt:
                self._corrupt = True
                self.warnings.append(
                    f"{RecordFile.INDEX.value} cannot be read; it was rebuilt in memory, and the next command that writes sets it aside"
                )
            else:
                if length == len(log):
                    self.edges = edges
                    return
        self.edges = parse_log(log, self.warnings)

    def _write(self, fresh: Iterable[RecordEdge], *, rewrite: bool) -> None:
        try:
            if rewrite:
                # Gone first: what replaces the log may have its length, and an index is believed by that.
                self._set_index_aside()
                body = b"".join(encode_line(edge) + b"\n" for edge in self.edges.values())
                self._files.replace(RecordFile.EDGES, body)
                self._log_bytes = len(body)
            elif fresh:
                self._log_bytes = self._files.append(RecordFile.EDGES, map(encode_line, fresh))
            if self._corrupt:
                self._set_index_aside()
            body = encode_index(self.edges.values(), log_bytes=self._log_bytes)
            if body != self._index:
                self._files.replace(RecordFile.INDEX, body)
                self._index = body
        except Unavailable as error:
            self.warnings.append(f"{error.message}; nothing was kept")

    def _set_index_aside(self) -> None:
        """A damaged one is kept for people to look at."""
        if self._corrupt:
            self._files.set_aside(RecordFile.INDEX)
        else:
            self._files.delete((RecordFile.INDEX,))
        self._corrupt, self._index = False, None


def locked(files: RecordFiles, warnings: list[str]) -> AbstractContextManager[None]:
    """The right to write the store; where there is none, a warning, and work in memory alone."""
    held = files.writing(RecordFile.EDGES)
    try:
        held.__enter__()
    except Unavailable as error:
        warnings.append(error.message)
        return nullcontext()
    return _Entered(held)


class _Entered(AbstractContextManager[None]):
    """A context that was entered already."""

    def __init__(self, held: AbstractContextManager[None]) -> None:
        self._held = held

    def __exit__(self, *why: object) -> None:
        self._held.__exit__(None, None, None)


def _newest(edges: dict[str, RecordEdge]) -> dict[str, RecordEdge]:
    """The newest edges by `at`, then id, in their present order; all of them while the bound is kept."""
    if len(edges) <= MAX_EDGES:
        return edges
    ranked = sorted(edges.values(), key=lambda edge: (instant(edge.at), edge.id), reverse=True)
    chosen = {edge.id for edge in ranked[:MAX_EDGES]}
    return {key: edge for key, edge in edges.items() if key in chosen}
