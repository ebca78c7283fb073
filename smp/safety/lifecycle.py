"""The life of sessions: open, require, recover, expire, close, hand over.

`SessionLife` is the half of `smp.safety.sessions.SessionService` that is about the session itself; the other half is
about the files it works on. Steps of one session are serialised within the process; between processes the store's
compare-and-set decides.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import msgspec
from msgspec.structs import replace

from smp.domain.errors import (
    CheckpointNotFound,
    Fenced,
    Invalid,
    SequenceViolation,
    SessionExpired,
    SessionNotFound,
    SmpError,
    Unauthorized,
)
from smp.domain.ids import AuditId, FilePath, SandboxId, SessionId
from smp.domain.paths import repository_path
from smp.domain.session_steps import (
    ClosedSession,
    LapsedSession,
    OpenedSession,
    OpenSession,
    RecoveredSession,
    RolledBack,
)
from smp.domain.sessions import (
    AuditEvent,
    Concurrency,
    SafetyLevel,
    Session,
    SessionStatus,
)
from smp.indexing.pipeline import Indexer
from smp.ports.artifact_store import SANDBOX, ArtifactStore
from smp.ports.clock import Clock
from smp.ports.graph_store import GraphStore
from smp.ports.notifier import Notifier
from smp.ports.sandbox_driver import SandboxDriver
from smp.ports.session_store import SessionStore
from smp.ports.source_tree import SourceTree
from smp.ports.telemetry_store import TelemetryStore
from smp.safety import checkpoints
from smp.safety.audit import files_touched
from smp.safety.endings import Endings
from smp.safety.exposure import exposure_of, hot_in, hot_rule
from smp.safety.ledger import RPC_DRIVER, Ledger, refuse_foreign
from smp.safety.working_tree import WorkingTree
from smp.safety.workspace import Workspace
from smp.settings import Settings

_CLOSING = {
    "completed": SessionStatus.COMPLETED,
    "aborted": SessionStatus.ABORTED,
    "rolled_back": SessionStatus.ROLLED_BACK,
    "expired": SessionStatus.EXPIRED,
}


class SessionLife:
    """See the module. Every member is safe to use from several threads."""

    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        store: SessionStore,
        artifacts: ArtifactStore,
        notifier: Notifier,
        sources: SourceTree,
        indexer: Indexer,
        graph: GraphStore,
        telemetry: TelemetryStore,
        sandbox_driver: SandboxDriver,
    ) -> None:
        self._limits = settings.safety
        self._clock = clock
        self._store = store
        self._artifacts = artifacts
        self._notifier = notifier
        self._sources = sources
        self._graph = graph
        self._telemetry = telemetry
        self._ledger = Ledger(store=store, clock=clock, notifier=notifier)
        self._ledger.before_expiry = self._note_expiry
        self._ledger.on_expiry = self._tidy_expired
        self._endings = Endings(store, artifacts)
        self._workspace = Workspace(
            tree=WorkingTree(settings.repo),
            sources=sources,
            artifacts=artifacts,
            indexer=indexer,
            graph=graph,
            telemetry=telemetry,
            driver=sandbox_driver,
            clock=clock,
        )
        self._turns: dict[SessionId, threading.RLock] = {}
        self._turns_guard = threading.Lock()

    def when_review_begins(self, accept: Callable[[Session], None]) -> None:
        """Have `accept` called with a reviewer's session at each of its calls; wiring, before the first call."""
        self._ledger.on_review = accept

    def when_session_ends(self, write: Callable[[Session, tuple[AuditEvent, ...], tuple[FilePath, ...]], None]) -> None:
        """Have `write` called with each session that has ended, its events, and the files it changed; wiring, before the first call."""
        self._endings.write = write

    # Life of a session

    def open(self, request: OpenSession) -> OpenedSession:
        """Declare work. Opening the same id by the same driver again returns what is stored.

        A hot node in the scope makes the session elevated.

        Raises:
            Invalid: A path of the scope leaves the repository, or the commit is unknown.
            SequenceViolation: The id exists and somebody else drives it.
            SessionNotFound, SessionExpired: The id exists and has ended.
        """
        scope = self._scope(request.scope)
        commit = self._sources.resolve(request.commit_sha) if request.commit_sha else self._sources.head()
        rule = hot_rule(self._limits, self._clock.now())
        hot = hot_in(self._graph, self._telemetry, scope, rule=rule)
        now = self._clock.now()
        ttl = request.ttl_seconds or self._limits.ttl_seconds
        session = Session(
            id=request.session_id or SessionId(self._clock.fresh_id("ses")),
            agent_id=request.agent_id,
            task=request.task,
            scope=scope,
            mode=request.mode,
            concurrency=request.concurrency,
            status=SessionStatus.ACTIVE,
            safety_level=SafetyLevel.ELEVATED if hot else SafetyLevel.STANDARD,
            commit_sha=commit,
            opened_at=now,
            expires_at=now + timedelta(seconds=ttl),
            ttl_seconds=ttl,
            audit_id=AuditId(self._clock.fresh_id("aud")),
            driver=request.driver or f"{RPC_DRIVER}{request.agent_id}",
            reviews=request.reviews,
            sandbox_id=request.sandbox_id if request.reviews is not None else None,
        )
        event = AuditEvent(
            seq=0,
            at=now,
            method="smp/session/open",
            files=scope,
            result=session.safety_level,
            detail=request.task[:500],
        )
        try:
            stored = self._store.insert(session, event)
        except Fenced as error:
            present = self._store.get(session.id)
            if present is not None:
                refuse_foreign(present, request.driver)
            raise SequenceViolation(f"session id {session.id!r} is taken; open one without naming an id") from error
        stored = self._ledger.present(stored.id)
        if stored.reviews is not None:
            self._workspace.look_into(stored)
        return OpenedSession(
            session=stored,
            granted_scope=stored.scope,
            scope_analysis={
                entry: exposure_of(self._graph, self._telemetry, entry, rule=rule) for entry in stored.scope
            },
            hot_nodes=hot,
        )

    def require(
        self,
        session_id: str,
        *,
        write: FilePath | None = None,
        driver: str | None = None,
        method: str,
    ) -> Session:
        """The open session, its life extended, when this step may be taken.

        Args:
            write: A file that the step writes; must be in the scope.
            driver: The run that takes it; None for a client.
            method: The protocol method; reads are open to everyone, steps only to the session's driver.

        Raises:
            SessionNotFound: Unknown or closed. SessionExpired: Its time has passed.
            ScopeViolation: Outside the scope or a read session; recorded and notified.
            SequenceViolation: Somebody else drives the session; `run_id` names the run.
        """
        self._finish_rollback(SessionId(session_id))
        writes = () if write is None else (write,)
        return self._ledger.admit(SessionId(session_id), method=method, write=writes, driver=driver)

    def active(self) -> tuple[Session, ...]:
        """Open sessions whose time has not passed, by id."""
        now = self._clock.now()
        return tuple(session for session in self._store.active() if session.expires_at > now)

    def expire_due(self) -> int:
        """End every session whose time has passed: locks freed, notified, boxes destroyed. Call it every second or so.

        Sessions that ended in a process which died before they were remembered are remembered too.

        Returns:
            How many this call ended.
        """
        self._endings.remember_all()
        now = self._clock.now()
        due = [session for session in self._store.active() if session.expires_at <= now]
        return sum(self._ledger.expire(session) for session in due)

    def recover(self, session_id: str, agent_id: str) -> RecoveredSession | LapsedSession:
        """Come back to a session after a crash or restart of either side.

        Raises:
            SessionNotFound: Unknown or closed.
            Unauthorized: It belongs to another agent.
        """
        stored = self._store.get(SessionId(session_id))
        if stored is None:
            raise SessionNotFound(session_id)
        if stored.agent_id != agent_id:
            raise Unauthorized("the session belongs to another agent; open one of your own", session_id=session_id)
        taken = self._store.checkpoints(stored.id)
        try:
            session = self.require(session_id, method="smp/session/recover")
        except SessionExpired:
            last = taken[-1] if taken else None
            return LapsedSession(
                session_id=stored.id,
                last_checkpoint=last.id if last else None,
                last_checkpoint_at=last.snapshot_at if last else None,
                files_snapshotted=tuple(sorted({file.path for point in taken for file in point.files})),
            )
        events = len(self._store.events(session.id))
        self._ledger.record(session.id, AuditEvent(seq=0, at=self._clock.now(), method="smp/session/recover"))
        return RecoveredSession(
            session=session,
            locks_held=tuple(lock.file for lock in self._store.locks(session_id=session.id)),
            checkpoints=tuple(point.id for point in taken),
            events_so_far=events,
        )

    def close(self, session_id: str, status: str, *, driver: str | None = None, key: str = "") -> ClosedSession:
        """End a session: boxes destroyed, then locks, status and last audit line in one transaction.

        Args:
            status: `completed`, `aborted` or `rolled_back`; `expired` by a run that found its deadline passed.

        Raises:
            SessionNotFound, SessionExpired, SequenceViolation: See `require`.
        """
        sid = SessionId(session_id)
        inputs = [status]
        with self._turn(sid):
            if done := self._ledger.replay(sid, key, inputs, ClosedSession):
                self._endings.remember(sid)
                return done
            unfinished = self._give_up_rollback(sid)
            session = self.require(session_id, driver=driver, method="smp/session/close")
            in_box = self._workspace.box_changes(session)
            left_over = self._workspace.destroy_boxes(session)
            now = self._clock.now()
            touched = files_touched(self._store.events(sid))
            result = ClosedSession(
                session_id=sid,
                files_written=tuple(sorted({*touched.written, *in_box})),
                files_read=touched.read,
                duration_ms=(now - session.opened_at) / timedelta(milliseconds=1),
                audit_id=session.audit_id,
            )
            self._endings.note(sid, result.files_written)
            closed = self._ledger.commit(
                session,
                method="smp/session/close",
                result=result,
                key=key,
                inputs=inputs,
                verdict=status,
                files=result.files_written,
                detail="; ".join(filter(None, (unfinished, left_over))) or None,
                change={"status": _CLOSING[status], "closed_at": now, "sandbox_id": None},
            )
            self._endings.remember(sid)
            return closed

    def boxes_in_use(self) -> tuple[SandboxId, ...]:
        """Boxes of open sessions, also those that were made and not yet attached when their maker died."""
        found: set[SandboxId] = set()
        for session in self._store.active():
            found.update(SandboxId(key) for key, _ in self._artifacts.list(SANDBOX, session_id=session.id))
            if session.sandbox_id is not None:
                found.add(session.sandbox_id)
        return tuple(sorted(found))

    def take_over(self, session_id: str, *, expected: str, driver: str) -> Session:
        """Change who drives a session, by compare-and-set; steps of the former driver are fenced from then on.

        Args:
            expected: The driver it is taken from.

        Raises:
            Fenced: Somebody else has taken it meanwhile.
        """
        session = self._ledger.present(SessionId(session_id))
        if session.driver != expected:
            raise Fenced(f"session {session_id!r} is driven by {session.driver!r} by now; read it again")
        now = self._clock.now()
        event = AuditEvent(seq=0, at=now, method="TAKE_OVER", result=driver, detail=expected)
        return self._store.write(replace(session, driver=driver, epoch=session.epoch + 1), event, now=now)

    def attach_sandbox(
        self, session_id: str, sandbox_id: SandboxId, *, driver: str | None = None, key: str = ""
    ) -> Session:
        """Say which box is the session's; its record must be among the artifacts (kind `sandbox`) already."""
        return self._with_sandbox(session_id, sandbox_id, "smp/sandbox/spawn", driver=driver, key=key)

    def detach_sandbox(self, session_id: str, *, driver: str | None = None, key: str = "") -> Session:
        """Say that the session has no box (any more)."""
        return self._with_sandbox(session_id, None, "smp/sandbox/destroy", driver=driver, key=key)

    # What the steps share

    def _admit(self, session_id: SessionId, method: str, write: tuple[FilePath, ...], driver: str | None) -> Session:
        self._finish_rollback(session_id)
        return self._ledger.admit(session_id, method=method, write=write, driver=driver)

    @contextmanager
    def _turn(self, session_id: SessionId) -> Iterator[None]:
        """One step of a session at a time in this process; reads do not wait for it."""
        with self._turns_guard:
            turn = self._turns.setdefault(session_id, threading.RLock())
        with turn:
            yield

    def _finish_rollback(self, session_id: SessionId) -> None:
        """Complete a rollback that a crash interrupted: files and graph are never left half restored."""
        if self._artifacts.get(checkpoints.JOURNAL, session_id) is None:
            return
        with self._turn(session_id):
            body = self._artifacts.get(checkpoints.JOURNAL, session_id)
            if body is None:
                return
            self._restore(session_id, msgspec.json.decode(body, type=checkpoints.Journal))

    def _restore(self, session_id: SessionId, journal: checkpoints.Journal) -> RolledBack:
        session, point = self._store.get(session_id), self._store.checkpoint(session_id, journal.checkpoint_id)
        if session is None or point is None:
            raise CheckpointNotFound(journal.checkpoint_id)
        self._workspace.restore(session, point.files)
        files = tuple(sorted(file.path for file in point.files))
        result = RolledBack(checkpoint_id=point.id, files_restored=files)
        if session.status is SessionStatus.ACTIVE:
            result = self._ledger.commit(
                session,
                method="smp/rollback",
                result=result,
                key=journal.key,
                inputs=journal.checkpoint_id,
                verdict="rolled_back",
                files=files,
                detail=journal.checkpoint_id,
            )
        self._artifacts.delete(checkpoints.JOURNAL, session_id)
        return result

    def _exclusive(self, session: Session) -> None:
        if session.concurrency is not Concurrency.EXCLUSIVE:
            raise Invalid(
                "an mvcc session works in its own box and needs no locks; open one with concurrency exclusive",
                path="session_id",
            )

    def _expire_if_due(self, session_id: SessionId) -> None:
        session = self._store.get(session_id)
        if session is not None and session.status is SessionStatus.ACTIVE and session.expires_at <= self._clock.now():
            self._ledger.expire(session)

    def _give_up_rollback(self, session_id: SessionId) -> str | None:
        """Finish an interrupted rollback, or drop it where it cannot be finished: a session must be able to end.

        Returns:
            Why it could not be finished, for the audit.
        """
        try:
            self._finish_rollback(session_id)
        except SmpError as error:
            self._artifacts.delete(checkpoints.JOURNAL, session_id)
            return f"rollback not finished: {error.message}"
        return None

    def _note_expiry(self, session: Session) -> None:
        self._endings.note(session.id, files_touched(self._store.events(session.id)).written)

    def _tidy_expired(self, session: Session) -> None:
        unfinished = self._give_up_rollback(session.id)
        if unfinished is not None:
            self._ledger.record(
                session.id, AuditEvent(seq=0, at=self._clock.now(), method="ROLLBACK_FAILED", detail=unfinished)
            )
        self._endings.remember(session.id)
        # The run of a session compensates in its own order and destroys the box on the box's own host.
        if session.driver.startswith(RPC_DRIVER):
            self._workspace.destroy_boxes(session)

    def _with_sandbox(
        self, session_id: str, sandbox_id: SandboxId | None, method: str, *, driver: str | None, key: str
    ) -> Session:
        sid = SessionId(session_id)
        with self._turn(sid):
            if self._ledger.replay(sid, key, sandbox_id, str) is not None:
                return self._ledger.present(sid)
            session = self._admit(sid, method, (), driver)
            self._ledger.commit(
                session,
                method=method,
                result=sandbox_id or session.sandbox_id or "",
                key=key,
                inputs=sandbox_id,
                verdict=sandbox_id or session.sandbox_id,
                change={"sandbox_id": sandbox_id},
            )
            return self._ledger.present(sid)

    def _scope(self, texts: tuple[str, ...]) -> tuple[FilePath, ...]:
        entries = set()
        for position, text in enumerate(texts):
            entry = repository_path(text, path=f"scope[{position}]")
            folder = not entry.endswith("/") and self._workspace.is_folder(entry)
            entries.add(FilePath(f"{entry}/") if folder else entry)
        return tuple(sorted(entries))


def paths_of(files: tuple[str, ...]) -> tuple[FilePath, ...]:
    """Normal paths of files that a step names, sorted, each once.

    Raises:
        Invalid: One of them leaves the repository or names a folder; `path` is `files[<position>]`.
    """
    found = set()
    for position, text in enumerate(files):
        entry = repository_path(text, path=f"files[{position}]")
        if entry.endswith("/"):
            raise Invalid(f"{text!r} names a folder; name its files", path=f"files[{position}]")
        found.add(entry)
    return tuple(sorted(found))
