"""Telemetry: how often nodes change, and how many depend on them."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from smp.domain.errors import Unauthorized
from smp.query.adjacency import callers_by_target
from smp.query.heat import Stability, heat_score, hot_nodes, stability, window_start
from smp.query.resolve import resolve_node, resolve_scope
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import graph_of
from smp.rpc.wire import NodeRef, Params, Result, ScopeText, SessionRef

WindowDays = Annotated[int, Meta(ge=1, le=3650, description="Length of the window that ends now, in days.")]
Minimum = Annotated[int, Meta(ge=0)]
Time = Annotated[str, Meta(description="RFC 3339.")]


class HotParams(Params, frozen=True, kw_only=True):
    """Limits default to the settings (`[safety]` hot_changes, hot_callers, hot_window_days)."""

    scope: ScopeText = "full"
    window_days: WindowDays | UnsetType = UNSET
    min_changes: Minimum | UnsetType = UNSET
    min_callers: Minimum | UnsetType = UNSET


class HotNodeResult(Result, frozen=True, kw_only=True):
    """heat_score: min(100, changes x callers). last_changed_by: null for an edit outside any session."""

    node_id: str
    file: str
    changes_in_window: int
    caller_count: int
    heat_score: int
    last_changed_by: str | None
    last_changed_at: str


class HotResult(Result, frozen=True, kw_only=True):
    """Hottest first; only nodes with a recorded change."""

    hot_nodes: tuple[HotNodeResult, ...]


@rpc_method("smp/telemetry/hot")
def hot(params: HotParams, ctx: RequestContext) -> HotResult:
    """Nodes that change often while many call them."""
    graph = graph_of(ctx)
    safety = ctx.services.settings.safety
    days = safety.hot_window_days if isinstance(params.window_days, UnsetType) else params.window_days
    found = hot_nodes(
        graph,
        ctx.services.telemetry,
        scope=resolve_scope(graph, params.scope),
        since=window_start(ctx.services.clock.now(), days),
        min_changes=safety.hot_changes if isinstance(params.min_changes, UnsetType) else params.min_changes,
        min_callers=safety.hot_callers if isinstance(params.min_callers, UnsetType) else params.min_callers,
    )
    return HotResult(
        hot_nodes=tuple(
            HotNodeResult(
                node_id=heat.node_id,
                file=heat.file,
                changes_in_window=heat.changes_in_window,
                caller_count=heat.caller_count,
                heat_score=heat.heat_score,
                last_changed_by=heat.last_changed_by,
                last_changed_at=heat.last_changed_at,
            )
            for heat in found
            if heat.file is not None and heat.last_changed_at is not None
        )
    )


class NodeParams(Params, frozen=True, kw_only=True):
    """One node; the window defaults to the settings (`[safety]` hot_window_days)."""

    node_id: NodeRef
    window_days: WindowDays | UnsetType = UNSET


class ChangeResult(Result, frozen=True, kw_only=True):
    """agent and session are null for an edit outside any session."""

    timestamp: str
    agent: str | None
    session: str | None
    event: str


class NodeResult(Result, frozen=True, kw_only=True):
    """history: newest first; heat_score over the window asked for."""

    node_id: str
    total_changes: int
    unique_agents: tuple[str, ...]
    history: tuple[ChangeResult, ...]
    heat_score: int
    stability: Stability


@rpc_method("smp/telemetry/node")
def node(params: NodeParams, ctx: RequestContext) -> NodeResult:
    """The recorded changes of one node within the window."""
    graph = graph_of(ctx)
    found = resolve_node(graph, params.node_id, path="node_id")
    days = params.window_days
    if isinstance(days, UnsetType):
        days = ctx.services.settings.safety.hot_window_days
    since = window_start(ctx.services.clock.now(), days)
    history = ctx.services.telemetry.history(found.id, since=since)
    callers = callers_by_target(graph, (found.id,))[found.id]
    return NodeResult(
        node_id=found.id,
        total_changes=len(history),
        unique_agents=tuple(sorted({change.agent for change in history if change.agent is not None})),
        history=tuple(
            ChangeResult(timestamp=change.at, agent=change.agent, session=change.session, event=change.event)
            for change in history
        ),
        heat_score=heat_score(len(history), len(callers)),
        stability=stability(len(history)),
    )


class RecordParams(Params, frozen=True, kw_only=True):
    """A change of a node."""

    node_id: NodeRef
    event: str
    session_id: SessionRef | UnsetType = UNSET
    agent_id: str | UnsetType = UNSET
    timestamp: Time | UnsetType = UNSET


@rpc_method("smp/telemetry/record", internal=True)
def record(params: RecordParams, ctx: RequestContext) -> None:
    """Recorded by the server itself with every update; refused to clients."""
    raise Unauthorized("smp/telemetry/record is called by the server itself only; send changes with smp/update")


METHODS = (hot, node, record)
