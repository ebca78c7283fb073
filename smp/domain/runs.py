"""Request, state and outcome of each durable run, and the name it goes by."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.ids import AgentId, CommitSha, FilePath, SandboxId, SessionId, VerifyId
from smp.domain.sandboxes import Limits

SESSION_WORKFLOW = "AgentSessionWorkflow"


class Edit(Struct, frozen=True, kw_only=True):
    """New content of one file; None deletes it."""

    file: FilePath
    content: str | None
    intended_change: str | None = None


class EditStep(Struct, frozen=True, kw_only=True):
    """One attempt: edits that belong together."""

    edits: tuple[Edit, ...]
    summary: str = ""


class EditList(Struct, frozen=True, kw_only=True, tag="edits", tag_field="kind"):
    """An agent that was decided up front: each loop back takes the next step."""

    steps: tuple[EditStep, ...]


class Command(Struct, frozen=True, kw_only=True, tag="command", tag_field="kind"):
    """An external agent run in the box; what it changes there are the edits.

    It is told by environment: SMP_TASK, SMP_ATTEMPT (from 1), SMP_FEEDBACK (path of a JSON file with the last verdict).
    """

    command: str


Agent = EditList | Command


class SessionRunRequest(Struct, frozen=True, kw_only=True):
    """Everything a session needs; ids come from the caller, never from the workflow.

    Attributes:
        test_command: Run in the box; exit code 0 passes.
        verify: (target file, test file) pairs for the integrity gate; empty: derived from TESTS edges of changed files.
        max_attempts: Loops back per reason.
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
    max_attempts: int = 3
    ttl_seconds: int = 3600
    limits: Limits = Limits()
    task_queue: str = "session"


class SessionRunState(Struct, frozen=True, kw_only=True):
    """A snapshot for people and orchestrators: where the run is and how it got there."""

    phase: str
    attempts: dict[str, int] = {}
    last_verdict: str = ""
    detail: str = ""
    sandbox_id: SandboxId | None = None
    steps: tuple[str, ...] = ()


class SessionOutcome(Struct, frozen=True, kw_only=True):
    """How a session ended. status: `completed`, `aborted`, `expired`, `conflict`; reason says why it was not completed."""

    session_id: SessionId
    status: str
    reason: str = ""
    branch: str | None = None
    pull_request: str | None = None
    head_sha: CommitSha | None = None
    verify_id: VerifyId | None = None
    audit_id: str | None = None
    attempts: dict[str, int] = {}
