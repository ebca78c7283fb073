"""What workflows and activities say to each other: one struct in, one struct out, and the activities' names.

Content never travels here: a change set is a blob in the artifact store, named by its digest, so a history holds no
file and stays far below the server's limits. A name's meaning never changes; a new meaning gets a new name.
"""

from __future__ import annotations

from msgspec import Struct

from smp.domain.ids import AgentId, AuditId, CommitSha, ContentHash, FilePath, HandoffId, SandboxId, SessionId, VerifyId
from smp.domain.runs import Edit, EditRef, Verdict
from smp.domain.sandboxes import Limits
from smp.domain.swarms import SwarmBranch, SwarmConflict

SESSION_OPEN = "session.open"
SESSION_GUARD = "session.guard"
SESSION_DRYRUN = "session.dryrun"
SESSION_CHECKPOINT = "session.checkpoint"
SESSION_UPDATE = "session.update"
SESSION_ROLLBACK = "session.rollback"
SESSION_CLOSE = "session.close"
SESSION_TOUCH = "session.touch"
SESSION_CLAIM = "session.claim"
AGENT_EDITS = "agent.edits"
AGENT_COMMAND = "agent.command"
SANDBOX_SPAWN = "sandbox.spawn"
SANDBOX_WRITE = "sandbox.write"
SANDBOX_EXECUTE = "sandbox.execute"
SANDBOX_DESTROY = "sandbox.destroy"
VERIFY_TARGETS = "verify.targets"
VERIFY_INTEGRITY = "verify.integrity"
HANDOFF_REVIEW = "handoff.review"
HANDOFF_DECIDE = "handoff.decide"
HANDOFF_DECISION = "handoff.decision"
HANDOFF_PULL_REQUEST = "handoff.pr"
SWARM_MERGE = "swarm.merge"
REPOSITORY_REAP = "repository.reap"
HOST_ALIVE = "host.alive"

MAX_DETAIL = 4_000
"""Characters of a verdict's wording that enter a history."""


class Step(Struct, frozen=True, kw_only=True):
    """What every activity is given.

    Attributes:
        key: `<workflow id>/<epoch>#<n>:<activity>`; `n` counts in the workflow, so a retry has the same key.
        driver: `<workflow id>/<first run id>`, and after an operator's reset `~<seed>` behind it; the store refuses steps of
            anyone else.
    """

    key: str
    session_id: SessionId
    driver: str


class OpenStep(Step, frozen=True, kw_only=True):
    agent_id: AgentId
    task: str
    scope: tuple[FilePath, ...]
    commit_sha: CommitSha
    ttl_seconds: int


class Opened(Struct, frozen=True, kw_only=True):
    audit_id: AuditId
    safety_level: str
    denied_scope: tuple[FilePath, ...] = ()


class BoxStep(Step, frozen=True, kw_only=True):
    sandbox_id: SandboxId


class FilesStep(BoxStep, frozen=True, kw_only=True):
    """`files`: all that the run has written, sorted."""

    files: tuple[FilePath, ...]


class SpawnStep(BoxStep, frozen=True, kw_only=True):
    commit_sha: CommitSha
    limits: Limits


class Spawned(Struct, frozen=True, kw_only=True):
    """`task_queue`: the queue of the host that has the box; all its later steps go there."""

    task_queue: str


class ChangeSet(Struct, frozen=True, kw_only=True):
    """A proposal by reference (`activities/changes.py`); `files` are its files, sorted."""

    digest: ContentHash
    files: tuple[FilePath, ...]


class EditsStep(Step, frozen=True, kw_only=True):
    """`stored`: instead of `edits`."""

    edits: tuple[Edit, ...] = ()
    stored: EditRef | None = None


class CommandStep(BoxStep, frozen=True, kw_only=True):
    """`feedback`: the last verdict in words; `attempt` counts from 1."""

    command: str
    task: str
    attempt: int
    feedback: str
    last_verdict: str
    limits: Limits


class Proposal(Struct, frozen=True, kw_only=True):
    """What the agent came up with; FAIL when its command failed or it changed nothing."""

    verdict: Verdict
    change: ChangeSet | None = None
    detail: str = ""


class ChangeStep(BoxStep, frozen=True, kw_only=True):
    change: ChangeSet


class Judgement(Struct, frozen=True, kw_only=True):
    """A verdict and its wording, at most `MAX_DETAIL` characters."""

    verdict: Verdict
    detail: str = ""


class ExecuteStep(BoxStep, frozen=True, kw_only=True):
    command: str
    limits: Limits


class TargetsStep(BoxStep, frozen=True, kw_only=True):
    """`files`: all that the run has written. `declared`: pairs of the request, which win over what the graph says."""

    files: tuple[FilePath, ...] = ()
    declared: tuple[tuple[FilePath, FilePath], ...] = ()


class Targets(Struct, frozen=True, kw_only=True):
    """Pairs to verify, sorted.

    Attributes:
        untested: Changed code that no test file reaches.
        verify_id: The verdict that lets the change out unjudged, when it holds no code that the gate can judge.
    """

    pairs: tuple[tuple[FilePath, FilePath], ...] = ()
    untested: tuple[FilePath, ...] = ()
    verify_id: VerifyId | None = None
    detail: str = ""


class VerifyStep(BoxStep, frozen=True, kw_only=True):
    target_file: FilePath
    test_file: FilePath


class Verified(Struct, frozen=True, kw_only=True):
    """`reached`: whether the tests ran what is judged at all; tests that do not say nothing about it."""

    verdict: Verdict
    verify_id: VerifyId
    detail: str = ""
    reached: bool = True


class HandoffStep(BoxStep, frozen=True, kw_only=True):
    title: str
    issue_refs: tuple[str, ...] = ()
    verify_id: VerifyId | None = None


class ReviewStep(BoxStep, frozen=True, kw_only=True):
    """`verify_id`: the passed verdict on what is in the box."""

    reviewer: AgentId
    verify_id: VerifyId


class ReviewAsked(Struct, frozen=True, kw_only=True):
    """`reviewer_session`: opened for the reviewer; it reads the box."""

    handoff_id: HandoffId
    reviewer_session: SessionId


class DecideStep(Step, frozen=True, kw_only=True):
    """`decision`: approve, request_changes or reject."""

    handoff_id: HandoffId
    reviewer_session: SessionId
    decision: str
    comments: str


class DecisionStep(Step, frozen=True, kw_only=True):
    """Asks what has become of a handoff."""

    handoff_id: HandoffId


class HandedOff(Struct, frozen=True, kw_only=True):
    """PUBLISHED with the branch, or CONFLICT with the files in `detail`."""

    verdict: Verdict
    branch: str | None = None
    pull_request: str | None = None
    head_sha: CommitSha | None = None
    report: str | None = None
    detail: str = ""


class MergeStep(Struct, frozen=True, kw_only=True):
    """Branches of a swarm's completed sessions, in the order of its tasks."""

    key: str
    branches: tuple[SwarmBranch, ...]


class Merged(Struct, frozen=True, kw_only=True):
    """The order in which the branches are best merged, and what will not merge."""

    order: tuple[SessionId, ...] = ()
    conflicts: tuple[SwarmConflict, ...] = ()


class HostStep(Struct, frozen=True, kw_only=True):
    """Asks whether anybody serves a host's queue. silent_s: who has not asked for work for longer does not."""

    queue: str
    silent_s: float


class HostState(Struct, frozen=True, kw_only=True):
    """alive: its worker polls; steps in its boxes only have to wait for their turn."""

    alive: bool


class ReapStep(Struct, frozen=True, kw_only=True):
    """Asks for one look at which sessions have lost their run."""

    key: str


class Reaped(Struct, frozen=True, kw_only=True):
    """Sessions that were closed on behalf of a run that is over."""

    sessions: tuple[SessionId, ...] = ()


class CloseStep(Step, frozen=True, kw_only=True):
    """`status`: completed, aborted or expired."""

    status: str
    sandbox_id: SandboxId
    reason: str = ""


class Done(Struct, frozen=True, kw_only=True):
    """Nothing to say but that it is done; `detail` may name what was affected."""

    detail: str = ""


def shortened(text: str, limit: int = MAX_DETAIL) -> str:
    """Head and tail of a long text, the gap named, so that a history stays small and a verdict readable."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head - 40
    return f"{text[:head]}\n… {len(text) - head - tail} characters left out …\n{text[-tail:]}"
