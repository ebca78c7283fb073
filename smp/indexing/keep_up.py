"""A thread that makes what follows lazily from the graph, so that no question has to wait for it.

It starts over when the index changes in this process, and looks now and then whether another process has changed it. It
yields the processor to everything else: answers come first. What it cannot do (an embedding endpoint that is down) it says
once and tries again.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from smp.domain.errors import SmpError
from smp.indexing.follow import Followers

QUIET_S = 2.0
"""Nothing is begun before the graph has been still for as long: edits come in bursts."""
LOOK_S = 10.0
"""Between looks for what other processes have done, and after a failure."""
NICENESS = 10


@contextmanager
def keeping_up(followers: Followers, lock: threading.RLock, changed: threading.Event) -> Iterator[None]:
    """Run the thread while the context is open.

    Args:
        lock: Held while ranks and communities are made.
        changed: Set by whoever changes the graph in this process.
    """
    stop = threading.Event()
    thread = threading.Thread(target=_run, args=(followers, lock, changed, stop), name="keeping-up", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        changed.set()
        thread.join()


def _run(followers: Followers, lock: threading.RLock, changed: threading.Event, stop: threading.Event) -> None:
    _yield_processor()
    said = ""
    while not stop.is_set():
        changed.clear()
        try:
            with lock:
                followers.rank()
            followers.embed(stop=stop)
            said = ""
        except SmpError as error:
            if error.message != said:
                import structlog  # not at every start

                structlog.get_logger(__name__).warning("ranks or vectors are behind", error=error.message)
            said = error.message
        changed.wait(LOOK_S)
        while changed.is_set() and not stop.is_set():
            changed.clear()
            changed.wait(QUIET_S)


def _yield_processor() -> None:
    """Lower the priority of this thread alone; Linux gives each its own."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
