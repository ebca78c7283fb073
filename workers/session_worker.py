"""The worker of one repository: workflows and activities on its queues, until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Interceptor, Worker

from activities.errors import TranslateErrors
from activities.heartbeat import Beating
from workers.queues import Queues
from workers.sandbox import workflow_runner
from workflows import WORKFLOWS

ACTIVITY_THREADS = 8
"""Activities wait for boxes and stores most of the time; boxes bound their own use of the machine."""
STICKY_SECONDS = 2.0
"""How long a killed worker holds the runs it had cached; the SDK's 10 s make a crash cost 8 s more."""


@contextlib.asynccontextmanager
async def serving(
    client: Client,
    queues: Queues,
    activities: Sequence[Callable[..., Any]],
    *,
    interceptors: Sequence[Interceptor] = (),
) -> AsyncIterator[None]:
    """Poll both queues while the context lasts.

    Leaving it stops polling and waits for the activities that run; those with a heartbeat see a cancel at their next.
    """
    with ThreadPoolExecutor(ACTIVITY_THREADS, thread_name_prefix="activity") as executor:
        chain = [Beating(), TranslateErrors(), *interceptors]
        session = Worker(
            client,
            task_queue=queues.session,
            workflows=list(WORKFLOWS),
            activities=list(activities),
            activity_executor=executor,
            workflow_runner=workflow_runner(),
            interceptors=chain,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=STICKY_SECONDS),
        )
        host = Worker(
            client,
            task_queue=queues.host,
            activities=list(activities),
            activity_executor=executor,
            interceptors=chain,
        )
        async with session, host:
            yield


async def serve_until(
    stop: asyncio.Event,
    client: Client,
    queues: Queues,
    activities: Sequence[Callable[..., Any]],
    *,
    ready: Callable[[], None],
) -> None:
    """Serve until `stop` is set; `ready` is called once both queues are polled."""
    async with serving(client, queues, activities):
        ready()
        await stop.wait()
