"""Signs of life of long activities, and the place where a cancel reaches them.

Activities are cancelled at defined points only: `Pulse` raises when the workflow has asked for it. An exception thrown
into the thread at any instruction (the SDK's default) could land inside a transaction or between a mount and its record.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Iterator

from temporalio import activity
from temporalio.exceptions import CancelledError

BEAT_SECONDS = 1.0


class Pulse:
    """Callable as a heartbeat; raises `CancelledError` once the activity has been cancelled."""

    def __call__(self) -> None:
        activity.heartbeat()
        if activity.is_cancelled():
            raise CancelledError("the run asked to stop")


@contextlib.contextmanager
def beating() -> Iterator[Pulse]:
    """Beat every second from a thread of its own, for use cases that report nothing while they work.

    Yields:
        The pulse, to hand to those that do report and should stop when cancelled.
    """
    stopped = threading.Event()
    context = contextvars.copy_context()

    def beat() -> None:
        while not stopped.wait(BEAT_SECONDS):
            activity.heartbeat()

    activity.heartbeat()
    thread = threading.Thread(target=context.run, args=(beat,), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield Pulse()
    finally:
        stopped.set()
        thread.join()
