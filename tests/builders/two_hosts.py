"""Two hosts, each a worker process with boxes of its own, on the queue of one repository: what is true after one dies or stops.

A host is told by its name; a step in a box fails at any host but the one that made it (`session_doubles.IN_THE_BOX`).
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Iterator

from msgspec.structs import replace

from tests.builders.session_doubles import SessionDoubles
from tests.builders.session_rig import PATIENCE, Rig
from workers.session_worker import LEAVE_SECONDS

HASTY = replace(PATIENCE, host=2.0, host_silent=2.0)
"""A dead host is known after two seconds; one that lives is never asked in these tests, but where it says so."""
STEPS = [
    "session.open", "sandbox.spawn", "agent.edits", "session.guard", "session.dryrun", "session.checkpoint",
    "sandbox.write", "sandbox.execute", "verify.targets", "verify.integrity", "session.update", "handoff.pr",
    "sandbox.destroy", "session.close",
]  # fmt: skip


@contextlib.contextmanager
def ended(*processes: subprocess.Popen[str]) -> Iterator[None]:
    """Ends what the test has left."""
    try:
        yield
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait(30)
            if process.stdout is not None:
                process.stdout.close()


def boxes(rig: Rig) -> list[tuple[str, str]]:
    """Boxes with their hosts."""
    return SessionDoubles(rig.options()).rows("SELECT id, host FROM boxes")


def lines(rig: Rig, session: str) -> list[str]:
    """The audit of a session."""
    doubles = SessionDoubles(rig.options())
    return [name for (name,) in doubles.rows(f"SELECT name FROM audit WHERE session='{session}' ORDER BY n")]


def killed_during(rig: Rig, step: str) -> None:
    """SIGKILL: the box is lost with its host, and the session completes at the other."""
    request = rig.request(patience=HASTY)
    rig.hold_file.touch()
    first = rig.spawn_worker(host="A", hold=(step,))
    run = rig.engine.start_session(request)
    rig.wait_until(lambda: SessionDoubles(rig.options()).holding(step))
    first.kill()
    first.wait(30)
    rig.hold_file.unlink()
    second = rig.spawn_worker(host="B")
    with ended(first, second):
        outcome = rig.engine.result(run, timeout_ms=120_000)
    assert outcome.status == "completed", outcome
    done = lines(rig, request.session_id)
    assert done[-1] == "session.close"
    assert (done.count("session.open"), done.count("session.close")) == (1, 1)
    doubles = SessionDoubles(rig.options())
    assert doubles.rows("SELECT pushes FROM branches") == [(1,)]
    at = STEPS.index(step)
    # What a dead host has left on its own disk is its reaper's, at the next start there.
    in_the_box = STEPS.index("sandbox.spawn") < at < STEPS.index("session.close")
    assert boxes(rig) == ([(request.sandbox_id, "A")] if in_the_box else [])
    moved = any("host_lost" in one for one in outcome.steps)
    assert moved is (STEPS.index("sandbox.spawn") < at < STEPS.index("sandbox.destroy"))


def stopped_during(rig: Rig, step: str) -> None:
    """SIGTERM: the worker ends within its bound, and nothing is done twice."""
    request = rig.request(patience=HASTY)
    rig.hold_file.touch()
    first = rig.spawn_worker(host="A", hold=(step,))
    run = rig.engine.start_session(request)
    rig.wait_until(lambda: SessionDoubles(rig.options()).holding(step))
    first.send_signal(signal.SIGTERM)
    rig.hold_file.unlink()
    assert first.wait(LEAVE_SECONDS + 10) == 0
    again = rig.spawn_worker(host="A")
    with ended(first, again):
        assert rig.engine.result(run, timeout_ms=120_000).status == "completed"
    # What was running was finished before the worker left: no step was begun a second time.
    assert lines(rig, request.session_id).count(step) == 1
    tries = SessionDoubles(rig.options()).names("tries")
    assert tries.count(step) == 1
    assert boxes(rig) == []
