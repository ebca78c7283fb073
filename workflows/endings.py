"""How a run ends: what a failure means for the session, and work that no cancel interrupts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from temporalio.exceptions import ActivityError, ApplicationError, TimeoutType, is_cancelled_exception
from temporalio.exceptions import TimeoutError as TimedOut

T = TypeVar("T")

AGENT_FAULTS = frozenset(
    {
        "Invalid", "TooLarge", "LockConflict", "MergeConflict", "Refused", "ScopeViolation", "SequenceViolation",
        "VerificationRequired", "SandboxFailed", "ForgeFailed", "ForgeBusy", "Fenced", "Conflict",
    }
)  # fmt: skip
"""Errors that end a session as `aborted` with their name as the reason; anything else is ours and fails the run."""


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end even when the workflow is cancelled meanwhile, more than once if need be."""
    task = asyncio.create_task(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    return task.result()


def cause_of(failure: BaseException | None) -> ApplicationError | None:
    """The application error behind an activity's failure, if there is one."""
    cause = failure.cause if isinstance(failure, ActivityError) else None
    return cause if isinstance(cause, ApplicationError) else None


def never_begun(failure: BaseException) -> bool:
    """Whether nobody took an activity from its queue in time."""
    cause = failure.cause if isinstance(failure, ActivityError) else None
    return isinstance(cause, TimedOut) and cause.type is TimeoutType.SCHEDULE_TO_START


def ending_of(failure: BaseException, *, expired: bool) -> tuple[str, str]:
    """Status and reason of a session that a failure ended."""
    origin = cause_of(failure)
    if never_begun(failure) and not expired:
        return "aborted", "host_lost"
    if expired or (origin is not None and origin.type == "SessionExpired"):
        return "expired", "ttl_elapsed"
    if is_cancelled_exception(failure):
        return "cancelled", "cancelled"
    if origin is not None and origin.type in AGENT_FAULTS:
        return "aborted", _snake(origin.type or "")
    return "failed", _snake(origin.type or "") if origin else type(failure).__name__


def listed(files: tuple[str, ...]) -> str:
    """A few file names in words."""
    return ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
