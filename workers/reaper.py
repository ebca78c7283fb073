"""What a run that was terminated leaves: its session open, its box and locks held. Cleared up at a worker's start and by a schedule.

A termination runs no code in the workflow. So a session whose run is closed, or unknown to the server, is closed as
aborted on the run's behalf; a session past its deadline expires. A run that is still going is left alone, whatever it does.
The schedule closes sessions only: that is safe beside any live run, while a box without a session may be one that is
just being made. Boxes are looked at when a worker starts.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    WorkflowExecutionStatus,
)
from temporalio.service import RPCError, RPCStatusCode

from activities import contract
from smp.domain.errors import SmpError
from smp.domain.ids import SessionId
from smp.domain.runs import REAP_WORKFLOW
from smp.domain.sessions import Session

if TYPE_CHECKING:
    from smp.services import Services

log = logging.getLogger(__name__)
RUN_PREFIX = "session/"
EVERY = timedelta(minutes=5)
"""Between two looks; each is a small execution of its own in the server's file."""
GRACE = timedelta(minutes=1)
"""A session this young may belong to a run that the server's visibility has not shown yet."""


async def reap(client: Client, services: Services) -> tuple[SessionId, ...]:
    """Close sessions without a living run, then remove boxes that no session has; returns the sessions' ids."""
    ended = await reap_sessions(client, services)
    await asyncio.to_thread(_reap_boxes, services)
    return ended


async def reap_sessions(client: Client, services: Services) -> tuple[SessionId, ...]:
    """Close sessions without a living run; returns their ids. Harmless beside live runs, and when done twice."""
    await asyncio.to_thread(services.sessions.expire_due)
    ended = []
    for session in await asyncio.to_thread(services.session_store.active):
        if await _orphaned(client, session, services.clock.now()):
            try:
                await asyncio.to_thread(
                    services.sessions.close, session.id, "aborted", driver=session.driver, key=f"reaper:{session.id}"
                )
            except SmpError as error:
                log.warning("session %s could not be closed: %s", session.id, error.message)
            else:
                ended.append(session.id)
    return tuple(ended)


class ReaperActivities:
    """The activity behind the schedule; it asks the server itself which runs are over."""

    def __init__(self, client: Client, services: Services) -> None:
        self._client = client
        self._services = services
        self._loop = asyncio.get_running_loop()

    @activity.defn(name=contract.REPOSITORY_REAP, no_thread_cancel_exception=True)
    def reap(self, step: contract.ReapStep) -> contract.Reaped:
        """Close sessions whose run is over. Idempotent: what is closed is not found again."""
        work = reap_sessions(self._client, self._services)
        return contract.Reaped(sessions=asyncio.run_coroutine_threadsafe(work, self._loop).result())


def schedule_id(task_queue: str) -> str:
    """The schedule of a repository."""
    return f"smp-reaper/{task_queue}"


async def schedule_reaper(client: Client, task_queue: str) -> None:
    """See that the repository's schedule exists; one that is there stays as it is, however often it is asked for.

    The schedule outlives its workers: where none lives one look waits for the next worker, and no second one begins.
    """
    action = ScheduleActionStartWorkflow(
        REAP_WORKFLOW, task_queue, id=schedule_id(task_queue), task_queue=task_queue, static_summary="smp reaper"
    )
    schedule = Schedule(
        action=action,
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=EVERY)]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=EVERY),
    )
    with contextlib.suppress(ScheduleAlreadyRunningError):
        await client.create_schedule(schedule_id(task_queue), schedule)


def _reap_boxes(services: Services) -> None:
    """Boxes that no open session has: of sessions that ended without their box's host, of a gate that was killed."""
    for box in services.sandboxes.reap(services.sessions.boxes_in_use()):
        log.warning("removed box %s: no open session has it", box)


async def _orphaned(client: Client, session: Session, now: datetime) -> bool:
    """Whether the run that drives a session is over."""
    if not session.driver.startswith(RUN_PREFIX):
        return False
    workflow_id = session.driver.rpartition("/")[0]
    try:
        described = await client.get_workflow_handle(workflow_id).describe(rpc_timeout=timedelta(seconds=10))
    except RPCError as error:
        return error.status is RPCStatusCode.NOT_FOUND and now - session.opened_at > GRACE
    return described.status is not WorkflowExecutionStatus.RUNNING
