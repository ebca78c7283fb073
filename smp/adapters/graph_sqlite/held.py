"""What was read of the store and is likely to be asked for again, while nobody changes the file.

A question takes the same nodes apart that the one before has taken apart; what lies around the busiest of them is most of
what a walk costs. Everything is let go with the first change of the file by whoever (`Database.state`).
"""

from __future__ import annotations

from collections.abc import Iterable

from smp.domain.graph import Node, Scores
from smp.domain.ids import NodeId

MOST_NODES = 16_384
"""Beyond it, all are let go before more are kept."""
MOST_NEIGHBOURS = 500_000
"""Entries of adjacency, about 20 MB."""
SMALL_SCAN = 4_096
"""Nodes of one kind up to which a whole scan is kept."""

Direct = tuple[str, str]
"""The end of an edge that is known (`source` or `target`), and the numbers of the kinds that count, with commas."""


class Held:
    """Of one state of the file; filled by any thread, bounded."""

    def __init__(self, state: int) -> None:
        self.state = state
        self.nodes: dict[NodeId, Node] = {}
        self.by_key: dict[int, Node] = {}
        self.scores: dict[NodeId, Scores] = {}
        self.scans: dict[tuple[str, ...], tuple[Node, ...]] = {}
        self._adjacent: dict[Direct, dict[int, tuple[int, ...]]] = {}
        self._neighbours = 0

    def keep_nodes(self, found: Iterable[tuple[int, Node]]) -> None:
        """Keep (key, node) pairs."""
        if len(self.by_key) > MOST_NODES:
            self.by_key, self.nodes = {}, {}
        for key, node in found:
            self.by_key[key] = self.nodes[node.id] = node

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
