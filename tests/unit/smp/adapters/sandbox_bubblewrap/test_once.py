"""Folders made once: whole or not at all, by one of many; and checkouts taken down when nobody needs them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from smp.adapters.sandbox_bubblewrap.checkout import prune_lowers
from smp.adapters.sandbox_bubblewrap.host.measure import ENTRY_BYTES, bytes_below
from smp.adapters.sandbox_bubblewrap.once import make_once, remove_tree
from smp.domain.errors import SandboxFailed


def test_many_makers_make_one(tmp_path: Path) -> None:
    made: list[int] = []
    started = threading.Barrier(6)

    def make(staging: Path) -> None:
        made.append(1)
        (staging / "file").write_text("whole")

    def work() -> None:
        started.wait()
        assert (make_once(tmp_path / "a" / "b", make) / "file").read_text() == "whole"

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_a_failed_making_leaves_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    def fail(staging: Path) -> None:
        (staging / "half").write_text("half")
        raise SandboxFailed("no network")

    with pytest.raises(SandboxFailed, match="no network"):
        make_once(tmp_path / "a", fail)
    assert not (tmp_path / "a").exists()
    (tmp_path / ".a.new").mkdir()  # what a killed maker leaves
    (tmp_path / ".a.new" / "rest").write_text("rest")
    assert os.listdir(make_once(tmp_path / "a", lambda staging: None)) == []


def test_a_folder_that_cannot_be_made_says_where_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SandboxFailed, match="--data-dir"):
        make_once(tmp_path / "file" / "below", lambda staging: None)


def test_a_tree_is_removed_whatever_its_rights_and_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    tree = tmp_path / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "file").write_text("x" * 10_000)
    (tree / "link").symlink_to(outside)
    (tree / "a" / "b").chmod(0)
    (tree / "a").chmod(0)
    assert remove_tree(tree) >= 10_000
    assert not tree.exists()
    assert (outside / "kept").read_text() == "kept"
    assert (outside.stat().st_mode & 0o777) == 0o755


def test_checkouts_go_when_no_box_stands_on_them_and_nobody_asked_for_long(tmp_path: Path) -> None:
    lower = tmp_path / "lower"
    for name, age_s in (("old", 100.0), ("young", 1.0), ("used", 100.0)):
        (lower / name).mkdir(parents=True)
        mark = lower / f"{name}.index"
        mark.write_text("")
        seen = mark.stat().st_mtime - age_s
        os.utime(mark, (seen, seen))
    prune_lowers(tmp_path, frozenset({"used"}), unused_s=50)
    assert sorted(path.name for path in lower.iterdir() if not path.name.startswith(".")) == [
        "used", "used.index", "young", "young.index",
    ]  # fmt: skip


def test_a_tree_deeper_than_paths_and_recursion_go_is_removed(tmp_path: Path) -> None:
    nest(tmp_path / "tree", 1_100)
    assert remove_tree(tmp_path / "tree") >= 10_000
    assert os.listdir(tmp_path) == []


def test_what_lies_deeper_than_paths_go_is_measured(tmp_path: Path) -> None:
    nest(tmp_path / "tree", 1_100)
    # The file is 10,000 bytes; each of the folders has a block and counts as an entry.
    assert 1_100 * (4096 + ENTRY_BYTES) <= bytes_below([str(tmp_path)]) - 10_000 < 1_200 * (4096 + ENTRY_BYTES)
    assert remove_tree(tmp_path / "tree") >= 10_000


def test_files_without_bytes_are_not_free(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).touch()
    assert bytes_below([str(tmp_path)]) >= 100 * ENTRY_BYTES


def nest(top: Path, depth: int) -> None:
    """Folders within each other, 10 kB in the innermost."""
    top.mkdir()
    folder = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deep", dir_fd=folder)
        deeper = os.open("deep", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = deeper
    with open(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=folder), "wb") as file:
        file.write(b"x" * 10_000)
    os.close(folder)
