"""Safety: sessions, and the steps that an agent takes before and after it writes."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from smp.domain.errors import Invalid
from smp.domain.ids import AgentId
from smp.domain.session_steps import GuardReport, GuardVerdict, LapsedSession, OpenSession
from smp.domain.sessions import AuditEvent, Concurrency, SafetyLevel, SessionMode, SessionStatus
from smp.indexing.reports import FileChange
from smp.query.resolve import resolve_path
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import given, rfc3339, wire
from smp.rpc.wire import AnyRef, Commit, KnownResult, Params, Path, Result, Risk, SessionRef, Text

Files = Annotated[tuple[Path, ...], Meta(min_length=1)]


class OpenParams(Params, frozen=True, kw_only=True):
    """What an agent is about to do.

    Attributes:
        scope: Files, or folders ending in `/`, that it may write; they need not exist yet.
        commit_sha: The commit that an mvcc session works on; HEAD when left out.
        concurrency: `mvcc` works in its own sandbox and blocks nobody; `exclusive` in the working tree, under locks.
        ttl_seconds: Life without a call; every call extends it.
    """

    agent_id: Annotated[str, Meta(min_length=1, max_length=200)]
    task: Text
    scope: Annotated[tuple[Path, ...], Meta(min_length=1)]
    mode: SessionMode
    commit_sha: Commit | UnsetType = UNSET
    concurrency: Concurrency = Concurrency.MVCC
    ttl_seconds: Annotated[int, Meta(ge=1, le=86400)] | UnsetType = UNSET


class ScopeEntryResult(Result, frozen=True, kw_only=True):
    """blast_radius: files that import it."""

    blast_radius: int
    is_hot_node: bool
    heat_score: int
    risk_level: Risk


class HotNodeResult(Result, frozen=True, kw_only=True):
    node_id: str
    heat_score: int
    caller_count: int
    changes_in_window: int


class OpenResult(Result, frozen=True, kw_only=True):
    """safety_level: `elevated` when the scope holds a hot node; the steps must then be taken in sequence."""

    session_id: str
    commit_sha: str | None
    concurrency: Concurrency
    granted_scope: tuple[str, ...]
    denied_scope: tuple[str, ...]
    scope_analysis: dict[str, ScopeEntryResult]
    safety_level: SafetyLevel
    hot_nodes_in_scope: tuple[HotNodeResult, ...]
    expires_at: str


@rpc_method("smp/session/open")
def session_open(params: OpenParams, ctx: RequestContext) -> OpenResult:
    """Declare intent before touching the code."""
    for position, entry in enumerate(params.scope):
        if entry in params.scope[:position]:
            raise Invalid(f"{entry!r} is named twice; name each file once", path=f"scope[{position}]")
    ctx.services.indexer.ensure_fresh()
    opened = ctx.services.sessions.open(
        OpenSession(
            agent_id=AgentId(params.agent_id),
            task=params.task,
            scope=params.scope,
            mode=params.mode,
            concurrency=params.concurrency,
            commit_sha=given(params.commit_sha),
            ttl_seconds=given(params.ttl_seconds),
        )
    )
    session = opened.session
    return OpenResult(
        session_id=session.id,
        commit_sha=session.commit_sha,
        concurrency=session.concurrency,
        granted_scope=opened.granted_scope,
        denied_scope=opened.denied_scope,
        scope_analysis={file: wire(entry, ScopeEntryResult) for file, entry in opened.scope_analysis.items()},
        safety_level=session.safety_level,
        hot_nodes_in_scope=tuple(wire(node, HotNodeResult) for node in opened.hot_nodes),
        expires_at=rfc3339(session.expires_at),
    )


class RecoverParams(Params, frozen=True, kw_only=True):
    """agent_id: who opened the session."""

    session_id: SessionRef
    agent_id: Text


class RecoveredResult(Result, frozen=True, kw_only=True, tag_field="status", tag="recovered"):
    """The session is intact."""

    session_id: str
    scope: tuple[str, ...]
    locks_held: tuple[str, ...]
    checkpoints: tuple[str, ...]
    events_so_far: int
    expires_at: str


class ExpiredResult(Result, frozen=True, kw_only=True, tag_field="status", tag="expired"):
    """The session expired meanwhile: open a new one."""

    reason: Literal["ttl_elapsed"] = "ttl_elapsed"
    last_checkpoint: str | None
    last_checkpoint_at: str | None
    files_snapshotted: tuple[str, ...]


@rpc_method("smp/session/recover")
def session_recover(params: RecoverParams, ctx: RequestContext) -> RecoveredResult | ExpiredResult:
    """Come back to a session after a restart or crash."""
    found = ctx.services.sessions.recover(params.session_id, params.agent_id)
    if isinstance(found, LapsedSession):
        return ExpiredResult(
            last_checkpoint=found.last_checkpoint,
            last_checkpoint_at=rfc3339(found.last_checkpoint_at) if found.last_checkpoint_at else None,
            files_snapshotted=found.files_snapshotted,
        )
    return RecoveredResult(
        session_id=found.session.id,
        scope=found.session.scope,
        locks_held=found.locks_held,
        checkpoints=found.checkpoints,
        events_so_far=found.events_so_far,
        expires_at=rfc3339(found.session.expires_at),
    )


class CloseParams(Params, frozen=True, kw_only=True):
    """status: how the work ended."""

    session_id: SessionRef
    status: Literal["completed", "aborted", "rolled_back"]


class CloseResult(Result, frozen=True, kw_only=True):
    """audit_log_id: for smp/audit/get."""

    session_id: str
    files_written: tuple[str, ...]
    files_read: tuple[str, ...]
    duration_ms: float
    audit_log_id: str


@rpc_method("smp/session/close")
def session_close(params: CloseParams, ctx: RequestContext) -> CloseResult:
    """End a session: its sandbox is destroyed, its locks are released, its audit log is complete."""
    closed = ctx.services.sessions.close(params.session_id, params.status)
    return CloseResult(
        session_id=closed.session_id,
        files_written=closed.files_written,
        files_read=closed.files_read,
        duration_ms=closed.duration_ms,
        audit_log_id=closed.audit_id,
    )


class GuardParams(Params, frozen=True, kw_only=True):
    """A file that is about to be written.

    Attributes:
        intended_change: `modify_function:NAME`, `add_…`, `delete_…`, `rename_function:NAME->NEW`; the whole file when left
            out.
        coverage_report: An lcov tracefile or Cobertura XML inside the repository (or the session's sandbox).
    """

    session_id: SessionRef
    target: Path
    intended_change: Text | UnsetType = UNSET
    coverage_report: Path | UnsetType = UNSET


class CoverageResult(Result, frozen=True, kw_only=True):
    """coverage_pct: null when no report measures the function; `covered` then says whether a test reaches it."""

    covered: bool
    coverage_pct: float | None


class ChecksResult(Result, frozen=True, kw_only=True):
    """function_coverage: by qualified name."""

    in_declared_scope: bool
    locked_by_other_agent: bool
    is_hot_node: bool
    heat_score: int
    has_tests: bool
    test_files: tuple[str, ...]
    function_coverage: dict[str, CoverageResult]
    caller_count: int
    blast_radius: int
    is_public_api: bool


class BlockingResult(Result, frozen=True, kw_only=True, omit_defaults=True):
    """code: ZERO_COVERAGE, or HOT_NODE beside it."""

    code: str
    node_id: str
    complexity: int | None = None
    coverage_pct: float | None = None
    heat_score: int | None = None
    caller_count: int | None = None


class ConditionResult(Result, frozen=True, kw_only=True):
    """What unblocks: tests for the node, up to this coverage."""

    code: str
    action: str
    target_node: str
    min_coverage_pct: float


class ClearResult(Result, frozen=True, kw_only=True, tag_field="verdict", tag="clear"):
    """Safe to proceed to smp/dryrun."""

    target: str
    checks: ChecksResult
    safety_level: SafetyLevel
    known: KnownResult | UnsetType = UNSET


class RedAlertResult(Result, frozen=True, kw_only=True, tag_field="verdict", tag="red_alert"):
    """High risk, remediable: meet the conditions and check again; writes are refused until then."""

    target: str
    checks: ChecksResult
    safety_level: SafetyLevel
    blocking: tuple[BlockingResult, ...]
    unblock_conditions: tuple[ConditionResult, ...]
    known: KnownResult | UnsetType = UNSET


class BlockedResult(Result, frozen=True, kw_only=True, tag_field="verdict", tag="blocked"):
    """A hard stop."""

    target: str
    reasons: tuple[str, ...]
    known: KnownResult | UnsetType = UNSET


@rpc_method("smp/guard/check")
def guard_check(params: GuardParams, ctx: RequestContext) -> ClearResult | RedAlertResult | BlockedResult:
    """Whether a file may be written now: scope, locks, heat, and the coverage of what is about to change."""
    target = resolve_path(params.target, path="target")
    ctx.services.indexer.ensure_fresh()
    report = ctx.services.sessions.check_guard(
        params.session_id,
        target,
        intended_change=given(params.intended_change),
        coverage_report=given(params.coverage_report),
    )
    known = ctx.services.records.known(target)
    return _guarded(report, wire(known, KnownResult) if known is not None else UNSET)


class DryrunParams(Params, frozen=True, kw_only=True):
    """The content that a file would have."""

    session_id: SessionRef
    file_path: Path
    proposed_content: str
    change_summary: str = ""


class DeltaResult(Result, frozen=True, kw_only=True):
    nodes_added: int
    nodes_modified: int
    nodes_removed: int
    signature_changed: bool


class BrokenResult(Result, frozen=True, kw_only=True, omit_defaults=True):
    """because: what about the change breaks it. The return types are given when they are why."""

    function: str
    file: str
    because: str
    expected_return_type: str | None = None
    actual_return_type: str | None = None


class DryrunImpactResult(Result, frozen=True, kw_only=True):
    affected_files: tuple[str, ...]
    broken_callers: tuple[BrokenResult, ...]
    broken_tests: tuple[BrokenResult, ...]
    test_coverage_delta: str


class RiskResult(Result, frozen=True, kw_only=True, omit_defaults=True):
    """What changes for callers that the repository does not know."""

    code: str
    message: str
    node_id: str | None = None
    file: str | None = None
    line: int | None = None


class DryrunResult(Result, frozen=True, kw_only=True):
    structural_delta: DeltaResult
    impact: DryrunImpactResult
    verdict: Literal["safe", "breaking"]
    risks: tuple[RiskResult, ...]


@rpc_method("smp/dryrun")
def dryrun(params: DryrunParams, ctx: RequestContext) -> DryrunResult:
    """What a write would change and break; nothing is written."""
    path = resolve_path(params.file_path, path="file_path")
    ctx.services.indexer.ensure_fresh()
    change = FileChange(path=path, content=params.proposed_content.encode("utf-8", "surrogatepass"))
    report = ctx.services.sessions.dryrun(params.session_id, (change,), summary=params.change_summary)
    return DryrunResult(
        structural_delta=wire(report.delta, DeltaResult),
        impact=wire(report, DryrunImpactResult),
        verdict=report.verdict.value,
        risks=tuple(wire(risk, RiskResult) for risk in report.risks),
    )


class FilesParams(Params, frozen=True, kw_only=True):
    """Files of the session's scope."""

    session_id: SessionRef
    files: Files


class CheckpointResult(Result, frozen=True, kw_only=True):
    checkpoint_id: str
    files_snapshotted: tuple[str, ...]
    snapshot_at: str


@rpc_method("smp/checkpoint")
def checkpoint(params: FilesParams, ctx: RequestContext) -> CheckpointResult:
    """Save files as they are, so that smp/rollback can bring them back; absent files are saved as absent."""
    taken = ctx.services.sessions.checkpoint(params.session_id, params.files)
    return CheckpointResult(
        checkpoint_id=taken.checkpoint_id, files_snapshotted=taken.files, snapshot_at=rfc3339(taken.snapshot_at)
    )


class RollbackParams(Params, frozen=True, kw_only=True):
    """A checkpoint of this session."""

    session_id: SessionRef
    checkpoint_id: AnyRef


class RollbackResult(Result, frozen=True, kw_only=True):
    status: Literal["rolled_back"] = "rolled_back"
    files_restored: tuple[str, ...]
    memory_resynced: Literal[True] = True


@rpc_method("smp/rollback")
def rollback(params: RollbackParams, ctx: RequestContext) -> RollbackResult:
    """Bring files and memory back to a checkpoint."""
    restored = ctx.services.sessions.rollback(params.session_id, params.checkpoint_id)
    return RollbackResult(files_restored=restored.files_restored)


class DeniedResult(Result, frozen=True, kw_only=True):
    file: str
    held_by_session: str
    held_by_agent: str


class LockResult(Result, frozen=True, kw_only=True):
    granted: tuple[str, ...]
    denied: tuple[DeniedResult, ...]


@rpc_method("smp/lock")
def lock(params: FilesParams, ctx: RequestContext) -> LockResult:
    """Claim exclusive write access; exclusive sessions only. What another session holds is listed, not raised."""
    taken = ctx.services.sessions.lock(params.session_id, params.files)
    return LockResult(
        granted=taken.granted,
        denied=tuple(wire(item, DeniedResult) for item in taken.denied),
    )


class UnlockResult(Result, frozen=True, kw_only=True):
    released: tuple[str, ...]
    not_held: tuple[str, ...]


@rpc_method("smp/unlock")
def unlock(params: FilesParams, ctx: RequestContext) -> UnlockResult:
    """Give locks back; closing the session does so too."""
    done = ctx.services.sessions.unlock(params.session_id, params.files)
    return UnlockResult(released=done.released, not_held=done.not_held)


class AuditParams(Params, frozen=True, kw_only=True):
    """From smp/session/close."""

    audit_log_id: AnyRef


class EventResult(Result, frozen=True, kw_only=True, omit_defaults=True):
    """One line. t: when, RFC 3339. hash: SHA-256 over the previous line's hash and this line."""

    t: str
    method: str
    target: str | None = None
    file: str | None = None
    files: tuple[str, ...] = ()
    result: str | None = None
    checkpoint_id: str | None = None
    detail: str | None = None
    hash: str


class AuditResult(Result, frozen=True, kw_only=True):
    audit_log_id: str
    agent_id: str
    task: str
    session_id: str
    opened_at: str
    closed_at: str
    status: SessionStatus
    events: tuple[EventResult, ...]


@rpc_method("smp/audit/get")
def audit_get(params: AuditParams, ctx: RequestContext) -> AuditResult:
    """The record of a session that has ended: what it asked, wrote, was refused, took back."""
    session, events = ctx.services.sessions.audit(params.audit_log_id)
    assert session.closed_at is not None, "a session that has ended has a time of its end"
    return AuditResult(
        audit_log_id=session.audit_id,
        agent_id=session.agent_id,
        task=session.task,
        session_id=session.id,
        opened_at=rfc3339(session.opened_at),
        closed_at=rfc3339(session.closed_at),
        status=session.status,
        events=tuple(map(_event, events)),
    )


def _guarded(report: GuardReport, known: KnownResult | UnsetType) -> ClearResult | RedAlertResult | BlockedResult:
    if report.verdict is GuardVerdict.BLOCKED:
        return BlockedResult(target=report.target, reasons=report.reasons, known=known)
    checks = wire(report.checks, ChecksResult)
    if report.verdict is GuardVerdict.CLEAR:
        return ClearResult(target=report.target, checks=checks, safety_level=report.safety_level, known=known)
    return RedAlertResult(
        target=report.target,
        checks=checks,
        safety_level=report.safety_level,
        blocking=tuple(wire(item, BlockingResult) for item in report.blocking),
        unblock_conditions=tuple(wire(item, ConditionResult) for item in report.unblock_conditions),
        known=known,
    )


def _event(event: AuditEvent) -> EventResult:
    return EventResult(
        t=rfc3339(event.at),
        method=event.method,
        target=event.target,
        file=event.files[0] if len(event.files) == 1 else None,
        files=event.files,
        result=event.result,
        checkpoint_id=event.checkpoint_id,
        detail=event.detail,
        hash=event.hash,
    )


METHODS = (
    session_open,
    session_recover,
    session_close,
    guard_check,
    dryrun,
    checkpoint,
    rollback,
    lock,
    unlock,
    audit_get,
)
