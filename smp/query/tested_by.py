"""Which test files guard a change: the pairs that the integrity gate judges.

A test file that is part of the change comes first: it is what the author offers as proof. Otherwise those count that a traced run
of the tests has seen to reach the changed functions; where there was none, those that call the changed code, or that call it
through the fewest other functions. Nearest first: what is close to code is about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from smp.domain.graph import Direction, EdgeKind, Node, NodeKind, Scope
from smp.domain.ids import FilePath, NodeId
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import CALLABLE_KINDS, FILE_KINDS, callers_by_target
from smp.query.roles import role_of

_MOST_STEPS = 8
_MOST_CALLERS = 2000
"""Bounds of the search for tests that reach code through other code: beyond them a test says little about it."""
_MOST_TESTS = 8
"""Test files of a target; each is run, and the ninth nearest seldom knows what eight do not."""

Seen = Mapping[NodeId, Collection[NodeId]]
"""Who was seen to call a function, by function."""


class Guarding(Struct, frozen=True, kw_only=True):
    """`pairs`: (target, test file), by target, for each the likeliest test first. `untested`: changed files with code that no test file reaches."""

    pairs: tuple[tuple[FilePath, FilePath], ...]
    untested: tuple[FilePath, ...]


def is_test_file(graph: GraphStore, file: FilePath) -> bool:
    """Whether a file holds tests, by the graph's own rule; a file that the graph does not have is none."""
    node = next((node for node in graph.find(file) if node.kind in FILE_KINDS), None)
    if node is None:
        return False
    defined = tuple(found for found in graph.scan(Scope(kind="file", prefix=file)) if found.id != node.id)
    return role_of(node, defined, importers=0, imports=0) == "test"


def guarding_tests(
    graph: GraphStore,
    changed: Mapping[FilePath, frozenset[int] | None],
    *,
    offered: Iterable[FilePath] = (),
    seen: Seen | None = None,
) -> Guarding:
    """The pairs for a change.

    Args:
        graph: As it is with the change, so that its new tests count.
        changed: Files of the change and which of their lines are new, from 1; all when None. Deleted ones, tests and files
            without functions need no guard.
        offered: All files of the change: the tests among them are its proof.
        seen: Calls of the last traced run of the tests, by callee.
    """
    tests = {file for file in {*changed, *offered} if is_test_file(graph, file)}
    pairs: list[tuple[FilePath, FilePath]] = []
    untested: list[FilePath] = []
    for file in sorted(changed.keys() - tests):
        nodes = tuple(graph.scan(Scope(kind="file", prefix=file)))
        functions = [node for node in nodes if node.kind in CALLABLE_KINDS]
        if not functions:
            continue
        touched = frozenset(node.id for node in functions if _touches(node, changed[file]))
        # What is called in ways that the graph does not see may still be reached by a test of its neighbours.
        chosen = (
            _offered(graph, touched, tests)
            or _tests_seen(graph, touched, seen or {})
            or _nearest_tests(graph, touched)
            or _offered(graph, frozenset(node.id for node in nodes), tests)
            or _nearest_tests(graph, frozenset(node.id for node in nodes))
        )
        pairs += [(file, test) for test in chosen[:_MOST_TESTS]]
        if not chosen:
            untested.append(file)
    return Guarding(pairs=tuple(pairs), untested=tuple(untested))


def _touches(node: Node, lines: frozenset[int] | None) -> bool:
    return lines is None or any(node.start_line <= line <= node.end_line for line in lines)


def _offered(graph: GraphStore, ids: frozenset[NodeId], offered: set[FilePath]) -> list[FilePath]:
    """Those of these test files that reach the nodes, at any distance."""
    found = {test for here in _by_distance(graph, ids) for test in here & offered} if offered else set()
    return sorted(found)


def _nearest_tests(graph: GraphStore, ids: frozenset[NodeId]) -> list[FilePath]:
    """Test files that reach the nodes in the fewest steps."""
    return sorted(next((here for here in _by_distance(graph, ids) if here), set()))


def _by_distance(graph: GraphStore, ids: frozenset[NodeId]) -> Iterator[set[FilePath]]:
    """Test files that call these nodes, then those that call their callers, and so on."""
    seen, edge_of_search = set(ids), ids
    for _ in range(_MOST_STEPS):
        if not edge_of_search or len(seen) > _MOST_CALLERS:
            return
        yield _test_files(graph, tuple(sorted(edge_of_search)))
        callers = {caller for group in callers_by_target(graph, edge_of_search).values() for caller in group}
        edge_of_search = frozenset(callers - seen)
        seen |= edge_of_search


def _tests_seen(graph: GraphStore, ids: frozenset[NodeId], calls: Seen) -> list[FilePath]:
    """Files of the tests from which a run came to these nodes, the shortest way first."""
    found: dict[FilePath, None] = {}
    seen, edge_of_search = set(ids), set(ids)
    while edge_of_search and len(found) < _MOST_TESTS:
        edge_of_search = {caller for node in edge_of_search for caller in calls.get(node, ())} - seen
        seen |= edge_of_search
        here = graph.nodes(sorted(edge_of_search)) if edge_of_search else ()
        found |= dict.fromkeys(
            sorted({node.file for node in here if node.kind is NodeKind.TEST and node.file is not None})
        )
    return list(found)


def _test_files(graph: GraphStore, ids: tuple[NodeId, ...]) -> set[FilePath]:
    """Files of the tests with a TESTS edge into any of these nodes."""
    edges = graph.edges(ids, kinds=(EdgeKind.TESTS,), direction=Direction.INCOMING)
    return {node.file for node in graph.nodes({edge.source for edge in edges}) if node.file is not None}
