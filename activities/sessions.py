"""Activities on the session itself: claim, judge, save, tell the memory, undo, close.

Those that judge by the graph bring it along first, as the protocol's methods do: a worker may live for weeks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import activity

from activities import contract
from activities.changes import DELETED, as_change, loaded
from smp.domain.errors import (
    CheckpointNotFound,
    Fenced,
    SandboxFailed,
    SandboxNotFound,
    SequenceViolation,
    SessionExpired,
    SessionNotFound,
)
from smp.domain.ids import SessionId
from smp.domain.runs import Verdict
from smp.domain.session_steps import DryrunReport, DryrunVerdict, GuardReport, GuardVerdict, OpenSession
from smp.domain.sessions import SessionStatus
from smp.indexing.reports import FileChange

if TYPE_CHECKING:
    from smp.services import Services

NAMED = 20
"""Findings that are worded one by one; the rest is counted."""


class SessionActivities:
    """Each is idempotent by its step's `key`: the session store keeps a receipt under it."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=contract.SESSION_OPEN, no_thread_cancel_exception=True)
    def open(self, step: contract.OpenStep) -> contract.Opened:
        """Claim the session for this run. Idempotent by session id and driver; anyone else is refused."""
        self._services.indexer.ensure_fresh()
        opened = self._services.sessions.open(
            OpenSession(
                session_id=SessionId(step.session_id),
                agent_id=step.agent_id,
                task=step.task,
                scope=step.scope,
                commit_sha=step.commit_sha,
                ttl_seconds=step.ttl_seconds,
                driver=step.driver,
            )
        )
        return contract.Opened(
            audit_id=opened.session.audit_id,
            safety_level=opened.session.safety_level,
            denied_scope=opened.denied_scope,
        )

    @activity.defn(name=contract.SESSION_GUARD, no_thread_cancel_exception=True)
    def guard(self, step: contract.ChangeStep) -> contract.Judgement:
        """May these files be written? Idempotent by `key` and file; the worst verdict counts."""
        self._services.indexer.ensure_fresh()
        files = loaded(self._services.artifacts, step.change)
        proposed = tuple(map(as_change, files))
        reports = [
            self._services.sessions.check_guard(
                step.session_id,
                file.path,
                intended_change=file.intended_change,
                proposed=proposed,
                driver=step.driver,
                key=f"{step.key}:{file.path}",
            )
            for file in files
        ]
        verdicts = {report.verdict for report in reports}
        if GuardVerdict.BLOCKED in verdicts:
            worst = Verdict.BLOCKED
        elif GuardVerdict.RED_ALERT in verdicts:
            worst = Verdict.RED_ALERT
        else:
            worst = Verdict.CLEAR
        return contract.Judgement(verdict=worst, detail=contract.shortened("\n".join(map(_guard_words, reports))))

    @activity.defn(name=contract.SESSION_DRYRUN, no_thread_cancel_exception=True)
    def dryrun(self, step: contract.ChangeStep) -> contract.Judgement:
        """What would these files, taken together, break? Idempotent by `key`; writes nothing."""
        self._services.indexer.ensure_fresh()
        changes = tuple(as_change(file) for file in loaded(self._services.artifacts, step.change))
        report = self._services.sessions.dryrun(step.session_id, changes, driver=step.driver, key=step.key)
        verdict = Verdict.SAFE if report.verdict is DryrunVerdict.SAFE else Verdict.BREAKING
        return contract.Judgement(verdict=verdict, detail=contract.shortened(_dryrun_words(report)))

    @activity.defn(name=contract.SESSION_CHECKPOINT, no_thread_cancel_exception=True)
    def checkpoint(self, step: contract.ChangeStep) -> contract.Judgement:
        """Save the files as they are. Idempotent by `key`."""
        taken = self._services.sessions.checkpoint(step.session_id, step.change.files, driver=step.driver, key=step.key)
        return contract.Judgement(verdict=Verdict.DONE, detail=f"checkpoint {taken.checkpoint_id}")

    @activity.defn(name=contract.SESSION_UPDATE, no_thread_cancel_exception=True)
    def update(self, step: contract.FilesStep) -> contract.Done:
        """Tell the memory what the files have become in the box. Idempotent by `key` and content."""
        changes = []
        for file in step.files:
            content = self._services.sessions.content(step.session_id, file)
            changes.append(
                FileChange(path=file, change_type=DELETED)
                if content is None
                else FileChange(path=file, content=content)
            )
        report = self._services.sessions.update(step.session_id, tuple(changes), driver=step.driver, key=step.key)
        return contract.Done(detail=report.status)

    @activity.defn(name=contract.SESSION_CLAIM, no_thread_cancel_exception=True)
    def claim(self, step: contract.Step) -> contract.Done:
        """Take the session over from an earlier run of the same workflow. Idempotent: what is ours already stays so."""
        session = self._services.session_store.get(SessionId(step.session_id))
        if session is None or session.status is not SessionStatus.ACTIVE:
            return contract.Done(detail="it has ended")  # the step that follows says so in its own words
        if session.driver == step.driver:
            return contract.Done(detail="claimed")
        if session.driver.rpartition("/")[0] != step.driver.rpartition("/")[0]:
            raise Fenced(f"session {step.session_id!r} is driven by {session.driver!r}, not by this workflow")
        self._services.sessions.take_over(step.session_id, expected=session.driver, driver=step.driver)
        return contract.Done(detail=f"claimed from {session.driver}")

    @activity.defn(name=contract.SESSION_TOUCH, no_thread_cancel_exception=True)
    def touch(self, step: contract.Step) -> contract.Done:
        """More time for a session that waits for somebody. Idempotent: repeating gives time again, nothing else."""
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/session/touch")
        return contract.Done(detail=session.expires_at.isoformat(timespec="seconds"))

    @activity.defn(name=contract.SESSION_ROLLBACK, no_thread_cancel_exception=True)
    def rollback(self, step: contract.BoxStep) -> contract.Done:
        """Back to the first checkpoint, if there is one. Idempotent by `key`; nothing for a session that is not ours."""
        points = self._services.session_store.checkpoints(SessionId(step.session_id))
        if not points:
            return contract.Done(detail="nothing had been written")
        try:
            self._services.sessions.rollback(step.session_id, points[0].id, driver=step.driver, key=step.key)
        except (SandboxNotFound, SandboxFailed, CheckpointNotFound) as gone:
            # A box that is gone took its files with it; what is left to undo is undone by `close`.
            return contract.Done(detail=gone.message)
        except (SessionNotFound, SessionExpired, SequenceViolation, Fenced) as ended:
            return contract.Done(detail=ended.message)
        return contract.Done(detail=f"restored {points[0].id}")

    @activity.defn(name=contract.SESSION_CLOSE, no_thread_cancel_exception=True)
    def close(self, step: contract.CloseStep) -> contract.Done:
        """Release locks, set the status, write the last audit line: one transaction. Idempotent by `key`.

        Nothing for a session that was never recorded, has ended, or is driven by someone else.
        """
        try:
            self._services.sessions.close(step.session_id, step.status, driver=step.driver, key=step.key)
        except (SessionNotFound, SessionExpired, Fenced) as ended:
            if step.status == "completed":
                raise
            return contract.Done(detail=ended.message)
        except SequenceViolation as foreign:
            if step.status == "completed" or "run_id" not in foreign.fields:
                raise
            return contract.Done(detail=foreign.message)
        return contract.Done(detail=step.status)


def _guard_words(report: GuardReport) -> str:
    if report.verdict is GuardVerdict.CLEAR:
        return f"{report.target}: clear"
    if report.verdict is GuardVerdict.BLOCKED:
        return f"{report.target}: blocked: {'; '.join(report.reasons)}"
    wanted = "; ".join(
        f"{condition.action} for {condition.target_node} (at least {condition.min_coverage_pct:.0f} % covered)"
        for condition in report.unblock_conditions[:NAMED]
    )
    return f"{report.target}: red alert: {wanted}"


def _dryrun_words(report: DryrunReport) -> str:
    broken = (*report.broken_callers, *report.broken_tests)
    if not broken:
        risks = "; ".join(risk.message for risk in report.risks[:NAMED])
        return f"{report.verdict.value}: {len(report.affected_files)} files affected" + (f"; {risks}" if risks else "")
    lines = [f"{item.file}: {item.function}: {item.because}" for item in broken[:NAMED]]
    more = len(broken) - len(lines)
    return "\n".join(["would break:", *lines, *([f"and {more} more"] if more > 0 else [])])
