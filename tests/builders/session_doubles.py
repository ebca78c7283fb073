"""Doubles of every activity, over a SQLite file so that a killed worker's successor finds what it left.

They keep the real ones' promises (one effect per key, the box and branch named by the session) and record each *try*
apart from each *effect*, so that a test can tell a repetition from a duplicate. Verdicts come from a script:
`{"session.guard": ["red_alert", "clear"]}`; the last one repeats.

Run as a program it is a worker: `python -m tests.builders.session_doubles '<json of WorkerOptions>'`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities import contract
from activities.errors import application_error
from activities.handoff import undecided
from activities.heartbeat import stop_if_cancelled
from smp.adapters.runs_temporal import connect
from smp.domain.errors import ForgeBusy
from smp.domain.ids import AuditId, CommitSha, ContentHash, FilePath, HandoffId, SessionId, VerifyId
from smp.domain.runs import Verdict
from smp.domain.swarms import BranchClash, conflicts_of
from smp.settings import TemporalSettings
from workers.queues import Queues
from workers.session_worker import serve_until

SCHEMA = """
CREATE TABLE IF NOT EXISTS tries (n INTEGER PRIMARY KEY, key TEXT, name TEXT);
CREATE TABLE IF NOT EXISTS audit (n INTEGER PRIMARY KEY, key TEXT UNIQUE, session TEXT, name TEXT, answer BLOB);
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, driver TEXT, status TEXT);
CREATE TABLE IF NOT EXISTS boxes (id TEXT, host TEXT, PRIMARY KEY (id, host));
CREATE TABLE IF NOT EXISTS held (name TEXT);
CREATE TABLE IF NOT EXISTS decisions (handoff TEXT PRIMARY KEY, word TEXT, comments TEXT);
CREATE TABLE IF NOT EXISTS branches (name TEXT PRIMARY KEY, pushes INTEGER);
"""

IN_THE_BOX = frozenset(
    {contract.SANDBOX_WRITE, contract.SANDBOX_EXECUTE, contract.VERIFY_TARGETS, contract.VERIFY_INTEGRITY,
     contract.AGENT_COMMAND, contract.SESSION_UPDATE, contract.HANDOFF_PULL_REQUEST}
)  # fmt: skip
"""What needs the files of the box."""


class WorkerOptions(Struct, frozen=True, kw_only=True):
    """What the program is told.

    Attributes:
        script: Verdicts by activity.
        crash_at: `<activity>:before|after`; the worker kills itself there, once: `crash_file` is removed first.
        busy: How many tries of an activity are told that the code host has no requests left for a moment.
        hold: Activities that wait until `hold_file` is gone (or they are cancelled).
        deaf: Held activities do not look whether they are cancelled.
        host: Name of the host; steps in a box that another host has made fail.
    """

    address: str
    queue: str
    state: str
    script: dict[str, list[str]] = {}
    crash_at: str = ""
    crash_file: str = ""
    busy: dict[str, int] = {}
    hold: tuple[str, ...] = ()
    hold_file: str = ""
    deaf: bool = False
    host: str = ""

    @property
    def queues(self) -> Queues:
        """What the worker serves."""
        return Queues(session=self.queue, host=f"{self.queue}-host{self.host}")


class SessionDoubles:
    """Activities by their real names; see the module's docstring."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._path = options.state
        with self._open() as db:
            db.executescript(SCHEMA)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=10, isolation_level=None)
        db.execute("PRAGMA journal_mode=wal")
        return db

    def names(self, table: str = "audit") -> list[str]:
        """Activities in the order of their effects (or of their tries)."""
        with self._open() as db:
            return [row[0] for row in db.execute(f"SELECT name FROM {table} ORDER BY n")]

    def holding(self, name: str) -> bool:
        """Whether the activity has been held at least once."""
        return bool(self.rows(f"SELECT 1 FROM held WHERE name='{name}'"))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of the state, for assertions."""
        with self._open() as db:
            return list(db.execute(query))

    def activities(self) -> Sequence[Callable[..., Any]]:
        """All of them."""
        return [
            member for name in dir(self) if hasattr(member := getattr(self, name), "__temporal_activity_definition")
        ]

    def _verdict(self, db: sqlite3.Connection, step: contract.Step, name: str, default: Verdict) -> Verdict:
        script = self._options.script.get(name)
        if not script:
            return default
        row = db.execute("SELECT count(*) FROM audit WHERE session=? AND name=?", (step.session_id, name)).fetchone()
        return Verdict(script[min(row[0], len(script) - 1)])

    def _effect(self, step: contract.Step, name: str, build: Callable[[sqlite3.Connection], Any]) -> Any:
        """One transaction: the answer of the same key, or the effect with its audit line."""
        if name in self._options.hold and os.path.exists(self._options.hold_file):
            with self._open() as db:
                db.execute("INSERT INTO held (name) VALUES (?)", (name,))
        while name in self._options.hold and os.path.exists(self._options.hold_file):
            if not self._options.deaf:
                stop_if_cancelled()
            time.sleep(0.05)
        with self._open() as db:
            db.execute("INSERT INTO tries (key, name) VALUES (?, ?)", (step.key, name))
            tries = db.execute("SELECT count(*) FROM tries WHERE name=?", (name,)).fetchone()[0]
            if tries <= self._options.busy.get(name, 0):
                raise application_error(ForgeBusy("no requests left", retry_after_s=0.05, status=429))
            db.execute("BEGIN IMMEDIATE")
            if name in IN_THE_BOX and not self._has(db, step):
                db.execute("ROLLBACK")
                raise ApplicationError(f"{name} at a host without the box", type="SandboxNotFound", non_retryable=True)
            row = db.execute("SELECT answer FROM audit WHERE key=?", (step.key,)).fetchone()
            if row is not None:
                db.execute("COMMIT")
                return row[0]
            try:
                answer = build(db)
            except BaseException:
                db.execute("ROLLBACK")
                raise
            body = msgspec.json.encode(answer)
            if body != b"null":
                db.execute(
                    "INSERT INTO audit (key, session, name, answer) VALUES (?, ?, ?, ?)",
                    (step.key, step.session_id, name, body),
                )
            db.execute("COMMIT")
            return body

    def _has(self, db: sqlite3.Connection, step: contract.Step) -> bool:
        place = (getattr(step, "sandbox_id", ""), self._options.host)
        return db.execute("SELECT 1 FROM boxes WHERE id=? AND host=?", place).fetchone() is not None

    def _judged(self, step: contract.Step, name: str, default: Verdict) -> contract.Judgement:
        body = self._effect(
            step,
            name,
            lambda db: contract.Judgement(verdict=self._verdict(db, step, name, default), detail=f"{name} said so"),
        )
        return msgspec.json.decode(body, type=contract.Judgement)

    @activity.defn(name=contract.SESSION_OPEN, no_thread_cancel_exception=True)
    def open(self, step: contract.OpenStep) -> contract.Opened:
        """Claims by insert; a second driver is refused."""

        def claim(db: sqlite3.Connection) -> contract.Opened:
            row = db.execute("SELECT driver FROM sessions WHERE id=?", (step.session_id,)).fetchone()
            if row is not None and row[0] != step.driver:
                raise ApplicationError("driven by another run", type="Fenced", non_retryable=True)
            db.execute("INSERT INTO sessions VALUES (?, ?, 'active')", (step.session_id, step.driver))
            return contract.Opened(audit_id=AuditId("aud_double"), safety_level="standard")

        return msgspec.json.decode(self._effect(step, contract.SESSION_OPEN, claim), type=contract.Opened)

    @activity.defn(name=contract.SANDBOX_SPAWN, no_thread_cancel_exception=True)
    def spawn(self, step: contract.SpawnStep) -> contract.Spawned:
        """A row is a box."""

        def make(db: sqlite3.Connection) -> contract.Spawned:
            db.execute("INSERT OR IGNORE INTO boxes VALUES (?, ?)", (step.sandbox_id, self._options.host))
            return contract.Spawned(task_queue=self._options.queues.host)

        return msgspec.json.decode(self._effect(step, contract.SANDBOX_SPAWN, make), type=contract.Spawned)

    @activity.defn(name=contract.AGENT_EDITS, no_thread_cancel_exception=True)
    def edits(self, step: contract.EditsStep) -> contract.Proposal:
        """The files of the edits."""
        files = step.stored.files if step.stored is not None else tuple(edit.file for edit in step.edits)
        change = contract.ChangeSet(digest=ContentHash("0" * 64), files=files)
        proposal = contract.Proposal(verdict=Verdict.DONE, change=change)
        return msgspec.json.decode(self._effect(step, contract.AGENT_EDITS, lambda _: proposal), type=contract.Proposal)

    @activity.defn(name=contract.AGENT_COMMAND, no_thread_cancel_exception=True)
    def command(self, step: contract.CommandStep) -> contract.Proposal:
        """Scripted; its detail is the feedback it was given, so that tests see what an agent is told."""
        change = contract.ChangeSet(digest=ContentHash("1" * 64), files=("made/by_command.py",))  # type: ignore[arg-type]

        def run(db: sqlite3.Connection) -> contract.Proposal:
            verdict = self._verdict(db, step, contract.AGENT_COMMAND, Verdict.DONE)
            detail = f"attempt {step.attempt} after {step.last_verdict or 'nothing'}: {step.feedback}"
            return contract.Proposal(verdict=verdict, change=change if verdict is Verdict.DONE else None, detail=detail)

        return msgspec.json.decode(self._effect(step, contract.AGENT_COMMAND, run), type=contract.Proposal)

    @activity.defn(name=contract.SESSION_GUARD, no_thread_cancel_exception=True)
    def guard(self, step: contract.ChangeStep) -> contract.Judgement:
        """Scripted."""
        return self._judged(step, contract.SESSION_GUARD, Verdict.CLEAR)

    @activity.defn(name=contract.SESSION_DRYRUN, no_thread_cancel_exception=True)
    def dryrun(self, step: contract.ChangeStep) -> contract.Judgement:
        """Scripted."""
        return self._judged(step, contract.SESSION_DRYRUN, Verdict.SAFE)

    @activity.defn(name=contract.SESSION_CHECKPOINT, no_thread_cancel_exception=True)
    def checkpoint(self, step: contract.ChangeStep) -> contract.Judgement:
        """Done."""
        return self._judged(step, contract.SESSION_CHECKPOINT, Verdict.DONE)

    @activity.defn(name=contract.SANDBOX_WRITE, no_thread_cancel_exception=True)
    def write(self, step: contract.ChangeStep) -> contract.Done:
        """Done."""
        return self._done(step, contract.SANDBOX_WRITE)

    @activity.defn(name=contract.SANDBOX_EXECUTE, no_thread_cancel_exception=True)
    def execute(self, step: contract.ExecuteStep) -> contract.Judgement:
        """Scripted."""
        return self._judged(step, contract.SANDBOX_EXECUTE, Verdict.PASS)

    @activity.defn(name=contract.VERIFY_TARGETS, no_thread_cancel_exception=True)
    def targets(self, step: contract.TargetsStep) -> contract.Targets:
        """What was declared, or the test files that the script finds; nothing to judge when that is nothing."""
        tests = self._options.script.get(contract.VERIFY_TARGETS, [])
        found = tuple((file, FilePath(test)) for file in step.files for test in tests)
        targets = contract.Targets(pairs=step.declared or found)
        if not targets.pairs:
            targets = contract.Targets(verify_id=VerifyId("ver_unjudged"), detail="there is nothing to judge")
        return msgspec.json.decode(
            self._effect(step, contract.VERIFY_TARGETS, lambda _: targets), type=contract.Targets
        )

    @activity.defn(name=contract.VERIFY_INTEGRITY, no_thread_cancel_exception=True)
    def verify(self, step: contract.VerifyStep) -> contract.Verified:
        """Scripted; tests in a file that is named so are beside the point."""
        reached = "beside" not in step.test_file
        otherwise = Verdict.PASSED if reached else Verdict.MISSING_ASSERT
        body = self._effect(
            step,
            contract.VERIFY_INTEGRITY,
            lambda db: contract.Verified(
                verdict=self._verdict(db, step, contract.VERIFY_INTEGRITY, otherwise),
                verify_id=VerifyId("ver_double"),
                detail="the gate said so" if reached else "never run",
                reached=reached,
            ),
        )
        return msgspec.json.decode(body, type=contract.Verified)

    @activity.defn(name=contract.SESSION_UPDATE, no_thread_cancel_exception=True)
    def update(self, step: contract.FilesStep) -> contract.Done:
        """Done."""
        return self._done(step, contract.SESSION_UPDATE)

    @activity.defn(name=contract.SESSION_CLAIM, no_thread_cancel_exception=True)
    def claim(self, step: contract.Step) -> contract.Done:
        """Another driver from now on."""

        def take(db: sqlite3.Connection) -> contract.Done:
            db.execute("UPDATE sessions SET driver=? WHERE id=?", (step.driver, step.session_id))
            return contract.Done()

        return msgspec.json.decode(self._effect(step, contract.SESSION_CLAIM, take), type=contract.Done)

    @activity.defn(name=contract.SESSION_TOUCH, no_thread_cancel_exception=True)
    def touch(self, step: contract.Step) -> contract.Done:
        """Done."""
        return self._done(step, contract.SESSION_TOUCH)

    @activity.defn(name=contract.HANDOFF_REVIEW, no_thread_cancel_exception=True)
    def review(self, step: contract.ReviewStep) -> contract.ReviewAsked:
        """A handoff with an id of its own for each time it is asked."""
        asked = contract.ReviewAsked(
            handoff_id=HandoffId(f"hnd_{step.key.partition('#')[2].partition(':')[0]}"),
            reviewer_session=SessionId(f"{step.session_id}-reviewer"),
        )
        body = self._effect(step, contract.HANDOFF_REVIEW, lambda _: asked)
        return msgspec.json.decode(body, type=contract.ReviewAsked)

    @activity.defn(name=contract.HANDOFF_DECIDE, no_thread_cancel_exception=True)
    def decide(self, step: contract.DecideStep) -> contract.Done:
        """A row of decisions, which `decision` and a reviewer over the protocol share."""

        def record(db: sqlite3.Connection) -> contract.Done:
            word = {"approve": "approved", "request_changes": "changes_requested", "reject": "rejected"}[step.decision]
            db.execute("INSERT INTO decisions VALUES (?, ?, ?)", (step.handoff_id, word, step.comments))
            return contract.Done(detail=word)

        return msgspec.json.decode(self._effect(step, contract.HANDOFF_DECIDE, record), type=contract.Done)

    @activity.defn(name=contract.HANDOFF_DECISION, no_thread_cancel_exception=True)
    def decision(self, step: contract.DecisionStep) -> contract.Judgement:
        """Not until there is a row; it reads only, so it leaves no line."""
        found = self.rows(f"SELECT word, comments FROM decisions WHERE handoff='{step.handoff_id}'")
        if not found:
            raise undecided(step.handoff_id)
        return contract.Judgement(verdict=Verdict(found[0][0]), detail=found[0][1])

    @activity.defn(name=contract.HANDOFF_PULL_REQUEST, no_thread_cancel_exception=True)
    def hand_off(self, step: contract.HandoffStep) -> contract.HandedOff:
        """A branch row, found again by its name."""

        def push(db: sqlite3.Connection) -> contract.HandedOff:
            verdict = self._verdict(db, step, contract.HANDOFF_PULL_REQUEST, Verdict.PUBLISHED)
            if verdict is Verdict.CONFLICT:
                return contract.HandedOff(verdict=verdict, detail="conflict in a.py")
            branch = f"smp/{step.session_id}"
            db.execute(
                "INSERT INTO branches VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET pushes = pushes + 1", (branch,)
            )
            return contract.HandedOff(verdict=verdict, branch=branch, head_sha=CommitSha(f"head of {step.session_id}"))

        return msgspec.json.decode(self._effect(step, contract.HANDOFF_PULL_REQUEST, push), type=contract.HandedOff)

    @activity.defn(name=contract.SWARM_MERGE, no_thread_cancel_exception=True)
    def merge(self, step: contract.MergeStep) -> contract.Merged:
        """Last task first; each two branches that share a file clash in it."""
        branches = step.branches[::-1]
        clashes = tuple(
            BranchClash(sessions=(one.session_id, other.session_id), files=shared)
            for one, other in itertools.combinations(branches, 2)
            if (shared := tuple(sorted(set(one.files) & set(other.files))))
        )
        order = tuple(branch.session_id for branch in branches)
        with self._open() as db:
            db.execute("INSERT INTO tries (key, name) VALUES (?, ?)", (step.key, contract.SWARM_MERGE))
        return contract.Merged(order=order, conflicts=conflicts_of(clashes, order))

    @activity.defn(name=contract.REPOSITORY_REAP, no_thread_cancel_exception=True)
    def reap(self, step: contract.ReapStep) -> contract.Reaped:
        """There is nothing to close."""
        return contract.Reaped()

    @activity.defn(name=contract.SESSION_ROLLBACK, no_thread_cancel_exception=True)
    def rollback(self, step: contract.BoxStep) -> contract.Done:
        """Nothing for a session that was never recorded."""
        return self._done(step, contract.SESSION_ROLLBACK)

    @activity.defn(name=contract.SANDBOX_DESTROY, no_thread_cancel_exception=True)
    def destroy(self, step: contract.BoxStep) -> contract.Done:
        """A box that is gone is no error."""

        def remove(db: sqlite3.Connection) -> contract.Done | None:
            db.execute("DELETE FROM boxes WHERE id=? AND host=?", (step.sandbox_id, self._options.host))
            return contract.Done() if self._recorded(db, step) else None

        self._effect(step, contract.SANDBOX_DESTROY, remove)
        return contract.Done()

    @activity.defn(name=contract.SESSION_CLOSE, no_thread_cancel_exception=True)
    def close(self, step: contract.CloseStep) -> contract.Done:
        """Status and last audit line together."""

        def end(db: sqlite3.Connection) -> contract.Done | None:
            if not self._recorded(db, step):
                return None
            db.execute(
                "UPDATE sessions SET status=? WHERE id=? AND driver=?", (step.status, step.session_id, step.driver)
            )
            return contract.Done()

        self._effect(step, contract.SESSION_CLOSE, end)
        return contract.Done()

    def _done(self, step: contract.Step, name: str) -> contract.Done:
        self._effect(step, name, lambda db: contract.Done() if self._recorded(db, step) else None)
        return contract.Done()

    @staticmethod
    def _recorded(db: sqlite3.Connection, step: contract.Step) -> bool:
        return db.execute("SELECT 1 FROM sessions WHERE id=?", (step.session_id,)).fetchone() is not None


class CrashAt(Interceptor):
    """Kills its own process at a named point, once: the file that asks for it is removed first."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """See `Interceptor`."""
        return _Crashing(next, self._options)


class _Crashing(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, options: WorkerOptions) -> None:
        super().__init__(following)
        self._options = options

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        self._reached("before")
        answer = await super().execute_activity(input)
        self._reached("after")
        return answer

    def _reached(self, moment: str) -> None:
        wanted = self._options.crash_at == f"{activity.info().activity_type}:{moment}"
        if wanted and os.path.exists(self._options.crash_file):
            os.unlink(self._options.crash_file)
            os.kill(os.getpid(), signal.SIGKILL)


async def serve(options: WorkerOptions) -> None:
    """Serve until SIGTERM; says `ready` on standard output once it polls."""
    client = await connect(TemporalSettings(address=options.address))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await serve_until(
        stop,
        client,
        options.queues,
        SessionDoubles(options).activities(),
        ready=lambda: print("ready", flush=True),
        interceptors=[CrashAt(options)],
    )


if __name__ == "__main__":
    asyncio.run(serve(msgspec.json.decode(sys.argv[1], type=WorkerOptions)))
    # As the product's worker does (workers/__main__.py): a thread that does not end must not hold the process.
    os._exit(0)
