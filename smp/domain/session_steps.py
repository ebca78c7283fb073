"""What is asked of a session, step by step, and what each step answers."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from smp.domain.ids import AgentId, AuditId, CheckpointId, ContentHash, FilePath, NodeId, SandboxId, SessionId
from smp.domain.sessions import Concurrency, SafetyLevel, Session, SessionMode


class OpenSession(Struct, frozen=True, kw_only=True):
    """A declaration of intent.

    Attributes:
        scope: Files, or directory prefixes ending in `/`; they need not exist.
        commit_sha: The commit it works on, possibly abbreviated; HEAD when None.
        ttl_seconds: Life without a call; the settings' default when None.
        session_id: Chosen by a run, so that opening can be repeated; minted when None.
        driver: Who takes the steps; `rpc:<agent_id>` when None.
        reviews: The session whose handoff this one reviews.
        sandbox_id: The box of that session which it looks into.
    """

    agent_id: AgentId
    task: str
    scope: tuple[str, ...]
    mode: SessionMode = SessionMode.WRITE
    concurrency: Concurrency = Concurrency.MVCC
    commit_sha: str | None = None
    ttl_seconds: int | None = None
    session_id: SessionId | None = None
    driver: str | None = None
    reviews: SessionId | None = None
    sandbox_id: SandboxId | None = None


class HotNode(Struct, frozen=True, kw_only=True):
    node_id: NodeId
    heat_score: int
    caller_count: int
    changes_in_window: int


class Exposure(Struct, frozen=True, kw_only=True):
    """How much depends on a file. `blast_radius`: files that import it. `risk_level`: low, medium or high."""

    blast_radius: int = 0
    is_hot_node: bool = False
    heat_score: int = 0
    risk_level: str = "low"


class OpenedSession(Struct, frozen=True, kw_only=True):
    """`denied_scope` is empty today: what may not be declared is refused as a whole."""

    session: Session
    granted_scope: tuple[FilePath, ...]
    denied_scope: tuple[FilePath, ...] = ()
    scope_analysis: dict[FilePath, Exposure] = {}
    hot_nodes: tuple[HotNode, ...] = ()


class RecoveredSession(Struct, frozen=True, kw_only=True):
    session: Session
    locks_held: tuple[FilePath, ...]
    checkpoints: tuple[CheckpointId, ...]
    events_so_far: int


class LapsedSession(Struct, frozen=True, kw_only=True):
    """A session that expired before its agent came back, with what was last saved of its files."""

    session_id: SessionId
    last_checkpoint: CheckpointId | None
    last_checkpoint_at: datetime | None
    files_snapshotted: tuple[FilePath, ...]


class ClosedSession(Struct, frozen=True, kw_only=True):
    session_id: SessionId
    files_written: tuple[FilePath, ...]
    files_read: tuple[FilePath, ...]
    duration_ms: float
    audit_id: AuditId


class DeniedLock(Struct, frozen=True, kw_only=True):
    file: FilePath
    held_by_session: SessionId
    held_by_agent: AgentId


class LocksTaken(Struct, frozen=True, kw_only=True):
    granted: tuple[FilePath, ...]
    denied: tuple[DeniedLock, ...] = ()


class LocksReleased(Struct, frozen=True, kw_only=True):
    released: tuple[FilePath, ...]
    not_held: tuple[FilePath, ...] = ()


class GuardVerdict(StrEnum):
    """`red_alert`: remediable, see the unblock conditions. `blocked`: a hard stop."""

    CLEAR = "clear"
    RED_ALERT = "red_alert"
    BLOCKED = "blocked"


class FunctionCoverage(Struct, frozen=True, kw_only=True):
    """coverage_pct: of the function's measured lines; None when no report measures it, `covered` then means that a test
    reaches it."""

    covered: bool
    coverage_pct: float | None = None


class GuardChecks(Struct, frozen=True, kw_only=True):
    """function_coverage is keyed by qualified name."""

    in_declared_scope: bool
    locked_by_other_agent: bool
    is_hot_node: bool = False
    heat_score: int = 0
    has_tests: bool = False
    test_files: tuple[FilePath, ...] = ()
    function_coverage: dict[str, FunctionCoverage] = {}
    caller_count: int = 0
    blast_radius: int = 0
    is_public_api: bool = False


class Blocking(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A reason for a red alert: ZERO_COVERAGE, or HOT_NODE beside it."""

    code: str
    node_id: NodeId
    complexity: int | None = None
    coverage_pct: float | None = None
    heat_score: int | None = None
    caller_count: int | None = None


class UnblockCondition(Struct, frozen=True, kw_only=True):
    code: str
    action: str
    target_node: NodeId
    min_coverage_pct: float


class GuardReport(Struct, frozen=True, kw_only=True):
    """The verdict on a file before it is written.

    Attributes:
        reasons: Of `blocked` only. blocking, unblock_conditions: of `red_alert` only.
    """

    verdict: GuardVerdict
    target: FilePath
    safety_level: SafetyLevel
    checks: GuardChecks
    blocking: tuple[Blocking, ...] = ()
    unblock_conditions: tuple[UnblockCondition, ...] = ()
    reasons: tuple[str, ...] = ()


class DryrunVerdict(StrEnum):
    SAFE = "safe"
    BREAKING = "breaking"


class StructuralDelta(Struct, frozen=True, kw_only=True):
    nodes_added: int = 0
    nodes_modified: int = 0
    nodes_removed: int = 0
    signature_changed: bool = False


class Broken(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A caller or test that the change breaks.

    Attributes:
        function: Qualified name of the caller; the path for module-level code.
        because: The changed definition and what about it, in words.
        expected_return_type, actual_return_type: When the return annotation changed.
    """

    function: str
    file: FilePath
    because: str
    expected_return_type: str | None = None
    actual_return_type: str | None = None


class Risk(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """code: SYMBOL_REMOVED, SIGNATURE_CHANGED, RETURN_TYPE_CHANGED, SYNTAX_ERROR, HOT_NODE, UNTESTED."""

    code: str
    message: str
    node_id: NodeId | None = None
    file: FilePath | None = None
    line: int | None = None


class DryrunReport(Struct, frozen=True, kw_only=True):
    """What a proposed change would do; nothing was written.

    Attributes:
        test_coverage_delta: `unchanged`, or by how many the functions that a test reaches would change, e.g. `-1`.
    """

    verdict: DryrunVerdict
    delta: StructuralDelta
    affected_files: tuple[FilePath, ...] = ()
    broken_callers: tuple[Broken, ...] = ()
    broken_tests: tuple[Broken, ...] = ()
    test_coverage_delta: str = "unchanged"
    risks: tuple[Risk, ...] = ()


class CheckpointTaken(Struct, frozen=True, kw_only=True):
    checkpoint_id: CheckpointId
    files: tuple[FilePath, ...]
    snapshot_at: datetime


class RolledBack(Struct, frozen=True, kw_only=True):
    """Files and graph are as they were at the checkpoint."""

    checkpoint_id: CheckpointId
    files_restored: tuple[FilePath, ...]


class PushedFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an mvcc session pushed for a file.

    Attributes:
        digest: Blob of the content; None when the file is deleted.
        reverted: The session has nothing of its own (any more) for this file; the shared graph counts.
    """

    path: FilePath
    digest: ContentHash | None = None
    reverted: bool = False
