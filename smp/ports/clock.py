"""Now, and fresh ids; nothing else in the platform reads time or randomness."""

from __future__ import annotations

import abc
from datetime import datetime


class Clock(abc.ABC):
    @abc.abstractmethod
    def now(self) -> datetime:
        """The present moment, aware, in UTC."""

    @abc.abstractmethod
    def fresh_id(self, prefix: str) -> str:
        """`<prefix>_` and at least 16 URL-safe characters (>= 96 bits), unguessable, never repeated."""
