"""Following single paths gives what looking at the whole tree gives, and looks at nothing else."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from smp.domain.graph import Scope
from smp.domain.ids import FilePath
from smp.indexing.reports import FileChange

CALLER = "def a:\n  target()\n"
CALLEE = "def target:\n"


def everything(store: Any) -> list[object]:
    return [*store.scan(Scope()), *store.scan_edges(Scope())]


def paths(*names: str) -> frozenset[FilePath]:
    return frozenset(FilePath(name) for name in names)


@pytest.fixture
def indexed(bench: Any) -> Any:
    bench.write(a_py=CALLER, src__b_py=CALLEE, src__deep__c_py="def c:\n", d_py="def d:\n  target()\n")
    bench.commit()
    bench.indexer.refresh()
    return bench


def fresh_graph(make_bench: Any, bench: Any) -> list[object]:
    other = make_bench("fresh")
    shutil.copytree(bench.root, other.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git", ".smp"))
    other.indexer.refresh()
    return everything(other.store)


def test_only_the_paths_are_looked_at(indexed: Any) -> None:
    indexed.write(a_py=CALLER + "def more:\n", d_py="def other:\n")
    assert indexed.indexer.stale_among(paths("a.py")) == ("a.py",)
    indexed.indexer.follow(paths("a.py"))
    assert indexed.indexer.stale_among(paths("a.py", "d.py")) == ("d.py",)
    assert {node.id for node in indexed.store.scan(Scope(kind="file", prefix="d.py"))} == {
        "file:d.py",
        "function:d.py#d",
    }


@pytest.mark.parametrize(
    "change", ["edit", "add", "delete", "folder gone", "folder for file", "file for folder", "ignored"]
)
def test_what_is_followed_is_what_a_fresh_index_holds(indexed: Any, make_bench: Any, change: str) -> None:
    root, followed = indexed.root, paths("a.py", "src", "src/b.py", "new.py")
    if change == "edit":
        indexed.write(a_py="def a:\n  c()\n")
    elif change == "add":
        indexed.write(new_py="def target:\n")
    elif change == "delete":
        (root / "src/b.py").unlink()
    elif change == "folder gone":
        shutil.rmtree(root / "src")
    elif change == "folder for file":
        (root / "a.py").unlink()
        (root / "a.py").mkdir()
        (root / "a.py/inner.py").write_text("def inner:\n")
    elif change == "file for folder":
        shutil.rmtree(root / "src")
        (root / "src").write_text("def src:\n")
    else:
        indexed.write(new_py="def target:\n")
        (root / ".gitignore").write_text("new.py\n")
        followed |= paths(".gitignore")
    indexed.indexer.follow(followed)
    assert everything(indexed.store) == fresh_graph(make_bench, indexed)
    assert indexed.indexer.state().stale == ()
    assert indexed.indexer.state().root_hash == indexed.indexer.merkle().hash == indexed.indexer.wanted_root()


def test_after_a_commit_the_whole_tree_counts(indexed: Any) -> None:
    indexed.write(a_py="def a:\n", d_py="def other:\n")
    commit = indexed.commit()
    indexed.indexer.follow(paths("a.py"))
    assert (indexed.indexer.state().commit_sha, indexed.indexer.state().stale) == (commit, ())


def test_pushed_content_stands_while_others_are_followed(indexed: Any) -> None:
    indexed.indexer.update([FileChange(path=FilePath("d.py"), content=b"def pushed:\n", change_type="modified")])
    indexed.write(a_py="def a:\n")
    indexed.indexer.follow(paths("a.py"))
    assert {node.name for node in indexed.store.scan(Scope(kind="file", prefix="d.py"))} >= {"pushed"}
    indexed.write(d_py="def disk:\n")
    indexed.indexer.follow(paths("d.py"))
    assert {node.name for node in indexed.store.scan(Scope(kind="file", prefix="d.py"))} >= {"disk"}
