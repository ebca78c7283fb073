"""Evidence: what a session did in its box, what the gate said of it and what it changed; how a swarm stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from smp.domain.errors import SandboxNotFound
from smp.domain.ids import CommitSha, FilePath, SessionId
from smp.domain.mutants import IntegrityReport
from smp.domain.runs import queue_of, run_page, workflow_id_of
from smp.domain.sandboxes import ExecutionRecord
from smp.domain.sessions import Session
from smp.domain.swarms import SwarmOutcome, swarm_workflow_id
from smp.handoff.pull_request import PULL_REQUEST, PullRequestResult
from smp.handoff.unified import unified_diff
from smp.ports.artifact_store import VERIFY
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import rfc3339, session_to_look_at
from smp.rpc.wire import AnyRef, Params, Result, SessionRef

LINES_LIMIT = 5_000
COMMAND_LIMIT = 2_000
OUTCOME_WAIT_MS = 1_000


class EvidenceParams(Params, frozen=True, kw_only=True):
    """An open or an ended session."""

    session_id: SessionRef


class BlockedResult(Result, frozen=True, kw_only=True):
    """An attempt to leave the box."""

    host: str
    port: int
    address: str | None
    protocol: str | None
    process: str | None
    reason: str


class CommandResult(Result, frozen=True, kw_only=True):
    """A command in a box. calls: between definitions, that were seen; new_calls: of these, for the first time at the commit."""

    execution_id: str
    sandbox_id: str
    command: str
    started_at: str
    duration_ms: float
    exit_code: int
    ending: str
    calls: int
    new_calls: int
    network_blocks: tuple[BlockedResult, ...]


class MutantResult(Result, frozen=True, kw_only=True):
    """test: the one that noticed, or that should have."""

    line: int
    operator: str
    original: str
    mutated: str
    status: str
    test: str | None
    reason: str | None


class VerdictResult(Result, frozen=True, kw_only=True):
    """One run of the gate. functions: those of which no result reaches an assertion."""

    verify_result_id: str
    target_file: str
    test_file: str
    status: str
    failure_code: str | None
    verified_at: str
    tests_passed: int
    tests_failed: int
    mutants_killed: int
    mutants_total: int
    coverage_delta_pct: float | None
    functions: tuple[str, ...]
    mutants: tuple[MutantResult, ...]


class EvidenceResult(Result, frozen=True, kw_only=True):
    """run_page: in Temporal's own pages, where a durable run drives the session. diff: lines; of the box while it is there,
    afterwards of the branch that was handed off. pull_request: its address, once there is one."""

    run_page: str | None
    pull_request: str | None
    commands: tuple[CommandResult, ...]
    verdicts: tuple[VerdictResult, ...]
    diff: tuple[str, ...]
    diff_truncated: bool


@rpc_method("smp/operations/evidence")
def evidence(params: EvidenceParams, ctx: RequestContext) -> EvidenceResult:
    """Commands with what they were refused, verdicts with each mutant, and the change itself, of one session."""
    services = ctx.services
    session = session_to_look_at(ctx, params.session_id)
    reports = [
        msgspec.json.decode(body, type=IntegrityReport)
        for _, body in services.artifacts.list(VERIFY, session_id=session.id)
    ]
    handed = [
        msgspec.json.decode(body, type=PullRequestResult)
        for _, body in services.artifacts.list(PULL_REQUEST, session_id=session.id)
    ]
    opened = next((one.pull_request for one in handed if one.pull_request is not None), None)
    lines = list(itertools.islice(_diff(ctx, session, handed), LINES_LIMIT + 1))
    temporal = services.settings.temporal
    run = workflow_id_of(session.id)
    return EvidenceResult(
        run_page=run_page(temporal.ui_url, temporal.namespace, run) if session.driver.startswith(run) else None,
        pull_request=opened.url if opened is not None else None,
        commands=tuple(_command(one) for one in services.sandboxes.executions(session.id)),
        verdicts=tuple(_verdict(one) for one in sorted(reports, key=lambda one: (one.verified_at, one.id))),
        diff=tuple(lines[:LINES_LIMIT]),
        diff_truncated=len(lines) > LINES_LIMIT,
    )


def _diff(ctx: RequestContext, session: Session, handed: Iterable[PullRequestResult]) -> Iterable[str]:
    """Of the box, while it is there; else of what was pushed; else nothing."""
    services = ctx.services
    if session.sandbox_id is not None and session.commit_sha is not None:
        try:
            changed = services.sandboxes.changes(session.sandbox_id, session_id=session.id)
        except SandboxNotFound:
            pass
        else:
            after = {change.path: change.content for change in changed}
            return unified_diff(_at(ctx, session.commit_sha, after), after)
    for result in handed:
        pull = result.pull_request
        if pull is not None:
            files = pull.files_changed
            return unified_diff(_at(ctx, pull.base_sha, files), _at(ctx, pull.head_sha, files))
    return ()


def _at(ctx: RequestContext, commit: CommitSha, files: Iterable[FilePath]) -> dict[FilePath, bytes | None]:
    return {file.path: file.content for file in ctx.services.sources.read_at(commit, tuple(files))}


def _command(record: ExecutionRecord) -> CommandResult:
    done = record.execution
    return CommandResult(
        execution_id=record.id,
        sandbox_id=record.sandbox_id,
        command=record.command[:COMMAND_LIMIT],
        started_at=rfc3339(record.started_at),
        duration_ms=done.duration_ms,
        exit_code=done.exit_code,
        ending=done.ending,
        calls=len(record.calls),
        new_calls=sum(call.new for call in record.calls),
        network_blocks=tuple(
            BlockedResult(
                host=block.host,
                port=block.port,
                address=block.address,
                protocol=block.protocol,
                process=block.process,
                reason=block.reason,
            )
            for block in done.network_blocks
        ),
    )


def _verdict(report: IntegrityReport) -> VerdictResult:
    return VerdictResult(
        verify_result_id=report.id,
        target_file=report.target_file,
        test_file=report.test_file,
        status=report.status,
        failure_code=report.failure_code,
        verified_at=rfc3339(report.verified_at),
        tests_passed=report.tests_passed,
        tests_failed=report.tests_failed,
        mutants_killed=report.mutants_killed,
        mutants_total=report.mutants_total,
        coverage_delta_pct=report.coverage_delta_pct,
        functions=tuple(sorted({item.node_id for item in report.missing_asserts})),
        mutants=tuple(
            MutantResult(
                line=outcome.mutant.line,
                operator=outcome.mutant.operator,
                original=outcome.mutant.original,
                mutated=outcome.mutant.mutated,
                status=outcome.status,
                test=outcome.test,
                reason=outcome.reason,
            )
            for outcome in report.outcomes
        ),
    )


class SwarmsParams(Params, frozen=True, kw_only=True):
    """The newest first."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class SwarmRunResult(Result, frozen=True, kw_only=True):
    """status: Temporal's word for the run."""

    swarm_id: str
    status: str
    started_at: str
    closed_at: str | None
    run_page: str


class SwarmsResult(Result, frozen=True, kw_only=True):
    swarms: tuple[SwarmRunResult, ...]


@rpc_method("smp/operations/swarms")
def swarms(params: SwarmsParams, ctx: RequestContext) -> SwarmsResult:
    """Swarms of this repository that Temporal knows; -32014 where it does not answer."""
    settings = ctx.services.settings
    runs = ctx.services.runs.swarms(queue_of(settings.runs_of), limit=params.limit)
    return SwarmsResult(
        swarms=tuple(
            SwarmRunResult(
                swarm_id=run.workflow_id.removeprefix(swarm_workflow_id("")),
                status=run.status,
                started_at=rfc3339(run.started_at),
                closed_at=None if run.closed_at is None else rfc3339(run.closed_at),
                run_page=run_page(settings.temporal.ui_url, settings.temporal.namespace, run.workflow_id),
            )
            for run in runs
        )
    )


class SwarmParams(Params, frozen=True, kw_only=True):
    swarm_id: AnyRef


class SwarmRowResult(Result, frozen=True, kw_only=True):
    """loops: times that it was sent back. known: this repository has its session."""

    number: int
    name: str
    session_id: str
    status: str
    phase: str | None
    loops: int
    reason: str
    branch: str | None
    known: bool


class SwarmConflictResult(Result, frozen=True, kw_only=True):
    file: str
    sessions: tuple[str, ...]


class SwarmResult(Result, frozen=True, kw_only=True):
    """phase: `running`, `merging` or `closed`. merge_order and conflicts: once it has ended."""

    swarm_id: str
    phase: str
    status: str
    run_page: str
    rows: tuple[SwarmRowResult, ...]
    merge_order: tuple[str, ...]
    conflicts: tuple[SwarmConflictResult, ...]


@rpc_method("smp/operations/swarm")
def swarm(params: SwarmParams, ctx: RequestContext) -> SwarmResult:
    """The board of one swarm: each task with its session, and at the end how the branches merge."""
    services = ctx.services
    workflow_id = swarm_workflow_id(params.swarm_id)
    queue = queue_of(services.settings.runs_of)
    phases = {run.workflow_id: run.phase for run in services.runs.sessions(queue, limit=1000)}
    ended = services.runs.swarm_within(workflow_id, OUTCOME_WAIT_MS)
    if ended is None:
        state = services.runs.swarm_state(workflow_id)
        phase, outcome = state.phase, SwarmOutcome(swarm_id=params.swarm_id, status="running", rows=state.rows)
    else:
        phase, outcome = "closed", ended
    temporal = services.settings.temporal
    return SwarmResult(
        swarm_id=params.swarm_id,
        phase=phase,
        status=outcome.status,
        run_page=run_page(temporal.ui_url, temporal.namespace, workflow_id),
        rows=tuple(
            SwarmRowResult(
                number=row.number,
                name=row.name,
                session_id=row.session_id,
                status=row.status,
                phase=phases.get(workflow_id_of(row.session_id)),
                loops=row.attempts,
                reason=row.reason,
                branch=row.branch,
                known=services.session_store.get(SessionId(row.session_id)) is not None,
            )
            for row in outcome.rows
        ),
        merge_order=outcome.merge_order,
        conflicts=tuple(SwarmConflictResult(file=one.file, sessions=one.sessions) for one in outcome.conflicts),
    )


METHODS = (evidence, swarms, swarm)
