"""PageRank over the code: which edges count, and scores by node id.

The formula is the one of Neo4j GDS, normalised to sum 1 (decisions.md section 6); the port computes it.
"""

from __future__ import annotations

from collections.abc import Iterable

from smp.domain.graph import Edge, EdgeKind, NodeKind
from smp.domain.ids import NodeId
from smp.ports.graph_analytics import GraphAnalytics

RANKED_EDGES = (
    EdgeKind.CALLS_STATIC,
    EdgeKind.CALLS_RUNTIME,
    EdgeKind.IMPORTS,
    EdgeKind.INHERITS,
    EdgeKind.IMPLEMENTS,
    EdgeKind.USES,
    EdgeKind.REFERENCES,
    EdgeKind.DEPENDS_ON,
)
"""Edges by which one piece of code relies on another. TESTS and DEFINES say nothing about how much something matters."""
RANKED_KINDS = (
    NodeKind.FILE,
    NodeKind.CLASS,
    NodeKind.FUNCTION,
    NodeKind.VARIABLE,
    NodeKind.INTERFACE,
    NodeKind.TEST,
    NodeKind.CONFIG,
)
DAMPING = 0.85


def rank_nodes(nodes: Iterable[NodeId], edges: Iterable[Edge], analytics: GraphAnalytics) -> dict[NodeId, float]:
    """PageRank of these nodes; non-negative, sums to 1. Several edges between two nodes count once."""
    ids = sorted(nodes)
    position = {node_id: index for index, node_id in enumerate(ids)}
    pairs = sorted(
        {
            (position[edge.source], position[edge.target])
            for edge in edges
            if edge.kind in RANKED_EDGES and edge.source in position and edge.target in position
        }
    )
    return dict(zip(ids, analytics.pagerank(len(ids), pairs, damping=DAMPING), strict=True))
