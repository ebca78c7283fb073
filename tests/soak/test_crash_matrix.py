"""Every step of a session x {worker killed before, worker killed after its effect}, and x the server killed during it.

Run by `make soak`; `tests/workflows/test_crashes.py` runs a seeded sample in `make test`.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable

import pytest

from smp.cli import devserver
from tests.builders.session_rig import Rig

Settled = Callable[[Rig, str, str], None]

pytestmark = [pytest.mark.temporal, pytest.mark.slow]

STEPS = [
    "session.open", "sandbox.spawn", "agent.edits", "session.guard", "session.dryrun", "session.checkpoint",
    "sandbox.write", "sandbox.execute", "verify.targets", "verify.integrity", "session.update", "handoff.pr",
    "sandbox.destroy", "session.close",
]  # fmt: skip
CANCELLED_SESSIONS = 30


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_the_worker_killed_at_each_step(rig: Rig, settled: Settled, step: str, moment: str) -> None:
    request = rig.request()
    rig.crash_file.touch()
    first = rig.spawn_worker(crash_at=f"{step}:{moment}")
    run = rig.engine.start_session(request)
    assert first.wait(60) == -signal.SIGKILL
    successor = rig.spawn_worker()
    try:
        assert rig.engine.result(run, timeout_ms=90_000).status == "completed"
    finally:
        successor.terminate()
        successor.wait(30)
    settled(rig, request.session_id, "completed")


@pytest.mark.parametrize("step", STEPS)
def test_the_server_killed_during_each_step(own_rig: Rig, settled: Settled, step: str) -> None:
    rig = own_rig
    request = rig.request()
    rig.hold_file.touch()
    with rig.worker(hold=(step,)):
        run = rig.engine.start_session(request)
        rig.wait_for_try(step)
        _kill_server(rig)
        devserver.start(rig.settings, lambda _: None)
        rig.hold_file.unlink()
        assert rig.engine.result(run, timeout_ms=90_000).status == "completed"
    settled(rig, request.session_id, "completed")


@pytest.mark.parametrize("step", ["sandbox.spawn", "sandbox.execute", "handoff.pr"])
def test_worker_and_server_killed_during_a_step(own_rig: Rig, settled: Settled, step: str) -> None:
    rig = own_rig
    request = rig.request()
    rig.hold_file.touch()
    first = rig.spawn_worker(hold=(step,))
    run = rig.engine.start_session(request)
    rig.wait_for_try(step)
    first.kill()
    first.wait(30)
    _kill_server(rig)
    rig.hold_file.unlink()
    devserver.start(rig.settings, lambda _: None)
    successor = rig.spawn_worker()
    try:
        assert rig.engine.result(run, timeout_ms=90_000).status == "completed"
    finally:
        successor.terminate()
        successor.wait(30)
    settled(rig, request.session_id, "completed")


def test_sessions_cancelled_at_random_moments_leave_a_branch_exactly_where_they_completed(rig: Rig) -> None:
    moments = random.Random(20261130)
    ended: dict[str, str] = {}
    pause = threading.Event()
    with rig.worker() as doubles:
        for _ in range(CANCELLED_SESSIONS):
            request = rig.request()
            run = rig.engine.start_session(request)
            pause.wait(moments.uniform(0.0, 0.8))
            rig.engine.cancel(run)
            ended[request.session_id] = rig.engine.result(run, timeout_ms=60_000).status
        branches = {name.removeprefix("smp/") for (name,) in doubles.rows("SELECT name FROM branches")}
        assert branches == {session for session, status in ended.items() if status == "completed"}
        assert doubles.rows("SELECT id FROM boxes") == []
        assert doubles.rows("SELECT id FROM sessions WHERE status='active'") == []
    assert set(ended.values()) == {"completed", "cancelled"}


def _kill_server(rig: Rig) -> None:
    pid = devserver.status(rig.settings).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
