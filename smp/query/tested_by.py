"""Which test files guard a change: the pairs that the integrity gate judges.

A test file that is part of the change comes first: it is what the author offers as proof. Otherwise every test file counts
that calls the changed code, or, where none does, that calls it through the fewest other functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from smp.domain.graph import Direction, EdgeKind, Node, Scope
from smp.domain.ids import FilePath, NodeId
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import CALLABLE_KINDS, FILE_KINDS, callers_by_target
from smp.query.roles import role_of

_MOST_STEPS = 8
_MOST_CALLERS = 2000
"""Bounds of the search for tests that reach code through other code: beyond them a test says little about it."""


class Guarding(Struct, frozen=True, kw_only=True):
    """`pairs`: (target, test file), sorted. `untested`: changed files with code that no test file reaches."""

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
    graph: GraphStore, changed: Mapping[FilePath, frozenset[int] | None], *, offered: Iterable[FilePath] = ()
) -> Guarding:
    """The pairs for a change.

    Args:
        graph: As it is with the change, so that its new tests count.
        changed: Files of the change and which of their lines are new, from 1; all when None. Deleted ones, tests and files
            without functions need no guard.
        offered: All files of the change: the tests among them are its proof.
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
        chosen = _reaching_tests(graph, touched, tests) or _reaching_tests(graph, frozenset(n.id for n in nodes), tests)
        pairs += [(file, test) for test in chosen]
        if not chosen:
            untested.append(file)
    return Guarding(pairs=tuple(pairs), untested=tuple(untested))


def _touches(node: Node, lines: frozenset[int] | None) -> bool:
    return lines is None or any(node.start_line <= line <= node.end_line for line in lines)


def _reaching_tests(graph: GraphStore, ids: frozenset[NodeId], offered: set[FilePath]) -> list[FilePath]:
    """Test files of `offered` that reach these nodes at any distance; if none does, those of all that do at the least."""
    nearest: set[FilePath] = set()
    found: set[FilePath] = set()
    seen, edge_of_search = set(ids), ids
    for _ in range(_MOST_STEPS if ids else 0):
        here = _test_files(graph, tuple(sorted(edge_of_search)))
        nearest = nearest or here
        found |= here & offered
        callers = {caller for group in callers_by_target(graph, edge_of_search).values() for caller in group}
        edge_of_search = frozenset(callers - seen)
        seen |= edge_of_search
        if not edge_of_search or len(seen) > _MOST_CALLERS or (nearest and not offered):
            break
    return sorted(found or nearest)


def _test_files(graph: GraphStore, ids: tuple[NodeId, ...]) -> set[FilePath]:
    """Files of the tests with a TESTS edge into any of these nodes."""
    edges = graph.edges(ids, kinds=(EdgeKind.TESTS,), direction=Direction.INCOMING)
    return {node.file for node in graph.nodes({edge.source for edge in edges}) if node.file is not None}
