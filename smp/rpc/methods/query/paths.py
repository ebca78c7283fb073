"""`smp/flow` and `smp/graph/why`: how one node gets to another, and why it depends on it."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType, field

from smp.domain.graph import EdgeKind
from smp.query.flow import flow
from smp.query.resolve import resolve_node
from smp.query.why import readable, why
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import graph_of, note_read, wire
from smp.rpc.wire import NodeRef, Params, Result, SessionRef


class FlowParams(Params, frozen=True, kw_only=True):
    """flow_type: `execution` follows calls, `data` also what is used and referred to."""

    start: NodeRef
    end: NodeRef
    flow_type: Literal["data", "execution"] = "execution"
    session_id: SessionRef | UnsetType = UNSET


class FlowStepResult(Result, frozen=True, kw_only=True):
    """type: endpoint, method, function, class, test, file …"""

    id: str
    node: str
    type: str
    file: str | None


class TransitionResult(Result, frozen=True, kw_only=True):
    """Types as annotated; `unknown` for a parameter without one."""

    from_node: str
    to_node: str
    param_types: tuple[str, ...]
    return_type: str | None


class FlowResult(Result, frozen=True, kw_only=True):
    """Both lists are empty where there is no way."""

    path: tuple[FlowStepResult, ...]
    type_transitions: tuple[TransitionResult, ...]


@rpc_method("smp/flow")
def trace_flow(params: FlowParams, ctx: RequestContext) -> FlowResult:
    """The shortest way of execution or data from one node to another, with the types it takes."""
    graph = graph_of(ctx, params.session_id)
    start = resolve_node(graph, params.start, path="start")
    end = resolve_node(graph, params.end, path="end")
    note_read(ctx, params.session_id, start, end, method="smp/flow")
    return wire(flow(graph, start, end, flow_type=params.flow_type), FlowResult)


class WhyParams(Params, frozen=True, kw_only=True):
    """The dependent node and what it may depend on."""

    source: NodeRef = field(name="from")
    target: NodeRef = field(name="to")
    session_id: SessionRef | UnsetType = UNSET


class ChainResult(Result, frozen=True, kw_only=True):
    """Node ids and the edge between them."""

    node: str
    edge: EdgeKind
    target: str


class WhyResult(Result, frozen=True, kw_only=True):
    """path_length counts nodes; null with an empty chain where there is no path."""

    path_length: int | None
    chain: tuple[ChainResult, ...]
    readable: str


@rpc_method("smp/graph/why")
def explain(params: WhyParams, ctx: RequestContext) -> WhyResult:
    """The shortest chain of dependencies from one node to another."""
    graph = graph_of(ctx, params.session_id)
    source = resolve_node(graph, params.source, path="from")
    target = resolve_node(graph, params.target, path="to")
    note_read(ctx, params.session_id, source, target, method="smp/graph/why")
    chain = why(graph, source, target)
    same = source.id == target.id
    return WhyResult(
        path_length=len(chain) + 1 if chain or same else None,
        chain=tuple(ChainResult(node=step.source.id, edge=step.kind, target=step.target.id) for step in chain),
        readable=readable(source, target, chain),
    )


METHODS = (trace_flow, explain)
