"""The schedule that closes what a terminated run left: made once, whatever runs beside it left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, TypeVar, cast

import pytest
from msgspec.structs import replace
from temporalio.client import ScheduleActionExecutionStartWorkflow

from activities import contract
from smp.adapters.runs_temporal import connect
from smp.domain.ids import AgentId, SessionId
from smp.domain.runs import Remote, workflow_id_of
from smp.domain.session_steps import OpenSession
from tests.builders.session_rig import Rig
from tests.builders.session_world import a_template, a_world
from workers.queues import Queues
from workers.reaper import ReaperActivities, reap_sessions, schedule_id, schedule_reaper
from workers.session_worker import serving

if TYPE_CHECKING:
    from smp.services import Services

pytestmark = pytest.mark.temporal
T = TypeVar("T")


class Place:
    """A session store with one session whose run was terminated, one whose run goes on, and one of a client."""

    def __init__(self, rig: Rig, root: Path) -> None:
        self.rig = rig
        self.world = a_world(a_template(root / "template"), root)
        # Nobody serves their queue: what matters of a run here is only whether the server calls it running.
        self.lost = self._open(self._started())
        self.alive = self._open(self._started())
        self.clients = self._open(None)
        asyncio.run(self._terminate(self.lost))

    def _started(self) -> SessionId:
        request = replace(self.rig.request(Remote()), task_queue=f"{self.rig.queue}-elsewhere")
        self.rig.engine.start_session(request)
        return request.session_id

    def _open(self, session: SessionId | None) -> SessionId:
        driver = None if session is None else f"{workflow_id_of(session)}/run"
        request = OpenSession(
            session_id=session,
            agent_id=AgentId("coder"),
            task="work",
            scope=("shop/money.py",),
            driver=driver,
            ttl_seconds=3600,
        )
        return self.world.service.open(request).session.id

    async def _terminate(self, session: SessionId) -> None:
        client = await connect(self.rig.settings.temporal)
        await client.get_workflow_handle(workflow_id_of(session)).terminate("by a test")

    def services(self) -> Services:
        world = self.world
        return cast(
            "Services",
            SimpleNamespace(sessions=world.service, session_store=world.store, clock=world.clock),
        )

    def active(self) -> set[SessionId]:
        return {session.id for session in self.world.store.active()}


async def _until(look: Callable[[], Awaitable[T | None]]) -> T:
    for _ in range(600):
        if (found := await look()) is not None:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError("it never came to that")


def test_the_schedule_is_made_once_and_closes_the_session_of_a_terminated_run_alone(rig: Rig, tmp_path: Path) -> None:
    place = Place(rig, tmp_path)

    async def scheduled() -> contract.Reaped:
        client = await connect(rig.settings.temporal)
        await schedule_reaper(client, rig.queue)
        await schedule_reaper(client, rig.queue)  # as each worker does; the first one stays
        handle = client.get_schedule_handle(schedule_id(rig.queue))
        queues = Queues(session=rig.queue, host=f"{rig.queue}-host")
        try:
            async with serving(client, queues, [ReaperActivities(client, place.services()).reap]):
                await handle.trigger()

                async def first() -> str | None:
                    actions = (await handle.describe()).info.recent_actions
                    action = actions[0].action if actions else None
                    return action.workflow_id if isinstance(action, ScheduleActionExecutionStartWorkflow) else None

                run = client.get_workflow_handle(await _until(first), result_type=contract.Reaped)
                reaped: contract.Reaped = await run.result()
            return reaped
        finally:
            await handle.delete()

    assert asyncio.run(scheduled()).sessions == (place.lost,)
    assert place.active() == {place.alive, place.clients}


def test_a_run_that_the_server_does_not_know_has_a_minute_to_appear(rig: Rig, tmp_path: Path) -> None:
    place = Place(rig, tmp_path)
    unknown = place._open(SessionId("ses_never_started"))

    async def look() -> tuple[SessionId, ...]:
        return await reap_sessions(await connect(rig.settings.temporal), place.services())

    assert asyncio.run(look()) == (place.lost,)
    place.world.clock.forward(61)
    assert asyncio.run(look()) == (unknown,)
    assert place.active() == {place.alive, place.clients}
