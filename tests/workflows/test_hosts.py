"""Two hosts on the queue of one repository: drained, killed, busy. Every step is tried by `make soak`, here a seeded few."""

from __future__ import annotations

import random
import signal

import pytest
from msgspec.structs import replace

from smp.domain.runs import another_box
from tests.builders.session_doubles import SessionDoubles
from tests.builders.session_rig import PATIENCE, Rig
from tests.builders.two_hosts import HASTY, STEPS, boxes, ended, killed_during, lines, stopped_during
from workers.session_worker import LEAVE_SECONDS

pytestmark = [pytest.mark.temporal, pytest.mark.slow]

KILLED = random.Random(20261201).sample(STEPS, 4)
STOPPED = random.Random(20261202).sample(STEPS, 3)


@pytest.mark.parametrize("step", KILLED)
def test_a_host_killed_during_a_step_costs_its_box_and_the_session_completes_at_the_other(rig: Rig, step: str) -> None:
    killed_during(rig, step)


@pytest.mark.parametrize("step", STOPPED)
def test_a_worker_told_to_stop_during_a_step_finishes_it_and_nothing_is_done_twice(rig: Rig, step: str) -> None:
    stopped_during(rig, step)


def test_a_worker_leaves_in_time_although_a_step_does_not_hear_it(rig: Rig) -> None:
    request = rig.request(patience=HASTY)
    rig.hold_file.touch()
    first = rig.spawn_worker(host="A", hold=("sandbox.execute",), deaf=True)
    run = rig.engine.start_session(request)
    rig.wait_until(lambda: SessionDoubles(rig.options()).holding("sandbox.execute"))
    first.send_signal(signal.SIGTERM)
    assert first.wait(LEAVE_SECONDS + 10) == 0
    rig.hold_file.unlink()
    again = rig.spawn_worker(host="A")
    with ended(first, again):
        assert rig.engine.result(run, timeout_ms=120_000).status == "completed"
    assert boxes(rig) == []


def test_a_step_that_hears_the_cancel_is_given_back_and_tried_again(rig: Rig) -> None:
    request = rig.request(patience=HASTY)
    rig.hold_file.touch()
    first = rig.spawn_worker(host="A", hold=("sandbox.execute",))
    run = rig.engine.start_session(request)
    rig.wait_until(lambda: SessionDoubles(rig.options()).holding("sandbox.execute"))
    first.send_signal(signal.SIGTERM)
    assert first.wait(LEAVE_SECONDS + 10) == 0
    rig.hold_file.unlink()
    again = rig.spawn_worker(host="A")
    with ended(first, again):
        assert rig.engine.result(run, timeout_ms=120_000).status == "completed"
    assert lines(rig, request.session_id).count("sandbox.execute") == 1


def test_a_host_that_is_only_busy_keeps_its_boxes(rig: Rig) -> None:
    """Nine sessions for eight places: the ninth waits longer than its patience, asks, and goes on waiting."""
    patience = replace(PATIENCE, host=1.0, host_silent=300.0)
    requests = [rig.request(patience=patience) for _ in range(9)]
    rig.hold_file.touch()
    with rig.worker(host="A", hold=("sandbox.execute",)) as doubles, rig.worker(host="B", hold=("sandbox.execute",)):
        runs = [rig.engine.start_session(request) for request in requests]
        rig.wait_until(lambda: len(doubles.rows("SELECT 1 FROM held")) >= len(requests))
        rig.hold_file.unlink()
        outcomes = [rig.engine.result(run, timeout_ms=120_000) for run in runs]
    assert [outcome.status for outcome in outcomes] == ["completed"] * len(requests)
    assert not any("host_lost" in step for outcome in outcomes for step in outcome.steps)
    assert boxes(rig) == []


def test_a_cancel_after_the_host_was_lost_undoes_what_can_be_undone(rig: Rig) -> None:
    request = rig.request(patience=HASTY)
    rig.hold_file.touch()
    first = rig.spawn_worker(host="A", hold=("sandbox.execute",))
    run = rig.engine.start_session(request)
    rig.wait_until(lambda: SessionDoubles(rig.options()).holding("sandbox.execute"))
    first.kill()
    first.wait(30)
    rig.engine.cancel(run)
    second = rig.spawn_worker(host="B")
    with ended(first, second):
        rig.wait_until(lambda: SessionDoubles(rig.options()).rows("SELECT 1 FROM sessions WHERE status='aborted'"))
    assert lines(rig, request.session_id)[-1] == "session.close"
    assert boxes(rig) == [(request.sandbox_id, "A")]


def test_a_session_that_loses_host_after_host_ends_with_that_reason(rig: Rig) -> None:
    request = rig.request(patience=HASTY)
    rig.hold_file.touch()
    run = rig.engine.start_session(request)
    doubles = SessionDoubles(rig.options())
    hosts = "ABC"
    for number, host in enumerate(hosts):
        worker = rig.spawn_worker(host=host, hold=("sandbox.execute",))
        rig.wait_until(lambda: len(doubles.rows("SELECT 1 FROM held")) > number)  # noqa: B023 - waited for at once
        worker.kill()
        worker.wait(30)
    last = rig.spawn_worker(host="D")
    with ended(last):
        outcome = rig.engine.result(run, timeout_ms=120_000)
    assert (outcome.status, outcome.reason) == ("aborted", "host_lost")
    ids = [request.sandbox_id, another_box(request.sandbox_id, 1), another_box(request.sandbox_id, 2)]
    assert boxes(rig) == list(zip(ids, hosts, strict=True))
