"""The order of steps on a file, alone and under random orders of calls."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smp.domain.ids import FilePath
from smp.domain.sessions import AuditEvent, SafetyLevel
from smp.safety.sequence import WRITES, Progress, Stage, Step, advance, progress_of, refusal

ELEVATED, STANDARD = SafetyLevel.ELEVATED, SafetyLevel.STANDARD
FILE, OTHER = FilePath("a.py"), FilePath("b.py")
PROPER = [(Step.GUARD, "clear"), (Step.DRYRUN, "safe"), (Step.CHECKPOINT, "")]

calls = st.lists(
    st.one_of(
        st.tuples(st.just(Step.GUARD), st.sampled_from(["clear", "red_alert", "blocked"])),
        st.tuples(st.just(Step.DRYRUN), st.sampled_from(["safe", "breaking"])),
        st.tuples(st.sampled_from([Step.CHECKPOINT, Step.UPDATE, Step.BATCH_UPDATE, Step.ROLLBACK]), st.just("")),
    ),
    max_size=40,
)


def run(steps: list[tuple[Step, str]], level: SafetyLevel) -> tuple[Progress, list[tuple[Step, str]]]:
    """Take the steps that are allowed; returns where that leads, and which they were."""
    progress, taken = Progress(), []
    for step, result in steps:
        if refusal(level, progress, step) is None:
            progress = advance(progress, step, result)
            taken.append((step, result))
    return progress, taken


def test_the_proper_order_leads_to_a_write() -> None:
    progress, taken = run([*PROPER, (Step.UPDATE, "success")], ELEVATED)
    assert len(taken) == 4
    assert progress == Progress()


@pytest.mark.parametrize("left_out", range(3))
def test_no_step_of_an_elevated_session_can_be_left_out(left_out: int) -> None:
    steps = [step for index, step in enumerate(PROPER) if index != left_out]
    progress, _ = run(steps, ELEVATED)
    assert refusal(ELEVATED, progress, Step.UPDATE) is not None


def test_a_write_spends_the_three_steps() -> None:
    progress, _ = run([*PROPER, (Step.UPDATE, "success")], ELEVATED)
    message = refusal(ELEVATED, progress, Step.UPDATE)
    assert message is not None
    assert "smp/guard/check, smp/dryrun and smp/checkpoint" in message


@pytest.mark.parametrize("verdict", ["red_alert", "blocked"])
@pytest.mark.parametrize("level", [ELEVATED, STANDARD])
def test_an_alert_refuses_writes_at_every_level_until_the_guard_is_clear(level: SafetyLevel, verdict: str) -> None:
    progress, _ = run([(Step.GUARD, verdict), (Step.DRYRUN, "safe"), (Step.CHECKPOINT, "")], STANDARD)
    message = refusal(level, progress, Step.UPDATE)
    assert message is not None
    assert verdict in message
    assert refusal(STANDARD, advance(progress, Step.GUARD, "clear"), Step.UPDATE) is None


def test_a_standard_session_may_write_without_any_step() -> None:
    assert refusal(STANDARD, Progress(), Step.UPDATE) is None


def test_a_breaking_dry_run_sends_an_elevated_session_back() -> None:
    progress, _ = run([(Step.GUARD, "clear"), (Step.DRYRUN, "breaking")], ELEVATED)
    assert progress.stage is Stage.GUARDED
    assert refusal(ELEVATED, progress, Step.CHECKPOINT) is not None
    assert refusal(ELEVATED, progress, Step.DRYRUN) is None


def test_rolling_back_is_always_allowed_and_starts_anew() -> None:
    for steps in ([], PROPER[:1], PROPER):
        progress, _ = run(steps, ELEVATED)
        assert refusal(ELEVATED, progress, Step.ROLLBACK) is None
        assert advance(progress, Step.ROLLBACK, "").stage is Stage.START


def test_files_progress_apart() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    events = (
        AuditEvent(seq=1, at=at, method="smp/guard/check", target=FILE, result="clear"),
        AuditEvent(seq=2, at=at, method="smp/context", files=(FILE,)),
        AuditEvent(seq=3, at=at, method="smp/dryrun", files=(FILE, OTHER), result="safe"),
        AuditEvent(seq=4, at=at, method="smp/checkpoint", files=(FILE,)),
    )
    assert progress_of(events, FILE).stage is Stage.CHECKPOINTED
    assert progress_of(events, OTHER).stage is Stage.START


@given(calls)
def test_every_write_of_an_elevated_session_follows_clear_safe_and_checkpoint(steps: list[tuple[Step, str]]) -> None:
    _, taken = run(steps, ELEVATED)
    for index, (step, _) in enumerate(taken):
        if step in WRITES:
            since = taken[:index]
            for back in range(len(since) - 1, -1, -1):
                if since[back][0] in WRITES or since[back][0] is Step.ROLLBACK:
                    since = since[back + 1 :]
                    break
            verdicts = [result for one, result in since if one is Step.GUARD]
            rehearsals = [result for one, result in since if one is Step.DRYRUN]
            assert verdicts[-1] == "clear"
            assert rehearsals[-1] == "safe"
            assert since[-1][0] is Step.CHECKPOINT
            order = [one for one, _ in since]
            last = {one: len(order) - 1 - order[::-1].index(one) for one in (Step.GUARD, Step.DRYRUN, Step.CHECKPOINT)}
            assert last[Step.GUARD] < last[Step.DRYRUN] < last[Step.CHECKPOINT]


@given(calls)
def test_no_write_follows_an_alert_without_a_clear_guard_between(steps: list[tuple[Step, str]]) -> None:
    _, taken = run(steps, STANDARD)
    alert = False
    for step, result in taken:
        if step is Step.GUARD:
            alert = result != "clear"
        assert not (alert and step in WRITES)


@given(calls, calls)
def test_the_proper_order_leads_to_a_write_from_anywhere(
    before: list[tuple[Step, str]], after: list[tuple[Step, str]]
) -> None:
    progress, _ = run([*before, *after, *PROPER], ELEVATED)
    assert refusal(ELEVATED, progress, Step.UPDATE) is None
