"""Every step of a real session x each point in it x what dies there by SIGKILL: the session ends as if nothing had happened.

Real boxes, tests, mutants, branches, stores; processes of the product. A session that nothing disturbed says what each other
has to leave behind. `tests/workflows/test_crashes.py` is a seeded sample on doubles, in `make test`.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.builders.mortal_shop import MortalShop, Victim
from tests.builders.session_rig import Rig

pytestmark = [pytest.mark.temporal, pytest.mark.sandbox, pytest.mark.slow, pytest.mark.timeout(900)]

STEPS = {
    "session.open": ("write1",),
    "sandbox.spawn": ("box1", "write1", "write2"),
    "agent.edits": ("write1",),
    "session.guard": ("write1", "write2"),
    "session.dryrun": ("write1",),
    "session.checkpoint": ("write1",),
    "sandbox.write": ("box1", "write1"),
    "sandbox.execute": ("write1", "beat1", "write2", "write3"),
    "verify.targets": (),
    "verify.integrity": ("beat1", "write1", "write2"),
    "session.update": ("write1", "write2"),
    "handoff.pr": ("write1", "write2"),
    "sandbox.destroy": ("write1", "write2"),
    "session.close": ("write1", "write2", "record1", "record2", "write3"),
}
"""Points in each step besides `before` and `after` it: its transactions, what it writes into the box, its signs of life."""
ALL = [f"{step}:{moment}" for step, during in STEPS.items() for moment in ("before", *during, "after")]
THREE = [
    f"{step}:{moment}"
    for step, during in STEPS.items()
    if during and step not in ("agent.edits", "sandbox.destroy")
    for moment in ("before", during[-1] if step != "session.close" else "record1", "after")
]
"""Of each of the run's eleven phases: before, during, after it. A worker's own death is tried at every point."""
CELLS = [(Victim.WORKER, point) for point in ALL] + [
    (victim, point) for victim in (Victim.TREE, Victim.TEMPORAL, Victim.SERVER) for point in THREE
]
CANCELLED_SESSIONS = 30


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], MortalShop]]:
    """The shop, and another one after a session has ended wrong there."""
    made: list[MortalShop] = []

    def place() -> MortalShop:
        if not made or made[-1].broken:
            if made:
                made[-1].close()
            made.append(MortalShop(tmp_path_factory.mktemp("shop")))
        return made[-1]

    yield place
    if made:
        made[-1].close()


@pytest.mark.parametrize(("victim", "point"), CELLS)
def test_what_dies_at_a_point_costs_the_session_nothing(
    places: Callable[[], MortalShop], victim: Victim, point: str
) -> None:
    shop = places()
    with shop.judging():
        session = shop.begin(stop_at=point)
        shop.kill(victim)
        shop.go_on()
        shop.ended_well(session)


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
