"""The machine's clock and random generator."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from smp.ports.clock import Clock


class SystemClock(Clock):
    def now(self) -> datetime:
        return datetime.now(UTC)

    def fresh_id(self, prefix: str) -> str:
        return f"{prefix}_{secrets.token_urlsafe(15)}"
