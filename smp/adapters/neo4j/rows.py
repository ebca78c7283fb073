"""How nodes and edges lie in Neo4j.

A node of the graph is a node with the labels `SmpNode` and its kind; an edge is a relationship of its kind's type. Columns
that queries need are properties, the rest is one packed body (`domain.packing`). A call without a target leads to the
node of its owner (`SmpOwner`), because a relationship needs two ends. What is put into query text are kinds, which are a
closed set, and numbers; everything else is a parameter.
"""

from __future__ import annotations

from collections.abc import Iterable

from neo4j import Record

from smp.domain.graph import Edge, EdgeKind, Node, Scope
from smp.domain.ids import NodeId
from smp.domain.packing import decode_edge

RELATIONSHIP = (
    "type(r) AS kind, startNode(r).id AS source, endNode(r).id AS target, r.body AS body, r.calls AS calls, "
    "r.commit AS commit"
)
"""What `edge_of` needs."""


def edge_of(row: Record) -> Edge:
    """The edge of a row that has `RELATIONSHIP`."""
    return decode_edge(
        EdgeKind(row["kind"]),
        NodeId(row["source"]),
        NodeId(row["target"]) if row["target"] is not None else None,
        row["body"],
        row["calls"] or 0,
        row["commit"] or "",
    )


def types(kinds: Iterable[EdgeKind], *, joining: bool = False) -> str:
    """`:A|B` for relationships of these kinds, of every kind when none is named.

    Args:
        joining: Leave out what has no target; every call without one would lead to all others of its owner.
    """
    named = sorted(set(kinds)) or sorted(EdgeKind)
    kept = [kind.value for kind in named if not (joining and kind is EdgeKind.CALLS_UNRESOLVED)]
    return ":" + "|".join(kept) if kept else ""


def placed(scope: Scope, node: str) -> str:
    """Cypher that holds for nodes inside a scope; its parameters are `within` of the scope."""
    if scope.kind == "full" or not scope.prefix:
        return "true"
    if scope.kind == "file":
        return f"{node}.place = $prefix"
    return f"({node}.place = $prefix OR {node}.place STARTS WITH $below)"


def within(scope: Scope) -> dict[str, object]:
    """The parameters of `placed`."""
    return {"prefix": scope.prefix, "below": scope.prefix + "/"}


def label(node: Node) -> str:
    """The labels of a node, as in a query."""
    return f"SmpNode:{node.kind.value}"
