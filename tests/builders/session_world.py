"""A small repository, a session service over real stores, and doubles of what is slow: the indexer and the boxes.

`AstIndexer` reads Python with the standard library and links calls by imported name: enough to tell callers, tests and
signatures apart, and independent of how the product parses and links.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import msgspec
from msgspec.structs import replace

from smp.adapters.memory import MemoryStore
from smp.adapters.records_directory import DirectoryRecordFiles
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore
from smp.adapters.sources_git import GitSourceTree
from smp.domain.errors import SandboxNotFound
from smp.domain.graph import (
    Edge,
    EdgeKind,
    GraphDelta,
    GraphPart,
    Node,
    NodeKind,
    Owner,
    Parameter,
    Resolution,
    Scope,
    UnresolvedReason,
)
from smp.domain.ids import AgentId, CommitSha, ContentHash, FilePath, NodeId, SandboxId, SessionId, mint_node_id
from smp.domain.merkle import MerkleTree
from smp.domain.notifications import Notification
from smp.domain.sandboxes import ChangedFile, Execution, Limits, NetworkBlock, Sandbox, SandboxSpec, SandboxStatus
from smp.domain.session_steps import OpenedSession, OpenSession
from smp.domain.sessions import Concurrency, SessionMode
from smp.domain.telemetry import NodeChange
from smp.indexing.changes import compare_nodes, telemetry_of
from smp.indexing.merkle import build_tree
from smp.indexing.overlay import OverlayGraphStore
from smp.indexing.pipeline import Indexer
from smp.indexing.reports import FileChange, Freshness, GraphPreview, ParseError, UpdateReport
from smp.ports.clock import Clock
from smp.ports.graph_store import GraphStore
from smp.ports.sandbox_driver import Capabilities, SandboxDriver
from smp.records.recorder import Recorder
from smp.safety.sessions import SessionService
from smp.settings import Settings

_DATES = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
"""Fixed, so that the commit has the same hash everywhere."""
START = datetime(2026, 3, 1, 9, tzinfo=UTC)

FILES = {
    "shop/money.py": "def rounded(value: float) -> int:\n    return int(value)\n\n\ndef spare() -> int:\n    return 1\n",
    "shop/cart.py": "from shop.money import rounded\n\n\ndef total() -> int:\n    return rounded(2.5)\n",
    "shop/rules.py": "def branchy(a: int) -> int:\n"
    + "".join(f"    if a == {n}:\n        return {n}\n" for n in range(9))
    + "    return a\n",
    "tests/test_money.py": "from shop.money import rounded\n\n\ndef test_rounded() -> None:\n    assert rounded(1.5) == 1\n",
    "README.md": "shop\n",
}


class ManualClock(Clock):
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = START
        self._ids = 0

    def now(self) -> datetime:
        return self.at

    def fresh_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}_{self._ids:016d}"

    def forward(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


class AstIndexer:
    """The part of `Indexer` that sessions use."""

    def __init__(self, root: Path, store: MemoryStore, clock: Clock) -> None:
        self._root, self._store, self._clock = root, store, clock
        self.contents: dict[FilePath, bytes] = {}
        self.crash_once = False

    def update(
        self, changes: Iterable[FileChange], *, agent: AgentId | None = None, session: SessionId | None = None
    ) -> UpdateReport:
        if self.crash_once:
            self.crash_once = False
            raise KeyboardInterrupt("the process dies here")
        wanted = tuple(changes)
        before = self._nodes(self._store, wanted)
        after = self._after(wanted)
        gone = tuple(Owner(path) for path in self.contents.keys() - after.keys())
        parts, errors = _graph(after)
        counts = self._store.apply(GraphDelta(parts=parts, removed=gone))
        self.contents = after
        changed = compare_nodes(before, self._nodes(self._store, wanted))
        at = self._clock.now().isoformat().replace("+00:00", "Z")
        self._store.record(telemetry_of(changed, at=at, agent=agent, session=session))
        mine = tuple(error for error in errors if error.file in {change.path for change in wanted})
        return UpdateReport(
            status="partial" if mine else "success",
            counts=counts,
            parse_errors=mine,
            files=tuple(sorted(change.path for change in wanted)),
            changed_nodes=changed.ids,
        )

    def preview(self, changes: Iterable[FileChange]) -> GraphPreview:
        wanted = tuple(changes)
        files = tuple(sorted(change.path for change in wanted))
        return GraphPreview(files=files, parse_errors=_graph(self._after(wanted))[1])

    def view(self, changes: Iterable[FileChange]) -> GraphStore:
        after = self._after(tuple(changes))
        gone = tuple(Owner(path) for path in self.contents.keys() - after.keys())
        return OverlayGraphStore(self._store, GraphDelta(parts=_graph(after)[0], removed=gone))

    def merkle(self) -> MerkleTree:
        return build_tree({path: _hash(content) for path, content in self.contents.items()})

    def ensure_fresh(self) -> None:
        """Never stale: what it holds was put there."""

    def begin_answer(self) -> None:
        """Every look of this double is the same."""

    def freshness(self) -> Freshness:
        return Freshness(commit_sha=None, dirty=(), stale=())

    def content(self, path: FilePath) -> bytes | None:
        return self.contents.get(path)

    def _after(self, changes: tuple[FileChange, ...]) -> dict[FilePath, bytes]:
        after = dict(self.contents)
        for change in changes:
            if change.change_type == "deleted":
                after.pop(change.path, None)
            else:
                on_disk = change.content is None
                after[change.path] = (self._root / change.path).read_bytes() if on_disk else change.content or b""
        return after

    def _nodes(self, graph: GraphStore, changes: tuple[FileChange, ...]) -> list[Node]:
        files = {change.path for change in changes}
        return [node for node in graph.scan(Scope()) if node.file in files]


def _graph(contents: Mapping[FilePath, bytes]) -> tuple[tuple[GraphPart, ...], tuple[ParseError, ...]]:
    trees, errors = {}, []
    for path, content in sorted(contents.items()):
        try:
            trees[path] = ast.parse(content) if path.endswith(".py") else ast.Module([], [])
        except SyntaxError as error:
            trees[path] = ast.Module([], [])
            errors.append(ParseError(file=path, line=error.lineno or 1, message="does not parse"))
    nodes = {path: _nodes_of(path, tree, contents[path]) for path, tree in trees.items()}
    known = {node.id for inside in nodes.values() for node in inside}
    parts = [
        GraphPart(owner=Owner(path), nodes=nodes[path], edges=_edges_of(path, tree, nodes[path], known))
        for path, tree in trees.items()
    ]
    return tuple(parts), tuple(errors)


def _nodes_of(path: FilePath, tree: ast.Module, content: bytes) -> tuple[Node, ...]:
    role = "test" if path.startswith("tests/") else "source"
    found = [
        Node(
            id=mint_node_id("file", path),
            kind=NodeKind.FILE,
            name=path.rpartition("/")[2],
            qualname=path,
            file=path,
            source_hash=_hash(content),
            role=role,
        )
    ]
    for item in tree.body:
        if isinstance(item, ast.FunctionDef):
            test = item.name.startswith("test_")
            found.append(
                Node(
                    id=mint_node_id("test" if test else "function", path, item.name),
                    kind=NodeKind.TEST if test else NodeKind.FUNCTION,
                    name=item.name,
                    qualname=item.name,
                    file=path,
                    start_line=item.lineno,
                    end_line=item.end_lineno or item.lineno,
                    signature=ast.unparse(item.args),
                    parameters=_parameters(item.args),
                    return_type=ast.unparse(item.returns) if item.returns else None,
                    complexity=1 + sum(isinstance(part, ast.If) for part in ast.walk(item)),
                    exported=not item.name.startswith("_"),
                    source_hash=_hash(ast.unparse(item).encode()),
                )
            )
    return tuple(sorted(found, key=lambda node: node.id))


def _parameters(args: ast.arguments) -> tuple[Parameter, ...]:
    required = len(args.args) - len(args.defaults)
    positional = [
        Parameter(name=arg.arg, kind="positional", required=index < required) for index, arg in enumerate(args.args)
    ]
    keyword = [
        Parameter(name=arg.arg, kind="keyword_only", required=default is None)
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    return (*positional, *keyword)


def _edges_of(path: FilePath, tree: ast.Module, nodes: tuple[Node, ...], known: set[NodeId]) -> tuple[Edge, ...]:
    sources = {node.name: node.id for node in nodes if node.kind is not NodeKind.FILE}
    here = mint_node_id("file", path)
    names = {name: mint_node_id("function", path, name) for name in sources}
    edges = []
    for item in tree.body:
        if isinstance(item, ast.ImportFrom) and item.module:
            origin = FilePath(item.module.replace(".", "/") + ".py")
            names |= {alias.name: mint_node_id("function", origin, alias.name) for alias in item.names}
            target = mint_node_id("file", origin)
            items = tuple(alias.name for alias in item.names)
            if target in known:
                edges.append(Edge(kind=EdgeKind.IMPORTS, source=here, target=target, items=items, line=item.lineno))
    for item in tree.body:
        source = sources[item.name] if isinstance(item, ast.FunctionDef) else here
        for call in ast.walk(item):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names:
                target = names[call.func.id]
                kind = EdgeKind.CALLS_STATIC if target in known else EdgeKind.CALLS_UNRESOLVED
                edge = Edge(kind=kind, source=source, line=call.lineno)
                if target in known:
                    edges.append(replace(edge, target=target, resolution=Resolution.IMPORT))
                    if source.startswith("test:"):
                        edges.append(Edge(kind=EdgeKind.TESTS, source=source, target=target))
                else:
                    edges.append(replace(edge, to_name=call.func.id, reason=UnresolvedReason.NOT_IN_IMPORTS))
    return tuple(edges)


def _hash(content: bytes) -> ContentHash:
    return ContentHash(hashlib.sha256(content).hexdigest())


class FakeDriver(SandboxDriver):
    """Boxes as dictionaries over the files of the commit."""

    def __init__(self) -> None:
        self.boxes: dict[str, dict[FilePath, ChangedFile]] = {}
        self.destroyed: list[str] = []
        self.writes = 0

    def lose(self, box_id: SandboxId) -> None:
        """The host has lost the box; its record has not heard of it."""
        del self.boxes[box_id]

    def _files(self, box: Sandbox) -> dict[FilePath, ChangedFile]:
        files = self.boxes.get(box.spec.sandbox_id)
        if files is None:
            raise SandboxNotFound(box.spec.sandbox_id)
        return files

    def capabilities(self) -> Capabilities:
        return Capabilities(driver="fake", available=True)

    def spawn(self, spec: SandboxSpec, progress: Callable[[str], None] | None = None) -> Sandbox:
        self.boxes[spec.sandbox_id] = {
            FilePath(path): ChangedFile(path=FilePath(path), content=text.encode()) for path, text in FILES.items()
        }
        return Sandbox(
            spec=spec, status=SandboxStatus.READY, driver="fake", state_dir="", host="here", spawned_at=START
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
        raise NotImplementedError

    def changes(self, box: Sandbox) -> tuple[ChangedFile, ...]:
        files = self._files(box)
        return tuple(file for path, file in sorted(files.items()) if file.content != FILES.get(path, "").encode())

    def read(self, box: Sandbox, paths: Iterable[FilePath]) -> tuple[ChangedFile, ...]:
        files = self._files(box)
        return tuple(files.get(path, ChangedFile(path=path, content=None)) for path in paths)

    def write(self, box: Sandbox, files: Iterable[ChangedFile]) -> None:
        self.writes += 1
        inside = self._files(box)
        inside.update((file.path, file) for file in files)

    def destroy(self, box: Sandbox) -> int:
        self.destroyed.append(box.spec.sandbox_id)
        self.boxes.pop(box.spec.sandbox_id, None)
        return 0

    def reap(self, keep: frozenset[str]) -> tuple[str, ...]:
        return ()

    def lower(self, commit: CommitSha) -> str:
        return ""


class World:
    """Everything a test of sessions touches; `again()` is the same repository seen by a new process."""

    def __init__(self, root: Path, data: Path, graph: MemoryStore, clock: ManualClock, driver: FakeDriver) -> None:
        self.root, self.graph, self.clock, self.driver = root, graph, clock, driver
        self._data = data
        settings = Settings(repo=root, data_dir=data, cache_dir=data)
        self.settings = settings
        self.store = SqliteSessionStore(settings)
        self.artifacts = SqliteArtifactStore(settings)
        self.notifier = SqliteNotifier(settings)
        self.indexer = AstIndexer(root, graph, clock)
        self.service = SessionService(
            settings=settings,
            clock=clock,
            store=self.store,
            artifacts=self.artifacts,
            notifier=self.notifier,
            sources=GitSourceTree(settings),
            # The double has the shape of the indexer, not its ancestry: the indexer is a class, not a port.
            indexer=cast("Indexer", self.indexer),
            graph=graph,
            telemetry=graph,
            sandbox_driver=driver,
        )
        self.records = Recorder(DirectoryRecordFiles(settings), clock)
        self.service.when_session_ends(
            lambda session, events, written: self.records.session_ended(
                session, events, self.artifacts, written=written
            )
        )

    def again(self) -> World:
        other = World(self.root, self._data, self.graph, self.clock, self.driver)
        other.indexer.contents = dict(self.indexer.contents)
        return other

    def open(
        self,
        *scope: str,
        concurrency: Concurrency = Concurrency.EXCLUSIVE,
        mode: SessionMode = SessionMode.WRITE,
        agent: str = "coder",
        driver: str | None = None,
        ttl: int = 60,
        session_id: str | None = None,
    ) -> OpenedSession:
        return self.service.open(
            OpenSession(
                agent_id=AgentId(agent),
                task="work",
                scope=scope or ("shop/money.py", "shop/cart.py", "shop/new.py", "shop/rules.py"),
                mode=mode,
                concurrency=concurrency,
                ttl_seconds=ttl,
                session_id=SessionId(session_id) if session_id else None,
                driver=driver,
            )
        )

    def id(self, *scope: str, **options: object) -> SessionId:
        return self.open(*scope, **options).session.id  # type: ignore[arg-type]

    def box(self, session_id: SessionId) -> SandboxId:
        """Spawn a box for an mvcc session, as the sandbox service records it."""
        box_id = SandboxId(self.clock.fresh_id("box"))
        box = self.driver.spawn(SandboxSpec(sandbox_id=box_id, session_id=session_id, commit_sha=CommitSha("0" * 40)))
        self.artifacts.put("sandbox", box_id, msgspec.json.encode(box), session_id=session_id)
        self.service.attach_sandbox(session_id, box_id)
        return box_id

    def notices(self) -> list[Notification]:
        return [notice.body for notice in self.notifier.after(0)]

    def methods(self, session_id: SessionId) -> list[str]:
        return [event.method for event in self.store.events(session_id)]

    def heat(self, node: str, times: int) -> None:
        """Record changes of a node, a second apart, shortly before now."""
        self.graph.record(
            NodeChange(
                node_id=mint_node_id("function", *node.split("#")),
                event="modified",
                at=(self.clock.now() - timedelta(seconds=number + 1)).isoformat().replace("+00:00", "Z"),
            )
            for number in range(times)
        )


def a_template(root: Path) -> Path:
    """A repository of `FILES` with one commit at a folder; copied for each test, since git is the slowest part of one."""
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    for command in (("init", "-q", "--template="), ("add", "."), (*identity, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *command], cwd=root, check=True, env=os.environ | _DATES)
    return root


def a_world(template: Path, folder: Path) -> World:
    """A copy of the template, indexed an hour ago, with nothing open."""
    root = folder / "repo"
    shutil.copytree(template, root)
    clock = ManualClock()
    made = World(root, folder / "data", MemoryStore(), clock, FakeDriver())
    made.indexer.update(tuple(FileChange(path=FilePath(path)) for path in FILES))
    clock.forward(3600)
    return made
