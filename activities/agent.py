"""Activities of the agent: its next edits, decided up front or made by a command in the box."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec
from temporalio import activity

from activities import contract
from activities.changes import ProposedFile, stored
from activities.heartbeat import stop_if_cancelled
from activities.sandboxes import execution_words
from smp.domain.runs import Verdict
from smp.domain.sandboxes import ChangedFile
from smp.safety import edit_blobs

if TYPE_CHECKING:
    from smp.services import Services


class AgentActivities:
    """What an agent proposes is kept as a blob; the workflow carries only its digest and file names."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=contract.AGENT_EDITS, no_thread_cancel_exception=True)
    def edits(self, step: contract.EditsStep) -> contract.Proposal:
        """The edits of a list, stored as a change set. Idempotent by content."""
        edits = step.edits if step.stored is None else edit_blobs.loaded(self._services.artifacts, step.stored)
        files = tuple(
            ProposedFile(
                path=edit.file,
                content=None if edit.content is None else edit.content.encode(),
                intended_change=edit.intended_change,
            )
            for edit in edits
        )
        return contract.Proposal(verdict=Verdict.DONE, change=stored(self._services.artifacts, files))

    @activity.defn(name=contract.AGENT_COMMAND, no_thread_cancel_exception=True)
    def command(self, step: contract.CommandStep) -> contract.Proposal:
        """Run the agent in the box; what differs from the commit afterwards is its proposal.

        Idempotent by `key`: a command that has run is answered from the log, and the box still holds its work.
        """
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/sandbox/execute")
        self._services.sessions.note_command(session, step.sandbox_id, step.command, key=step.key)
        record = self._services.sandboxes.execute(
            step.sandbox_id,
            told(step),
            session_id=step.session_id,
            execution_id=step.key,
            limits=step.limits,
            heartbeat=stop_if_cancelled,
            trace=False,
        )
        ended = record.execution
        self._services.sessions.note_command(session, step.sandbox_id, step.command, ended=ended, key=step.key)
        words = contract.shortened(execution_words(record.execution))
        if record.execution.exit_code != 0 or record.execution.timed_out:
            return contract.Proposal(verdict=Verdict.FAIL, detail=words)
        changed = self._services.sandboxes.changes(step.sandbox_id, session_id=step.session_id)
        if not changed:
            return contract.Proposal(verdict=Verdict.FAIL, detail=f"the agent changed nothing\n{words}")
        return contract.Proposal(
            verdict=Verdict.DONE,
            change=stored(self._services.artifacts, tuple(map(_proposed, changed))),
            detail=words,
        )


def told(step: contract.CommandStep) -> str:
    """The shell command with what the agent is told: task, attempt, and a file with the last verdict."""
    feedback = msgspec.json.encode(
        {"attempt": step.attempt, "last_verdict": step.last_verdict, "detail": step.feedback}
    ).decode()
    return (
        f"export SMP_TASK={shlex.quote(step.task)} SMP_ATTEMPT={step.attempt} "
        'SMP_FEEDBACK="$(mktemp /tmp/smp-feedback-XXXXXX)"\n'
        f'printf %s {shlex.quote(feedback)} > "$SMP_FEEDBACK"\n'
        f"{step.command}"
    )


def _proposed(file: ChangedFile) -> ProposedFile:
    return ProposedFile(path=file.path, content=file.content, mode=file.mode, link=file.link)
