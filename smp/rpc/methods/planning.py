"""Planning: the order of a task over several files, and whether two sessions get in each other's way."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from smp.domain.errors import Invalid
from smp.domain.sessions import SessionMode
from smp.query.plan import overlap, plan
from smp.query.resolve import resolve_path
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import graph_of, hot_rule, wire
from smp.rpc.wire import Params, Path, Result, Risk, SessionRef, Text


class PlanParams(Params, frozen=True, kw_only=True):
    """Files that a session means to write; those that do not exist yet are new files."""

    session_id: SessionRef
    task: Text
    intended_writes: Annotated[tuple[Path, ...], Meta(min_length=1)]


class StepResult(Result, frozen=True, kw_only=True):
    """depends_on_steps: steps whose files this one imports."""

    step: int
    file: str
    dependants_in_plan: int
    dependencies_in_plan: int
    depends_on_steps: tuple[int, ...]
    blast_radius: int
    is_hot_node: bool
    heat_score: int
    risk_level: Risk
    is_new_file: bool


class CycleResult(Result, frozen=True, kw_only=True):
    """Files that import one another."""

    files: tuple[str, ...]
    message: str


class PlanResult(Result, frozen=True, kw_only=True):
    """Dependencies first, then low risk first. external_files_at_risk: importers outside the plan."""

    execution_order: tuple[StepResult, ...]
    inter_file_conflicts: tuple[CycleResult, ...]
    external_files_at_risk: tuple[str, ...]


@rpc_method("smp/plan")
def plan_task(params: PlanParams, ctx: RequestContext) -> PlanResult:
    """The order in which the files of a task are best written, with the risk of each."""
    files = tuple(
        resolve_path(file, path=f"intended_writes[{index}]") for index, file in enumerate(params.intended_writes)
    )
    for index, file in enumerate(files):
        if file in files[:index]:
            raise Invalid(f"{file!r} is named twice; name each file once", path=f"intended_writes[{index}]")
    for file in files:
        ctx.services.sessions.require(params.session_id, write=file, method="smp/plan")
    graph = graph_of(ctx, params.session_id)
    return wire(plan(graph, ctx.services.telemetry, files, hot=hot_rule(ctx)), PlanResult)


class ConflictParams(Params, frozen=True, kw_only=True):
    """Two open sessions."""

    session_a: SessionRef
    session_b: SessionRef


class ConflictResult(Result, frozen=True, kw_only=True):
    """conflict: they share files and at least one writes; the rest is given only then.

    Attributes:
        session_modes: By session id. write_session: the one that writes; null when both do.
    """

    conflict: bool
    overlapping_files: tuple[str, ...] | UnsetType = UNSET
    overlapping_nodes: tuple[str, ...] | UnsetType = UNSET
    session_modes: dict[str, SessionMode] | UnsetType = UNSET
    write_session: str | UnsetType | None = UNSET


@rpc_method("smp/conflict")
def conflict(params: ConflictParams, ctx: RequestContext) -> ConflictResult:
    """Whether the scopes of two sessions overlap while at least one of them writes."""
    a, b = (
        ctx.services.sessions.require(session_id, method="smp/conflict")
        for session_id in (params.session_a, params.session_b)
    )
    writers = [session.id for session in (a, b) if session.mode is SessionMode.WRITE]
    shared = overlap(graph_of(ctx), a.scope, b.scope)
    if a.id == b.id or not writers or not shared.files:
        return ConflictResult(conflict=False)
    return ConflictResult(
        conflict=True,
        overlapping_files=shared.files,
        overlapping_nodes=shared.nodes,
        session_modes={session.id: session.mode for session in (a, b)},
        write_session=writers[0] if len(writers) == 1 else None,
    )


METHODS = (plan_task, conflict)
