"""The worker of one repository: workflows and activities on its queues, until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Interceptor, Worker

from activities.errors import TranslateErrors
from activities.heartbeat import Beating
from workers.hosts import HostActivities
from workers.queues import Queues
from workers.sandbox import workflow_runner
from workflows import WORKFLOWS

log = logging.getLogger(__name__)
ACTIVITY_THREADS = 8
"""Activities wait for boxes and stores most of the time; boxes bound their own use of the machine."""
STICKY_SECONDS = 2.0
"""How long a killed worker holds the runs it had cached; the SDK's 10 s make a crash cost 8 s more."""

DRAIN_SECONDS = 8.0
"""What runs when a worker is told to stop may end within; then it is cancelled at its next sign of life, and tried again elsewhere."""
LEAVE_SECONDS = 15.0
"""A worker that was told to stop ends within, whatever still runs in it: what it has not given back is noticed by its silence."""


@contextlib.asynccontextmanager
async def serving(
    client: Client,
    queues: Queues,
    activities: Sequence[Callable[..., Any]],
    *,
    interceptors: Sequence[Interceptor] = (),
) -> AsyncIterator[None]:
    """Poll both queues while the context lasts.

    Leaving it stops polling and waits `DRAIN_SECONDS` for the activities that run; then those with a heartbeat see a cancel at
    their next, and the others are waited for.
    """
    executor = ThreadPoolExecutor(ACTIVITY_THREADS, thread_name_prefix="activity")
    try:
        drain = timedelta(seconds=DRAIN_SECONDS)
        chain = [Beating(), TranslateErrors(), *interceptors]
        session = Worker(
            client,
            task_queue=queues.session,
            workflows=list(WORKFLOWS),
            activities=[*activities, HostActivities(client).alive],
            activity_executor=executor,
            graceful_shutdown_timeout=drain,
            workflow_runner=workflow_runner(),
            interceptors=chain,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=STICKY_SECONDS),
        )
        host = Worker(
            client,
            task_queue=queues.host,
            activities=list(activities),
            activity_executor=executor,
            graceful_shutdown_timeout=drain,
            interceptors=chain,
        )
        async with session, host:
            yield
    finally:
        executor.shutdown(wait=False)


async def serve_until(
    stop: asyncio.Event,
    client: Client,
    queues: Queues,
    activities: Sequence[Callable[..., Any]],
    *,
    ready: Callable[[], None],
    interceptors: Sequence[Interceptor] = (),
) -> None:
    """Serve until `stop` is set, then drain within `LEAVE_SECONDS`; `ready` is called once both queues are polled."""
    context = serving(client, queues, activities, interceptors=interceptors)
    await context.__aenter__()
    ready()
    await stop.wait()
    try:
        await asyncio.wait_for(context.__aexit__(None, None, None), LEAVE_SECONDS)
    except TimeoutError:
        log.warning(
            "left with steps that did not end within %.0f s; they are tried again by another worker", LEAVE_SECONDS
        )
