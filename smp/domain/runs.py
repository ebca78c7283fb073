"""Request, state and outcome of each durable run, and the names it goes by.

These structs are payloads: they are stored with a run for as long as its history is kept, so they only ever gain
optional fields, and none of them carries a secret.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from enum import StrEnum
from urllib.parse import quote

from msgspec import Struct

from smp.domain.ids import AgentId, CommitSha, ContentHash, FilePath, HandoffId, SandboxId, SessionId, VerifyId
from smp.domain.sandboxes import Limits

SESSION_WORKFLOW = "AgentSessionWorkflow"
REAP_WORKFLOW = "ReapWorkflow"
STATE_QUERY = "state"
PROPOSE_UPDATE = "propose"
DECIDE_UPDATE = "decide"
TOUCH_SIGNAL = "touch"

SEARCH_ATTRIBUTES: dict[str, str] = {
    "SmpRepository": "Keyword",
    "SmpAgent": "Keyword",
    "SmpCommit": "Keyword",
    "SmpStatus": "Keyword",
    "SmpAttempts": "Int",
    "SmpSwarm": "Keyword",
}
"""What runs can be searched by; a server refuses a run that names one it does not know."""

MAX_REQUEST_BYTES = 1_900_000
"""A server refuses a start whose input is over 2 MB."""
MAX_PROPOSAL_BYTES = 256 * 1024
"""Of edits that travel in a payload, encoded, and so stay in the history of their run; larger ones go by reference."""


class Phase(StrEnum):
    """Where a session run is; the values are what people see."""

    OPEN = "open"
    SPAWN = "spawn"
    EDIT = "edit"
    GUARD = "guard"
    DRYRUN = "dryrun"
    CHECKPOINT = "checkpoint"
    WRITE = "write"
    EXECUTE = "execute"
    VERIFY = "verify"
    UPDATE = "update"
    REVIEW = "review"
    HANDOFF = "handoff"
    CLOSE = "close"
    ABORTING = "aborting"
    CLOSED = "closed"


class Verdict(StrEnum):
    """What a step says; together with the phase it decides the next one."""

    DONE = "done"
    EXHAUSTED = "agent_exhausted"
    CLEAR = "clear"
    RED_ALERT = "red_alert"
    BLOCKED = "blocked"
    SAFE = "safe"
    BREAKING = "breaking"
    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    PASSED = "passed"
    SURVIVING_MUTANT = "surviving_mutant"
    MISSING_ASSERT = "missing_assert"
    REVIEW_WANTED = "review_wanted"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    REJECTED = "rejected"
    PUBLISHED = "published"
    CONFLICT = "conflict"


class Edit(Struct, frozen=True, kw_only=True):
    """New content of one file; None deletes it."""

    file: FilePath
    content: str | None
    intended_change: str | None = None


class EditRef(Struct, frozen=True, kw_only=True):
    """Edits by reference (`smp.safety.edit_blobs`).

    Attributes:
        digest: SHA-256 of the blob, the JSON of the edits. size: its bytes.
        files: Of each edit, in order.
    """

    digest: ContentHash
    size: int
    files: tuple[FilePath, ...]


class EditStep(Struct, frozen=True, kw_only=True):
    """One attempt: edits that belong together; `stored` instead of them where they are large."""

    edits: tuple[Edit, ...] = ()
    summary: str = ""
    stored: EditRef | None = None


class EditList(Struct, frozen=True, kw_only=True, tag="edits", tag_field="kind"):
    """An agent that was decided up front: each loop back takes the next step."""

    steps: tuple[EditStep, ...]


class Command(Struct, frozen=True, kw_only=True, tag="command", tag_field="kind"):
    """An external agent run in the box; what it changes there are the edits.

    It is told by environment: SMP_TASK, SMP_ATTEMPT (from 1), SMP_FEEDBACK (path of a JSON file with the last verdict).
    """

    command: str


class Remote(Struct, frozen=True, kw_only=True, tag="remote", tag_field="kind"):
    """An orchestrator outside that proposes edits by Update (`Proposed`) and is answered with every verdict."""


Agent = EditList | Command | Remote


class Patience(Struct, frozen=True, kw_only=True):
    """How long a run waits for machines, in seconds; budgets of the agent are `max_attempts`, not these.

    Attributes:
        heartbeat: A box activity that is silent for longer is started again. A cancel reaches it in 80 % of this.
        retry_initial, retry_maximum: Between tries of a step whose backend is unavailable.
        give_up: A step that has not succeeded by then fails the run.
        cleanup: The same for taking a box down; what is left over is the reaper's.
        host: A step that the host of its box has not taken by then asks whether that host still lives.
        host_silent: A host that has not asked for work for longer is lost. One with nothing to do asks once a minute.
    """

    heartbeat: float = 10.0
    retry_initial: float = 0.2
    retry_maximum: float = 5.0
    give_up: float = 3600.0
    cleanup: float = 600.0
    host: float = 60.0
    host_silent: float = 90.0


class SessionRunRequest(Struct, frozen=True, kw_only=True):
    """Everything a session needs; ids come from the caller, never from the workflow.

    Attributes:
        test_command: Run in the box; exit code 0 passes.
        verify: (target file, test file) pairs for the integrity gate; empty: derived from TESTS edges of changed files.
        reviewer: Another agent who has to approve the verified change before it is handed off.
        max_attempts: Loops back per reason.
        task_queue: Queue of the workflow and of what needs only the store (`queue_of`).
    """

    session_id: SessionId
    agent_id: AgentId
    task: str
    repository: str
    scope: tuple[FilePath, ...]
    commit_sha: CommitSha
    agent: Agent
    test_command: str
    sandbox_id: SandboxId
    verify: tuple[tuple[FilePath, FilePath], ...] = ()
    title: str = ""
    issue_refs: tuple[str, ...] = ()
    reviewer: AgentId | None = None
    max_attempts: int = 3
    ttl_seconds: int = 3600
    limits: Limits = Limits()
    task_queue: str = "session"
    patience: Patience = Patience()


class SessionRunState(Struct, frozen=True, kw_only=True):
    """A snapshot for people and orchestrators: where the run is and how it got there.

    Attributes:
        attempts: Loops back so far, by reason.
        steps: `<phase>: <verdict>` of every step taken, in order.
        deadline: When the session expires unless a step moves it, ISO 8601 in UTC.
        next_seq: The number that a remote agent's next proposal has to bear; 0 for other agents.
        handoff_id, reviewer_session: Of the review that the run waits for.
    """

    phase: str
    attempts: dict[str, int] = {}
    last_verdict: str = ""
    detail: str = ""
    sandbox_id: SandboxId | None = None
    steps: tuple[str, ...] = ()
    deadline: str = ""
    files: tuple[FilePath, ...] = ()
    next_seq: int = 0
    handoff_id: HandoffId | None = None
    reviewer_session: SessionId | None = None


class Proposed(Struct, frozen=True, kw_only=True):
    """What a remote agent would have written.

    Attributes:
        seq: From 1, one more with each proposal that was taken (`SessionRunState.next_seq`).
        stored: The edits by reference, instead of `edits`, where they are large.
    """

    seq: int
    edits: tuple[Edit, ...] = ()
    summary: str = ""
    stored: EditRef | None = None

    @property
    def files(self) -> tuple[FilePath, ...]:
        """Of each edit."""
        return self.stored.files if self.stored is not None else tuple(edit.file for edit in self.edits)


class PhaseVerdict(Struct, frozen=True, kw_only=True):
    """What one phase said about a proposal."""

    phase: str
    verdict: str
    detail: str = ""


class ProposalReceipt(Struct, frozen=True, kw_only=True):
    """What became of a proposal.

    Attributes:
        phase: Where the run is now: `edit` (propose again), `review`, or `closed`.
        judged: Each phase it went through, in order, with its words.
        status, reason: How the session ended, where it has.
        next_seq: Number of the next proposal.
    """

    seq: int
    phase: str
    judged: tuple[PhaseVerdict, ...] = ()
    attempts: dict[str, int] = {}
    status: str = ""
    reason: str = ""
    branch: str | None = None
    next_seq: int = 0


class ReviewWord(Struct, frozen=True, kw_only=True):
    """A reviewer's word on a handoff: `approve`, `request_changes` or `reject`."""

    handoff_id: HandoffId
    decision: str
    comments: str = ""


class SessionRun(Struct, frozen=True, kw_only=True):
    """A row of the list of runs.

    Attributes:
        status: The engine's word: `running`, `completed`, `failed`, `canceled`, `terminated` …
        phase: Last phase that was announced, or how the session ended.
    """

    workflow_id: str
    run_id: str
    status: str
    phase: str
    started_at: datetime
    closed_at: datetime | None = None


class SessionOutcome(Struct, frozen=True, kw_only=True):
    """How a session ended.

    Attributes:
        status: `completed`, `aborted`, `expired`, `conflict`, `cancelled`; `reason` says why it was not completed.
        report: Where the pull-request document lies.
        detail: The last verdict in words. notes: the last wording of each phase that had one.
    """

    session_id: SessionId
    status: str
    reason: str = ""
    branch: str | None = None
    pull_request: str | None = None
    head_sha: CommitSha | None = None
    verify_id: VerifyId | None = None
    audit_id: str | None = None
    attempts: dict[str, int] = {}
    files: tuple[FilePath, ...] = ()
    report: str | None = None
    detail: str = ""
    steps: tuple[str, ...] = ()
    notes: dict[str, str] = {}


def workflow_id_of(session_id: SessionId) -> str:
    """The id of the run that drives a session."""
    return f"session/{session_id}"


def run_page(ui_url: str, namespace: str, workflow_id: str) -> str:
    """Where a run is seen in Temporal's own pages."""
    return f"{ui_url.rstrip('/')}/namespaces/{namespace}/workflows/{quote(workflow_id, safe='')}"


def queue_of(repository: str) -> str:
    """The queue of a repository's runs, so that two repositories on one server never take each other's work.

    Args:
        repository: What names it among all (`smp.settings.Settings.runs_of`).
    """
    return f"smp-{hashlib.sha256(repository.encode()).hexdigest()[:12]}"


def another_box(first: SandboxId, number: int) -> SandboxId:
    """The box that a session gets in place of a lost one: as unguessable as the first, the same in every replay.

    Args:
        number: Of boxes lost before it, from 1.
    """
    return SandboxId(f"box_{hashlib.sha256(f'{first}/{number}'.encode()).hexdigest()[:32]}")
