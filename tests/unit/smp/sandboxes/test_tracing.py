"""Calls of a session's own text are told to the session and not put into the graph of all."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from smp.adapters.memory import MemoryStore
from smp.domain.graph import EdgeKind, GraphDelta, GraphPart, Node, NodeKind, Owner
from smp.domain.ids import CommitSha, ContentHash, FilePath, SandboxId, mint_node_id
from smp.domain.traces import CallObservation, Frame, Trace
from smp.indexing.overlay import OverlayGraphStore
from smp.sandboxes.tracing import inject_calls

PATH = "a.py"


def function(name: str) -> Node:
    return Node(
        id=mint_node_id("function", PATH, name),
        kind=NodeKind.FUNCTION,
        name=name,
        qualname=name,
        file=FilePath(PATH),
        start_line=1,
        source_hash=ContentHash(name * 64),
    )


A, B, C = (function(name) for name in "abc")


def test_an_edge_with_a_changed_end_is_reported_and_not_kept() -> None:
    store = MemoryStore()
    store.apply(GraphDelta(parts=(GraphPart(owner=Owner(PATH), nodes=(A, B, C), edges=()),)))
    mine = replace(B, source_hash=ContentHash("9" * 64))
    view = OverlayGraphStore(store, GraphDelta(parts=(GraphPart(owner=Owner(PATH), nodes=(A, mine, C), edges=()),)))
    a, b, c = (Frame(file=PATH, qualname=name, first_line=1) for name in "abc")
    trace = Trace(
        tracer="ebpf",
        calls=(
            CallObservation(caller=a, callee=b, count=2, lower_bound=True),
            CallObservation(caller=a, callee=c, count=3),
        ),
    )
    found = inject_calls(
        trace,
        view=view,
        store=store,
        sandbox_id=SandboxId("box_1"),
        commit_sha=CommitSha("1" * 40),
        seen_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert [(call.target, call.count, call.new, call.lower_bound) for call in found.calls] == [
        (B.id, 2, False, True),
        (C.id, 3, True, False),
    ]
    assert [edge.target for edge in store.edges([A.id], kinds=(EdgeKind.CALLS_RUNTIME,))] == [C.id]
