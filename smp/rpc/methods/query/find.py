"""`smp/navigate` and `smp/trace`: find a definition, follow one relationship from it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from smp.domain.graph import Direction, NodeKind
from smp.domain.queries import TraceTree
from smp.query.navigate import describe, neighbourhood
from smp.query.resolve import resolve_node
from smp.query.trace import trace
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import graph_of, note_read, wire
from smp.rpc.wire import NodeRef, Params, Result, SessionRef

EdgeSelector = Literal[
    "CALLS",
    "CONTAINS",
    "IMPORTS",
    "DEFINES",
    "CALLS_STATIC",
    "CALLS_RUNTIME",
    "CALLS_UNRESOLVED",
    "INHERITS",
    "IMPLEMENTS",
    "DEPENDS_ON",
    "TESTS",
    "USES",
    "REFERENCES",
    "MEMBER_OF",
    "BRIDGES",
    "CHILD_OF",
]


class NavigateParams(Params, frozen=True, kw_only=True):
    """Find one definition."""

    query: NodeRef
    include_relationships: bool = False
    session_id: SessionRef | UnsetType = UNSET


class EntityResult(Result, frozen=True, kw_only=True):
    """A node. purpose: its docstring, else its description; lines are 1-based and inclusive."""

    id: str
    type: NodeKind
    name: str
    file: str | None
    signature: str | None
    purpose: str | None
    start_line: int
    end_line: int


class RelationshipsResult(Result, frozen=True, kw_only=True):
    """Qualified names, sorted."""

    calls: tuple[str, ...]
    called_by: tuple[str, ...]
    depends_on: tuple[str, ...]


class NavigateResult(Result, frozen=True, kw_only=True):
    """relationships only where they were asked for."""

    entity: EntityResult
    relationships: RelationshipsResult | UnsetType = UNSET


@rpc_method("smp/navigate", brief=True)
def navigate(params: NavigateParams, ctx: RequestContext) -> NavigateResult:
    """Find a definition by id, path, `path#qualname` or unique name, and what stands next to it."""
    graph = graph_of(ctx, params.session_id)
    node = resolve_node(graph, params.query, path="query")
    note_read(ctx, params.session_id, node, method="smp/navigate")
    entity = EntityResult(
        id=node.id,
        type=node.kind,
        name=node.qualname or node.name,
        file=node.file,
        signature=node.signature,
        purpose=describe(ctx.services.metadata, node).purpose,
        start_line=node.start_line,
        end_line=node.end_line,
    )
    if not params.include_relationships:
        return NavigateResult(entity=entity)
    return NavigateResult(entity=entity, relationships=wire(neighbourhood(graph, node), RelationshipsResult))


class TraceParams(Params, frozen=True, kw_only=True):
    """Follow one relationship; `CALLS` is static and runtime calls."""

    start: NodeRef
    relationship: EdgeSelector
    depth: Annotated[int, Meta(ge=1, le=20)] = 3
    direction: Literal["outgoing", "incoming"] = "outgoing"
    session_id: SessionRef | UnsetType = UNSET


class TracedNodeResult(Result, frozen=True, kw_only=True):
    """name: qualified; depth: smallest distance from the start."""

    id: str
    name: str
    file: str | None
    depth: int


class TraceResult(Result, frozen=True, kw_only=True):
    """tree: qualified names for people; nodes: the same flat, each once, the start left out."""

    root: str
    tree: dict[str, Any]
    nodes: tuple[TracedNodeResult, ...]


@rpc_method("smp/trace")
def trace_relationship(params: TraceParams, ctx: RequestContext) -> TraceResult:
    """Everything that a node reaches, or that reaches it, over one relationship."""
    graph = graph_of(ctx, params.session_id)
    start = resolve_node(graph, params.start, path="start")
    note_read(ctx, params.session_id, start, method="smp/trace")
    found = trace(
        graph, start, relationship=params.relationship, depth=params.depth, direction=Direction(params.direction)
    )
    return TraceResult(
        root=found.root,
        tree={found.root: _branches(found.tree, found.label)},
        nodes=tuple(wire(node, TracedNodeResult) for node in found.nodes),
    )


def _branches(tree: TraceTree, label: str) -> dict[str, Any]:
    if not tree.branches:
        return {}
    return {label: {name: _branches(child, label) for name, child in tree.branches.items()}}


METHODS = (navigate, trace_relationship)
