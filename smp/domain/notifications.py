"""Events that the server pushes to clients (specification, notifications)."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.ids import AgentId, FilePath, HandoffId, SandboxId, SessionId


class Changes(Struct, frozen=True, kw_only=True):
    files_affected: tuple[FilePath, ...]
    structural_changes: tuple[str, ...] = ()
    semantic_changes: tuple[str, ...] = ()


class MemoryUpdated(Struct, frozen=True, kw_only=True, tag="memory_updated", tag_field="type"):
    changes: Changes


class ConflictDetected(Struct, frozen=True, kw_only=True, tag="conflict_detected", tag_field="type"):
    file: FilePath
    message: str = "file modified by an external process; memory may be stale"
    severity: str = "warning"


class LockConflicted(Struct, frozen=True, kw_only=True, tag="lock_conflict", tag_field="type"):
    file: FilePath
    held_by_session: SessionId
    held_by_agent: AgentId
    severity: str = "warning"


class ScopeViolated(Struct, frozen=True, kw_only=True, tag="scope_violation", tag_field="type"):
    session_id: SessionId
    attempted_file: str
    declared_scope: tuple[FilePath, ...]
    severity: str = "error"


class SessionExpiredNotice(Struct, frozen=True, kw_only=True, tag="session_expired", tag_field="type"):
    session_id: SessionId
    expired_at: str
    locks_released: tuple[FilePath, ...]
    severity: str = "error"


class NetworkBlocked(Struct, frozen=True, kw_only=True, tag="network_blocked", tag_field="type"):
    """`address`: where the name led to; `process`: name of the one that tried first."""

    sandbox_id: SandboxId
    blocked_host: str
    blocked_port: int
    address: str | None = None
    protocol: str | None = None
    process: str | None = None
    severity: str = "info"


class HandoffAccepted(Struct, frozen=True, kw_only=True, tag="handoff_accepted", tag_field="type"):
    handoff_id: HandoffId
    reviewer_agent: AgentId
    sandbox_id: SandboxId
    severity: str = "info"


Notification = (
    MemoryUpdated
    | ConflictDetected
    | LockConflicted
    | ScopeViolated
    | SessionExpiredNotice
    | NetworkBlocked
    | HandoffAccepted
)
