"""An operator's reset: the new run claims the session, and what the former one still does is fenced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from temporalio.testing import ActivityEnvironment

from activities import contract
from activities.sessions import SessionActivities
from smp.domain.errors import Fenced, SequenceViolation
from smp.domain.ids import SessionId
from tests.builders.session_rig import Rig
from tests.builders.session_world import World, a_template, a_world

if TYPE_CHECKING:
    from smp.services import Services

Settled = Callable[[Rig, str, str], None]
FORMER, NEW = "session/ses_w/run-1", "session/ses_w/run-1~9f"


@pytest.mark.temporal
def test_a_reset_run_claims_the_session_once_and_goes_on_from_where_it_was_set_back(rig: Rig, settled: Settled) -> None:
    request = rig.request()
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)) as doubles:
        run = rig.engine.start_session(request)
        rig.wait_for_try("sandbox.execute")
        first = doubles.rows("SELECT driver FROM sessions")[0][0]
        rig.reset(run, before="session.dryrun")
        rig.hold_file.unlink()
        assert rig.engine.result(run, timeout_ms=60_000).status == "completed"
        names = doubles.names()
        assert names.count("session.claim") == 1
        assert names.count("session.open") == names.count("session.guard") == 1
        claimed = names.index("session.claim")
        assert "session.dryrun" in names[claimed:]
        assert "handoff.pr" not in names[:claimed]
        second = doubles.rows("SELECT driver FROM sessions")[0][0]
        assert second.startswith(f"{first}~")
        epochs = [key.partition("#")[0].rpartition("/")[2] for (key,) in doubles.rows("SELECT key FROM audit")]
        assert set(epochs) == {"1", "2"}
        assert doubles.rows("SELECT pushes FROM branches") == [(1,)]
        assert doubles.rows("SELECT id FROM boxes") == []


def _claim(world: World, session: SessionId, driver: str) -> contract.Done:
    services = cast("Services", SimpleNamespace(sessions=world.service, session_store=world.store))
    step = contract.Step(key="k", session_id=session, driver=driver)
    done: contract.Done = ActivityEnvironment().run(SessionActivities(services).claim, step)
    return done


def test_a_claim_fences_the_former_run_and_is_the_same_when_repeated(tmp_path: Path) -> None:
    world = a_world(a_template(tmp_path / "template"), tmp_path)
    session = world.id(driver=FORMER, session_id="ses_w")
    assert _claim(world, session, NEW).detail == f"claimed from {FORMER}"
    assert _claim(world, session, NEW).detail == "claimed"
    assert world.methods(session).count("TAKE_OVER") == 1
    with pytest.raises(SequenceViolation):
        world.service.require(session, driver=FORMER, method="smp/session/close")
    assert world.service.require(session, driver=NEW, method="smp/session/close").driver == NEW


def test_a_session_of_another_workflow_cannot_be_claimed_and_one_that_ended_is_left_alone(tmp_path: Path) -> None:
    world = a_world(a_template(tmp_path / "template"), tmp_path)
    session = world.id(driver="session/ses_other/run-1", session_id="ses_w")
    with pytest.raises(Fenced, match="not by this workflow"):
        _claim(world, session, NEW)
    world.service.close(session, "aborted", driver="session/ses_other/run-1")
    assert _claim(world, session, NEW).detail == "it has ended"
