"""Why one node depends on another: the shortest chain of dependencies between them."""

from __future__ import annotations

from smp.domain.graph import EdgeKind, Node, NodeKind, Scope
from smp.domain.queries import PathStep
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import DEFINITION_KINDS, FILE_KINDS, shown_name
from smp.query.paths import shortest_path

NO_PATH = "No dependency path exists between these two nodes"

_FILE_EDGES = (EdgeKind.IMPORTS, EdgeKind.DEPENDS_ON)
_DEPENDENCIES = (
    EdgeKind.CALLS_STATIC,
    EdgeKind.CALLS_RUNTIME,
    EdgeKind.IMPORTS,
    EdgeKind.INHERITS,
    EdgeKind.IMPLEMENTS,
    EdgeKind.DEPENDS_ON,
    EdgeKind.USES,
    EdgeKind.REFERENCES,
    EdgeKind.TESTS,
    EdgeKind.DEFINES,
    EdgeKind.CONTAINS,
)
"""Strongest reason first. A thing depends on what it holds, so DEFINES and CONTAINS are followed too, last."""


def why(graph: GraphStore, source: Node, target: Node) -> tuple[PathStep, ...]:
    """The chain from one node to another; empty when there is none, or both are the same.

    Between two files imports explain most, so they are tried alone first. A chain to a file or package may end at a
    definition in it, where no other leads to the file itself.
    """
    if source.id == target.id:
        return ()
    if source.kind in FILE_KINDS and target.kind in FILE_KINDS:
        chain = shortest_path(graph, source, {target.id}, kinds=_FILE_EDGES)
        if chain:
            return chain
    chain = shortest_path(graph, source, {target.id}, kinds=_DEPENDENCIES)
    if chain or target.kind not in (*FILE_KINDS, NodeKind.PACKAGE):
        return chain
    scope = Scope(kind="package" if target.kind is NodeKind.PACKAGE else "file", prefix=target.qualname)
    inside = {node.id for node in graph.scan(scope, (*FILE_KINDS, *DEFINITION_KINDS))}
    return () if source.id in inside else shortest_path(graph, source, inside, kinds=_DEPENDENCIES)


def readable(source: Node, target: Node, chain: tuple[PathStep, ...]) -> str:
    """A chain as a sentence of arrows; one name for a node and itself."""
    if source.id == target.id:
        return _short(source)
    if not chain:
        return NO_PATH
    words = [_short(chain[0].source)]
    for step in chain:
        words += [step.kind.value.lower(), _short(step.target)]
    return " → ".join(words)


def _short(node: Node) -> str:
    return node.name if node.kind in FILE_KINDS else shown_name(node)
