"""Churn times dependence: which nodes change often while many call them (decisions.md section 6).

`heat_score = min(100, changes in window x callers)`. Callers are distinct calling nodes, tests included. A file is as
hot as the hottest definition in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from smp.domain.graph import CALLS, Node, Scope
from smp.domain.ids import NodeId
from smp.domain.queries import Heat
from smp.domain.telemetry import NodeChange
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.adjacency import nodes_by_id

Stability = Literal["stable", "moderate", "unstable"]
MAX_HEAT = 100
STABLE_CHANGES = 2
"""At most this many changes in the window: stable."""
UNSTABLE_CHANGES = 10
"""At least this many: unstable; moderate between."""


def heat_score(changes: int, callers: int) -> int:
    """min(100, changes x callers)."""
    return min(MAX_HEAT, changes * callers)


def window_start(now: datetime, days: int) -> str:
    """RFC 3339 time at which a window of days begins."""
    return (now - timedelta(days=days)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def heat_of(graph: GraphStore, telemetry: TelemetryStore, ids: Iterable[NodeId], *, since: str) -> dict[NodeId, int]:
    """Heat of these nodes, in two look-ups; nodes without change are 0."""
    wanted = set(ids)
    counts = telemetry.counts_of(wanted, since=since)
    callers = graph.count_sources(counts, CALLS)
    return {node: heat_score(counts.get(node, 0), callers.get(node, 0)) for node in sorted(wanted)}


def hot_nodes(
    graph: GraphStore,
    telemetry: TelemetryStore,
    *,
    scope: Scope,
    since: str,
    min_changes: int,
    min_callers: int,
) -> tuple[Heat, ...]:
    """Nodes of a scope at or above both limits, hottest first, then by changes, then by id.

    Only nodes with a recorded change are considered, so a limit of 0 does not list the whole graph.
    """
    counts = {node: n for node, n in telemetry.counts(scope, since=since).items() if n >= max(min_changes, 1)}
    callers = graph.count_sources(counts, CALLS)
    kept = [node for node in counts if callers.get(node, 0) >= min_callers]
    nodes = nodes_by_id(graph, kept)
    last = telemetry.last(sorted(nodes))
    found = [
        _heat(node, counts[node_id], callers.get(node_id, 0), last.get(node_id)) for node_id, node in nodes.items()
    ]
    return tuple(sorted(found, key=lambda heat: (-heat.heat_score, -heat.changes_in_window, heat.node_id)))


def stability(changes: int) -> Stability:
    """`stable`, `moderate` or `unstable`, by the number of changes in the window asked for."""
    if changes <= STABLE_CHANGES:
        return "stable"
    return "unstable" if changes >= UNSTABLE_CHANGES else "moderate"


def _heat(node: Node, changes: int, callers: int, last: NodeChange | None) -> Heat:
    return Heat(
        node_id=node.id,
        file=node.file,
        changes_in_window=changes,
        caller_count=callers,
        heat_score=heat_score(changes, callers),
        last_changed_by=last.agent if last else None,
        last_changed_at=last.at if last else None,
    )
