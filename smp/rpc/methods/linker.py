"""Linker: calls without a proved target, and calls that were seen to run."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from smp.query.linking import observed_calls, unresolved_calls
from smp.query.resolve import resolve_node, resolve_scope
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import given, graph_of, wire
from smp.rpc.wire import Commit, NodeRef, Params, Result, ScopeText


class ReportParams(Params, frozen=True, kw_only=True):
    """Where the calls are made."""

    scope: ScopeText = "full"


class UnresolvedResult(Result, frozen=True, kw_only=True):
    """A call without a proved target. candidates: ids of definitions it may mean; lines: where, 1-based.

    settled_by: ids that its caller was seen to call in traced runs and that this call can have been.
    """

    caller: str
    file: str
    to_name: str
    reason: Literal["not_in_imports", "ambiguous", "dynamic"]
    candidates: tuple[str, ...]
    action: str
    action_target: str
    lines: tuple[int, ...]
    settled_by: tuple[str, ...] = ()


class NotLinkedResult(Result, frozen=True, kw_only=True):
    """Files of a language of which definitions are known and no calls: that nothing calls them says nothing."""

    language: str
    files: int


class ReportResult(Result, frozen=True, kw_only=True):
    """Calls that leave the project (standard library, third party) are counted in external_count and not listed."""

    unresolved_count: int
    external_count: int
    unresolved: tuple[UnresolvedResult, ...]
    not_linked: tuple[NotLinkedResult, ...] = ()


@rpc_method("smp/linker/report")
def report(params: ReportParams, ctx: RequestContext) -> ReportResult:
    """Every call whose target is not proved, why, and what would settle it."""
    graph = graph_of(ctx)
    found = unresolved_calls(graph, resolve_scope(graph, params.scope))
    return ReportResult(
        unresolved_count=len(found.unresolved),
        external_count=found.external_count,
        unresolved=tuple(wire(call, UnresolvedResult) for call in found.unresolved),
        not_linked=tuple(wire(one, NotLinkedResult) for one in found.not_linked),
    )


class RuntimeParams(Params, frozen=True, kw_only=True):
    """The caller; with commit_sha only what was observed at that commit."""

    node_id: NodeRef
    commit_sha: Commit | UnsetType = UNSET


class ObservedAtResult(Result, frozen=True, kw_only=True):
    """Calls seen at one commit; sandbox_id and first_seen are of the first run that saw them."""

    commit_sha: str | None
    sandbox_id: str | None
    first_seen: str | None
    call_count: int


class RuntimeCalleeResult(Result, frozen=True, kw_only=True):
    """was_static_unresolved: the source alone does not give this callee. runs: per commit, oldest first."""

    node_id: str
    file: str
    call_count: int
    was_static_unresolved: bool
    runs: tuple[ObservedAtResult, ...] = ()


class SettledCallResult(Result, frozen=True, kw_only=True):
    """An unresolved call, and the ids of what it can have been of what was seen."""

    to_name: str
    reason: Literal["not_in_imports", "ambiguous", "dynamic"]
    lines: tuple[int, ...]
    answers: tuple[str, ...]


class RuntimeResult(Result, frozen=True, kw_only=True):
    """static_only_callees: what the source says and no run has shown. unresolved_remaining: unresolved calls of the node that no
    observation settles; settled: the others. ran: a run was seen to enter or leave the node.
    """

    node_id: str
    runtime_callees: tuple[RuntimeCalleeResult, ...]
    static_only_callees: tuple[str, ...]
    unresolved_remaining: int
    settled: tuple[SettledCallResult, ...] = ()
    ran: bool = False


@rpc_method("smp/linker/runtime")
def runtime(params: RuntimeParams, ctx: RequestContext) -> RuntimeResult:
    """What a node was seen to call in traced runs, beside what its source says."""
    graph = graph_of(ctx)
    node = resolve_node(graph, params.node_id, path="node_id")
    return wire(observed_calls(graph, node, commit_sha=given(params.commit_sha)), RuntimeResult)


METHODS = (report, runtime)
