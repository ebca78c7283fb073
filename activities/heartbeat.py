"""Signs of life of every activity, and the place where a cancel reaches it.

`Beating` beats for whatever runs, so that a killed worker is noticed within the heartbeat time-out instead of the
step's whole start-to-close. Activities are cancelled at defined points only: `stop_if_cancelled` raises when the
workflow has asked for it. An exception thrown into the thread at any instruction (the SDK's default) could land inside
a transaction or between a mount and its record.
"""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio import activity
from temporalio.exceptions import CancelledError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

BEAT_SECONDS = 1.0


def stop_if_cancelled() -> None:
    """The heartbeat handed to use cases; they call it about once a second while they work.

    Raises:
        CancelledError: The run asked to stop, or the worker is going down and will not wait any longer (the activity is then
            tried again).
    """
    if activity.is_cancelled():
        raise CancelledError("asked to stop")


class Beating(Interceptor):
    """Every activity of a worker beats from its start to its end."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        """See `Interceptor`."""
        return _Beating(next)


class _Beating(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - the SDK's name
        beat = asyncio.create_task(_beat())
        try:
            return await super().execute_activity(input)
        finally:
            beat.cancel()


async def _beat() -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        # From a thread: for synchronous activities the SDK (1.35) hands the beat to this loop and waits for it.
        await asyncio.to_thread(activity.heartbeat)
