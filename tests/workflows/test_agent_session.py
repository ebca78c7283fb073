"""The session workflow against doubles of its activities, on a real server: order, loops, budgets, undoing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from smp.domain.runs import Command
from tests.builders.session_rig import Rig

Settled = Callable[["Rig", str, str], None]

pytestmark = pytest.mark.temporal

STRAIGHT = [
    "session.open", "sandbox.spawn", "agent.edits", "session.guard", "session.dryrun", "session.checkpoint",
    "sandbox.write", "sandbox.execute", "verify.targets", "verify.integrity", "session.update", "handoff.pr",
    "sandbox.destroy", "session.close",
]  # fmt: skip
UNDOING = ["session.rollback", "sandbox.destroy", "session.close"]


def test_a_session_without_objections_takes_each_step_once_and_leaves_a_branch(rig: Rig, settled: Settled) -> None:
    request = rig.request()
    with rig.worker() as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert outcome.status == "completed"
        assert outcome.branch == f"smp/{request.session_id}"
        assert outcome.attempts == {}
        assert doubles.names() == STRAIGHT
        assert rig.engine.state(f"session/{request.session_id}").phase == "closed"
    settled(rig, request.session_id, "completed")


@pytest.mark.parametrize(
    ("activity", "verdict", "reason"),
    [
        ("session.guard", "red_alert", "red_alert"),
        ("session.dryrun", "breaking", "breaking"),
        ("sandbox.execute", "fail", "fail"),
        ("verify.integrity", "surviving_mutant", "surviving_mutant"),
        ("verify.integrity", "missing_assert", "missing_assert"),
    ],
)
def test_an_objection_leads_back_to_edit_and_through_guard_again(
    rig: Rig, settled: Settled, activity: str, verdict: str, reason: str
) -> None:
    request = rig.request()
    with rig.worker(script={activity: [verdict, _agreement(activity)]}) as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.attempts) == ("completed", {reason: 1})
        names = doubles.names()
        objection = names.index(activity)
        assert names[objection + 1 : objection + 3] == ["agent.edits", "session.guard"]
    settled(rig, request.session_id, "completed")


@pytest.mark.parametrize("activity", ["session.guard", "session.dryrun", "sandbox.execute", "verify.integrity"])
def test_objections_beyond_the_budget_abort_and_undo(rig: Rig, settled: Settled, activity: str) -> None:
    objection = {
        "session.guard": "red_alert",
        "session.dryrun": "breaking",
        "sandbox.execute": "fail",
        "verify.integrity": "surviving_mutant",
    }[activity]
    request = rig.request(max_attempts=3)
    with rig.worker(script={activity: [objection]}) as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.reason) == ("aborted", "budget_spent")
        assert outcome.attempts == {objection: 3}
        assert doubles.names().count(activity) == 3
        assert doubles.names()[-3:] == UNDOING
    settled(rig, request.session_id, "aborted")


def test_a_change_with_nothing_to_judge_is_handed_off_on_the_verdict_that_says_so(rig: Rig, settled: Settled) -> None:
    request = rig.request(tests=())
    with rig.worker() as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.verify_id) == ("completed", "ver_unjudged")
        assert outcome.notes["verify"] == "there is nothing to judge"
        assert doubles.names() == [name for name in STRAIGHT if name != "verify.integrity"]
    settled(rig, request.session_id, "completed")


def test_tests_that_never_run_the_change_say_nothing_where_others_prove_it(rig: Rig, settled: Settled) -> None:
    request = rig.request(tests=("tests/test_beside.py", "tests/test_a.py", "tests/test_beside_too.py"))
    with rig.worker() as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.verify_id, outcome.attempts) == ("completed", "ver_double", {})
        assert doubles.names().count("verify.integrity") == 3
    settled(rig, request.session_id, "completed")


def test_a_change_that_no_test_runs_is_not_proved(rig: Rig, settled: Settled) -> None:
    request = rig.request(tests=("tests/test_beside.py",), max_attempts=2)
    with rig.worker():
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.attempts) == ("aborted", {"missing_assert": 2})
        assert outcome.notes["verify"] == "never run"
    settled(rig, request.session_id, "aborted")


def test_of_the_tests_that_are_found_for_a_file_one_that_proves_it_is_enough(rig: Rig, settled: Settled) -> None:
    request = rig.request(tests=())
    found = ["tests/test_weak.py", "tests/test_strong.py", "tests/test_unasked.py"]
    with rig.worker(script={"verify.targets": found, "verify.integrity": ["surviving_mutant", "passed"]}) as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.verify_id, outcome.attempts) == ("completed", "ver_double", {})
        assert doubles.names().count("verify.integrity") == 2
    settled(rig, request.session_id, "completed")


def test_a_file_that_none_of_its_tests_proves_goes_back_with_what_ran_it(rig: Rig, settled: Settled) -> None:
    request = rig.request(tests=(), max_attempts=1)
    found = ["tests/test_beside.py", "tests/test_weak.py"]
    with rig.worker(script={"verify.targets": found, "verify.integrity": ["missing_assert", "surviving_mutant"]}):
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.attempts) == ("aborted", {"surviving_mutant": 1})
        assert outcome.notes["verify"] == "the gate said so"
    settled(rig, request.session_id, "aborted")


def test_pairs_that_a_request_names_must_all_hold(rig: Rig, settled: Settled) -> None:
    request = rig.request(tests=("tests/test_strong.py", "tests/test_weak.py"), max_attempts=1)
    with rig.worker(script={"verify.integrity": ["passed", "surviving_mutant"]}):
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.attempts) == ("aborted", {"surviving_mutant": 1})
    settled(rig, request.session_id, "aborted")


def test_an_agent_without_further_edits_aborts_as_exhausted(rig: Rig, settled: Settled) -> None:
    request = rig.request(steps=1)
    with rig.worker(script={"sandbox.execute": ["fail", "pass"]}):
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.reason) == ("aborted", "agent_exhausted")
    settled(rig, request.session_id, "aborted")


def test_a_command_agent_is_told_the_last_verdict_in_words(rig: Rig, settled: Settled) -> None:
    request = rig.request(Command(command="./agent"))
    with rig.worker(script={"sandbox.execute": ["fail", "pass"]}) as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert outcome.status == "completed"
        told = [
            row[0].decode() for row in doubles.rows("SELECT answer FROM audit WHERE name='agent.command' ORDER BY n")
        ]
    assert "attempt 1 after nothing" in told[0]
    assert "attempt 2 after fail: sandbox.execute said so" in told[1]
    settled(rig, request.session_id, "completed")


def test_a_blocked_guard_aborts_at_once(rig: Rig, settled: Settled) -> None:
    request = rig.request()
    with rig.worker(script={"session.guard": ["blocked"]}) as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.reason) == ("aborted", "blocked")
        assert "sandbox.write" not in doubles.names()
    settled(rig, request.session_id, "aborted")


def test_a_merge_conflict_is_an_outcome_that_leaves_nothing_behind(rig: Rig, settled: Settled) -> None:
    request = rig.request()
    with rig.worker(script={"handoff.pr": ["conflict"]}):
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.detail) == ("conflict", "conflict in a.py")
    settled(rig, request.session_id, "aborted")


def test_a_code_host_without_requests_left_is_waited_for_and_the_branch_is_pushed_once(
    rig: Rig, settled: Settled
) -> None:
    request = rig.request()
    with rig.worker(busy={"handoff.pr": 2}) as doubles:
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert outcome.status == "completed"
        assert (doubles.names("tries").count("handoff.pr"), doubles.names().count("handoff.pr")) == (3, 1)
        assert doubles.rows("SELECT pushes FROM branches") == [(1,)]
    settled(rig, request.session_id, "completed")


def test_a_cancel_during_execute_undoes_and_reports_cancelled(rig: Rig, settled: Settled) -> None:
    request = rig.request()
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)) as doubles:
        run = rig.engine.start_session(request)
        rig.wait_for_try("sandbox.execute")
        rig.engine.cancel(run)
        assert rig.engine.result(run, timeout_ms=60_000).status == "cancelled"
        assert doubles.names()[-3:] == UNDOING
        assert "sandbox.execute" not in doubles.names()
    settled(rig, request.session_id, "aborted")


def test_a_second_cancel_does_not_interrupt_the_undoing_of_the_first(rig: Rig, settled: Settled) -> None:
    request = rig.request()
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute", "session.rollback")):
        run = rig.engine.start_session(request)
        rig.wait_for_try("sandbox.execute")
        rig.engine.cancel(run)
        rig.wait_for_try("session.rollback")
        rig.engine.cancel(run)
        rig.hold_file.unlink()
        assert rig.engine.result(run, timeout_ms=60_000).status == "cancelled"
    settled(rig, request.session_id, "aborted")


def test_a_cancel_after_handoff_began_lets_the_session_complete(rig: Rig, settled: Settled) -> None:
    request = rig.request()
    rig.hold_file.touch()
    with rig.worker(hold=("handoff.pr",)):
        run = rig.engine.start_session(request)
        rig.wait_for_try("handoff.pr")
        rig.engine.cancel(run)
        rig.hold_file.unlink()
        assert rig.engine.result(run, timeout_ms=60_000).status == "completed"
    settled(rig, request.session_id, "completed")


def test_a_session_cancelled_before_it_opened_records_nothing(rig: Rig, settled: Settled) -> None:
    request = rig.request()
    run = rig.engine.start_session(request)
    rig.engine.cancel(run)
    with rig.worker() as doubles:
        assert rig.engine.result(run, timeout_ms=60_000).status == "cancelled"
        assert doubles.names() == []
    settled(rig, request.session_id, "aborted")


def test_a_silent_session_expires_and_is_undone(rig: Rig, settled: Settled) -> None:
    request = rig.request(ttl_seconds=2)
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)):
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.reason) == ("expired", "ttl_elapsed")
    settled(rig, request.session_id, "expired")


def test_a_session_that_another_run_drives_is_refused_and_left_alone(rig: Rig) -> None:
    request = rig.request()
    with rig.worker() as doubles:
        db = doubles._open()
        db.execute("INSERT INTO sessions VALUES (?, 'somebody else', 'active')", (request.session_id,))
        db.close()
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        assert (outcome.status, outcome.reason) == ("failed", "Fenced")
        assert doubles.names() == []
        assert doubles.rows("SELECT status FROM sessions") == [("active",)]


def test_starting_the_same_session_again_finds_the_run(rig: Rig) -> None:
    request = rig.request()
    with rig.worker() as doubles:
        first = rig.engine.start_session(request)
        assert rig.engine.start_session(request) == first
        rig.engine.result(first, timeout_ms=60_000)
        assert rig.engine.start_session(request) == first
        assert doubles.names() == STRAIGHT


def test_runs_are_listed_by_queue_with_their_status(rig: Rig) -> None:
    request = rig.request()
    with rig.worker():
        rig.engine.result(rig.engine.start_session(request), timeout_ms=60_000)
        listed = _eventually(lambda: [row for row in rig.engine.sessions(rig.queue) if row.phase == "completed"])
    assert [row.workflow_id for row in listed] == [f"session/{request.session_id}"]
    assert listed[0].status == "completed"


def _eventually(look: Callable[[], Any]) -> Any:
    """Visibility lags behind the run; ask until it has caught up."""
    for _ in range(100):
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("the list never caught up")


def _agreement(activity: str) -> str:
    return {
        "session.guard": "clear",
        "session.dryrun": "safe",
        "sandbox.execute": "pass",
        "verify.integrity": "passed",
    }[activity]
