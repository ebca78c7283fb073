"""Which phase follows which verdict, and when the agent's budget is spent: pure, and total over the table.

A loop back always leads to `edit`, and from there through `guard` again: content that was not guarded is never written.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from smp.domain.runs import Phase, Verdict

BUDGET_SPENT = "budget_spent"

TRANSITIONS: Mapping[tuple[Phase, Verdict], Phase] = {
    (Phase.OPEN, Verdict.DONE): Phase.SPAWN,
    (Phase.SPAWN, Verdict.DONE): Phase.EDIT,
    (Phase.EDIT, Verdict.DONE): Phase.GUARD,
    (Phase.EDIT, Verdict.FAIL): Phase.EDIT,
    (Phase.EDIT, Verdict.EXHAUSTED): Phase.ABORTING,
    (Phase.GUARD, Verdict.CLEAR): Phase.DRYRUN,
    (Phase.GUARD, Verdict.RED_ALERT): Phase.EDIT,
    (Phase.GUARD, Verdict.BLOCKED): Phase.ABORTING,
    (Phase.DRYRUN, Verdict.SAFE): Phase.CHECKPOINT,
    (Phase.DRYRUN, Verdict.BREAKING): Phase.EDIT,
    (Phase.CHECKPOINT, Verdict.DONE): Phase.WRITE,
    (Phase.WRITE, Verdict.DONE): Phase.EXECUTE,
    (Phase.EXECUTE, Verdict.PASS): Phase.VERIFY,
    (Phase.EXECUTE, Verdict.FAIL): Phase.EDIT,
    (Phase.VERIFY, Verdict.PASSED): Phase.UPDATE,
    (Phase.VERIFY, Verdict.FAIL): Phase.EDIT,
    (Phase.VERIFY, Verdict.SURVIVING_MUTANT): Phase.EDIT,
    (Phase.VERIFY, Verdict.MISSING_ASSERT): Phase.EDIT,
    (Phase.UPDATE, Verdict.DONE): Phase.HANDOFF,
    (Phase.UPDATE, Verdict.REVIEW_WANTED): Phase.REVIEW,
    (Phase.REVIEW, Verdict.APPROVED): Phase.HANDOFF,
    (Phase.REVIEW, Verdict.CHANGES_REQUESTED): Phase.EDIT,
    (Phase.REVIEW, Verdict.REJECTED): Phase.ABORTING,
    (Phase.HANDOFF, Verdict.PUBLISHED): Phase.CLOSE,
    (Phase.HANDOFF, Verdict.CONFLICT): Phase.ABORTING,
    (Phase.CLOSE, Verdict.DONE): Phase.CLOSED,
}


class Position(Struct, frozen=True, kw_only=True):
    """Where a run stands.

    Attributes:
        attempts: Loops back so far by reason (a verdict's value), each at most `max_attempts`.
        reason: Why it aborts; empty until then.
    """

    phase: Phase = Phase.OPEN
    attempts: dict[str, int] = {}
    max_attempts: int = 3
    reason: str = ""


def advance(position: Position, verdict: Verdict) -> Position:
    """The position after a step.

    A loop back counts against the budget of its reason; the verdict that reaches `max_attempts` aborts with
    `budget_spent`. Other verdicts that abort give their own name as the reason.

    Raises:
        ValueError: The phase cannot end with this verdict: a fault of ours, never of the agent.
    """
    following = TRANSITIONS.get((position.phase, verdict))
    if following is None:
        raise ValueError(f"{position.phase.value!r} cannot end with {verdict.value!r}")
    if following is Phase.EDIT and position.phase is not Phase.SPAWN:
        spent = position.attempts.get(verdict.value, 0) + 1
        attempts = position.attempts | {verdict.value: spent}
        if spent >= position.max_attempts:
            return replace(position, phase=Phase.ABORTING, attempts=attempts, reason=BUDGET_SPENT)
        return replace(position, phase=Phase.EDIT, attempts=attempts)
    if following is Phase.ABORTING:
        return replace(position, phase=Phase.ABORTING, reason=verdict.value)
    return replace(position, phase=following)
