"""From a trace to edges in the graph, and which of them nobody had seen before."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from smp.domain.graph import Edge
from smp.domain.ids import CommitSha, SandboxId
from smp.domain.sandboxes import RuntimeCall
from smp.domain.traces import Trace
from smp.indexing.link_runtime import link_trace
from smp.ports.graph_store import GraphStore


class InjectedCalls(Struct, frozen=True, kw_only=True):
    """calls: sorted by source and target. unresolved_frames: frames of the checkout that no node answers to."""

    calls: tuple[RuntimeCall, ...] = ()
    unresolved_frames: int = 0


def inject_calls(
    trace: Trace,
    *,
    view: GraphStore,
    store: GraphStore,
    sandbox_id: SandboxId,
    commit_sha: CommitSha,
    seen_at: datetime,
) -> InjectedCalls:
    """Resolve a trace and add its calls to the graph; counts at the same commit add up.

    Args:
        view: The graph as the session sees it; names are resolved there.
        store: Where the edges are kept. An edge with an end that only the session's view has, or has with another text, is
            reported, not kept.
    """
    linked = link_trace(
        trace,
        view,
        sandbox_id=sandbox_id,
        commit_sha=commit_sha,
        first_seen=seen_at.isoformat().replace("+00:00", "Z"),
    )
    new = {(edge.source, edge.target) for edge in store.observe_calls(_of_same_text(linked.edges, view, store))}
    return InjectedCalls(
        calls=tuple(
            RuntimeCall(
                source=edge.source,
                target=edge.target,
                count=edge.call_count,
                new=(edge.source, edge.target) in new,
                lower_bound=(edge.source, edge.target) in linked.lower_bounds,
            )
            for edge in linked.edges
            if edge.target is not None
        ),
        unresolved_frames=len(linked.unresolved),
    )


def _of_same_text(edges: tuple[Edge, ...], view: GraphStore, store: GraphStore) -> list[Edge]:
    """What ran as the store has it too; the rest is the session's own until it is committed."""
    if view is store:
        return list(edges)
    ends = {end for edge in edges for end in (edge.source, edge.target) if end is not None}
    seen = {node.id: node.source_hash for node in view.nodes(ends)}
    kept = {node.id for node in store.nodes(ends) if seen.get(node.id) == node.source_hash}
    return [edge for edge in edges if edge.source in kept and edge.target in kept]
