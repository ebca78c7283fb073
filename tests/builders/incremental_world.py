"""A working tree that is edited while one index follows it; and the index that is made of it from nothing, to compare with.

What is compared is everything that an index holds but times: nodes, edges, enrichments, full-text rows, hashes, analyses,
digests, node counts and the Merkle tree. Ranks, communities and vectors follow lazily and are left out.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.adapters.clock_system import SystemClock
from smp.adapters.embedder_onnx import shipped_model
from smp.adapters.graph_sqlite import SqliteGraphStore
from smp.adapters.link_archives_sqlite import SqliteLinkArchives
from smp.adapters.memory import MemoryVectorIndex
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.adapters.sources_git import GitSourceTree
from smp.domain.graph import EdgeKind, NodeKind, Scope
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.indexing.analyse import analyse
from smp.indexing.link import Linker
from smp.indexing.merkle import leaves
from smp.indexing.pipeline import Indexer
from smp.settings import load_settings
from tests.builders.random_edits import Edit, Editor, Tree
from tests.builders.real_sources import commit_all, git

LAZY = frozenset({EdgeKind.MEMBER_OF, EdgeKind.BRIDGES, EdgeKind.CHILD_OF})
SWITCH_SHARE = 0.06
"""Of the edits, how many are a change of branch."""
RESTART_SHARE = 0.4
"""Before how many of them another process takes over."""


class Index:
    """An indexer with stores of its own on a working tree."""

    def __init__(self, root: Path, data: Path, analyse_with: Callable[[FilePath, bytes], FileAnalysis] | None) -> None:
        environ = {"SMP_DATA_DIR": str(data), "SMP_INDEX_HISTORY_DAYS": "0"}
        settings = load_settings(root, environ=environ)
        self.store = SqliteGraphStore(settings)
        self.indexer = Indexer(
            settings=settings,
            clock=SystemClock(),
            sources=GitSourceTree(settings),
            graph=self.store,
            metadata=self.store,
            cache=self.store,
            telemetry=self.store,
            vectors=MemoryVectorIndex(),
            embedder=shipped_model(),
            analytics=IgraphAnalytics(),
            notifier=SqliteNotifier(settings),
            analyse=analyse_with,
            link=Linker(SqliteLinkArchives(data), keep_from=1),
        )

    def contents(self) -> dict[str, dict[str, object]]:
        """Everything, by kind and key."""
        store = self.store
        hashes = store.file_hashes()
        nodes = {node.id: node for node in store.scan(Scope()) if node.kind is not NodeKind.COMMUNITY}
        kinds = tuple(kind for kind in EdgeKind if kind not in LAZY)
        edges: dict[str, object] = {}
        for edge in store.scan_edges(Scope(), kinds):
            key = f"{edge.kind} {edge.source} -> {edge.target or edge.to_name} ({edge.reason})"
            assert key not in edges, f"twice: {key}"
            edges[key] = edge
        tree = self.indexer.merkle()
        return {
            "node": {str(key): node for key, node in nodes.items()},
            "edge": edges,
            "metadata": {
                str(key): (one.source_hash, one.description, one.tags, one.manually_set)
                for key, one in store.enrichments(nodes).items()
            },
            "words": self._words(),
            "hash": {str(path): digest for path, digest in hashes.items()},
            "analysis": dict(store.blobs("analysis", hashes)),
            "digest": dict(store.blobs("link_digest", hashes)),
            "count": dict(store.blobs("node_count", hashes)),
            "merkle": {"root": tree.hash, **{str(path): digest for path, digest in leaves(tree).items()}},
        }

    def _words(self) -> dict[str, object]:
        connection = sqlite3.connect(self.store._database.path)  # rows that no query returns are looked for as well
        try:
            rows = connection.execute(
                "SELECT coalesce(node.id, 'row ' || words.rowid), words.* "
                "FROM words LEFT JOIN node ON node.key = words.rowid"
            ).fetchall()
        finally:
            connection.close()
        return {row[0]: tuple(row[1:]) for row in rows if not row[0].startswith("community:")}

    def close(self) -> None:
        self.store.close()


class Differed(AssertionError):
    """The index that followed is not the one that was made anew."""


class World(Struct, kw_only=True):
    """The tree on disk, the edits drawn from it, the index that follows.

    Attributes:
        known: Analyses by path and content, so that a file is read once however often it is indexed from nothing.
    """

    root: Path
    scratch: Path
    editor: Editor
    rng: random.Random
    following: Index
    known: dict[tuple[FilePath, bytes], FileAnalysis] = {}
    branches: int = 0
    restarts: random.Random

    def restart(self) -> None:
        """Now and then the index is followed by a new process, which knows what was stored alone."""
        if self.restarts.random() < RESTART_SHARE:
            self.following.close()
            self.following = Index(self.root, self.scratch / "following", None)

    def step(self) -> Edit:
        """Make one edit on disk."""
        edit = self._switch_branch() if self.rng.random() < SWITCH_SHARE else None
        if edit is None:
            edit = self.editor.draw()
            write_edit(self.root, edit)
        return edit

    def check(self, edit: Edit, *, before: Tree) -> None:
        """Let the index follow the edit, and compare it with one from nothing.

        Raises:
            Differed: With the differences, and the smallest tree found on which the same edit shows one.
        """
        self.restart()
        made = crash_of(self.following.indexer.ensure_fresh)
        made = made or differences(self.following.contents(), self.from_nothing())
        if made:
            smallest = shrink(before, edit, self.scratch / "shrink")
            raise Differed(f"after {edit.kind}:\n" + "\n".join(made[:20]) + "\n" + smallest)

    def from_nothing(self, *, memo: bool = True) -> dict[str, dict[str, object]]:
        """What an index of the present tree holds."""
        data = self.scratch / "full"
        remove_tree(data)
        index = Index(self.root, data, self._analyse if memo else None)
        try:
            index.indexer.refresh()
            return index.contents()
        finally:
            index.close()

    def _analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        key = (path, content)
        if key not in self.known:
            self.known[key] = analyse(path, content)
        return self.known[key]

    def _switch_branch(self) -> Edit | None:
        """Record the tree on a branch of its own, then check out an earlier commit or come back to the newest."""
        self.branches += 1
        commit_all(self.root, f"state {self.branches}")
        git(self.root, "branch", f"state-{self.branches}")
        target = f"state-{self.rng.randint(1, self.branches)}"
        before = dict(self.editor.tree)
        git(self.root, "checkout", "-q", "-B", "work", target)
        after = read_tree(self.root)
        writes: dict[str, bytes | None] = {path: None for path in before if path not in after}
        writes |= {path: body for path, body in after.items() if before.get(path) != body}
        edit = Edit(kind=f"switch to {target}", writes=writes)
        self.editor.make(edit)
        return edit


def open_world(root: Path, scratch: Path, seed: int) -> World:
    """A world on a repository, its index made once."""
    rng = random.Random(seed)
    following = Index(root, scratch / "following", None)
    following.indexer.refresh()
    return World(
        root=root,
        scratch=scratch,
        editor=Editor(read_tree(root), rng),
        rng=rng,
        following=following,
        restarts=random.Random(f"restarts {seed}"),
    )


def read_tree(root: Path) -> Tree:
    """The files of a working tree by path, git's own left out."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def write_edit(root: Path, edit: Edit) -> None:
    """Make an edit on disk: what goes first, and folders that it leaves empty."""
    for path, body in edit.writes.items():
        if body is None:
            (root / path).unlink()
            for folder in (root / path).parents:
                if folder == root or any(folder.iterdir()):
                    break
                folder.rmdir()
    for path, body in edit.writes.items():
        if body is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(body)


def crash_of(follow: Callable[[], object]) -> list[str]:
    """What following raised, as lines; nothing when it went well."""
    try:
        follow()
    except Exception:  # noqa: BLE001 - whatever it is, it is the fault that is looked for
        return traceback.format_exc().splitlines()[-12:]
    return []


def differences(following: Mapping[str, Mapping[str, object]], anew: Mapping[str, Mapping[str, object]]) -> list[str]:
    """One line for each thing that is in one index only, or differs."""
    return [
        f"  {kind} {key}\n    followed: {following[kind].get(key)!r:.300}\n    anew:     {anew[kind].get(key)!r:.300}"
        for kind in anew
        for key in sorted({*following[kind], *anew[kind]})
        if following[kind].get(key) != anew[kind].get(key)
    ]


def shrink(before: Tree, edit: Edit, scratch: Path) -> str:
    """The fewest files on which the edit alone makes the same kind of fault, as text to be pasted into a test."""
    if not fails(before, edit, scratch):
        return "  the edit alone does not show it on a fresh index: what came before matters; the seed repeats it"
    tree = dict(before)
    size = max(len(tree) // 2, 1)
    while True:
        for chunk in _chunks(sorted(tree.keys() - edit.writes.keys()), size):
            fewer = {path: body for path, body in tree.items() if path not in chunk}
            if fails(fewer, edit, scratch):
                tree = fewer
        if size == 1:
            break
        size //= 2
    kept = {path: body.decode("utf-8", "backslashreplace") for path, body in tree.items()}
    written = {path: body and body.decode("utf-8", "backslashreplace") for path, body in edit.writes.items()}
    report = scratch / "smallest.py"
    report.write_text(f"BEFORE = {kept!r}\nEDIT = {written!r}\n", "utf-8")
    return f"  shown by {len(tree)} files alone: {sorted(tree)}; written to {report}"


def fails(before: Tree, edit: Edit, scratch: Path) -> bool:
    """Whether following one edit from a fresh index of a tree differs from an index of the tree after it."""
    remove_tree(scratch / "repo", scratch / "followed", scratch / "anew")
    root = scratch / "repo"
    write_edit(root, Edit(kind="", writes=dict(before)))
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    followed = Index(root, scratch / "followed", None)
    try:
        followed.indexer.refresh()
        present = {path: body for path, body in edit.writes.items() if body is not None or path in before}
        write_edit(root, Edit(kind="", writes=present))
        if crash_of(followed.indexer.refresh):
            return True
        anew = Index(root, scratch / "anew", None)
        try:
            anew.indexer.refresh()
            return bool(differences(followed.contents(), anew.contents()))
        finally:
            anew.close()
    finally:
        followed.close()


def remove_tree(*folders: Path) -> None:
    """Remove folders with all that is below."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _chunks(paths: list[str], size: int) -> Iterable[frozenset[str]]:
    return (frozenset(paths[start : start + size]) for start in range(0, len(paths), size))
