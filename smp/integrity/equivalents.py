"""Survivors that somebody declares equivalent: said once, with a reason, and shown wherever the verdict is shown.

A mark is a document of its own (artifacts, kind `equivalent_mutant`), keyed by session, the target's content and the
mutant. It holds for every later verdict of the session on the same content of the target, whichever test file is judged;
an edit of the target voids it. The first reason stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from smp.domain.errors import Invalid, NotFound
from smp.domain.ids import ContentHash, SessionId
from smp.domain.mutants import EquivalentMark, IntegrityReport, Mutant, MutantOutcome, MutantStatus
from smp.domain.sessions import AuditEvent, Session
from smp.ports.artifact_store import VERIFY, ArtifactStore
from smp.ports.clock import Clock
from smp.ports.session_store import SessionStore

MARK = "equivalent_mutant"
METHOD = "smp/verify/mark_equivalent"


class EquivalentMutants:
    """See the module. Keeps no state of its own; safe from several threads."""

    def __init__(self, *, clock: Clock, artifacts: ArtifactStore, session_store: SessionStore) -> None:
        self._clock = clock
        self._artifacts = artifacts
        self._sessions = session_store

    def mark(self, session: Session, verify_id: str, mutant: int, reason: str) -> IntegrityReport:
        """Declare a survivor of a verdict equivalent.

        The audit has it before the verdict does, so that no crash leaves a mark that nobody can find.

        Args:
            mutant: Its number in the verdict.

        Returns:
            The verdict without that survivor; passed when it was the last one.

        Raises:
            NotFound: No such verdict in this session.
            Invalid: No survivor has that number, it was marked for another reason, or the reason is blank.
        """
        body = self._artifacts.get(VERIFY, verify_id)
        report = msgspec.json.decode(body, type=IntegrityReport) if body is not None else None
        if report is None or report.session_id != session.id:
            raise NotFound(
                f"no verdict {verify_id!r} in this session; smp/verify/integrity returns its id",
                verify_result_id=verify_id,
            )
        if not reason.strip():
            raise Invalid("say why no test could tell the mutant from the original", path="reason")
        outcome = _survivor(report, mutant, reason)
        if outcome.status is MutantStatus.EQUIVALENT:
            return report
        wanted = EquivalentMark(
            session_id=session.id,
            target_hash=report.target_hash,
            mutant=outcome.mutant,
            reason=reason,
            marked_at=self._clock.now(),
        )
        key = _key(wanted)
        self._sessions.append(session.id, _event(wanted, report, key))
        self._artifacts.put_if_absent(MARK, key, msgspec.json.encode(wanted), session_id=session.id)
        return self._restated(report)

    def _restated(self, report: IntegrityReport) -> IntegrityReport:
        """Write the verdict anew with all marks, until none was added meanwhile by another call."""
        marks = marks_of(self._artifacts, report.session_id, report.target_hash)
        while True:
            restated = with_marks(report, marks)
            self._artifacts.put(VERIFY, report.id, msgspec.json.encode(restated), session_id=report.session_id)
            now = marks_of(self._artifacts, report.session_id, report.target_hash)
            if now == marks:
                return restated
            marks = now


def marks_of(artifacts: ArtifactStore, session_id: SessionId, target_hash: ContentHash) -> tuple[EquivalentMark, ...]:
    """The marks of a session on one content of a target, by key."""
    stored = artifacts.list(MARK, session_id=session_id)
    marks = (msgspec.json.decode(body, type=EquivalentMark) for _, body in stored)
    return tuple(mark for mark in marks if mark.target_hash == target_hash)


def with_marks(report: IntegrityReport, marks: Iterable[EquivalentMark]) -> IntegrityReport:
    """The verdict with marked survivors set apart: they hold nothing back, and their number and reasons are in it."""
    reasons = {_identity(mark.mutant): mark.reason for mark in marks}
    if not reasons or not report.outcomes:
        return report
    outcomes = tuple(
        replace(outcome, status=MutantStatus.EQUIVALENT, reason=reasons[_identity(outcome.mutant)])
        if outcome.status is MutantStatus.SURVIVED and _identity(outcome.mutant) in reasons
        else outcome
        for outcome in report.outcomes
    )
    survived = sum(outcome.status is MutantStatus.SURVIVED for outcome in outcomes)
    total = report.mutants_killed + survived
    lifted = report.failure_code == "SURVIVING_MUTANT" and not survived
    return replace(
        report,
        outcomes=outcomes,
        status="passed" if lifted else report.status,
        failure_code=None if lifted else report.failure_code,
        mutants_total=total,
        mutants_survived=survived,
        mutants_marked=sum(outcome.reason is not None for outcome in outcomes),
        mutation_score=report.mutants_killed / total if total else 1.0,
    )


def _survivor(report: IntegrityReport, number: int, reason: str) -> MutantOutcome:
    """The outcome with that number, if it survived or carries this very mark already."""
    outcome = next((one for one in report.outcomes if one.mutant.index == number), None)
    if outcome is None or (outcome.status is not MutantStatus.SURVIVED and outcome.reason is None):
        raise Invalid(
            f"no survivor {number} in {report.id!r}; name the `mutant` of one of its survivors"
            + (f" (that one is {outcome.status.value})" if outcome is not None else ""),
            path="mutant",
        )
    if outcome.reason is not None and outcome.reason != reason:
        raise Invalid(f"mutant {number} was marked for another reason: {outcome.reason}", path="reason")
    return outcome


def _event(mark: EquivalentMark, report: IntegrityReport, key: str) -> AuditEvent:
    mutant = mark.mutant
    return AuditEvent(
        seq=0,
        at=mark.marked_at,
        method=METHOD,
        key=f"equivalent:{key}",
        target=mutant.node_id,
        files=(mutant.file,),
        result=report.id,
        detail=f"mutant {mutant.index}, line {mutant.line}, {mutant.original!r} -> {mutant.mutated!r}: {mark.reason}",
    )


def _identity(mutant: Mutant) -> Mutant:
    """A mutant without its number, which depends on the lines that were asked for."""
    return replace(mutant, index=0)


def _key(mark: EquivalentMark) -> str:
    parts = msgspec.json.encode([mark.session_id, mark.target_hash, _identity(mark.mutant)], order="deterministic")
    return hashlib.sha256(parts).hexdigest()
