"""What a run that was terminated leaves: its session open, its box and locks held. Each worker's start clears it up.

A termination runs no code in the workflow. So a session whose run is closed, or unknown to the server, is closed as
aborted on the run's behalf; a session past its deadline expires. A run that is still going is left alone, whatever it does.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from smp.domain.errors import SmpError
from smp.domain.sessions import Session

if TYPE_CHECKING:
    from smp.services import Services

log = logging.getLogger(__name__)
RUN_PREFIX = "session/"
GRACE = timedelta(minutes=1)
"""A session this young may belong to a run that the server's visibility has not shown yet."""


async def reap(client: Client, services: Services) -> tuple[str, ...]:
    """Close sessions without a living run; returns their ids."""
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
    await asyncio.to_thread(_reap_boxes, services)
    return tuple(ended)


def _reap_boxes(services: Services) -> None:
    """Boxes that no open session has: of sessions that ended without their box's host, of a gate that was killed."""
    kept = [session.sandbox_id for session in services.session_store.active() if session.sandbox_id is not None]
    for box in services.sandboxes.reap(kept):
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
