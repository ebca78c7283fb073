"""Whether the host of a box still lives, said by who polls its queue.

A step in a box waits on the queue of its host. That nobody takes it may mean that the host is busy, or that it is gone; the
server knows when somebody last asked for work there. The question is an activity on the queue of the repository, so whoever
answers lives itself: where no worker is left at all, a session waits as it always did.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from activities import contract

ASK_SECONDS = 10.0


class HostActivities:
    """Asks the server; made on the event loop that owns the client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()

    @activity.defn(name=contract.HOST_ALIVE, no_thread_cancel_exception=True)
    def alive(self, step: contract.HostStep) -> contract.HostState:
        """Whether a worker has asked for work of that queue lately. Idempotent: it only looks."""
        asked = asyncio.run_coroutine_threadsafe(self._last_asked(step.queue), self._loop).result()
        silent = timedelta(seconds=step.silent_s)
        return contract.HostState(alive=asked is not None and datetime.now(UTC) - asked <= silent)

    async def _last_asked(self, queue: str) -> datetime | None:
        request = DescribeTaskQueueRequest(
            namespace=self._client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        )
        service = self._client.workflow_service
        answer = await service.describe_task_queue(request, timeout=timedelta(seconds=ASK_SECONDS))
        asked = [poller.last_access_time.ToDatetime(tzinfo=UTC) for poller in answer.pollers]
        return max(asked, default=None)
