"""A run from the command line: seen to its end, with a worker if none lives, undone on Ctrl-C."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

from smp.cli.failures import stderr
from smp.cli.worker_process import ChildWorker, worker_lives
from smp.domain.errors import SmpError
from smp.services import Services

CANCEL_WAIT_MS = 60_000

T = TypeVar("T")


def driven(
    services: Services,
    workflow_id: str,
    *,
    what: str,
    undoing: str,
    start: Callable[[], object],
    watch: Callable[[Callable[[], None] | None], T],
    undone: Callable[[], object],
) -> T:
    """Start a run and watch it to its end.

    Args:
        what: What it is, in words. undoing: what it does when it is interrupted.
        watch: Shows it until it has ended; given what keeps a worker of ours alive, if there is one.
        undone: Waits, for a bounded time, for what an interrupt set going.
    """
    child: ChildWorker | None = None
    with contextlib.ExitStack() as stack:
        if not worker_lives(services.settings):
            stderr.print(f"no worker of this repository runs: starting one for this {what}", soft_wrap=True)
            child = stack.enter_context(ChildWorker(services.settings))
        try:
            start()
            return watch(child.ensure if child else None)
        except KeyboardInterrupt:
            stderr.print(f"interrupted: {undoing} (a second Ctrl-C leaves it to the next worker)", soft_wrap=True)
            with contextlib.suppress(SmpError):
                services.runs.cancel(workflow_id)
                undone()
            raise
