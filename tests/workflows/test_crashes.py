"""Workers and servers killed with SIGKILL in the middle of a session: it ends as if nothing had happened.

A seeded dozen (eight deaths of a worker, three of the server, one of both); every step, before and after its effect, is `tests/soak/test_crash_matrix.py` (`make soak`).
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable

import pytest

from smp.cli import devserver
from tests.builders.session_rig import Rig

Settled = Callable[["Rig", str, str], None]

pytestmark = pytest.mark.temporal

STEPS = [
    "session.open", "sandbox.spawn", "agent.edits", "session.guard", "session.dryrun", "session.checkpoint",
    "sandbox.write", "sandbox.execute", "verify.integrity", "session.update", "handoff.pr", "sandbox.destroy",
    "session.close",
]  # fmt: skip
SAMPLE = random.Random(20261130).sample([f"{step}:{moment}" for step in STEPS for moment in ("before", "after")], 8)


SERVER_SAMPLE = random.Random(20261201).sample(STEPS, 3)


@pytest.mark.parametrize("point", SAMPLE)
def test_a_worker_killed_at_a_step_is_succeeded_without_anything_done_twice(
    rig: Rig, settled: Settled, point: str
) -> None:
    request = rig.request()
    rig.crash_file.touch()
    first = rig.spawn_worker(crash_at=point)
    run = rig.engine.start_session(request)
    assert first.wait(60) == -signal.SIGKILL
    successor = rig.spawn_worker()
    try:
        assert rig.engine.result(run, timeout_ms=90_000).status == "completed"
    finally:
        successor.terminate()
        successor.wait(30)
    settled(rig, request.session_id, "completed")


def test_the_server_killed_during_steps_finds_each_session_again_in_its_file(own_rig: Rig, settled: Settled) -> None:
    # One server for three deaths: starting one is what costs.
    rig = own_rig
    for step in SERVER_SAMPLE:
        rig.hold_file.touch()
        with rig.worker(hold=(step,)) as doubles:
            request = rig.request()
            run = rig.engine.start_session(request)
            rig.wait_until(lambda: doubles.holding(step))  # noqa: B023 - waited for before the loop goes on
            _kill_server(rig)
            devserver.start(rig.settings, lambda _: None)
            rig.hold_file.unlink()
            assert rig.engine.result(run, timeout_ms=90_000).status == "completed"
            lines = f"SELECT count(*) FROM audit WHERE name='{step}' AND session='{request.session_id}'"
            assert doubles.rows(lines) == [(1,)]
            settled(rig, request.session_id, "completed")


def test_worker_and_server_killed_together_cost_the_session_nothing(own_rig: Rig, settled: Settled) -> None:
    rig = own_rig
    request = rig.request()
    rig.hold_file.touch()
    first = rig.spawn_worker(hold=("handoff.pr",))
    run = rig.engine.start_session(request)
    rig.wait_for_try("handoff.pr")
    first.kill()
    first.wait(30)
    _kill_server(rig)
    rig.hold_file.unlink()
    devserver.start(rig.settings, lambda _: None)
    with rig.worker():
        assert rig.engine.result(run, timeout_ms=90_000).status == "completed"
    settled(rig, request.session_id, "completed")


def _kill_server(rig: Rig) -> None:
    pid = devserver.status(rig.settings).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
