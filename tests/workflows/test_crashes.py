"""Workers and servers killed with SIGKILL in the middle of a session: it ends as if nothing had happened.

A seeded sample; every step, before and after its effect, is `tests/soak/test_crash_matrix.py` (`make soak`).
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
SAMPLE = random.Random(20261130).sample([f"{step}:{moment}" for step in STEPS for moment in ("before", "after")], 4)


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


def test_a_server_killed_during_execute_finds_the_session_again_in_its_file(own_rig: Rig, settled: Settled) -> None:
    rig = own_rig
    request = rig.request()
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)) as doubles:
        run = rig.engine.start_session(request)
        rig.wait_for_try("sandbox.execute")
        pid = devserver.status(rig.settings).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        devserver.start(rig.settings, lambda _: None)
        rig.hold_file.unlink()
        assert rig.engine.result(run, timeout_ms=90_000).status == "completed"
        assert doubles.rows("SELECT count(*) FROM audit WHERE name='sandbox.execute'") == [(1,)]
    settled(rig, request.session_id, "completed")
