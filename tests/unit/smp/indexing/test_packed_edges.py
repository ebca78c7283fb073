"""Packed edges are the edges that were packed, and their digest tells whether they are equal."""

from __future__ import annotations

from smp.domain.graph import Edge, EdgeKind, Resolution
from smp.domain.ids import FilePath, NodeId
from smp.indexing.packed_edges import NONE, PackedEdges, edge_digests, pack

CALL = Edge(
    kind=EdgeKind.CALLS_STATIC,
    source=NodeId("function:a.py#f"),
    target=NodeId("function:b.py#g"),
    line=3,
    lines=(3, 9),
    resolution=Resolution.IMPORT,
    candidates=(NodeId("function:b.py#h"),),
)
UNKNOWN = Edge(kind=EdgeKind.CALLS_UNRESOLVED, source=NodeId("function:a.py#f"), to_name="run", line=1, lines=(1,))


def test_what_is_packed_comes_back_in_its_order() -> None:
    edges = {FilePath("a.py"): (UNKNOWN, CALL), FilePath("b.py"): ()}
    held = PackedEdges({path: pack(found) for path, found in edges.items()})
    assert dict(held) == edges


def test_a_digest_is_that_of_the_edges_themselves() -> None:
    edges = {FilePath("a.py"): (CALL,), FilePath("b.py"): ()}
    held = PackedEdges({path: pack(found) for path, found in edges.items()})
    assert edge_digests(held) == edge_digests(edges)
    assert held.digest(FilePath("b.py")) == NONE.digest != held.digest(FilePath("a.py"))
