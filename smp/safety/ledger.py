"""Sessions as recorded: who may take a step now, and how a step is written down exactly once.

Every step goes through three calls. `replay` answers a step that was taken before (same idempotency key) with its first
result. `admit` finds the session, refuses what its state, driver or scope forbid, and extends its life. `commit` writes
row, locks, checkpoint and audit line in one transaction. Between admit and commit another process may have taken the
session over or closed it; commit compares and refuses then, so nothing is recorded by a driver that has been replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from smp.domain.errors import Fenced, Invalid, ScopeViolation, SequenceViolation, SessionExpired, SessionNotFound
from smp.domain.ids import CheckpointId, FilePath, SessionId
from smp.domain.notifications import ScopeViolated, SessionExpiredNotice
from smp.domain.paths import covers
from smp.domain.sessions import AuditEvent, Checkpoint, Lock, Session, SessionMode, SessionStatus
from smp.ports.clock import Clock
from smp.ports.notifier import Notifier
from smp.ports.session_store import SessionStore

RPC_DRIVER = "rpc:"
"""Prefix of the driver of a session that its client drives, step by step."""

_READS = frozenset({"smp/session/recover", "smp/audit/get"})
_STEP_GROUPS = (
    "smp/session/",
    "smp/guard/",
    "smp/dryrun",
    "smp/checkpoint",
    "smp/rollback",
    "smp/lock",
    "smp/unlock",
    "smp/update",
    "smp/batch_update",
    "smp/sandbox/",
    "smp/verify/",
    "smp/handoff/",
    "smp/annotate",
    "smp/tag",
)
_ATTEMPTS = 50
"""Tries of a compare-and-set: each loss means that another call of the same session has got on."""
_WORTH_EXTENDING = 0.01
"""Part of the time to live by which the deadline must move for the row to be written again."""

T = TypeVar("T")


class Receipt(Struct, frozen=True, kw_only=True):
    """What a keyed step was asked and what it answered."""

    inputs: str
    result: msgspec.Raw


class Ledger:
    """The rules of `smp.ports.session_store` as use cases need them; safe to use from several threads."""

    def __init__(self, *, store: SessionStore, clock: Clock, notifier: Notifier) -> None:
        self._store = store
        self._clock = clock
        self._notifier = notifier
        self.before_expiry: Callable[[Session], None] = lambda session: None
        self.on_expiry: Callable[[Session], None] = lambda session: None
        self.on_review: Callable[[Session], None] = lambda session: None

    def replay(self, session_id: SessionId, key: str, inputs: object, kind: type[T]) -> T | None:
        """The first result of a step that was taken before; None when it was not, or has no key.

        Raises:
            Invalid: The key was used for other inputs.
        """
        event = self._store.event(session_id, key) if key else None
        if event is None:
            return None
        if event.receipt is None:
            raise Invalid(f"the key {key!r} belongs to another step; use a new one", path="key")
        receipt = msgspec.json.decode(event.receipt, type=Receipt)
        if receipt.inputs != _fingerprint(event.method, inputs):
            raise Invalid(f"the key {key!r} was used for other inputs; use a new one", path="key")
        return msgspec.json.decode(receipt.result, type=kind)

    def present(self, session_id: SessionId) -> Session:
        """A session that is open now.

        Raises:
            SessionNotFound: Unknown or closed.
            SessionExpired: Past its deadline; the first to find out records it, frees its locks and notifies.
        """
        session = self._store.get(session_id)
        if session is None:
            raise SessionNotFound(session_id)
        if session.status is SessionStatus.ACTIVE and session.expires_at <= self._clock.now():
            self.expire(session)
            session = self._store.get(session_id) or session
        if session.status is SessionStatus.EXPIRED:
            raise SessionExpired(session_id)
        if session.status is not SessionStatus.ACTIVE:
            raise SessionNotFound(session_id)
        return session

    def admit(
        self, session_id: SessionId, *, method: str, write: tuple[FilePath, ...] = (), driver: str | None = None
    ) -> Session:
        """The session, its life extended, when its driver may take this step.

        Raises:
            SessionNotFound, SessionExpired: See `present`.
            SequenceViolation: Somebody else drives it; `run_id` names the run.
            ScopeViolation: A file to be written is outside the scope, or the session only reads; recorded and notified.
        """
        for _ in range(_ATTEMPTS):
            session = self.present(session_id)
            if driver is not None or _is_step(method):
                refuse_foreign(session, driver)
            for file in write:
                self.refuse_outside(session, file, method=method)
            try:
                session = self._extended(session)
            except Fenced:
                continue
            if session.reviews is not None:
                self.on_review(session)
            return session
        raise Fenced(f"session {session_id!r} is written by too many calls at once; repeat the call")

    def refuse_outside(self, session: Session, file: FilePath, *, method: str) -> None:
        """Raise ScopeViolation, recorded and notified, unless the session may write a file."""
        if session.mode is SessionMode.WRITE and covers(session.scope, file):
            return
        if session.mode is SessionMode.READ:
            message = f"session {session.id!r} only reads; open a session of mode write to change {file!r}"
        else:
            message = f"{file!r} is outside the declared scope; open a session whose scope holds it"
        self._store.append(
            session.id,
            AuditEvent(
                seq=0, at=self._clock.now(), method="SCOPE_VIOLATION", target=file, result="refused", detail=method
            ),
        )
        self._notifier.publish(ScopeViolated(session_id=session.id, attempted_file=file, declared_scope=session.scope))
        raise ScopeViolation(message, session_id=session.id, attempted_file=file, declared_scope=list(session.scope))

    def commit(
        self,
        admitted: Session,
        *,
        method: str,
        result: T,
        key: str = "",
        inputs: object = None,
        verdict: str | None = None,
        target: str | None = None,
        files: tuple[FilePath, ...] = (),
        detail: str | None = None,
        cause: str | None = None,
        change: dict[str, Any] | None = None,
        checkpoint: Checkpoint | None = None,
        lock: Callable[[Session], tuple[Lock, ...]] = lambda session: (),
        unlock: tuple[FilePath, ...] = (),
    ) -> T:
        """Record a step that was taken.

        Args:
            admitted: The session as `admit` returned it.
            change: Fields of the session row that the step sets.
            lock: Locks to take, computed for the row as it is at each try.

        Returns:
            `result`; or the first result, when the same key was recorded meanwhile.

        Raises:
            Fenced: Another driver has taken the session over.
            SessionNotFound, SessionExpired: It has ended meanwhile.
            LockConflict: A lock asked for is held by another session.
        """
        now = self._clock.now()
        receipt = Receipt(inputs=_fingerprint(method, inputs), result=msgspec.Raw(msgspec.json.encode(result)))
        event = AuditEvent(
            seq=0,
            at=now,
            method=method,
            key=key,
            target=target,
            files=files,
            result=verdict,
            checkpoint_id=CheckpointId(checkpoint.id) if checkpoint else None,
            detail=detail,
            cause=cause,
            receipt=msgspec.json.encode(receipt).decode() if key else None,
        )
        for _ in range(_ATTEMPTS):
            session = self.present(admitted.id) if change is None else self._unended(admitted.id)
            if (session.driver, session.epoch) != (admitted.driver, admitted.epoch):
                raise Fenced(f"session {session.id!r} was taken over by {session.driver!r}; stop")
            try:
                self._store.write(
                    replace(session, **(change or {})),
                    event,
                    checkpoint=checkpoint,
                    lock=lock(session),
                    unlock=unlock,
                    now=now,
                )
            except Fenced:
                continue
            return (self.replay(admitted.id, key, inputs, type(result)) if key else None) or result
        raise Fenced(f"session {admitted.id!r} is written by too many calls at once; repeat the call")

    def record(self, session_id: SessionId, event: AuditEvent) -> None:
        """Append an event that changes nothing else."""
        self._store.append(session_id, event)

    def expire(self, session: Session) -> bool:
        """End a session whose deadline has passed.

        Returns:
            Whether this call did it; of several that try at once exactly one does, and notifies.
        """
        now = self._clock.now()
        freed = tuple(lock.file for lock in self._store.locks(session_id=session.id))
        ended = replace(session, status=SessionStatus.EXPIRED, closed_at=now)
        event = AuditEvent(seq=0, at=now, method="SESSION_EXPIRED", files=freed, result=SessionStatus.EXPIRED)
        self.before_expiry(session)
        try:
            self._store.write(ended, event, now=now)
        except Fenced:
            return False
        self._notifier.publish(
            SessionExpiredNotice(session_id=session.id, expired_at=timestamp(session.expires_at), locks_released=freed)
        )
        self.on_expiry(ended)
        return True

    def _unended(self, session_id: SessionId) -> Session:
        """As `present`, but a step that has begun may still close a session that has just passed its deadline."""
        session = self._store.get(session_id)
        if session is None:
            raise SessionNotFound(session_id)
        if session.status is SessionStatus.EXPIRED:
            raise SessionExpired(session_id)
        if session.status is not SessionStatus.ACTIVE:
            raise SessionNotFound(session_id)
        return session

    def _extended(self, session: Session) -> Session:
        now = self._clock.now()
        ttl = timedelta(seconds=session.ttl_seconds)
        deadline = now + ttl
        if deadline - session.expires_at < ttl * _WORTH_EXTENDING:
            return session
        held = tuple(replace(lock, expires_at=deadline) for lock in self._store.locks(session_id=session.id))
        return self._store.write(replace(session, expires_at=deadline), None, lock=held, now=now)


def refuse_foreign(session: Session, driver: str | None) -> None:
    """Raise SequenceViolation when a step comes from someone who does not drive the session.

    Args:
        driver: Who takes it; None for a client over RPC.
    """
    mine = session.driver.startswith(RPC_DRIVER) if driver is None else session.driver == driver
    if mine:
        return
    if session.driver.startswith(RPC_DRIVER):
        raise SequenceViolation(f"session {session.id!r} is driven by its client; open a session of your own")
    workflow_id, _, run_id = session.driver.rpartition("/")
    raise SequenceViolation(
        f"session {session.id!r} is driven by a run; leave the steps to it, or cancel it and open another session",
        run_id=run_id,
        workflow_id=workflow_id,
    )


def timestamp(at: datetime) -> str:
    """RFC 3339 in UTC, to the millisecond, as the wire writes times."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_step(method: str) -> bool:
    return method.startswith(_STEP_GROUPS) and method not in _READS


def _fingerprint(method: str, inputs: object) -> str:
    body = msgspec.json.encode([method, inputs], order="deterministic")
    return hashlib.sha256(body).hexdigest()
