"""Sessions: declared work by one agent, and every step it may take, each decided before it is done.

`SessionService` is what RPC handlers and activities call. It composes the ledger (who may, written once), the workspace
(files and graph as the session sees them) and pure verdicts (sequence, guard, dry run). Steps that change something take
an idempotency `key`: the same key again returns the first result and leaves one line in the audit.
"""

from __future__ import annotations

import msgspec

from smp.domain.errors import CheckpointNotFound, Invalid, LockConflict, NotFound, SequenceViolation
from smp.domain.ids import AuditId, CheckpointId, FilePath, SessionId
from smp.domain.mutants import IntegrityReport
from smp.domain.paths import repository_path
from smp.domain.sandboxes import Execution
from smp.domain.session_steps import (
    CheckpointTaken,
    DryrunReport,
    GuardReport,
    LocksReleased,
    LocksTaken,
    RolledBack,
)
from smp.domain.sessions import AuditEvent, Concurrency, Session, SessionStatus
from smp.indexing.reports import FileChange, UpdateReport
from smp.ports.graph_store import GraphStore
from smp.safety import checkpoints, guard, locks
from smp.safety.coverage import hits_of, parse_report
from smp.safety.dryrun import Graphs, rehearse
from smp.safety.exposure import hot_rule
from smp.safety.lifecycle import SessionLife, paths_of
from smp.safety.sequence import Step, progress_of, refusal
from smp.safety.workspace import nodes_in

_COMMAND_CHARACTERS = 500
"""Of a command that its line in the record keeps; all of it is in the log of executions."""


class SessionService(SessionLife):
    """The whole of a session: its life and locks, and the steps on its files."""

    # Locks

    def lock(self, session_id: str, files: tuple[str, ...], *, driver: str | None = None, key: str = "") -> LocksTaken:
        """Claim files; those that another session holds are denied and notified, the others are granted.

        Raises:
            Invalid: The session is an mvcc session, which needs no locks; or a path leaves the repository.
            ScopeViolation: A file is outside the scope; nothing is claimed.
        """
        sid, paths = SessionId(session_id), paths_of(files)
        with self._turn(sid):
            if done := self._ledger.replay(sid, key, paths, LocksTaken):
                return done
            self._exclusive(self._ledger.present(sid))
            session = self._admit(sid, "smp/lock", paths, driver)
            for holder in {lock.session_id for lock in self._store.locks(paths)} - {sid}:
                self._expire_if_due(holder)
            while True:
                held = locks.held_by_others(self._store, paths, session_id=sid, now=self._clock.now())
                granted = tuple(path for path in paths if path not in held)
                result = LocksTaken(granted=granted, denied=tuple(map(locks.denied, held.values())))
                try:
                    result = self._ledger.commit(
                        session,
                        method="smp/lock",
                        result=result,
                        key=key,
                        inputs=paths,
                        verdict="granted" if not held else "partial" if granted else "denied",
                        files=granted,
                        detail=", ".join(sorted(held)) or None,
                        lock=lambda row: locks.claims(row, granted, now=self._clock.now()),  # noqa: B023
                    )
                except LockConflict:
                    continue  # another session was faster by a moment; it is listed as the holder now
                for lock in held.values():
                    locks.announce(self._notifier, lock)
                return result

    def unlock(
        self, session_id: str, files: tuple[str, ...], *, driver: str | None = None, key: str = ""
    ) -> LocksReleased:
        """Give claims back; files that the session does not hold are listed, nothing raises for them."""
        sid, paths = SessionId(session_id), paths_of(files)
        with self._turn(sid):
            if done := self._ledger.replay(sid, key, paths, LocksReleased):
                return done
            session = self._admit(sid, "smp/unlock", (), driver)
            held = {lock.file for lock in self._store.locks(paths, session_id=sid)}
            released = tuple(path for path in paths if path in held)
            result = LocksReleased(released=released, not_held=tuple(path for path in paths if path not in held))
            return self._ledger.commit(
                session, method="smp/unlock", result=result, key=key, inputs=paths, files=paths, unlock=released
            )

    # Verdicts

    def check_guard(
        self,
        session_id: str,
        target: str,
        *,
        intended_change: str | None = None,
        coverage_report: str | None = None,
        proposed: tuple[FileChange, ...] = (),
        driver: str | None = None,
        key: str = "",
    ) -> GuardReport:
        """May this file be written? See `smp.safety.guard`.

        Args:
            coverage_report: Path of an lcov or Cobertura report, in the box if there is one, else in the working tree.
            proposed: All edits that belong together; tests among them count as there.

        Raises:
            Invalid: The path, the intended change or the report is not usable; `path` says which.
        """
        sid = SessionId(session_id)
        inputs = [target, intended_change, coverage_report, proposed]
        with self._turn(sid):
            if done := self._ledger.replay(sid, key, inputs, GuardReport):
                return done
            session = self._admit(sid, "smp/guard/check", (), driver)
            file = repository_path(target, path="target")
            intent = guard.parse_intent(intended_change) if intended_change is not None else None
            report = None
            if coverage_report is not None:
                place = repository_path(coverage_report, path="coverage_report")
                body = self._workspace.read(session, place, path="coverage_report")
                if body is None:
                    raise Invalid(
                        f"no coverage report at {coverage_report!r}; run the tests first", path="coverage_report"
                    )
                report = parse_report(body, path="coverage_report")
            held = locks.held_by_others(self._store, (file,), session_id=sid, now=self._clock.now())
            graph = self._workspace.graph_of(session)
            result = guard.assess(
                session,
                file,
                intent=intent,
                hits=hits_of(report, file) if report is not None else None,
                lock=held.get(file),
                graph=graph,
                after=self._workspace.after(session, proposed) if proposed else graph,
                telemetry=self._telemetry,
                hot=hot_rule(self._limits, self._clock.now()),
                limits=self._limits,
            )
            return self._ledger.commit(
                session,
                method="smp/guard/check",
                result=result,
                key=key,
                inputs=inputs,
                verdict=result.verdict,
                target=file,
                detail=intended_change,
                cause="; ".join(sorted({reason.code for reason in result.blocking} | {*result.reasons})) or None,
            )

    def dryrun(
        self,
        session_id: str,
        changes: tuple[FileChange, ...],
        *,
        summary: str = "",
        driver: str | None = None,
        key: str = "",
    ) -> DryrunReport:
        """What would these changes, taken together, break? Nothing is written. See `smp.safety.dryrun`.

        Raises:
            ScopeViolation: A file is outside the scope.
            SequenceViolation: The session is elevated and the guard has not cleared a file.
        """
        sid = SessionId(session_id)
        files = tuple(sorted(change.path for change in changes))
        with self._turn(sid):
            if done := self._ledger.replay(sid, key, changes, DryrunReport):
                return done
            session = self._admit(sid, "smp/dryrun", files, driver)
            self._in_sequence(session, files, Step.DRYRUN)
            graphs = Graphs(
                shared=self._graph,
                before=self._workspace.graph_of(session),
                after=self._workspace.after(session, changes),
            )
            result = rehearse(
                graphs,
                nodes_in(graphs.before, files),
                nodes_in(graphs.after, files),
                nodes_in(graphs.shared, files),
                errors=self._workspace.new_parse_errors(session, changes),
                touched=lambda nodes: self._workspace.changed_by(session, nodes),
            )
            return self._ledger.commit(
                session,
                method="smp/dryrun",
                result=result,
                key=key,
                inputs=changes,
                verdict=result.verdict,
                target=files[0] if len(files) == 1 else None,
                files=files,
                detail=summary[:500] or None,
                cause="; ".join(sorted({item.because for item in (*result.broken_callers, *result.broken_tests)}))
                or None,
            )

    # Writes

    def checkpoint(
        self, session_id: str, files: tuple[str, ...], *, driver: str | None = None, key: str = ""
    ) -> CheckpointTaken:
        """Save files as they are now, absent ones as absent.

        Raises:
            ScopeViolation: A file is outside the scope; nothing is saved.
            SequenceViolation: The session is elevated and a dry run has not found a file's change safe.
        """
        sid, paths = SessionId(session_id), paths_of(files)
        with self._turn(sid):
            if done := self._ledger.replay(sid, key, paths, CheckpointTaken):
                return done
            session = self._admit(sid, "smp/checkpoint", paths, driver)
            self._in_sequence(session, paths, Step.CHECKPOINT)
            point = checkpoints.taken(
                CheckpointId(self._clock.fresh_id("chk")),
                sid,
                tuple(self._workspace.snapshot(session, path) for path in paths),
                at=self._clock.now(),
            )
            result = CheckpointTaken(checkpoint_id=point.id, files=paths, snapshot_at=point.snapshot_at)
            return self._ledger.commit(
                session,
                method="smp/checkpoint",
                result=result,
                key=key,
                inputs=paths,
                files=paths,
                checkpoint=point,
            )

    def rollback(self, session_id: str, checkpoint_id: str, *, driver: str | None = None, key: str = "") -> RolledBack:
        """Put files and graph back to a checkpoint; a crash in between is made good by the session's next call.

        Raises:
            CheckpointNotFound: Unknown, or of another session.
            LockConflict: Another session holds one of the files; nothing is restored.
        """
        sid, point_id = SessionId(session_id), CheckpointId(checkpoint_id)
        with self._turn(sid):
            if done := self._ledger.replay(sid, key, point_id, RolledBack):
                return done
            session = self._admit(sid, "smp/rollback", (), driver)
            point = self._store.checkpoint(sid, point_id)
            if point is None:
                raise CheckpointNotFound(checkpoint_id)
            self._respect_locks(session, tuple(file.path for file in point.files))
            journal = checkpoints.Journal(checkpoint_id=point_id, key=key or self._clock.fresh_id("rollback"))
            self._artifacts.put(checkpoints.JOURNAL, sid, msgspec.json.encode(journal), session_id=sid)
            return self._restore(sid, journal)

    def update(
        self,
        session_id: str,
        changes: tuple[FileChange, ...],
        *,
        driver: str | None = None,
        key: str = "",
        method: str = "smp/update",
    ) -> UpdateReport:
        """Tell the memory what files have become: the shared graph, or box and overlay of an mvcc session.

        All or nothing: a refused file refuses them all.

        Raises:
            ScopeViolation: A file is outside the scope or the session only reads.
            SequenceViolation: The session is elevated and a step is missing, or the guard's last word was no.
            LockConflict: Another session holds a file (exclusive sessions).
        """
        sid = SessionId(session_id)
        files = tuple(sorted({change.path for change in changes}))
        with self._turn(sid):
            if done := self._ledger.replay(sid, key, changes, UpdateReport):
                return done
            session = self._admit(sid, method, files, driver)
            self._in_sequence(session, files, Step.UPDATE)
            self._respect_locks(session, files)
            result = self._workspace.push(session, changes)
            return self._ledger.commit(
                session,
                method=method,
                result=result,
                key=key,
                inputs=changes,
                verdict=result.status,
                target=files[0] if len(files) == 1 else None,
                files=files,
            )

    def note_step(
        self,
        session: Session,
        *,
        method: str,
        target: str | None = None,
        files: tuple[FilePath, ...] = (),
        result: str,
        detail: str | None = None,
        key: str = "",
    ) -> None:
        """Put on record what another service does for a session: a command, a verdict on tests, files written into its box.

        Args:
            session: As `require` returned it for the step.
            key: Repeating with the same key leaves one line.

        Raises:
            SessionNotFound, SessionExpired, Fenced: The session has ended, or was taken over, meanwhile.
        """
        self._ledger.commit(
            session,
            method=method,
            result=result,
            key=key,
            inputs=target,
            verdict=result,
            target=target,
            files=files,
            detail=detail,
        )

    def note_command(
        self, session: Session, sandbox_id: str, command: str, *, ended: Execution | None = None, key: str = ""
    ) -> None:
        """A command in a box: put on record before it runs, so that one that nobody lived to see the end of is there too; and its end.

        Raises:
            SessionNotFound, SessionExpired, Fenced: See `note_step`.
        """
        self.note_step(
            session,
            method="smp/sandbox/execute",
            target=sandbox_id,
            result="started" if ended is None else ended.ending,
            detail=command[:_COMMAND_CHARACTERS],
            key=f"{key}:started" if key and ended is None else key,
        )

    def note_verdict(self, session: Session, report: IntegrityReport, *, key: str = "") -> None:
        """What the integrity gate has said of a target and its tests.

        Raises:
            SessionNotFound, SessionExpired, Fenced: See `note_step`.
        """
        self.note_step(
            session,
            method="smp/verify/integrity",
            target=report.target_file,
            files=(FilePath(report.target_file), FilePath(report.test_file)),
            result=report.failure_code or report.status,
            detail=report.id,
            key=key,
        )

    def describe(self, session_id: str, files: tuple[FilePath, ...], *, method: str, what: str) -> None:
        """Let a session add words to what lies in these files, as its scope allows: on record before it happens.

        Args:
            files: Of the nodes that are described; a folder ends in `/`.
            what: The node, or the scope, for the audit.

        Raises:
            ScopeViolation: A file is outside the scope or the session only reads.
        """
        sid = SessionId(session_id)
        with self._turn(sid):
            session = self._admit(sid, method, files, None)
            event = AuditEvent(seq=0, at=self._clock.now(), method=method, target=what, files=files, result="described")
            self._ledger.record(session.id, event)

    def refuse_locked(self, files: tuple[FilePath, ...]) -> None:
        """For updates outside any session: raise LockConflict, notified, when a session holds one of these files."""
        locks.refuse_locked(self._store, self._notifier, files, session_id=None, now=self._clock.now())

    # What the session sees, and what is known of it

    def graph_for(self, session_id: str | None) -> GraphStore:
        """The graph that questions of a session are answered from: shared, or under the overlay of an mvcc session.

        Raises:
            SessionNotFound, SessionExpired: See `require`.
        """
        if session_id is None:
            return self._graph
        return self._workspace.graph_of(self._ledger.present(SessionId(session_id)))

    def overlay(self, session_id: str) -> tuple[FileChange, ...]:
        """What an mvcc session has pushed so far, by path; empty for exclusive sessions and after a revert."""
        return self._workspace.overlay(SessionId(session_id))

    def content(self, session_id: str, file: FilePath) -> bytes | None:
        """A file as the session has it on disk: in its box, if there is one, else in the working tree."""
        return self._workspace.read(self._ledger.present(SessionId(session_id)), file, path="file_path")

    def note_read(self, session_id: str, *, method: str, files: tuple[FilePath, ...] = ()) -> None:
        """Log a question of a session and extend its life; reads outside the scope are allowed.

        Raises:
            SessionNotFound, SessionExpired: See `require`.
        """
        session = self.require(session_id, method=method)
        self._ledger.record(session.id, AuditEvent(seq=0, at=self._clock.now(), method=method, files=files))

    def record(self, session_id: str, event: AuditEvent) -> None:
        """Append a line that changes nothing else, e.g. a read (`files` names what was read)."""
        self._ledger.record(SessionId(session_id), event)

    def audit(self, audit_id: str) -> tuple[Session, tuple[AuditEvent, ...]]:
        """The record of a session that has ended.

        Raises:
            NotFound: Unknown, or the session is still open.
        """
        session = self._store.by_audit(AuditId(audit_id))
        if session is not None:
            self._expire_if_due(session.id)
            session = self._store.get(session.id)
        if session is None:
            raise NotFound(f"no audit log {audit_id!r}; smp/session/close returns its id", audit_log_id=audit_id)
        if session.status is SessionStatus.ACTIVE:
            raise NotFound(f"the session of {audit_id!r} is still open; close it first", audit_log_id=audit_id)
        return session, self._store.events(session.id)

    def _in_sequence(self, session: Session, files: tuple[FilePath, ...], step: Step) -> None:
        events = self._store.events(session.id)
        for file in files:
            why = refusal(session.safety_level, progress_of(events, file), step)
            if why is not None:
                event = AuditEvent(
                    seq=0, at=self._clock.now(), method="SEQUENCE_VIOLATION", target=file, result="refused", detail=step
                )
                self._ledger.record(session.id, event)
                raise SequenceViolation(
                    f"{step.value} of {file!r}: {why}", file=file, safety_level=session.safety_level
                )

    def _respect_locks(self, session: Session, files: tuple[FilePath, ...]) -> None:
        if session.concurrency is Concurrency.EXCLUSIVE:
            locks.refuse_locked(self._store, self._notifier, files, session_id=session.id, now=self._clock.now())
