"""How exposed the files of a scope are, and which hot nodes they hold: what decides a session's safety level."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from smp.domain.graph import Scope
from smp.domain.ids import FilePath
from smp.domain.session_steps import Exposure, HotNode
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.adjacency import FILE_KINDS
from smp.query.context import HotRule, file_context
from smp.query.heat import hot_nodes, window_start
from smp.settings import SafetySettings

_RISKS = ("low", "medium", "high")


def hot_rule(limits: SafetySettings, now: datetime) -> HotRule:
    """When a node counts as hot at a moment."""
    return HotRule(
        since=window_start(now, limits.hot_window_days),
        min_changes=limits.hot_changes,
        min_callers=limits.hot_callers,
    )


def hot_in(
    graph: GraphStore, telemetry: TelemetryStore, scope: Iterable[FilePath], *, rule: HotRule
) -> tuple[HotNode, ...]:
    """Hot nodes of a scope, hottest first, then by id."""
    found = {
        heat.node_id: heat
        for entry in scope
        for heat in hot_nodes(
            graph,
            telemetry,
            scope=_graph_scope(entry),
            since=rule.since,
            min_changes=rule.min_changes,
            min_callers=rule.min_callers,
        )
    }
    return tuple(
        HotNode(
            node_id=heat.node_id,
            heat_score=heat.heat_score,
            caller_count=heat.caller_count,
            changes_in_window=heat.changes_in_window,
        )
        for heat in sorted(found.values(), key=lambda heat: (-heat.heat_score, heat.node_id))
    )


def exposure_of(graph: GraphStore, telemetry: TelemetryStore, entry: FilePath, *, rule: HotRule) -> Exposure:
    """Of a file as `smp/context` has it; of a folder, the worst of its files; nothing for what does not exist yet."""
    if entry.endswith("/"):
        files = tuple(graph.scan(_graph_scope(entry), FILE_KINDS))
    else:
        files = tuple(node for node in graph.find(entry) if node.kind in FILE_KINDS)
    summaries = [file_context(graph, telemetry, file, hot=rule).summary for file in files]
    if not summaries:
        return Exposure()
    return Exposure(
        blast_radius=max(summary.blast_radius for summary in summaries),
        is_hot_node=any(summary.is_hot_node for summary in summaries),
        heat_score=max(summary.heat_score for summary in summaries),
        risk_level=max((summary.risk_level for summary in summaries), key=_RISKS.index),
    )


def _graph_scope(entry: FilePath) -> Scope:
    if entry.endswith("/"):
        return Scope(kind="package", prefix=entry.rstrip("/"))
    return Scope(kind="file", prefix=entry)
