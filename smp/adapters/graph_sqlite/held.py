"""What was read of the store and is likely to be asked for again, while nobody changes the file.

A question takes the same nodes apart that the one before has taken apart; what lies around the busiest of them is most of
what a walk costs. Everything is let go with the first change of the file by whoever (`Database.state`).
"""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smp.adapters.graph_sqlite.rows import chunks
from smp.domain.graph import Node, Scores
from smp.domain.ids import NodeId
from smp.domain.metadata import Enrichment
from smp.domain.packing import decode_node

if TYPE_CHECKING:
    from smp.adapters.graph_sqlite.database import (
        Database,
    )  # which knows the words' tables, whose module knows this one

MOST_NODES = 16_384
"""Beyond it, all are let go before more are kept."""
MOST_NEIGHBOURS = 500_000
"""Entries of adjacency, about 20 MB."""
SMALL_SCAN = 4_096
"""Nodes of one kind up to which a whole scan is kept."""

SMALL_BLOB = 4_096
"""Bytes."""
FEW_KEYS = 256

Direct = tuple[str, str]
"""The end of an edge that is known (`source` or `target`), and the numbers of the kinds that count, with commas."""


class Holding:
    """A store on a database, with what is held of its present state."""

    _database: Database
    _last: Held | None = None

    def _held(self) -> Held:
        """What is held of the present state of the file; nothing, and for this once, where this thread sees another one."""
        state, held = self._database.state(), self._last
        if state is None:
            return Held(0)
        if held is None or held.state != state:
            held = self._last = Held(state)
        return held


class Held:
    """Of one state of the file; filled by any thread, bounded."""

    def __init__(self, state: int) -> None:
        self.state = state
        self.nodes: dict[NodeId, Node] = {}
        self.by_key: dict[int, Node] = {}
        self.scores: dict[NodeId, Scores] = {}
        self.enrichments: dict[NodeId, Enrichment | None] = {}
        self.scans: dict[tuple[str, ...], tuple[Node, ...]] = {}
        self.found: dict[str, tuple[Node, ...]] = {}
        self.blobs: dict[tuple[str, str], bytes | None] = {}
        self.keys: dict[str, tuple[str, ...]] = {}
        self._adjacent: dict[Direct, dict[int, tuple[int, ...]]] = {}
        self._neighbours = 0

    def keep_blobs(self, kind: str, asked: Iterable[str], found: dict[str, bytes]) -> None:
        """Keep what was found, and not found, of the small ones among some keys."""
        if len(self.blobs) > MOST_NODES:
            self.blobs = {}
        for key in asked:
            body = found.get(key)
            if body is None or len(body) <= SMALL_BLOB:
                self.blobs[kind, key] = body

    def keep_found(self, name: str, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """Keep what a reference may mean."""
        if len(self.found) > MOST_NODES:
            self.found = {}
        self.found[name] = nodes
        return nodes

    def keep_nodes(self, found: Iterable[tuple[int, Node]]) -> None:
        """Keep (key, node) pairs."""
        if len(self.by_key) > MOST_NODES:
            self.by_key, self.nodes = {}, {}
        for key, node in found:
            self.by_key[key] = self.nodes[node.id] = node

    def nodes_at(self, connection: sqlite3.Connection, keys: Iterable[int]) -> list[tuple[int, Node]]:
        """(key, node) of these keys, read where they are not held; unknown keys are left out."""
        wanted, known = sorted(keys), self.by_key
        found = [(key, known[key]) for key in wanted if key in known]
        for marks, part in chunks(key for key in wanted if key not in known):
            rows = connection.execute(f"SELECT key, body FROM node WHERE key IN ({marks})", part)
            read = [(int(row[0]), decode_node(row[1])) for row in rows]
            self.keep_nodes(read)
            found += read
        return found

    def keep_enrichments(self, found: dict[NodeId, Enrichment | None]) -> None:
        """Keep what was annotated to some nodes, None for those without."""
        if len(self.enrichments) > MOST_NODES:
            self.enrichments = {}
        self.enrichments.update(found)

    def keep_scores(self, found: dict[NodeId, Scores]) -> None:
        """Keep the scores of some nodes."""
        if len(self.scores) > MOST_NODES:
            self.scores = {}
        self.scores.update(found)

    def adjacent(self, direct: Direct) -> dict[int, tuple[int, ...]]:
        """What is known of the neighbours of nodes, by key."""
        return self._adjacent.setdefault(direct, {})

    def keep_adjacent(self, direct: Direct, found: dict[int, tuple[int, ...]]) -> None:
        """Keep the neighbours of some nodes, of which `()` says that there are none."""
        self._neighbours += sum(map(len, found.values())) + len(found)
        if self._neighbours > MOST_NEIGHBOURS:
            self._adjacent, self._neighbours = {}, 0
            return
        self._adjacent.setdefault(direct, {}).update(found)
