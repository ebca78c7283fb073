"""An ordered feed of notifications that survives restarts and crosses processes."""

from __future__ import annotations

import abc

from msgspec import Struct

from smp.domain.notifications import Notification


class Notice(Struct, frozen=True, kw_only=True):
    """cursor: strictly rising."""

    cursor: int
    body: Notification


class Notifier(abc.ABC):
    @abc.abstractmethod
    def publish(self, notification: Notification) -> None:
        """Append to the feed. Never raises: a lost notification must not fail what it reports."""

    @abc.abstractmethod
    def after(self, cursor: int, *, limit: int = 1000) -> tuple[Notice, ...]:
        """Notices with a greater cursor, oldest first."""

    @abc.abstractmethod
    def latest(self) -> int:
        """Cursor of the newest notice; 0 when there is none."""
