"""Boxes from spawn to destroy: records, the log of what ran in them, and whose they are.

A box is recorded as an artifact (kind `sandbox`, key its id) before anyone hears of it, and each command (kind
`execution`, key its id) with its outputs as blobs. Every step is idempotent by its id: a box that is spawned again is
found, a command that has run is answered from the log. A destroyed box keeps its record and is otherwise unknown.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from smp.domain.errors import ExecutionNotFound, Invalid, SandboxNotFound
from smp.domain.ids import CommitSha, FilePath, SandboxId, SessionId
from smp.domain.sandboxes import (
    ChangedFile,
    DestroyedSandbox,
    ExecutionRecord,
    Limits,
    Sandbox,
    SandboxSpec,
    SandboxStatus,
    Traced,
    TracerName,
)
from smp.domain.sessions import Session
from smp.domain.traces import Trace
from smp.ports.artifact_store import EXECUTION, SANDBOX, ArtifactStore
from smp.ports.clock import Clock
from smp.ports.graph_store import GraphStore
from smp.ports.notifier import Notifier
from smp.ports.sandbox_driver import Capabilities, SandboxDriver
from smp.ports.source_tree import SourceTree
from smp.sandboxes.egress import BlockReporter, Registries, choose_policy
from smp.sandboxes.tracing import InjectedCalls, inject_calls
from smp.settings import Settings


class SandboxService:
    """The use cases of boxes. Safe to use from several threads; the driver serialises the commands of one box."""

    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        driver: SandboxDriver,
        artifacts: ArtifactStore,
        graph: GraphStore,
        notifier: Notifier,
        sources: SourceTree,
        registries: Registries = lambda: (),
    ) -> None:
        self._registries = registries
        self._settings = settings.sandbox
        self._clock = clock
        self._driver = driver
        self._artifacts = artifacts
        self._graph = graph
        self._notifier = notifier
        self._sources = sources

    def limits(self, *, timeout_ms: int | None = None) -> Limits:
        """The limits of the settings, with another time for one command."""
        chosen = self._settings
        return Limits(
            memory_mb=chosen.memory_mb,
            disk_mb=chosen.disk_mb,
            pids=chosen.pids,
            cpu_pct=chosen.cpu_pct,
            timeout_ms=timeout_ms or chosen.timeout_ms,
        )

    def spawn(
        self,
        session: Session,
        *,
        sandbox_id: SandboxId | None = None,
        commit_sha: str | None = None,
        traced: bool = True,
        limits: Limits | None = None,
        image: str | None = None,
        services: tuple[str, ...] = (),
        files: Iterable[ChangedFile] = (),
        progress: Callable[[str], None] | None = None,
    ) -> Sandbox:
        """A box for a session; attaching it to the session is the caller's next step.

        Args:
            sandbox_id: Chosen by a run, so that spawning can be repeated; minted when None.
            commit_sha: Possibly abbreviated; the session's when None, then HEAD.
            traced: Count the calls that run, with the tracer of the settings.
            files: What the session has pushed; written into the checkout.

        Raises:
            Invalid: The commit is unknown, or the repository has none.
            SandboxFailed: The driver cannot do what was asked; the message says what is missing.
            SandboxNotFound: A box with this id belongs to another session, or was destroyed.
        """
        chosen = sandbox_id or SandboxId(self._clock.fresh_id("box"))
        if self._artifacts.get(SANDBOX, chosen) is not None:
            return self.get(chosen, session_id=session.id)
        spec = SandboxSpec(
            sandbox_id=chosen,
            session_id=session.id,
            commit_sha=self._commit(session, commit_sha),
            limits=limits or self.limits(),
            egress=choose_policy(self._settings, self._registries),
            tracer=TracerName(self._settings.tracer) if traced else None,
            image=image,
            services=services,
        )
        box = self._driver.spawn(spec, progress)
        try:
            self._driver.write(box, files)
            body = self._artifacts.put_if_absent(SANDBOX, chosen, msgspec.json.encode(box), session_id=session.id)
        except BaseException:
            self._driver.destroy(box)
            raise
        return msgspec.json.decode(body, type=Sandbox)

    def get(self, sandbox_id: str, *, session_id: str | None = None) -> Sandbox:
        """A living box.

        Args:
            session_id: Whose it must be; None asks nothing.

        Raises:
            SandboxNotFound: Unknown, destroyed, or of another session.
        """
        body = self._artifacts.get(SANDBOX, sandbox_id)
        if body is None:
            raise SandboxNotFound(sandbox_id)
        box = msgspec.json.decode(body, type=Sandbox)
        if box.status is SandboxStatus.DESTROYED or (session_id is not None and box.spec.session_id != session_id):
            raise SandboxNotFound(sandbox_id)
        return box

    def execute(
        self,
        sandbox_id: str,
        command: str,
        *,
        session_id: str | None = None,
        execution_id: str | None = None,
        limits: Limits | None = None,
        graph: GraphStore | None = None,
        heartbeat: Callable[[], None] | None = None,
        trace: bool = True,
    ) -> ExecutionRecord:
        """Run `sh -c command` in the box, log it, and add the calls it made to the graph.

        Args:
            execution_id: The same id again returns what is logged; minted when None.
            limits: The box's own when None.
            graph: As the session sees it; the shared graph when None.
            heartbeat: Called at least once a second; what it raises kills the command and is passed on.

        Raises:
            SandboxNotFound: See `get`.
            SandboxFailed: The box cannot be entered.
        """
        key = execution_id or self._clock.fresh_id("exe")
        box = self.get(sandbox_id, session_id=session_id)
        logged = self._artifacts.get(EXECUTION, key)
        if logged is not None:
            return msgspec.json.decode(logged, type=ExecutionRecord)
        started_at = self._clock.now()
        report = BlockReporter(self._notifier, box.spec.sandbox_id)
        done = self._driver.execute(
            box, command, limits=limits or box.spec.limits, heartbeat=heartbeat, trace=trace, blocked=report
        )
        for block in done.network_blocks:
            report(block)
        injected = InjectedCalls()
        if done.trace is not None:
            injected = inject_calls(
                done.trace,
                view=graph or self._graph,
                store=self._graph,
                sandbox_id=box.spec.sandbox_id,
                commit_sha=box.spec.commit_sha,
                seen_at=started_at,
            )
        record = ExecutionRecord(
            id=key,
            sandbox_id=box.spec.sandbox_id,
            session_id=box.spec.session_id,
            command=command,
            started_at=started_at,
            execution=replace(done, trace=None, outputs={}, logs={}),
            logs={name: self._artifacts.put_blob(content) for name, content in sorted(done.logs.items())},
            outputs={name: self._artifacts.put_blob(content) for name, content in sorted(done.outputs.items())},
            calls=injected.calls,
            unresolved_frames=injected.unresolved_frames,
            traced=_traced(done.trace),
        )
        body = self._artifacts.put_if_absent(
            EXECUTION, key, msgspec.json.encode(record), session_id=box.spec.session_id
        )
        return msgspec.json.decode(body, type=ExecutionRecord)

    def executions(self, session_id: SessionId) -> tuple[ExecutionRecord, ...]:
        """The log of a session, oldest first."""
        found = [
            msgspec.json.decode(body, type=ExecutionRecord)
            for _, body in self._artifacts.list(EXECUTION, session_id=session_id)
        ]
        return tuple(sorted(found, key=lambda record: (record.started_at, record.id)))

    def output(self, record: ExecutionRecord, name: str) -> bytes | None:
        """A file that a command left in `SMP_OUT`; None when it left none of this name."""
        digest = record.outputs.get(name)
        return self._artifacts.blob(digest) if digest is not None else None

    def log(self, execution_id: str, stream: str, *, session_id: SessionId) -> bytes:
        """All that a command of a session wrote to a stream, also after its box is gone.

        Raises:
            ExecutionNotFound: Unknown, or of another session.
        """
        body = self._artifacts.get(EXECUTION, execution_id)
        record = msgspec.json.decode(body, type=ExecutionRecord) if body is not None else None
        if record is None or record.session_id != session_id:
            raise ExecutionNotFound(execution_id)
        digest = record.logs.get(stream)
        whole = self._artifacts.blob(digest) if digest is not None else None
        if whole is not None:
            return whole
        return (record.execution.stdout if stream == "stdout" else record.execution.stderr).encode()

    def changes(self, sandbox_id: str, *, session_id: str | None = None) -> tuple[ChangedFile, ...]:
        """The change set of a box against its commit, sorted by path."""
        return self._driver.changes(self.get(sandbox_id, session_id=session_id))

    def read(
        self, sandbox_id: str, paths: Iterable[FilePath], *, session_id: str | None = None
    ) -> tuple[ChangedFile, ...]:
        """Files as the box sees them; missing ones have content None."""
        return self._driver.read(self.get(sandbox_id, session_id=session_id), paths)

    def write(self, sandbox_id: str, files: Iterable[ChangedFile], *, session_id: str | None = None) -> None:
        """Write, replace or delete files in the box; all or nothing, and harmless when repeated."""
        self._driver.write(self.get(sandbox_id, session_id=session_id), files)

    def destroy(self, sandbox_id: str, *, session_id: str | None = None) -> DestroyedSandbox:
        """End a box and everything in it; its record stays, as destroyed.

        Raises:
            SandboxNotFound: See `get`; also when it is destroyed already.
        """
        box = self.get(sandbox_id, session_id=session_id)
        freed = self._driver.destroy(box)
        gone = replace(box, status=SandboxStatus.DESTROYED, destroyed_at=self._clock.now())
        self._artifacts.put(SANDBOX, sandbox_id, msgspec.json.encode(gone), session_id=box.spec.session_id)
        return DestroyedSandbox(box=gone, bytes_freed=freed)

    def discard(self, sandbox_id: str, *, session_id: str | None = None) -> DestroyedSandbox | None:
        """Like `destroy`; a box that is gone is no error."""
        with contextlib.suppress(SandboxNotFound):
            return self.destroy(sandbox_id, session_id=session_id)
        return None

    def capabilities(self) -> Capabilities:
        """What boxes can do on this host, found out by making one."""
        return self._driver.capabilities()

    def reap(self, keep: Iterable[str]) -> tuple[str, ...]:
        """Destroy the boxes of this host that nobody needs: not to be kept, and without a living owner.

        Args:
            keep: Boxes of open sessions.

        Returns:
            Ids of what was destroyed.
        """
        gone = self._driver.reap(frozenset(keep))
        for sandbox_id in gone:
            body = self._artifacts.get(SANDBOX, sandbox_id)
            if body is None:
                continue
            box = msgspec.json.decode(body, type=Sandbox)
            if box.status is not SandboxStatus.DESTROYED:
                ended = replace(box, status=SandboxStatus.DESTROYED, destroyed_at=self._clock.now())
                self._artifacts.put(SANDBOX, sandbox_id, msgspec.json.encode(ended), session_id=box.spec.session_id)
        return gone

    def _commit(self, session: Session, asked: str | None) -> CommitSha:
        if asked is not None:
            return self._sources.resolve(asked)
        commit = session.commit_sha or self._sources.head()
        if commit is None:
            raise Invalid("the repository has no commit yet; make one with git commit", path="commit_sha")
        return commit


def _traced(trace: Trace | None) -> Traced | None:
    if trace is None:
        return None
    return Traced(
        tracer=TracerName(trace.tracer),
        processes=trace.processes,
        missed_processes=trace.missed_processes,
        lost_calls=trace.lost_calls,
        failed=trace.failed,
    )
