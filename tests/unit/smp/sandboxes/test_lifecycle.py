"""Boxes as a use case: recorded, whose they are, idempotent by id, what ran in them logged and linked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Sized
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from smp.adapters.memory import MemoryStore
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.adapters.sources_git import GitSourceTree
from smp.domain.errors import Invalid, SandboxFailed, SandboxNotFound
from smp.domain.graph import EdgeKind, GraphDelta, GraphPart, Node, NodeKind, Owner
from smp.domain.ids import AgentId, AuditId, CommitSha, FilePath, SandboxId, SessionId, mint_node_id
from smp.domain.notifications import NetworkBlocked
from smp.domain.sandboxes import (
    ChangedFile,
    Execution,
    Limits,
    NetworkBlock,
    Sandbox,
    SandboxSpec,
    SandboxStatus,
    TracerName,
)
from smp.domain.sessions import Concurrency, SafetyLevel, Session, SessionMode, SessionStatus
from smp.domain.traces import CallObservation, Frame, Trace
from smp.ports.artifact_store import SANDBOX
from smp.ports.clock import Clock
from smp.ports.sandbox_driver import Capabilities, SandboxDriver
from smp.sandboxes.lifecycle import SandboxService
from smp.settings import Settings

START = datetime(2026, 1, 1, tzinfo=UTC)
TRACE = Trace(
    tracer="monitoring",
    calls=(
        CallObservation(
            caller=Frame(file="a.py", qualname="f", first_line=1),
            callee=Frame(file="a.py", qualname="g", first_line=3),
            count=2,
        ),
        CallObservation(
            caller=Frame(file="a.py", qualname="f", first_line=1),
            callee=Frame(file="a.py", qualname="gone", first_line=9),
            count=1,
        ),
    ),
    processes=1,
)


class CountingClock(Clock):
    """A second later at every look; ids are numbered."""

    def __init__(self) -> None:
        self.looks = 0

    def now(self) -> datetime:
        self.looks += 1
        return START + timedelta(seconds=self.looks)

    def fresh_id(self, prefix: str) -> str:
        self.looks += 1
        return f"{prefix}_{self.looks:020}"


class ScriptedDriver(SandboxDriver):
    """Boxes as dictionaries; a command's outcome is what `next` says."""

    def __init__(self) -> None:
        self.boxes: dict[str, dict[str, ChangedFile]] = {}
        self.commands: list[str] = []
        self.next = Execution(exit_code=0, stdout="out", stderr="", duration_ms=1.0, trace=TRACE)
        self.refusal: SandboxFailed | None = None
        self.while_running: tuple[NetworkBlock, ...] = ()
        self.notices: Callable[[], Sized] = tuple
        self.seen_running: list[int] = []

    def capabilities(self) -> Capabilities:
        return Capabilities(driver="scripted", available=True)

    def spawn(self, spec: SandboxSpec, progress: Callable[[str], None] | None = None) -> Sandbox:
        if self.refusal:
            raise self.refusal
        self.boxes.setdefault(spec.sandbox_id, {})
        return Sandbox(
            spec=spec, status=SandboxStatus.READY, driver="scripted", state_dir="", host="here", spawned_at=START
        )

    def execute(
        self,
        box: Sandbox,
        command: str,
        *,
        limits: Limits,
        heartbeat: Callable[[], None] | None = None,
        trace: bool = True,
        blocked: Callable[[NetworkBlock], None] | None = None,
    ) -> Execution:
        self.commands.append(command)
        for block in self.while_running:
            if blocked is not None:
                blocked(block)
                self.seen_running.append(len(self.notices()))
        return self.next

    def changes(self, box: Sandbox) -> tuple[ChangedFile, ...]:
        return tuple(self.boxes[box.spec.sandbox_id].values())

    def read(self, box: Sandbox, paths: Iterable[FilePath]) -> tuple[ChangedFile, ...]:
        return tuple(self.boxes[box.spec.sandbox_id].get(path, ChangedFile(path=path, content=None)) for path in paths)

    def write(self, box: Sandbox, files: Iterable[ChangedFile]) -> None:
        if self.refusal:
            raise self.refusal
        self.boxes[box.spec.sandbox_id] |= {file.path: file for file in files}

    def destroy(self, box: Sandbox) -> int:
        return 1000 if self.boxes.pop(box.spec.sandbox_id, None) is not None else 0

    def reap(self, keep: frozenset[str]) -> tuple[str, ...]:
        gone = tuple(sorted(self.boxes.keys() - keep))
        for sandbox_id in gone:
            del self.boxes[sandbox_id]
        return gone

    def lower(self, commit: CommitSha) -> str:
        return ""


class World:
    def __init__(self, root: Path) -> None:
        self.root = root
        settings = Settings(repo=root, data_dir=root / ".smp", cache_dir=root)
        self.driver = ScriptedDriver()
        self.graph = MemoryStore()
        self.artifacts = SqliteArtifactStore(settings)
        self.notifier = SqliteNotifier(settings)
        self.service = SandboxService(
            settings=settings,
            clock=CountingClock(),
            driver=self.driver,
            artifacts=self.artifacts,
            graph=self.graph,
            notifier=self.notifier,
            sources=GitSourceTree(settings),
        )

    def session(self, name: str = "ses_one", commit: CommitSha | None = None) -> Session:
        return Session(
            id=SessionId(name),
            agent_id=AgentId("agent"),
            task="t",
            scope=(),
            mode=SessionMode.WRITE,
            concurrency=Concurrency.MVCC,
            status=SessionStatus.ACTIVE,
            safety_level=SafetyLevel.STANDARD,
            commit_sha=commit,
            opened_at=START,
            expires_at=START,
            ttl_seconds=1,
            audit_id=AuditId("aud_x"),
            driver="rpc:a",
        )

    def head(self) -> str:
        return subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout.strip()


@pytest.fixture
def world(tmp_path: Path) -> World:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *who, "commit", "-q", "--allow-empty", "-m1"], cwd=tmp_path, check=True)
    made = World(tmp_path)
    nodes = tuple(
        Node(
            id=mint_node_id("function", "a.py", name),
            kind=NodeKind.FUNCTION,
            name=name,
            qualname=name,
            file=FilePath("a.py"),
            start_line=line,
            end_line=line + 1,
        )
        for name, line in (("f", 1), ("g", 3))
    )
    made.graph.apply(GraphDelta(parts=(GraphPart(owner=Owner("a.py"), nodes=nodes, edges=()),)))
    return made


def test_a_box_is_at_the_commit_asked_for_else_the_sessions_else_head(world: World) -> None:
    head = world.head()
    assert world.service.spawn(world.session()).spec.commit_sha == head
    assert world.service.spawn(world.session(commit=CommitSha("a" * 40))).spec.commit_sha == "a" * 40
    assert world.service.spawn(world.session(), commit_sha=head[:8]).spec.commit_sha == head
    with pytest.raises(Invalid):
        world.service.spawn(world.session(), commit_sha="f" * 40)


def test_limits_and_tracer_are_the_settings_unless_given(world: World) -> None:
    box = world.service.spawn(world.session())
    assert (box.spec.limits, box.spec.tracer) == (Limits(), TracerName.MONITORING)
    other = world.service.spawn(world.session(), traced=False, limits=Limits(pids=3))
    assert (other.spec.tracer, other.spec.limits.pids) == (None, 3)
    assert world.service.limits(timeout_ms=5).timeout_ms == 5


def test_spawning_the_same_id_again_finds_the_box(world: World) -> None:
    first = world.service.spawn(world.session(), sandbox_id=SandboxId("box_chosen000000"))
    assert world.service.spawn(world.session(), sandbox_id=SandboxId("box_chosen000000")) == first
    with pytest.raises(SandboxNotFound):
        world.service.spawn(world.session("ses_two"), sandbox_id=SandboxId("box_chosen000000"))


def test_what_the_session_has_pushed_is_written_into_the_box(world: World) -> None:
    file = ChangedFile(path=FilePath("a.py"), content=b"x")
    box = world.service.spawn(world.session(), files=[file])
    assert world.service.changes(box.spec.sandbox_id) == (file,)


def test_a_box_that_cannot_be_filled_is_not_left(world: World) -> None:
    class Full(ScriptedDriver):
        def write(self, box: Sandbox, files: Iterable[ChangedFile]) -> None:
            raise SandboxFailed("disk full")

    full = Full()
    world.service._driver = full
    with pytest.raises(SandboxFailed, match="disk full"):
        world.service.spawn(world.session())
    assert full.boxes == {}
    assert world.artifacts.list(SANDBOX) == ()


def test_a_box_of_another_session_is_unknown(world: World) -> None:
    box = world.service.spawn(world.session())
    assert world.service.get(box.spec.sandbox_id, session_id="ses_one") == box
    for step in (
        lambda: world.service.get(box.spec.sandbox_id, session_id="ses_two"),
        lambda: world.service.execute(box.spec.sandbox_id, "true", session_id="ses_two"),
        lambda: world.service.destroy(box.spec.sandbox_id, session_id="ses_two"),
        lambda: world.service.get("box_never"),
    ):
        with pytest.raises(SandboxNotFound):
            step()
    assert world.driver.commands == []


def test_calls_become_edges_and_are_new_once(world: World) -> None:
    box = world.service.spawn(world.session())
    first = world.service.execute(box.spec.sandbox_id, "pytest")
    second = world.service.execute(box.spec.sandbox_id, "pytest")
    assert [(call.source, call.target, call.count, call.new) for call in first.calls] == [
        ("function:a.py#f", "function:a.py#g", 2, True)
    ]
    assert [call.new for call in second.calls] == [False]
    assert (first.unresolved_frames, second.unresolved_frames) == (1, 1)
    (edge,) = world.graph.edges([mint_node_id("function", "a.py", "f")], kinds=(EdgeKind.CALLS_RUNTIME,))
    assert (edge.call_count, edge.sandbox_id, edge.commit_sha) == (4, box.spec.sandbox_id, world.head())


def test_an_execution_is_logged_and_answered_from_the_log(world: World) -> None:
    world.driver.next = msgspec.structs.replace(world.driver.next, outputs={"report.xml": b"<x/>"})
    box = world.service.spawn(world.session())
    first = world.service.execute(box.spec.sandbox_id, "pytest", execution_id="step-1")
    again = world.service.execute(box.spec.sandbox_id, "pytest", execution_id="step-1")
    other = world.service.execute(box.spec.sandbox_id, "true", execution_id="step-2")
    assert again == first
    assert world.driver.commands == ["pytest", "true"]
    assert world.service.executions(SessionId("ses_one")) == (first, other)
    assert first.execution.stdout == "out"
    assert world.service.output(first, "report.xml") == b"<x/>"
    assert world.service.output(first, "absent") is None


def test_blocks_are_notified_once_per_target(world: World) -> None:
    blocks = [("a.example", 443), ("a.example", 443), ("b.example", 80)]
    refused = tuple(NetworkBlock(host=host, port=port) for host, port in blocks)
    world.driver.next = Execution(exit_code=1, stdout="", stderr="", duration_ms=1, network_blocks=refused)
    box = world.service.spawn(world.session())
    world.service.execute(box.spec.sandbox_id, "curl")
    assert [notice.body for notice in world.notifier.after(0)] == [
        NetworkBlocked(sandbox_id=box.spec.sandbox_id, blocked_host=host, blocked_port=port)
        for host, port in (("a.example", 443), ("b.example", 80))
    ]


def test_a_block_is_notified_while_the_command_runs_and_not_again_after_it(world: World) -> None:
    early, late = NetworkBlock(host="a.example", port=443, process="curl"), NetworkBlock(host="b.example", port=80)
    world.driver.while_running = (early, early)
    world.driver.notices = lambda: world.notifier.after(0)
    world.driver.next = msgspec.structs.replace(world.driver.next, network_blocks=(early, late))
    box = world.service.spawn(world.session())
    world.service.execute(box.spec.sandbox_id, "curl")
    assert world.driver.seen_running == [1, 1]
    bodies = [notice.body for notice in world.notifier.after(0)]
    assert [(body.blocked_host, body.process) for body in bodies if isinstance(body, NetworkBlocked)] == [
        ("a.example", "curl"),
        ("b.example", None),
    ]


def test_a_destroyed_box_keeps_its_record_and_is_unknown(world: World) -> None:
    box = world.service.spawn(world.session())
    gone = world.service.destroy(box.spec.sandbox_id, session_id="ses_one")
    assert (gone.box.status, gone.bytes_freed) == (SandboxStatus.DESTROYED, 1000)
    assert gone.box.destroyed_at is not None
    with pytest.raises(SandboxNotFound):
        world.service.destroy(box.spec.sandbox_id)
    assert world.service.discard(box.spec.sandbox_id) is None
    with pytest.raises(SandboxNotFound):
        world.service.spawn(world.session(), sandbox_id=box.spec.sandbox_id)
    body = world.artifacts.get(SANDBOX, box.spec.sandbox_id)
    assert body is not None
    assert msgspec.json.decode(body, type=Sandbox) == gone.box


def test_reaping_marks_what_the_driver_took_down(world: World) -> None:
    kept, lost = (world.service.spawn(world.session()).spec.sandbox_id for _ in range(2))
    assert world.service.reap([kept]) == (lost,)
    assert world.service.get(kept).status is SandboxStatus.READY
    with pytest.raises(SandboxNotFound):
        world.service.get(lost)
