"""Sessions, locks, checkpoints and audit in Neo4j.

All that one step changes is one transaction behind the session's own gate, and `version` is compared in it: of any number of
clients that read the same version one wins, the others read again. Locks are claimed in the order of their files; two
sessions that still wait for each other are told apart by the server, which rolls one back, and that one is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from neo4j import Transaction

from smp.adapters.neo4j.database import Neo4jDatabase
from smp.domain.errors import Fenced, LockConflict, SessionNotFound
from smp.domain.ids import AuditId, CheckpointId, ContentHash, FilePath, SessionId
from smp.domain.sessions import AuditEvent, Checkpoint, Lock, Session, SessionStatus
from smp.ports.session_store import SessionStore
from smp.safety.audit import seal

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_session = msgspec.json.Decoder(Session).decode
_lock = msgspec.json.Decoder(Lock).decode
_checkpoint = msgspec.json.Decoder(Checkpoint).decode
_event = msgspec.json.Decoder(AuditEvent).decode

_BY_ID = "MATCH (s:SmpSession {repo: $repo, id: $session}) "
_STEP = "MATCH (e:SmpStep {repo: $repo, session: $session, key: $key}) RETURN e.body AS body"


class Neo4jSessionStore(SessionStore):
    """See the port."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    def insert(self, session: Session, event: AuditEvent) -> Session:
        def put(one: _Step) -> Session:
            stored = one.session()
            if stored is not None:
                if stored.driver != session.driver:
                    raise Fenced(f"session {session.id!r} exists and {stored.driver!r} drives it; open another one")
                return stored
            one.run(
                "CREATE (s:SmpSession {repo: $repo, id: $session, audit: $audit, status: $status, version: $version, "
                "body: $body, seq: 0, hash: ''})",
                audit=session.audit_id,
                status=session.status.value,
                version=session.version,
                body=_encode(session),
            )
            one.append(event)
            return session

        return self._step(session.id, put)

    def get(self, session_id: SessionId) -> Session | None:
        return next(self._sessions(_BY_ID, session=session_id), None)

    def by_audit(self, audit_id: AuditId) -> Session | None:
        return next(self._sessions("MATCH (s:SmpSession {repo: $repo, audit: $audit}) ", audit=audit_id), None)

    def active(self) -> tuple[Session, ...]:
        active = SessionStatus.ACTIVE.value
        found = self._sessions("MATCH (s:SmpSession {repo: $repo, status: $status}) ", status=active)
        return tuple(sorted(found, key=lambda one: one.id))

    def sessions(self) -> tuple[Session, ...]:
        found = self._sessions("MATCH (s:SmpSession) WHERE s.repo = $repo AND s.id >= '' ")
        return tuple(sorted(found, key=lambda one: (one.opened_at, one.id)))

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
        def put(one: _Step) -> Session:
            stored = one.session()
            if stored is None:
                raise SessionNotFound(session.id)
            if event is not None and one.keyed(event.key) is not None:
                return stored
            if stored.version != session.version or stored.epoch > session.epoch:
                raise Fenced(f"session {session.id!r} was changed meanwhile; read it again")
            one.claim(lock, now)
            written = msgspec.structs.replace(session, version=session.version + 1)
            one.run(
                _BY_ID + "SET s.status = $status, s.version = $version, s.body = $body, s.audit = $audit",
                status=written.status.value,
                version=written.version,
                body=_encode(written),
                audit=written.audit_id,
            )
            one.release(unlock if written.status is SessionStatus.ACTIVE else None)
            if checkpoint is not None:
                one.keep(checkpoint)
            if event is not None:
                one.append(event)
            return written

        return self._step(session.id, put)

    def locks(
        self, files: tuple[FilePath, ...] | None = None, *, session_id: SessionId | None = None
    ) -> tuple[Lock, ...]:
        query = "MATCH (l:SmpLock) WHERE l.repo = $repo AND l.file >= '' RETURN l.body AS body ORDER BY l.file"
        if session_id is not None:
            query = "MATCH (l:SmpLock {repo: $repo, session: $session}) RETURN l.body AS body ORDER BY l.file"
        locks = (_lock(row["body"]) for row in self._database.read(query, session=session_id))
        wanted = None if files is None else set(files)
        return tuple(lock for lock in locks if wanted is None or lock.file in wanted)

    def checkpoint(self, session_id: SessionId, checkpoint_id: CheckpointId) -> Checkpoint | None:
        query = "MATCH (c:SmpCheckpoint {repo: $repo, id: $id}) WHERE c.session = $session RETURN c.body AS body"
        rows = self._database.read(query, id=checkpoint_id, session=session_id)
        return _checkpoint(rows[0]["body"]) if rows else None

    def checkpoints(self, session_id: SessionId) -> tuple[Checkpoint, ...]:
        query = "MATCH (c:SmpCheckpoint {repo: $repo, session: $session}) RETURN c.body AS body ORDER BY c.number"
        return tuple(_checkpoint(row["body"]) for row in self._database.read(query, session=session_id))

    def events(self, session_id: SessionId) -> tuple[AuditEvent, ...]:
        query = "MATCH (e:SmpEvent) WHERE e.repo = $repo AND e.session = $session RETURN e.body AS body ORDER BY e.seq"
        return tuple(_event(row["body"]) for row in self._database.read(query, session=session_id))

    def event(self, session_id: SessionId, key: str) -> AuditEvent | None:
        rows = self._database.read(_STEP, session=session_id, key=key) if key else []
        return _event(rows[0]["body"]) if rows else None

    def append(self, session_id: SessionId, event: AuditEvent) -> AuditEvent:
        def put(one: _Step) -> AuditEvent:
            if one.session() is None:
                raise SessionNotFound(session_id)
            return one.keyed(event.key) or one.append(event)

        return self._step(session_id, put)

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def _sessions(self, match: str, **parameters: object) -> Iterator[Session]:
        return (_session(row["body"]) for row in self._database.read(match + "RETURN s.body AS body", **parameters))

    def _step(self, session_id: SessionId, put: Callable[[_Step], T]) -> T:
        repo = self._database.repository
        return self._database.write(
            lambda open_one: put(_Step(open_one, repo, session_id)), gate=f"session {session_id}"
        )


class _Step:
    """What is done to one session inside one transaction."""

    def __init__(self, transaction: Transaction, repository: str, session_id: SessionId) -> None:
        self._transaction = transaction
        self._base = {"repo": repository, "session": session_id}
        self._id = session_id

    def run(self, query: str, **parameters: object) -> list[Any]:
        return list(self._transaction.run(query, self._base | parameters))

    def session(self) -> Session | None:
        rows = self.run(_BY_ID + "RETURN s.body AS body")
        return _session(rows[0]["body"]) if rows else None

    def keyed(self, key: str) -> AuditEvent | None:
        rows = self.run(_STEP, key=key) if key else []
        return _event(rows[0]["body"]) if rows else None

    def append(self, event: AuditEvent) -> AuditEvent:
        last = self.run(_BY_ID + "RETURN s.seq AS seq, s.hash AS hash")[0]
        sealed = seal(event, seq=last["seq"] + 1, previous=ContentHash(last["hash"]))
        labels, key = ("SmpEvent:SmpStep", sealed.key) if sealed.key else ("SmpEvent", None)
        self.run(
            f"{_BY_ID} SET s.seq = $seq, s.hash = $hash "
            f"CREATE (e:{labels} {{repo: $repo, session: $session, seq: $seq, hash: $hash, body: $body}}) SET e.key = $key",
            seq=sealed.seq,
            hash=sealed.hash,
            key=key,
            body=_encode(sealed),
        )
        return sealed

    def claim(self, claims: Iterable[Lock], now: datetime) -> None:
        wanted = {claim.file: claim for claim in claims}
        if not wanted:
            return
        # the first write takes the lock of each node; what is read behind it is the last commit
        held = self.run(
            "UNWIND $files AS file MERGE (l:SmpLock {repo: $repo, file: file}) SET l.claimed = $session "
            "WITH l RETURN l.file AS file, l.body AS body",
            files=sorted(wanted),
        )
        for row in held:
            if row["body"] is not None:
                other = _lock(row["body"])
                if other.session_id != wanted[other.file].session_id and other.expires_at > now:
                    raise LockConflict(other.file, held_by_session=other.session_id, held_by_agent=other.agent_id)
        self.run(
            "UNWIND $rows AS row MATCH (l:SmpLock {repo: $repo, file: row.file}) "
            "SET l.session = row.session, l.body = row.body REMOVE l.claimed",
            rows=[
                {"file": file, "session": wanted[file].session_id, "body": _encode(wanted[file])}
                for file in sorted(wanted)
            ],
        )

    def release(self, files: Iterable[FilePath] | None) -> None:
        """Free these files, as far as the session holds them; all of its files when None."""
        match = "MATCH (l:SmpLock {repo: $repo, session: $session}) "
        if files is None:
            self.run(match + "WITH l ORDER BY l.file DELETE l")
        elif names := sorted(files):
            self.run(match + "WHERE l.file IN $files WITH l ORDER BY l.file DELETE l", files=names)

    def keep(self, checkpoint: Checkpoint) -> None:
        self.run(
            _BY_ID + "SET s.kept = coalesce(s.kept, 0) + 1 "
            "CREATE (:SmpCheckpoint {repo: $repo, id: $id, session: $owner, number: s.kept, body: $body})",
            id=checkpoint.id,
            owner=checkpoint.session_id,
            body=_encode(checkpoint),
        )
