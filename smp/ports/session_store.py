"""Sessions, locks, checkpoints, audit: compare-and-set writes, each with its audit line in one transaction."""

from __future__ import annotations

import abc
from datetime import datetime

from smp.domain.ids import AuditId, CheckpointId, FilePath, SessionId
from smp.domain.sessions import AuditEvent, Checkpoint, Lock, Session


class SessionStore(abc.ABC):
    @abc.abstractmethod
    def insert(self, session: Session, event: AuditEvent) -> Session:
        """Record a new session and its first event.

        Returns:
            The stored session. Inserting the same id by the same driver again returns what is stored.

        Raises:
            Fenced: The id exists with another driver.
        """

    @abc.abstractmethod
    def get(self, session_id: SessionId) -> Session | None:
        """The session in whatever state it is."""

    @abc.abstractmethod
    def by_audit(self, audit_id: AuditId) -> Session | None:
        """The session whose audit this is."""

    @abc.abstractmethod
    def active(self) -> tuple[Session, ...]:
        """Sessions with status active, also those past their deadline, by id."""

    @abc.abstractmethod
    def sessions(self) -> tuple[Session, ...]:
        """All sessions, by the time at which they were opened, then id."""

    @abc.abstractmethod
    def write(
        self,
        session: Session,
        event: AuditEvent | None,
        *,
        checkpoint: Checkpoint | None = None,
        lock: tuple[Lock, ...] = (),
        unlock: tuple[FilePath, ...] = (),
        now: datetime,
    ) -> Session:
        """One transaction: the row if `version` is still what is stored, its locks, a checkpoint, an audit line.

        `session` carries the new values and the version that was read; the stored version is one higher. When the
        session is no longer active, all its locks go. `event.seq` and `event.hash` are assigned here. An event whose
        non-empty key exists already makes the call a no-op that returns the stored session.

        Raises:
            Fenced: The version or epoch has moved on; read again and decide anew.
            LockConflict: A lock asked for is held, unexpired at `now`, by another session.
            SessionNotFound: No such session.
        """

    @abc.abstractmethod
    def locks(
        self, files: tuple[FilePath, ...] | None = None, *, session_id: SessionId | None = None
    ) -> tuple[Lock, ...]:
        """Locks on these files (all when None), of this session when given; expired ones included."""

    @abc.abstractmethod
    def checkpoint(self, session_id: SessionId, checkpoint_id: CheckpointId) -> Checkpoint | None: ...

    @abc.abstractmethod
    def checkpoints(self, session_id: SessionId) -> tuple[Checkpoint, ...]:
        """Oldest first."""

    @abc.abstractmethod
    def events(self, session_id: SessionId) -> tuple[AuditEvent, ...]:
        """The audit, in order. Events are only ever appended."""

    @abc.abstractmethod
    def append(self, session_id: SessionId, event: AuditEvent) -> AuditEvent:
        """Append an event that changes nothing else (reads, refusals). Same rules for key, seq and hash."""

    def event(self, session_id: SessionId, key: str) -> AuditEvent | None:
        """The event of an idempotency key; None when that step has not happened. A store may answer by an index."""
        return next((event for event in self.events(session_id) if key and event.key == key), None)
