"""`ranking: "fusion"`: words lead, similarity joins, the graph re-ranks.

Candidates are what BM25 over weighted fields and the vectors bring up. Each starts with its share of the best BM25 score and
of the best similarity; to that comes what stands around it: candidates that it calls or that call it, members of its class,
its file, tests that match the question and cover it. How long a definition is counts a little, for there is more in it to be
asked about. The weights were tuned on six packages and are reported on six others (docs/benchmarks.md, "Finding").

What lies in test files comes behind all source, unless the question is about tests.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from msgspec import Struct

from smp.domain.graph import CALLS, Direction, EdgeKind, Node, NodeKind
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.words import split_words
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import nodes_by_id

K = TypeVar("K", bound=Hashable)

POOL = 100
"""Candidates that words and vectors bring in, each; a page of results is cut out of their union."""
MATCHING_TESTS = 30
TEST_WORDS = frozenset({"fixture", "fixtures", "mock", "pytest", "test", "tests", "testing", "unittest"})
"""Words by which a question asks for tests."""


class Weights(Struct, frozen=True, kw_only=True):
    """What each signal, in [0, 1], adds to a candidate's score."""

    text: float = 1.0
    vector: float = 0.5
    calls: float = 0.15
    called_by: float = 0.15
    tests: float = 0.2
    siblings: float = 0.15
    file_text: float = 0.15
    file: float = 0.1
    length: float = 0.3
    holder: float = -0.2
    heat: float = 0.05


WEIGHTS = Weights()
_BEST = sum(weight for weight in (getattr(WEIGHTS, name) for name in Weights.__struct_fields__) if weight > 0)
_LOG_LINES = 8.0
"""log(1 + lines) of the longest definition there is, about: the scale of `length`."""
_HOLDERS = (NodeKind.CLASS, NodeKind.INTERFACE)


class Matches(Struct, frozen=True, kw_only=True):
    """What the words of a question bring up: BM25 by candidate, by file, and by test."""

    candidates: Mapping[NodeId, float]
    files: Mapping[FilePath, float]
    tests: Mapping[NodeId, float]


def fused(
    graph: GraphStore,
    nodes: Mapping[NodeId, Node],
    matches: Matches,
    *,
    similar: Mapping[NodeId, float],
    heat: Mapping[NodeId, int],
) -> dict[NodeId, float]:
    """A score in [0, 1] for each candidate.

    Args:
        nodes: The candidates.
        similar: Cosine of each; what has no vector is left out. heat: in 0..100.
    """
    text = _shares(matches.candidates)
    vector = _stretched({node: similar[node] for node in nodes if node in similar})
    start = {node: text.get(node, 0.0) + WEIGHTS.vector * vector.get(node, 0.0) for node in nodes}
    calls, called_by = _along_calls(graph, start)
    tests = _shares(_covered(graph, matches.tests, start))
    files = _shares(_sums((nodes[node].file or "", score) for node, score in start.items()))
    file_text = _shares(matches.files)
    siblings = _shares(_siblings(nodes, start))
    return {
        node_id: max(
            0.0,
            start[node_id]
            + WEIGHTS.calls * calls.get(node_id, 0.0)
            + WEIGHTS.called_by * called_by.get(node_id, 0.0)
            + WEIGHTS.tests * tests.get(node_id, 0.0)
            + WEIGHTS.siblings * siblings.get(node_id, 0.0)
            + WEIGHTS.file * files.get(node.file or "", 0.0)
            + WEIGHTS.file_text * (file_text.get(node.file, 0.0) if node.file is not None else 0.0)
            + WEIGHTS.length * min(1.0, math.log1p(_lines(node)) / _LOG_LINES)
            + (WEIGHTS.holder if node.kind in _HOLDERS else 0.0)
            + WEIGHTS.heat * heat.get(node_id, 0) / 100,
        )
        / _BEST
        for node_id, node in nodes.items()
    }


def asks_for_tests(text: str, kinds: Iterable[NodeKind]) -> bool:
    """Whether a question wants what lies in test files as much as source."""
    return NodeKind.TEST in kinds or not TEST_WORDS.isdisjoint(split_words(text))


def in_test_files(graph: GraphStore, nodes: Iterable[Node]) -> frozenset[NodeId]:
    """Those of these nodes that lie in test files."""
    held = [node for node in nodes if node.file is not None]
    paths = {mint_node_id("file", node.file) for node in held if node.file is not None}
    tests = {node.file for node in nodes_by_id(graph, paths).values() if node.role == "test"}
    return frozenset(node.id for node in held if node.file in tests)


def _shares(scores: Mapping[K, float]) -> dict[K, float]:
    """Each score as a share of the highest."""
    top = max(scores.values(), default=0.0)
    return {key: score / top for key, score in scores.items()} if top > 0 else {}


def _stretched(similar: Mapping[NodeId, float]) -> dict[NodeId, float]:
    """Similarities from 0 for the least of the pool's nearest to 1 for the nearest: a cosine says little by itself."""
    nearest = sorted(similar.values(), reverse=True)[:POOL]
    if not nearest:
        return {}
    low, high = nearest[-1], nearest[0]
    width = max(high - low, 1e-6)
    return {node: min(1.0, max(0.0, (score - low) / width)) for node, score in similar.items()}


def _along_calls(graph: GraphStore, start: Mapping[NodeId, float]) -> tuple[dict[NodeId, float], dict[NodeId, float]]:
    """The best candidate that each calls, and that calls it."""
    calls: dict[NodeId, float] = {}
    called_by: dict[NodeId, float] = {}
    for source, target in graph.links(start, CALLS):
        if target != source:
            calls[source] = max(calls.get(source, 0.0), start[target])
            called_by[target] = max(called_by.get(target, 0.0), start[source])
    return calls, called_by


def _covered(graph: GraphStore, tests: Mapping[NodeId, float], start: Mapping[NodeId, float]) -> dict[NodeId, float]:
    best = sorted(tests, key=lambda test: (-tests[test], test))[:MATCHING_TESTS]
    edges = graph.edges(sorted(best), kinds=(EdgeKind.TESTS,), direction=Direction.OUTGOING) if best else ()
    return _sums(
        (edge.target, tests[edge.source]) for edge in edges if edge.target is not None and edge.target in start
    )


def _siblings(nodes: Mapping[NodeId, Node], start: Mapping[NodeId, float]) -> dict[NodeId, float]:
    """What the other candidates of the same class have together."""
    holder = {node_id: (node.file, node.qualname.rpartition(".")[0]) for node_id, node in nodes.items()}
    sums = _sums((holder[node], score) for node, score in start.items())
    return {node: sums[holder[node]] - score for node, score in start.items() if holder[node][1]}


def _sums(scores: Iterable[tuple[K, float]]) -> dict[K, float]:
    summed: defaultdict[K, float] = defaultdict(float)
    for key, score in scores:
        summed[key] += score
    return dict(summed)


def _lines(node: Node) -> int:
    return node.lines or max(1, node.end_line - node.start_line + 1)
