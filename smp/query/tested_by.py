"""Which test files guard a change: the pairs that the integrity gate judges.

A test file that is part of the change comes first: it is what the author offers as proof. Otherwise every test file that
reaches the changed code counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from smp.domain.graph import Direction, EdgeKind, Scope
from smp.domain.ids import FilePath, NodeId
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import CALLABLE_KINDS, FILE_KINDS
from smp.query.roles import role_of


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


def guarding_tests(graph: GraphStore, changed: Iterable[FilePath]) -> Guarding:
    """The pairs for a change.

    Args:
        graph: As it is with the change, so that its new tests count.
        changed: Files of the change; deleted ones, tests and files without functions need no guard.
    """
    files = tuple(sorted(set(changed)))
    tests = {file for file in files if is_test_file(graph, file)}
    pairs: list[tuple[FilePath, FilePath]] = []
    untested: list[FilePath] = []
    for file in files:
        nodes = tuple(graph.scan(Scope(kind="file", prefix=file)))
        if file in tests or not any(node.kind in CALLABLE_KINDS for node in nodes):
            continue
        reaching = _test_files(graph, tuple(node.id for node in nodes))
        chosen = sorted(reaching & tests) or sorted(reaching)
        pairs += [(file, test) for test in chosen]
        if not chosen:
            untested.append(file)
    return Guarding(pairs=tuple(pairs), untested=tuple(untested))


def _test_files(graph: GraphStore, ids: tuple[NodeId, ...]) -> set[FilePath]:
    """Files of the tests with a TESTS edge into any of these nodes."""
    edges = graph.edges(ids, kinds=(EdgeKind.TESTS,), direction=Direction.INCOMING)
    return {node.file for node in graph.nodes({edge.source for edge in edges}) if node.file is not None}
