"""A listing follows the tree, whichever way a source tree finds out about changes: the very next one shows what was done.

`looks`: the stamps of all places. `notices`: what the kernel tells (inotify). `processes`: each question is asked by a new
process, which knows what the one before has left in the data directory.
"""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inotify_simple import INotify

from smp.adapters.sources_git import GitSourceTree, lookout, notices, remembered
from smp.adapters.sources_git.notices import mounts_below
from smp.domain.ids import FilePath
from smp.ports.source_tree import Listing
from smp.settings import load_settings

WAYS = ("looks", "notices", "processes")
LATER = 2**62
"""A time of day at which nothing has just been written."""


class Tree:
    """A checkout, and questions about it in one of the ways."""

    def __init__(self, root: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.way = root, way
        root.mkdir()
        self.git("init", "-q", "-b", "main")
        for path in ("a.py", "b.py", "lib/c.py", "lib/deep/d.py", "build/out.py"):
            self.write(path)
        self.write(".gitignore", "build/\n*.tmp\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")
        self.write(".smp/.gitignore", "*\n")
        if way != "notices":
            monkeypatch.setattr("smp.adapters.sources_git.tree.time.time_ns", lambda: LATER)
        monkeypatch.setattr(lookout, "NOTICES_AFTER", 1 if way == "notices" else 10**9)
        self._sources = self.fresh()
        if way == "notices":
            self.settle()

    def settle(self) -> None:
        """Let the source tree begin to hear of changes, as if what there is had been written long ago."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("smp.adapters.sources_git.tree.time.time_ns", lambda: LATER)
            self._sources.list()
            self._sources.list()
        assert self._sources._lookout._notices is not None

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=Ann", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout

    def write(self, path: str, content: str = "x = 1\n") -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(content)

    def fresh(self, data_dir: Path | None = None) -> GitSourceTree:
        return GitSourceTree(load_settings(self.root, data_dir=data_dir, environ={}))

    def listing(self) -> Listing:
        if self.way == "processes":
            self._sources = self.fresh()
        return self._sources.list()

    def check(self) -> None:
        """The answer is that of someone who has never looked before."""
        self.tick()
        listing = self.listing()
        truth = self.fresh(self.root.parent / "nothing")
        assert listing == truth.list()
        assert list(listing.files) == sorted(listing.files)
        assert self._sources.dirty(listing) == truth.dirty()
        self.tick()

    def tick(self) -> None:
        """Go on when the file system's clock has: only with notices may a change share a time stamp with a look."""
        scratch = self.root.parent / "clock"
        scratch.touch()
        before = scratch.stat().st_mtime_ns
        while self.way != "notices" and scratch.stat().st_mtime_ns == before:
            scratch.touch()

    def commands(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """What git is asked from now on."""
        asked: list[str] = []
        run = GitSourceTree._run

        def counted(sources: GitSourceTree, *arguments: str, **options: Any) -> Any:
            asked.append(arguments[0])
            return run(sources, *arguments, **options)

        monkeypatch.setattr(GitSourceTree, "_run", counted)
        return asked


@pytest.fixture(params=WAYS)
def tree(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return Tree(tmp_path / "repo", request.param, monkeypatch)


@pytest.fixture
def noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return Tree(tmp_path / "repo", "notices", monkeypatch)


def _rename_folder(tree: Tree) -> None:
    (tree.root / "lib").rename(tree.root / "renamed")
    tree.check()
    tree.write("renamed/deep/d.py", "in a renamed folder\n")


def _checkout(tree: Tree) -> None:
    tree.git("checkout", "-q", "-b", "side")
    tree.write("side/e/f.py")
    (tree.root / "b.py").unlink()
    tree.git("add", "-A")
    tree.git("commit", "-q", "-m", "side")
    tree.check()
    tree.git("checkout", "-q", "main")
    tree.check()
    tree.git("checkout", "-q", "side")
    tree.check()
    tree.write("side/e/f.py", "after the checkout\n")


def _replace(tree: Tree) -> None:
    tree.write(".a.swp", "as editors save\n")
    (tree.root / ".a.swp").rename(tree.root / "a.py")


def _nested(tree: Tree) -> None:
    tree.write("new/very/deep/g.py")
    tree.check()
    tree.write("new/very/deep/g.py", "again\n")
    tree.write("new/very/other/h.py")


def _unignore(tree: Tree) -> None:
    tree.write(".gitignore", "*.tmp\n")
    tree.check()
    tree.write("build/out.py", "no longer ignored\n")


def _ignored_folder(tree: Tree) -> None:
    tree.write("lib/.gitignore", "gen/\n")
    tree.check()
    tree.write("lib/gen/deep/x.py")


def _recreate_folder(tree: Tree) -> None:
    shutil.rmtree(tree.root / "lib")
    tree.write("lib/c.py", "in a new folder of an old name\n")
    tree.check()
    tree.write("lib/c.py", "and edited there, too\n")


def _link(tree: Tree) -> None:
    (tree.root / "link.py").symlink_to("build/out.py")
    tree.check()
    tree.write("build/out.py", "through the link\n")
    tree.check()
    (tree.root / "link.py").unlink()
    (tree.root / "link.py").symlink_to("a.py")


def _hard_link(tree: Tree) -> None:
    os.link(tree.root / "a.py", tree.root.parent / "outside.py")
    tree.git("add", "-A")
    tree.check()
    with (tree.root.parent / "outside.py").open("a") as stream:
        stream.write("by another name\n")


def _repository_inside(tree: Tree) -> None:
    tree.write("lib/inner/i.py")
    tree.check()
    subprocess.run(["git", "init", "-q", str(tree.root / "lib/inner")], check=True)


def _stage(tree: Tree) -> None:
    tree.write("n.py")
    tree.git("add", "n.py")


def _file_to_folder(tree: Tree) -> None:
    (tree.root / "a.py").unlink()
    tree.write("a.py/x.py")


CHANGES: dict[str, Callable[[Tree], object]] = {
    "nothing": lambda tree: None,
    "edit": lambda tree: tree.write("a.py", "y = 22\n"),
    "edit of the same size": lambda tree: tree.write("a.py", "x = 2\n"),
    "replaced by another file": _replace,
    "new file": lambda tree: tree.write("lib/new.py"),
    "deleted": lambda tree: (tree.root / "b.py").unlink(),
    "renamed": lambda tree: (tree.root / "b.py").rename(tree.root / "lib/b.py"),
    "moved out": lambda tree: (tree.root / "b.py").rename(tree.root.parent / "b.py"),
    "new nested folders": _nested,
    "folder moved in": lambda tree: shutil.copytree(tree.root / "lib", tree.root.parent / "in").rename(
        tree.root / "in"
    ),
    "folder renamed": _rename_folder,
    "folder deleted": lambda tree: shutil.rmtree(tree.root / "lib"),
    "folder made anew": _recreate_folder,
    "checkout": _checkout,
    "ignored file": lambda tree: tree.write("a.tmp"),
    "ignored file, edited": lambda tree: tree.write("build/out.py", "unseen\n"),
    "ignored folder": _ignored_folder,
    "no longer ignored": _unignore,
    "excluded": lambda tree: (tree.root / ".git/info/exclude").write_text("b.py\n"),
    "staged": _stage,
    "mode": lambda tree: (tree.root / "a.py").chmod(0o755),
    "link": _link,
    "hard link": _hard_link,
    "repository inside": _repository_inside,
    "dependencies": lambda tree: tree.write("node_modules/p/index.js"),
    "becomes binary": lambda tree: (tree.root / "a.py").write_bytes(b"\0"),
    "file becomes a folder": _file_to_folder,
    "odd name": lambda tree: (tree.root / os.fsdecode(b"odd\xff.py")).write_text("x"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_listing_shows_a_change(tree: Tree, change: str) -> None:
    tree.check()
    CHANGES[change](tree)
    tree.check()
    tree.check()


@pytest.mark.parametrize("seed", range(2))
def test_the_next_listing_shows_any_series_of_changes(tree: Tree, seed: int) -> None:
    drawn = random.Random(seed)
    for number in range(25):
        files = sorted(path for path in tree.listing().files if "/" in path or path.endswith(".py"))
        one = tree.root / drawn.choice(files or ["a.py"])
        kind = drawn.choice(["edit", "edit", "new", "delete", "rename", "folder", "remove folder", "stage", "ignored"])
        if kind == "edit" or not one.exists():
            tree.write(str(one.relative_to(tree.root)), f"edit {number}\n" * (1 + number % 3))
        elif kind == "new":
            tree.write(f"d{drawn.randrange(3)}/e{drawn.randrange(2)}/f{number}.py")
        elif kind == "delete":
            one.unlink()
        elif kind == "rename":
            one.rename(one.with_name(f"r{number}.py"))
        elif kind == "folder" and one.parent != tree.root:
            one.parent.rename(tree.root / f"moved{number}")
        elif kind == "remove folder" and one.parent != tree.root:
            shutil.rmtree(one.parent)
        elif kind == "stage":
            tree.git("add", "-A")
        else:
            tree.write(f"t{number}.tmp")
        tree.check()


def test_nothing_is_asked_of_git_while_nothing_happens(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.check()
    asked = tree.commands(monkeypatch)
    listing = tree.listing()
    tree._sources.dirty(listing)
    assert asked == (["rev-parse"] if tree.way == "processes" else [])  # that it is a repository, and where


def test_right_after_an_edit_the_kernel_is_believed_and_git_is_not_asked_for_the_whole_tree(
    noticed: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    noticed.write("a.py", "1\n")
    noticed.listing()
    walked: list[object] = []
    monkeypatch.setattr(GitSourceTree, "_list_anew", lambda sources: walked.append(sources))
    noticed.write("a.py", "2\n")
    assert noticed.listing().files[FilePath("a.py")] == hashlib.sha256(b"2\n").hexdigest()
    asked = noticed.commands(monkeypatch)
    assert noticed.listing() is noticed.listing()
    assert (walked, asked) == ([], [])


def test_a_file_that_git_ignores_changes_no_listing(noticed: Tree) -> None:
    noticed.check()
    before = noticed.listing()
    for name in ("a.tmp", "b.tmp"):
        noticed.write(name)
        assert noticed.listing() is before
    (noticed.root / "a.tmp").unlink()
    (noticed.root / "lib/__pycache__").mkdir()
    assert noticed.listing() is before


def test_when_the_kernel_has_lost_notices_everything_is_looked_at(noticed: Tree) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 100_000:
        pytest.skip("the queue is too long to be filled here")
    noticed.check()
    for number in range(limit // 2 + 10):
        os.utime(noticed.root / "a.py", (number, number))
        os.utime(noticed.root / "b.py", (number, number))
    noticed.write("lost/new.py")
    noticed.check()
    noticed.write("lost/new.py", "a folder whose coming was lost is watched\n")
    noticed.check()


@pytest.mark.parametrize("write", ["memory map", "hard link made since"])
def test_what_no_notice_tells_is_found_by_the_next_look(
    noticed: Tree, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """The two ways to change a file that inotify is silent about."""
    noticed.check()
    if write == "memory map":
        descriptor = os.open(noticed.root / "a.py", os.O_RDWR)
        view = mmap.mmap(descriptor, 0)
        os.close(descriptor)
        noticed.check()
        view[:1] = b"Z"
        view.close()
    else:
        os.link(noticed.root / "a.py", noticed.root.parent / "other.py")
        (noticed.root.parent / "other.py").write_text("by the other name\n")
    monkeypatch.setattr(lookout, "LOOK_EVERY_S", 0.0)
    noticed.check()


def _no_inotify(*_: object, **__: object) -> int:
    raise OSError(errno.EMFILE, "too many inotify instances")


def _no_watch(*_: object) -> int:
    raise OSError(errno.ENOSPC, "no watches are left")


@pytest.mark.parametrize("missing", ["local file system", "instances", "watches"])
def test_without_notices_the_tree_is_looked_at_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    tree = Tree(tmp_path / "repo", "looks", monkeypatch)
    monkeypatch.setattr(lookout, "NOTICES_AFTER", 1)
    if missing == "local file system":
        monkeypatch.setattr(notices, "LOCAL_TYPES", frozenset({"none"}))
    elif missing == "instances":
        monkeypatch.setattr(INotify, "__init__", _no_inotify)
    else:
        monkeypatch.setattr(INotify, "add_watch", _no_watch)
    for content in ("1\n", "22\n", "333\n"):
        tree.write("a.py", content)
        tree.check()
        tree.check()
    assert tree._sources._lookout._notices is None


def test_running_out_of_watches_later_ends_the_notices_and_nothing_is_missed(
    noticed: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(INotify, "add_watch", _no_watch)
    noticed.write("more/x.py")
    noticed.check()
    noticed.write("more/x.py", "unwatched\n")
    noticed.check()


def test_a_fork_does_not_read_the_notices_of_its_parent(noticed: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = os.getpid()
    noticed.write("a.py", "before\n")
    monkeypatch.setattr(os, "getpid", lambda: mine + 1)
    noticed.check()


def test_a_mount_in_the_tree_ends_the_notices(noticed: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    before = noticed._sources._lookout._notices
    assert before is not None
    monkeypatch.setattr(before, "_mount_changes", type("Changed", (), {"poll": lambda self, _: [(0, 0)]})())
    monkeypatch.setattr(notices, "mounts_below", lambda root, table: (("/", "nfs"),))
    noticed.check()
    assert noticed._sources._lookout._notices is not before


def test_the_mounts_that_matter_are_the_one_that_holds_the_tree_and_those_in_it(tmp_path: Path) -> None:
    number = os.stat(tmp_path).st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    root = tmp_path / "a b"
    root.mkdir()
    escaped = str(root).replace(" ", "\\040")
    lines = [
        f"1 0 {device} / / rw,relatime - ext4 /dev/x rw",
        "2 1 0:5 / /elsewhere rw shared:1 - proc proc rw",
        f"3 1 0:9 / {escaped}/data rw - nfs4 host:/x rw",
    ]
    assert mounts_below(str(root), "\n".join(lines)) == (("/", "ext4"), (f"{root}/data", "nfs4"))
    hidden = lines[0].replace(device, "0:77")
    assert mounts_below(str(root), hidden) == ()


@pytest.mark.parametrize("damage", ["cut off", "flipped", "empty", "another program", "other rules"])
def test_what_a_process_left_is_believed_only_whole_and_by_the_same_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    tree = Tree(tmp_path / "repo", "processes", monkeypatch)
    tree.check()
    kept = tree.root / ".smp" / remembered.FILE_NAME
    content = kept.read_bytes()
    kept.write_bytes(
        {
            "cut off": content[:-9],
            "flipped": content[:200] + bytes([content[200] ^ 1]) + content[201:],
            "empty": b"",
            "another program": b"\0" * 500,
            "other rules": content,
        }[damage]
    )
    if damage == "other rules":
        monkeypatch.setattr("smp.adapters.sources_git.tree.MINIFIED_LINE", 4)
    asked = tree.commands(monkeypatch)
    tree.check()
    assert "ls-files" in asked


def test_files_that_were_read_before_are_not_read_again_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Tree(tmp_path / "repo", "processes", monkeypatch)
    tree.check()
    tree.write("lib/new.py")
    read: list[str] = []
    state = GitSourceTree._read_state

    def told(sources: GitSourceTree, path: FilePath, *rest: Any) -> Any:
        read.append(path)
        return state(sources, path, *rest)

    monkeypatch.setattr(GitSourceTree, "_read_state", told)
    tree.listing()
    assert read == ["lib/new.py"]


def test_what_had_just_been_written_is_not_left_to_the_next_process_as_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        tree = Tree(tmp_path / "repo", "processes", patch)
    tree.listing()
    assert not (tree.root / ".smp" / remembered.FILE_NAME).exists()


def test_without_a_data_directory_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree(tmp_path / "repo", "processes", monkeypatch)
    shutil.rmtree(tree.root / ".smp")
    tree.check()
    assert not (tree.root / ".smp").exists()
