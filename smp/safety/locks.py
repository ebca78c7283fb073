"""Exclusive claims on files: who holds them now, and taking as many of them as are free."""

from __future__ import annotations

from datetime import datetime

from smp.domain.errors import LockConflict
from smp.domain.ids import FilePath, SessionId
from smp.domain.notifications import LockConflicted
from smp.domain.session_steps import DeniedLock
from smp.domain.sessions import Lock, Session
from smp.ports.notifier import Notifier
from smp.ports.session_store import SessionStore


def held_by_others(
    store: SessionStore, files: tuple[FilePath, ...], *, session_id: SessionId | None, now: datetime
) -> dict[FilePath, Lock]:
    """Locks on these files that other sessions hold and that have not expired."""
    return {lock.file: lock for lock in store.locks(files) if lock.session_id != session_id and lock.expires_at > now}


def refuse_locked(
    store: SessionStore,
    notifier: Notifier,
    files: tuple[FilePath, ...],
    *,
    session_id: SessionId | None,
    now: datetime,
) -> None:
    """Raise LockConflict, notified, when another session holds any of these files."""
    for lock in held_by_others(store, files, session_id=session_id, now=now).values():
        announce(notifier, lock)
        raise LockConflict(lock.file, held_by_session=lock.session_id, held_by_agent=lock.agent_id)


def claims(session: Session, files: tuple[FilePath, ...], *, now: datetime) -> tuple[Lock, ...]:
    """Locks that live as long as the session does."""
    return tuple(
        Lock(
            file=file,
            session_id=session.id,
            agent_id=session.agent_id,
            acquired_at=now,
            expires_at=session.expires_at,
        )
        for file in files
    )


def denied(lock: Lock) -> DeniedLock:
    return DeniedLock(file=lock.file, held_by_session=lock.session_id, held_by_agent=lock.agent_id)


def announce(notifier: Notifier, lock: Lock) -> None:
    """Tell everyone that a claim met this lock."""
    notifier.publish(LockConflicted(file=lock.file, held_by_session=lock.session_id, held_by_agent=lock.agent_id))
