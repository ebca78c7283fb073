"""A session as stores keep it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from smp.domain.ids import AgentId, AuditId, FilePath, SessionId
from smp.domain.sessions import Concurrency, SafetyLevel, Session, SessionMode, SessionStatus

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
A, B = FilePath("a.py"), FilePath("b.py")


def a_session(name: str = "ses_one", driver: str = "rpc:agent") -> Session:
    """An active one that may write A and B until LATER."""
    return Session(
        id=SessionId(name),
        agent_id=AgentId("agent"),
        task="work",
        scope=(A, B),
        mode=SessionMode.WRITE,
        concurrency=Concurrency.EXCLUSIVE,
        status=SessionStatus.ACTIVE,
        safety_level=SafetyLevel.STANDARD,
        commit_sha=None,
        opened_at=NOW,
        expires_at=LATER,
        ttl_seconds=3600,
        audit_id=AuditId(f"aud_{name}"),
        driver=driver,
    )
