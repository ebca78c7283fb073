"""Spans: what a call was made of and how long each part took, for whoever operates a server."""

from __future__ import annotations

import abc
from contextlib import AbstractContextManager
from typing import TypeVar

T = TypeVar("T")


class Spans(abc.ABC):
    @abc.abstractmethod
    def span(self, name: str, *, parent: str | None = None, **attributes: str) -> AbstractContextManager[None]:
        """Time a block as part of the span around it; an exception that leaves it is noted.

        Args:
            parent: The caller's `traceparent` (W3C Trace Context), for a call that came from outside.
        """

    @abc.abstractmethod
    def timed(self, name: str, adapter: T) -> T:
        """The adapter, whose methods of every port it implements are spans `<name>.<method>` from now on."""

    @abc.abstractmethod
    def flush(self) -> None:
        """Send what has ended, as far as the receiver takes it; for a process that is about to end."""
