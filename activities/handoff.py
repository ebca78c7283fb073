"""The activity that lets work out: push the branch, write the pull request. The point of no return of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import activity

from activities import contract

if TYPE_CHECKING:
    from smp.services import Services


class HandoffActivities:
    """Idempotent by the branch's name, which is a function of the session's id, and by the content's hash."""

    def __init__(self, services: Services) -> None:
        self._services = services
