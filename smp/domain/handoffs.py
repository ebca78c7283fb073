"""What leaves a session: a review request, its decision, a pull request."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from msgspec import Struct

from smp.domain.ids import AgentId, CommitSha, ContentHash, FilePath, HandoffId, SandboxId, SessionId, VerifyId


class ReviewStatus(StrEnum):
    PENDING = "pending_review"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    REJECTED = "rejected"


class ReviewRequest(Struct, frozen=True, kw_only=True):
    """A box handed to a reviewer.

    Attributes:
        tree_hash: Content of the box that is reviewed; a decision is about it and nothing else.
        status: Of `ReviewStatus`. comments, decided_at: The reviewer's, once it has decided.
    """

    id: HandoffId
    session_id: SessionId
    sandbox_id: SandboxId
    reviewer_agent: AgentId
    reviewer_session: SessionId
    verify_result_id: VerifyId
    status: ReviewStatus = ReviewStatus.PENDING
    comments: str = ""
    tree_hash: ContentHash = ContentHash("")
    requested_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    decided_at: datetime | None = None


class ReviewDecision(Struct, frozen=True, kw_only=True):
    """What a reviewer said about a handoff; the first one stands."""

    status: ReviewStatus
    comments: str
    decided_at: datetime


class ConflictHunk(Struct, frozen=True, kw_only=True):
    """Two versions of the same lines; line numbers of the base file, 1-based."""

    start_line: int
    ours: str
    theirs: str


class FileConflict(Struct, frozen=True, kw_only=True):
    file: FilePath
    hunks: tuple[ConflictHunk, ...]


class BranchChange(Struct, frozen=True, kw_only=True):
    """What a forge is asked to publish.

    Attributes:
        branch: `smp/<session id>`; deterministic, so that a repeated call finds its own earlier work.
        body: Markdown.
        authored_at: Fixed by the session, so that a repeated call makes the same commit.
        trailers: Lines at the end of the commit message (`Smp-Session: …`).
    """

    branch: str
    base_sha: CommitSha
    title: str
    body: str
    author: str
    files: tuple[FilePath, ...]
    authored_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    trailers: tuple[str, ...] = ()


class PushedBranch(Struct, frozen=True, kw_only=True):
    """A branch that is out. base_branch: what it is to be merged into; empty when unknown. url: of the remote, or a path."""

    branch: str
    head_sha: CommitSha
    base_branch: str
    url: str


class PullRequest(Struct, frozen=True, kw_only=True):
    """Published work. `url` is a local path for a plain git remote."""

    id: str
    branch: str
    base_sha: CommitSha
    head_sha: CommitSha
    files_changed: tuple[FilePath, ...]
    url: str
    status: str = "open"
