"""Sessions, locks, checkpoints and audit on SQLite.

A row keeps what conditions are written about (status, version, audit id) as columns and the whole struct as JSON. All
that one step changes is one transaction, and `version` is compared in it: of two writers that read the same version one
wins, the other reads again.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime

import msgspec

from smp.adapters.sessions_sqlite.file import FILE_NAME, SqliteFile
from smp.domain.errors import Fenced, LockConflict, SessionNotFound
from smp.domain.ids import AuditId, CheckpointId, ContentHash, FilePath, SessionId
from smp.domain.sessions import AuditEvent, Checkpoint, Lock, Session, SessionStatus
from smp.ports.session_store import SessionStore
from smp.safety.audit import seal
from smp.settings import Settings

_VERSION = 1
_SCHEMA = (
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY, audit_id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, version INTEGER NOT NULL,
        body BLOB NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX sessions_by_status ON sessions (status, id)",
    "CREATE TABLE locks (file TEXT PRIMARY KEY, session_id TEXT NOT NULL, body BLOB NOT NULL) WITHOUT ROWID",
    "CREATE INDEX locks_of_session ON locks (session_id)",
    """CREATE TABLE checkpoints (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, body BLOB NOT NULL
    )""",
    "CREATE INDEX checkpoints_of_session ON checkpoints (session_id, seq)",
    """CREATE TABLE events (
        session_id TEXT NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (session_id, seq)
    ) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX events_by_key ON events (session_id, key) WHERE key <> ''",
)

_encode = msgspec.json.Encoder().encode
_session = msgspec.json.Decoder(Session).decode
_lock = msgspec.json.Decoder(Lock).decode
_checkpoint = msgspec.json.Decoder(Checkpoint).decode
_event = msgspec.json.Decoder(AuditEvent).decode


class SqliteSessionStore(SessionStore):
    """See the port. Lives in `<data_dir>/sessions.db`, a file that the other stores of sessions use too."""

    def __init__(self, settings: Settings) -> None:
        self._file = SqliteFile(settings.data_dir / FILE_NAME)
        self._file.create("sessions", version=_VERSION, schema=_SCHEMA)

    def insert(self, session: Session, event: AuditEvent) -> Session:
        with self._file.write() as db:
            stored = _read(db, session.id)
            if stored is not None:
                if stored.driver != session.driver:
                    raise Fenced(f"session {session.id!r} exists and {stored.driver!r} drives it; open another one")
                return stored
            db.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                (session.id, session.audit_id, session.status, session.version, _encode(session)),
            )
            _append(db, session.id, event)
        return session

    def get(self, session_id: SessionId) -> Session | None:
        with self._file.read() as db:
            return _read(db, session_id)

    def by_audit(self, audit_id: AuditId) -> Session | None:
        with self._file.read() as db:
            row = db.execute("SELECT body FROM sessions WHERE audit_id = ?", (audit_id,)).fetchone()
        return None if row is None else _session(row[0])

    def active(self) -> tuple[Session, ...]:
        with self._file.read() as db:
            rows = db.execute(
                "SELECT body FROM sessions WHERE status = ? ORDER BY id", (SessionStatus.ACTIVE,)
            ).fetchall()
        return tuple(_session(body) for (body,) in rows)

    def sessions(self) -> tuple[Session, ...]:
        with self._file.read() as db:
            rows = db.execute("SELECT body FROM sessions").fetchall()
        return tuple(sorted((_session(body) for (body,) in rows), key=lambda one: (one.opened_at, one.id)))

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
        with self._file.write() as db:
            stored = _read(db, session.id)
            if stored is None:
                raise SessionNotFound(session.id)
            if event is not None and _keyed(db, session.id, event.key) is not None:
                return stored
            if stored.version != session.version or stored.epoch > session.epoch:
                raise Fenced(f"session {session.id!r} was changed meanwhile; read it again")
            for claim in lock:
                _claim(db, claim, now)
            written = msgspec.structs.replace(session, version=session.version + 1)
            db.execute(
                "UPDATE sessions SET audit_id = ?, status = ?, version = ?, body = ? WHERE id = ?",
                (written.audit_id, written.status, written.version, _encode(written), written.id),
            )
            if written.status is SessionStatus.ACTIVE:
                db.executemany(
                    "DELETE FROM locks WHERE file = ? AND session_id = ?", [(file, written.id) for file in unlock]
                )
            else:
                db.execute("DELETE FROM locks WHERE session_id = ?", (written.id,))
            if checkpoint is not None:
                db.execute(
                    "INSERT INTO checkpoints (id, session_id, body) VALUES (?, ?, ?)",
                    (checkpoint.id, checkpoint.session_id, _encode(checkpoint)),
                )
            if event is not None:
                _append(db, written.id, event)
        return written

    def locks(
        self, files: tuple[FilePath, ...] | None = None, *, session_id: SessionId | None = None
    ) -> tuple[Lock, ...]:
        values: tuple[str, ...] = ()
        query = "SELECT body FROM locks"
        if session_id is not None:
            query, values = "SELECT body FROM locks WHERE session_id = ?", (session_id,)
        with self._file.read() as db:
            rows = db.execute(query + " ORDER BY file", values).fetchall()
        locks = (_lock(body) for (body,) in rows)
        wanted = None if files is None else set(files)
        return tuple(lock for lock in locks if wanted is None or lock.file in wanted)

    def checkpoint(self, session_id: SessionId, checkpoint_id: CheckpointId) -> Checkpoint | None:
        with self._file.read() as db:
            row = db.execute(
                "SELECT body FROM checkpoints WHERE id = ? AND session_id = ?", (checkpoint_id, session_id)
            ).fetchone()
        return None if row is None else _checkpoint(row[0])

    def checkpoints(self, session_id: SessionId) -> tuple[Checkpoint, ...]:
        with self._file.read() as db:
            rows = db.execute(
                "SELECT body FROM checkpoints WHERE session_id = ? ORDER BY seq", (session_id,)
            ).fetchall()
        return tuple(_checkpoint(body) for (body,) in rows)

    def events(self, session_id: SessionId) -> tuple[AuditEvent, ...]:
        with self._file.read() as db:
            rows = db.execute("SELECT body FROM events WHERE session_id = ? ORDER BY seq", (session_id,)).fetchall()
        return tuple(_event(body) for (body,) in rows)

    def event(self, session_id: SessionId, key: str) -> AuditEvent | None:
        with self._file.read() as db:
            return _keyed(db, session_id, key)

    def append(self, session_id: SessionId, event: AuditEvent) -> AuditEvent:
        with self._file.write() as db:
            if _read(db, session_id) is None:
                raise SessionNotFound(session_id)
            return _keyed(db, session_id, event.key) or _append(db, session_id, event)

    def close(self) -> None:
        """Close the connections of all threads."""
        self._file.close()


def _read(db: sqlite3.Connection, session_id: SessionId) -> Session | None:
    row = db.execute("SELECT body FROM sessions WHERE id = ?", (session_id,)).fetchone()
    return None if row is None else _session(row[0])


def _keyed(db: sqlite3.Connection, session_id: SessionId, key: str) -> AuditEvent | None:
    if not key:
        return None
    row = db.execute("SELECT body FROM events WHERE session_id = ? AND key = ?", (session_id, key)).fetchone()
    return None if row is None else _event(row[0])


def _append(db: sqlite3.Connection, session_id: SessionId, event: AuditEvent) -> AuditEvent:
    last = db.execute(
        "SELECT seq, hash FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1", (session_id,)
    ).fetchone()
    seq, previous = last or (0, "")
    sealed = seal(event, seq=seq + 1, previous=ContentHash(previous))
    db.execute(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?)", (session_id, sealed.seq, sealed.key, sealed.hash, _encode(sealed))
    )
    return sealed


def _claim(db: sqlite3.Connection, claim: Lock, now: datetime) -> None:
    row = db.execute("SELECT body FROM locks WHERE file = ?", (claim.file,)).fetchone()
    if row is not None:
        held = _lock(row[0])
        if held.session_id != claim.session_id and held.expires_at > now:
            raise LockConflict(claim.file, held_by_session=held.session_id, held_by_agent=held.agent_id)
    db.execute("INSERT OR REPLACE INTO locks VALUES (?, ?, ?)", (claim.file, claim.session_id, _encode(claim)))
