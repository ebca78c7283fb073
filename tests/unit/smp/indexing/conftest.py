"""An indexer on real git and SQLite, with a toy language: `def name:` defines, `  name()` calls, `use path` imports."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec import Struct

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.adapters.graph_sqlite import SqliteGraphStore
from smp.adapters.memory import MemoryVectorIndex
from smp.adapters.sources_git import GitSourceTree
from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.source import Damage, FileAnalysis, FileSummary
from smp.indexing.pipeline import Indexer
from smp.languages.nodes import file_node, hash_bytes
from smp.ports.clock import Clock
from smp.ports.embedder import Embedder
from smp.ports.notifier import Notice, Notifier
from smp.ports.vector_index import Matrix
from smp.settings import load_settings


class ToyLinked(Struct, frozen=True, kw_only=True):
    edges: dict[FilePath, tuple[Edge, ...]]
    state: bytes


def toy_analyse(path: FilePath, content: bytes) -> FileAnalysis:
    """`def f:` up to the next `def`; `!` marks damage. The summary's names are the calls, `f>g` for g called in f."""
    nodes: list[Node] = [file_node(path, content, language="toy")]
    edges: list[Edge] = []
    calls: list[str] = []
    damage: list[Damage] = []
    blocks = re.split(r"(?m)^(?=def )", content.decode("utf-8", "replace"))
    line = 1
    for block in blocks:
        found = re.match(r"def (\w+)(?:\((.*?)\))?:(?: *# *(.*))?", block)
        owner = nodes[0].id
        if found:
            name = found[1]
            owner = mint_node_id("function", path, name)
            nodes.append(
                Node(
                    id=owner,
                    kind=NodeKind.FUNCTION,
                    name=name,
                    qualname=name,
                    file=path,
                    start_line=line,
                    end_line=line + block.rstrip().count("\n"),
                    signature=f"{name}({found[2] or ''})",
                    exported=True,
                    source_hash=hash_bytes(block.rstrip().encode()),
                )
            )
            edges.append(Edge(kind=EdgeKind.DEFINES, source=nodes[0].id, target=owner))
        calls += [
            f"{owner}>{called[1]}>{line + block[: called.start()].count(chr(10))}"
            for called in re.finditer(r"(?m)^  (\w+)\(\)", block)
        ]
        if "!" in block:
            damage.append(Damage(line=line, message="unexpected !"))
        line += block.count("\n")
    summary = FileSummary(names=tuple(calls), definitions=tuple(node.id for node in nodes))
    return FileAnalysis(
        path=path, language="toy", nodes=tuple(nodes), edges=tuple(edges), summary=summary, damage=tuple(damage)
    )


def toy_link(
    files: Mapping[FilePath, FileAnalysis],
    *,
    configs: Mapping[FilePath, bytes],
    changed: frozenset[FilePath] | None,
    state: bytes | None,
    digests: Mapping[FilePath, bytes] | None,
) -> ToyLinked:
    """A call goes to the one function of that name in the repository; answers with files whose edges differ from before."""
    by_name: dict[str, list[NodeId]] = {}
    for analysis in files.values():
        assert analysis.summary is not None
        for definition in analysis.summary.definitions[1:]:
            by_name.setdefault(definition.partition("#")[2], []).append(NodeId(definition))
    edges: dict[FilePath, tuple[Edge, ...]] = {}
    for path, analysis in files.items():
        assert analysis.summary is not None
        found = []
        for entry in analysis.summary.names:
            owner, name, line = entry.split(">")
            targets = by_name.get(name, [])
            if len(targets) == 1:
                edge = Edge(
                    kind=EdgeKind.CALLS_STATIC,
                    source=NodeId(owner),
                    target=targets[0],
                    line=int(line),
                    lines=(int(line),),
                )
            else:
                edge = Edge(
                    kind=EdgeKind.CALLS_UNRESOLVED,
                    source=NodeId(owner),
                    line=int(line),
                    lines=(int(line),),
                    to_name=name,
                )
            found.append(edge)
        edges[path] = tuple(found)
    before = msgspec.msgpack.decode(state, type=dict[FilePath, tuple[Edge, ...]]) if state is not None else {}
    answer = {path: own for path, own in edges.items() if before.get(path) != own or path in (changed or ())}
    return ToyLinked(edges=answer, state=msgspec.msgpack.encode(edges))


class Ticking(Clock):
    """A second passes with every look."""

    def __init__(self) -> None:
        self._now = datetime.now(UTC).replace(microsecond=0)

    def now(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now

    def fresh_id(self, prefix: str) -> str:
        return f"{prefix}_{self._now.timestamp()}"


class LetterEmbedder(Embedder):
    """A vector of letter counts: similar texts are near. Counts what it embeds."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    @property
    def model(self) -> str:
        return "letters/1"

    @property
    def dimension(self) -> int:
        return 26

    def embed(self, texts: Any, progress: Callable[[int], None] | None = None) -> Matrix:
        self.embedded += texts
        rows = np.ones((len(texts), 26), dtype=np.float32) * 0.01
        for row, text in enumerate(texts):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    rows[row, ord(letter) - ord("a")] += 1
        normalised: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return normalised


class Listening(Notifier):
    def __init__(self) -> None:
        self.said: list[Any] = []

    def publish(self, notification: Any) -> None:
        self.said.append(notification)

    def after(self, cursor: int, *, limit: int = 1000) -> tuple[Notice, ...]:
        return tuple(Notice(cursor=n + 1, body=body) for n, body in enumerate(self.said))[cursor : cursor + limit]

    def latest(self) -> int:
        return len(self.said)


class Workbench:
    """A repository, its store and its indexer; further indexers on the same files stand for other processes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.clock = Ticking()
        self.embedder = LetterEmbedder()
        self.vectors = MemoryVectorIndex()
        self.notifier = Listening()
        self._open: list[SqliteGraphStore] = []
        self.store, self.indexer = self.another_process()

    def another_process(self, link: Any = toy_link, **environ: str) -> tuple[SqliteGraphStore, Indexer]:
        settings = load_settings(self.root, environ=environ)
        store = SqliteGraphStore(settings)
        self._open.append(store)
        indexer = Indexer(
            settings=settings,
            clock=self.clock,
            sources=GitSourceTree(settings),
            graph=store,
            metadata=store,
            cache=store,
            telemetry=store,
            vectors=self.vectors,
            embedder=self.embedder,
            analytics=IgraphAnalytics(),
            notifier=self.notifier,
            link=link,
            analyse=toy_analyse,
        )
        return store, indexer

    def write(self, **files: str) -> None:
        """Keyword → file: `a_py` for `a.py`, `pkg__b_py` for `pkg/b.py`."""
        for name, text in files.items():
            path = self.root / self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    @staticmethod
    def path(name: str) -> str:
        folder, _, last = name.rpartition("__")
        stem, _, suffix = last.rpartition("_")
        return (folder.replace("__", "/") + "/" if folder else "") + f"{stem}.{suffix}"

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(self.root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def commit(self, message: str = "change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def close(self) -> None:
        for store in self._open:
            store.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    """An empty repository."""
    made = Workbench(tmp_path / "repo")
    yield made
    made.close()


@pytest.fixture
def make_bench(tmp_path: Path) -> Iterator[Callable[[str], Workbench]]:
    """Further repositories, by folder name."""
    made: list[Workbench] = []

    def make(name: str) -> Workbench:
        made.append(Workbench(tmp_path / name))
        return made[-1]

    yield make
    for one in made:
        one.close()
