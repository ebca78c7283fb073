"""Small batch reads that several questions share: nodes by id, distinct ends of edges, names as clients see them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from smp.domain.graph import CALLS, Direction, Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import NodeId
from smp.ports.graph_store import GraphStore

FILE_KINDS = (NodeKind.FILE, NodeKind.CONFIG)
CALLABLE_KINDS = (NodeKind.FUNCTION, NodeKind.TEST)
DEFINITION_KINDS = (NodeKind.CLASS, NodeKind.FUNCTION, NodeKind.INTERFACE, NodeKind.TEST, NodeKind.VARIABLE)


def nodes_by_id(graph: GraphStore, ids: Iterable[NodeId | None]) -> dict[NodeId, Node]:
    """Nodes by id in one look-up; unknown ids are left out."""
    wanted = sorted({node_id for node_id in ids if node_id is not None})
    return {node.id: node for node in graph.nodes(wanted)} if wanted else {}


def callers_by_target(graph: GraphStore, targets: Iterable[NodeId]) -> dict[NodeId, frozenset[NodeId]]:
    """Distinct nodes that call each target, tests included, a recursive function not counted as its own caller."""
    wanted = sorted(set(targets))
    callers: defaultdict[NodeId, set[NodeId]] = defaultdict(set)
    for edge in graph.edges(wanted, kinds=CALLS, direction=Direction.INCOMING) if wanted else ():
        if edge.target is not None and edge.target != edge.source:
            callers[edge.target].add(edge.source)
    return {target: frozenset(callers[target]) for target in wanted}


def importers_of(graph: GraphStore, file: NodeId) -> tuple[Edge, ...]:
    """IMPORTS edges into a file from other files, by source."""
    edges = graph.edges((file,), kinds=(EdgeKind.IMPORTS,), direction=Direction.INCOMING)
    return tuple(sorted((edge for edge in edges if edge.source != file), key=lambda edge: edge.source))


def shown_name(node: Node) -> str:
    """How answers call a node: its qualified name; a file's, a package's path."""
    return node.qualname or node.name
