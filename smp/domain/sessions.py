"""Sessions and what keeps them safe: scope, locks, checkpoints, verdicts, audit."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from smp.domain.ids import AgentId, AuditId, CheckpointId, CommitSha, ContentHash, FilePath, SandboxId, SessionId


class SessionMode(StrEnum):
    READ = "read"
    WRITE = "write"


class Concurrency(StrEnum):
    """`mvcc`: works on the snapshot of a commit in its own box, blocks nobody. `exclusive`: the working tree, under locks."""

    MVCC = "mvcc"
    EXCLUSIVE = "exclusive"


class SessionStatus(StrEnum):
    ACTIVE = "active"
    COMPLETED = "completed"
    ABORTED = "aborted"
    ROLLED_BACK = "rolled_back"
    EXPIRED = "expired"


class SafetyLevel(StrEnum):
    """`elevated` demands guard -> dryrun -> checkpoint in sequence for each file."""

    STANDARD = "standard"
    ELEVATED = "elevated"


class Session(Struct, frozen=True, kw_only=True):
    """A declared piece of work by one agent.

    Attributes:
        scope: Files (or directory prefixes ending in `/`) it may write, sorted.
        driver: Who may take steps: `rpc:<agent>` or `<workflow id>/<first run id>`.
        epoch: Bumped by each take-over; a step with an older epoch is fenced.
        version: Bumped by each write of the row; the token of compare-and-set.
        sandbox_id: The session's box, when it has one.
        audit_id: Minted at open; readable after close.
    """

    id: SessionId
    agent_id: AgentId
    task: str
    scope: tuple[FilePath, ...]
    mode: SessionMode
    concurrency: Concurrency
    status: SessionStatus
    safety_level: SafetyLevel
    commit_sha: CommitSha | None
    opened_at: datetime
    expires_at: datetime
    ttl_seconds: int
    audit_id: AuditId
    driver: str
    epoch: int = 1
    version: int = 1
    closed_at: datetime | None = None
    sandbox_id: SandboxId | None = None
    reviews: SessionId | None = None


class Lock(Struct, frozen=True, kw_only=True):
    """An exclusive claim on a file; free once `expires_at` has passed."""

    file: FilePath
    session_id: SessionId
    agent_id: AgentId
    acquired_at: datetime
    expires_at: datetime


class FileSnapshot(Struct, frozen=True, kw_only=True):
    """A file as it was: `content` is None when it did not exist; `link` is a symlink's target."""

    path: FilePath
    content: bytes | None
    mode: int = 0o644
    link: str | None = None
    pushed: bool = False


class Checkpoint(Struct, frozen=True, kw_only=True):
    """The state of some files, and by it of their part of the graph, at one moment."""

    id: CheckpointId
    session_id: SessionId
    files: tuple[FileSnapshot, ...]
    snapshot_at: datetime
    content_hash: ContentHash


class AuditEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a session's record.

    Attributes:
        seq: Position in the session, from 1.
        key: Idempotency key of the step that caused it; unique in the session. Empty for reads.
        method: The protocol method, or FILE_WRITE, SCOPE_VIOLATION …
        receipt: JSON of the step's input hash and result, so that the same key again is answered with the first result.
        cause: Of a verdict that says no: what kinds of things it says, for records of what broke (`smp.records`).
        hash: SHA-256 over the previous event's hash and this event; a broken chain shows tampering.
    """

    seq: int
    at: datetime
    method: str
    key: str = ""
    target: str | None = None
    files: tuple[FilePath, ...] = ()
    result: str | None = None
    checkpoint_id: CheckpointId | None = None
    detail: str | None = None
    receipt: str | None = None
    cause: str | None = None
    hash: ContentHash = ContentHash("")
