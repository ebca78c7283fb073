"""Bounded, deterministic questions to the edges (record-graph.txt section 7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from smp.domain.records import Direction, Hop, KnownAboutFile, RecordEdge, WalkedPath
from smp.records.nodes import kind_of, value_of

DEFAULT_DEPTH = 3
"""The chain that matters: file, episode, failure, rule."""
MAX_DEPTH = 6
MAX_NODES = 1000


class Walk(Struct, frozen=True, kw_only=True):
    """Paths in the order in which nodes were reached; `truncated` when there were more than the bound."""

    paths: tuple[WalkedPath, ...]
    truncated: bool


class Adjacency:
    """The edges by their ends, each list sorted by the far end, then the type."""

    def __init__(self, edges: Iterable[RecordEdge]) -> None:
        self._out: dict[str, list[RecordEdge]] = {}
        self._in: dict[str, list[RecordEdge]] = {}
        for edge in edges:
            self._out.setdefault(edge.source, []).append(edge)
            self._in.setdefault(edge.target, []).append(edge)
        for listed in self._out.values():
            listed.sort(key=lambda edge: (edge.target, edge.type))
        for listed in self._in.values():
            listed.sort(key=lambda edge: (edge.source, edge.type))

    def nodes(self) -> int:
        """How many nodes have an edge."""
        return len(self._out.keys() | self._in.keys())

    def around(self, node: str, direction: Direction, types: frozenset[str]) -> list[tuple[str, RecordEdge, bool]]:
        """(far end, edge, followed forward) of each edge of a node; no types: all of them."""
        found: list[tuple[str, RecordEdge, bool]] = []
        if direction != "in":
            found += [(edge.target, edge, True) for edge in self._out.get(node, ())]
        if direction != "out":
            found += [(edge.source, edge, False) for edge in self._in.get(node, ())]
        if types:
            found = [entry for entry in found if entry[1].type in types]
        return sorted(found, key=lambda entry: (entry[0], entry[1].type, not entry[2]))

    def walk(self, origin: str, direction: Direction, types: frozenset[str], *, depth: int) -> Walk:
        """Breadth first; each node once, by the first shortest path; the origin is left out."""
        seen = {origin}
        paths: list[WalkedPath] = []
        waiting: deque[tuple[str, tuple[Hop, ...]]] = deque([(origin, ())])
        while waiting:
            node, hops = waiting.popleft()
            if len(hops) == depth:
                continue
            for far, edge, forward in self.around(node, direction, types):
                if far in seen:
                    continue
                if len(paths) == MAX_NODES:
                    return Walk(paths=tuple(paths), truncated=True)
                seen.add(far)
                there = (*hops, Hop(source=node, target=far, type=edge.type, forward=forward))
                paths.append(WalkedPath(depth=len(there), node=far, hops=there))
                waiting.append((far, there))
        return Walk(paths=tuple(paths), truncated=False)

    def known_about(self, file: str) -> KnownAboutFile:
        """What broke in a file and what fixed it; `file` is its node. Only ends of the right kind count."""
        episodes = self._ends(file, "touched", "episode", forward=False)
        counts: dict[str, int] = {}
        for episode in episodes:
            for failure in self._ends(episode, "produced", "failure", forward=True):
                counts[failure] = counts.get(failure, 0) + 1
        fixed = {failure: self._ends(failure, "resolved_by", "rule", forward=True) for failure in sorted(counts)}
        return KnownAboutFile(
            episodes=tuple(map(value_of, episodes)),
            failures=tuple(value_of(failure) for failure in sorted(counts)),
            file=value_of(file),
            fixed_by={value_of(failure): tuple(map(value_of, rules)) for failure, rules in fixed.items() if rules},
            node=file,
            rules=tuple(sorted({value_of(rule) for rules in fixed.values() for rule in rules})),
            seen_counts={value_of(failure): counts[failure] for failure in sorted(counts)},
        )

    def _ends(self, node: str, type_: str, kind: str, *, forward: bool) -> list[str]:
        around = self.around(node, "out" if forward else "in", frozenset({type_}))
        return sorted({far for far, _, _ in around if kind_of(far) == kind})
