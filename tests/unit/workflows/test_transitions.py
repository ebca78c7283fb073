"""The transition table: total where it must be, bounded, and never a way around the guard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smp.domain.runs import Phase, Verdict
from workflows.transitions import BUDGET_SPENT, TRANSITIONS, Position, advance

ENDS = {Phase.ABORTING, Phase.CLOSED}


def _choices(phase: Phase) -> list[Verdict]:
    return [verdict for (at, verdict) in TRANSITIONS if at is phase]


def test_every_phase_that_is_no_end_can_be_left() -> None:
    for phase in Phase:
        assert (phase in ENDS) == (not _choices(phase))


def test_a_verdict_that_a_phase_cannot_give_is_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="cannot end with"):
        advance(Position(phase=Phase.GUARD), Verdict.PASSED)


def test_loops_back_are_counted_per_reason() -> None:
    position = advance(Position(phase=Phase.GUARD), Verdict.RED_ALERT)
    assert (position.phase, position.attempts) == (Phase.EDIT, {"red_alert": 1})
    position = advance(Position(phase=Phase.EXECUTE, attempts=position.attempts), Verdict.FAIL)
    assert position.attempts == {"red_alert": 1, "fail": 1}


def test_the_first_edit_is_no_loop_back() -> None:
    assert advance(Position(phase=Phase.SPAWN), Verdict.DONE).attempts == {}


def test_the_attempt_that_reaches_the_budget_aborts() -> None:
    position = advance(Position(phase=Phase.VERIFY, attempts={"surviving_mutant": 2}), Verdict.SURVIVING_MUTANT)
    assert (position.phase, position.reason) == (Phase.ABORTING, BUDGET_SPENT)


@given(st.data(), st.integers(1, 5))
def test_every_walk_ends_and_nothing_is_written_unguarded(data: st.DataObject, budget: int) -> None:
    position, visited = Position(max_attempts=budget), [Phase.OPEN]
    bound = 13 * (budget * len(Verdict) + 1)
    while position.phase not in ENDS:
        position = advance(position, data.draw(st.sampled_from(_choices(position.phase))))
        visited.append(position.phase)
        assert len(visited) <= bound
        assert all(count <= budget for count in position.attempts.values())
    for index, phase in enumerate(visited):
        if phase is Phase.WRITE:
            since_edit = visited[max(at for at in range(index) if visited[at] is Phase.EDIT) : index]
            assert since_edit == [Phase.EDIT, Phase.GUARD, Phase.DRYRUN, Phase.CHECKPOINT]
    if position.phase is Phase.CLOSED:
        assert visited[-3:] == [Phase.HANDOFF, Phase.CLOSE, Phase.CLOSED]
