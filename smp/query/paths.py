"""Shortest directed paths, level by level: one look-up a level, not one a node.

Ties are broken the same way on every run: among equally short paths the one whose edges come first by (order of kinds
asked for, source, target), compared from the start.
"""

from __future__ import annotations

from collections.abc import Collection

from smp.domain.graph import Direction, Edge, EdgeKind, Node
from smp.domain.ids import NodeId
from smp.domain.queries import PathStep
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import nodes_by_id

MAX_HOPS = 64
MAX_VISITED = 50_000
"""A search that has seen this many nodes gives up: an answer that long explains nothing."""


def shortest_path(
    graph: GraphStore, start: Node, goals: Collection[NodeId], *, kinds: tuple[EdgeKind, ...]
) -> tuple[PathStep, ...]:
    """The edges of a shortest path from a node to the nearest goal; empty when there is none, or start is a goal."""
    if start.id in goals or not goals:
        return ()
    arrived: dict[NodeId, Edge | None] = {start.id: None}
    frontier = [start.id]
    for _ in range(MAX_HOPS):
        following: list[NodeId] = []
        rank = {node: position for position, node in enumerate(frontier)}
        edges = graph.edges(sorted(frontier), kinds=kinds, direction=Direction.OUTGOING)
        for edge in sorted(edges, key=lambda edge: (rank[edge.source], kinds.index(edge.kind), edge.target or "")):
            if edge.target is not None and edge.target not in arrived:
                arrived[edge.target] = edge
                following.append(edge.target)
        met = [node for node in following if node in goals]
        if met:
            return _steps(graph, met[0], arrived)
        if not following or len(arrived) > MAX_VISITED:
            return ()
        frontier = following
    return ()


def _steps(graph: GraphStore, goal: NodeId, arrived: dict[NodeId, Edge | None]) -> tuple[PathStep, ...]:
    edges: list[Edge] = []
    edge = arrived[goal]
    while edge is not None:
        edges.append(edge)
        edge = arrived[edge.source]
    nodes = nodes_by_id(graph, {end for edge in edges for end in (edge.source, edge.target)})
    return tuple(
        PathStep(source=nodes[edge.source], kind=edge.kind, target=nodes[edge.target])
        for edge in reversed(edges)
        if edge.target is not None
    )
