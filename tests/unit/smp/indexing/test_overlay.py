"""An overlay answers as a store would to which the delta had been applied."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from smp.adapters.memory import MemoryStore
from smp.domain.errors import Refused
from smp.domain.graph import Direction, Edge, EdgeKind, GraphDelta, GraphPart, Node, NodeKind, Owner, Scope
from smp.domain.ids import ContentHash, FilePath, mint_node_id
from smp.indexing.overlay import OverlayGraphStore


def function(path: str, name: str, lines: int = 0) -> Node:
    return Node(
        id=mint_node_id("function", path, name),
        kind=NodeKind.FUNCTION,
        name=name.rpartition(".")[2],
        qualname=name,
        file=FilePath(path),
        lines=lines,
    )


def package(path: str) -> Node:
    return Node(id=mint_node_id("package", path), kind=NodeKind.PACKAGE, name=path, qualname=path)


def edge(kind: EdgeKind, source: Node, target: Node) -> Edge:
    return Edge(kind=kind, source=source.id, target=target.id)


def part(owner: str, nodes: Any, *edges: Edge) -> GraphPart:
    return GraphPart(owner=Owner(owner), nodes=nodes, edges=edges)


A, B, C, D = (function(f"{name}.py", name) for name in "abcd")
P, Q = package("p"), package("q")
BASE = GraphDelta(
    parts=(
        part("@structure", (P,), edge(EdgeKind.CONTAINS, P, A)),
        part("a.py", (A,), edge(EdgeKind.CALLS_STATIC, A, B), edge(EdgeKind.USES, A, C)),
        part("b.py", (B,), edge(EdgeKind.CALLS_STATIC, B, C)),
        part("c.py", (C,), edge(EdgeKind.CALLS_STATIC, C, A)),
    )
)
DELTAS = {
    "nothing": GraphDelta(),
    "a file removed": GraphDelta(removed=(Owner("b.py"),)),
    "a file added": GraphDelta(parts=(part("d.py", (D,), edge(EdgeKind.CALLS_STATIC, D, A)),)),
    "a file replaced": GraphDelta(parts=(part("b.py", (function("b.py", "b", 9), function("b.py", "b2"))),)),
    "a definition renamed": GraphDelta(parts=(part("b.py", (function("b.py", "renamed"),)),)),
    "a relink": GraphDelta(parts=(part("a.py", None, edge(EdgeKind.CALLS_STATIC, A, C)),)),
    "everything": GraphDelta(
        parts=(
            part("@structure", (P, Q), edge(EdgeKind.CONTAINS, Q, D), edge(EdgeKind.CONTAINS, P, A)),
            part("d.py", (D,), edge(EdgeKind.CALLS_STATIC, D, B), edge(EdgeKind.CALLS_STATIC, D, C)),
            part("a.py", None, edge(EdgeKind.CALLS_STATIC, A, D), edge(EdgeKind.CALLS_STATIC, A, C)),
        ),
        removed=(Owner("c.py"),),
    ),
}


@pytest.fixture(params=list(DELTAS))
def pair(request: pytest.FixtureRequest) -> tuple[OverlayGraphStore, MemoryStore]:
    """The overlay, and a store that had the delta applied."""
    under, applied = MemoryStore(), MemoryStore()
    for store in (under, applied):
        store.apply(BASE)
        store.observe_calls([Edge(kind=EdgeKind.CALLS_RUNTIME, source=A.id, target=C.id, call_count=2)])
    overlay = OverlayGraphStore(under, DELTAS[request.param])
    applied.apply(DELTAS[request.param])
    return overlay, applied


def test_nodes_edges_and_scopes_are_equal(pair: Any) -> None:
    overlay, applied = pair
    for scope in (Scope(), Scope(kind="file", prefix="b.py"), Scope(kind="package", prefix="p")):
        assert list(overlay.scan(scope)) == list(applied.scan(scope))
        assert list(overlay.scan_edges(scope)) == list(applied.scan_edges(scope))
    assert overlay.size() == applied.size()


def test_look_ups_are_equal(pair: Any) -> None:
    overlay, applied = pair
    ids = [node.id for node in (A, B, C, D, P, Q)]
    assert overlay.nodes(ids) == applied.nodes(ids)
    for name in ("a", "b", "renamed", "d", "b.py#b", "p", "q", "function:c.py#c"):
        assert overlay.find(name) == applied.find(name), name
    for direction in Direction:
        for kinds in ((), (EdgeKind.CALLS_STATIC,)):
            assert overlay.edges(ids, kinds=kinds, direction=direction) == applied.edges(
                ids, kinds=kinds, direction=direction
            )


@pytest.mark.parametrize("direction", list(Direction))
def test_walks_are_equal(pair: Any, direction: Direction) -> None:
    overlay, applied = pair
    for seeds in ([A.id], [C.id, D.id]):
        for hops in (1, 3):
            walk = {"hops": hops, "kinds": (EdgeKind.CALLS_STATIC,), "direction": direction}
            assert overlay.walk(seeds, **walk) == applied.walk(seeds, **walk)


def test_an_overlay_is_read_only(pair: Any) -> None:
    overlay, _ = pair
    with pytest.raises(Refused):
        overlay.apply(GraphDelta())
    with pytest.raises(Refused):
        overlay.put_scores({})


def test_calls_that_ran_in_another_text_are_not_shown() -> None:
    base = MemoryStore()
    base.apply(BASE)
    base.observe_calls([edge(EdgeKind.CALLS_RUNTIME, A, B), edge(EdgeKind.CALLS_RUNTIME, A, C)])
    changed = replace(B, source_hash=ContentHash("2" * 64))
    overlay = OverlayGraphStore(base, GraphDelta(parts=(part("b.py", (changed,)), part("c.py", (C,)))))
    kept = overlay.edges([A.id], kinds=(EdgeKind.CALLS_RUNTIME,))
    assert [one.target for one in kept] == [C.id]
