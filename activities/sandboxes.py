"""Activities in boxes: make, write, run the tests, take down. All but the first run on the box's own host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import activity

from activities import contract
from activities.changes import as_written, loaded
from activities.heartbeat import stop_if_cancelled
from smp.domain.errors import Fenced, SequenceViolation, SessionExpired, SessionNotFound
from smp.domain.runs import Verdict
from smp.domain.sandboxes import Execution
from smp.safety.audit import FILE_WRITE

if TYPE_CHECKING:
    from smp.services import Services


class SandboxActivities:
    """Idempotent by the box's id, which the run's request names, and by `key` for what runs in it."""

    def __init__(self, services: Services, host_queue: str) -> None:
        self._services = services
        self._host_queue = host_queue

    @activity.defn(name=contract.SANDBOX_SPAWN, no_thread_cancel_exception=True)
    def spawn(self, step: contract.SpawnStep) -> contract.Spawned:
        """A box at the commit, attached to the session. Idempotent by box id; a second call finds the first's box."""
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/sandbox/spawn")

        def progress(_: str) -> None:
            stop_if_cancelled()

        box = self._services.sandboxes.spawn(
            session, sandbox_id=step.sandbox_id, commit_sha=step.commit_sha, limits=step.limits, progress=progress
        )
        self._services.sessions.attach_sandbox(step.session_id, box.spec.sandbox_id, driver=step.driver, key=step.key)
        return contract.Spawned(task_queue=self._host_queue)

    @activity.defn(name=contract.SANDBOX_WRITE, no_thread_cancel_exception=True)
    def write(self, step: contract.ChangeStep) -> contract.Done:
        """The change set into the box, all or nothing. Idempotent by content; outside the scope it is refused."""
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/sandbox/write")
        for file in step.change.files:
            self._services.sessions.require(step.session_id, write=file, driver=step.driver, method="smp/sandbox/write")
        present = {
            file.path: file
            for file in self._services.sandboxes.read(step.sandbox_id, step.change.files, session_id=step.session_id)
            if file.content is not None or file.link is not None
        }
        files = tuple(
            as_written(file, present.get(file.path)) for file in loaded(self._services.artifacts, step.change)
        )
        self._services.sandboxes.write(step.sandbox_id, files, session_id=step.session_id)
        self._services.sessions.note_step(
            session, method=FILE_WRITE, target=step.sandbox_id, files=step.change.files, result="written", key=step.key
        )
        return contract.Done(detail=f"{len(files)} files")

    @activity.defn(name=contract.SANDBOX_EXECUTE, no_thread_cancel_exception=True)
    def execute(self, step: contract.ExecuteStep) -> contract.Judgement:
        """Run the tests, traced. Idempotent by `key`: a command that has run is answered from the log.

        A failing test is a verdict, not an error. A try that died is run again from the start.
        """
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/sandbox/execute")
        self._services.indexer.ensure_fresh()
        self._services.sessions.note_command(session, step.sandbox_id, step.command, key=step.key)
        record = self._services.sandboxes.execute(
            step.sandbox_id,
            step.command,
            session_id=step.session_id,
            execution_id=step.key,
            limits=step.limits,
            graph=self._services.sessions.graph_for(step.session_id),
            heartbeat=stop_if_cancelled,
        )
        done = record.execution
        self._services.sessions.note_command(session, step.sandbox_id, step.command, ended=done, key=step.key)
        verdict = Verdict.PASS if done.exit_code == 0 and not done.timed_out else Verdict.FAIL
        ending, _, output = execution_words(done).partition("\n")
        words = f"{ending}, {len(record.calls)} calls between definitions seen\n{output}".strip()
        return contract.Judgement(verdict=verdict, detail=contract.shortened(words))

    @activity.defn(name=contract.SANDBOX_DESTROY, no_thread_cancel_exception=True)
    def destroy(self, step: contract.BoxStep) -> contract.Done:
        """Take the box down. Idempotent by box id: one that is gone, or was never made, is no error."""
        gone = self._services.sandboxes.discard(step.sandbox_id, session_id=step.session_id)
        try:
            self._services.sessions.detach_sandbox(step.session_id, driver=step.driver, key=step.key)
        except (SessionNotFound, SessionExpired, SequenceViolation, Fenced) as ended:
            return contract.Done(detail=ended.message)
        return contract.Done(detail="" if gone is None else f"{gone.bytes_freed} bytes freed")


def execution_words(done: Execution) -> str:
    """What a command did, for people and for agents: how it ended, then what it said."""
    output = "\n".join(part for part in (done.stdout.strip(), done.stderr.strip()) if part)
    return f"{done.ending} after {done.duration_ms / 1000:.1f} s\n{output}".strip()
