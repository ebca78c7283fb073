"""Trees that nobody wrote to be indexed: they are, and what is left out is in the report by name and reason.

What takes long (100 MB, a million lines, depths of ten thousand) is in `tests/soak/test_hostile_trees.py`.
"""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from smp.domain.ids import FilePath
from smp.indexing.reports import IndexReport
from tests.builders.incremental_world import Index
from tests.builders.real_sources import commit_all, git

GOOD = "def fine():\n    return fine()\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "good.py").write_text(GOOD)
    return root


def indexed(repo: Path, tmp_path: Path) -> tuple[IndexReport, Index]:
    index = Index(repo, tmp_path / "data", None)
    report = index.indexer.refresh()
    nodes = index.contents()["node"]
    assert "function:good.py#fine" in nodes, "the rest of the tree is indexed"
    assert report.files == len(index.contents()["hash"]) == len(index.contents()["analysis"])
    return report, index


def reasons(report: IndexReport) -> dict[str, str]:
    return {one.path: one.reason for one in report.skipped}


def test_links_in_circles_and_into_nowhere(repo: Path, tmp_path: Path) -> None:
    (repo / "a").symlink_to("b")
    (repo / "b").symlink_to("a")
    (repo / "self.py").symlink_to("self.py")
    (repo / "dangling.py").symlink_to("missing.py")
    (repo / "down").mkdir()
    (repo / "down" / "up").symlink_to("..", target_is_directory=True)
    (repo / "out.py").symlink_to("/etc/hostname")
    report, index = indexed(repo, tmp_path)
    assert reasons(report) == {
        "a": "link_loop", "b": "link_loop", "self.py": "link_loop", "out.py": "link_outside", "dangling.py": "link_broken",
        "down/up": "link_folder",
    }  # fmt: skip
    index.close()


def test_pipes_sockets_and_devices_are_not_opened(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(repo / "pipe.py")
    monkeypatch.chdir(repo)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.py")
        (repo / "committed.py").write_text(GOOD)
        git(repo, "add", "committed.py", "good.py")
        (repo / "committed.py").unlink()
        os.mkfifo(repo / "committed.py")
        (repo / "link.py").symlink_to("pipe.py")
        (repo / "zero.py").symlink_to("/dev/zero")
        report, index = indexed(repo, tmp_path)
    assert reasons(report) == {"committed.py": "not_a_file", "link.py": "not_a_file", "zero.py": "link_outside"}
    index.close()


def test_names_of_every_kind(repo: Path, tmp_path: Path) -> None:
    names = [
        "new\nline.py", "tab\t.py", "quote'\".py", "-rf.py", "back\\slash.py", "case.py", "Case.py", "CASE.py", "sp ace.py",
        "é.py", "e\u0301.py", "#hash#x.py", "colon:x.py", "star*.py", " .py", "x" * 250 + ".py", "%00.py", "~.py",
    ]  # fmt: skip
    for name in names:
        (repo / name).write_text(GOOD)
    (repo / os.fsdecode(b"odd\xff.py")).write_text(GOOD)
    report, index = indexed(repo, tmp_path)
    assert reasons(report) == {"odd\\xff.py": "name_not_utf8"}
    hashes = index.contents()["hash"]
    assert set(names) <= hashes.keys()
    assert [index.indexer.content(FilePath(name)) for name in names] == [GOOD.encode()] * len(names)
    for name in names:
        (repo / name).unlink()
    index.indexer.ensure_fresh()
    assert index.contents()["hash"].keys() == {"good.py"}
    index.close()


def test_bytes_of_every_kind(repo: Path, tmp_path: Path) -> None:
    (repo / "invalid.py").write_bytes(GOOD.encode() + b"# \xff\xfe\xc3\nname = '\xed\xa0\x80'\n")
    (repo / "nul.py").write_bytes(b"def one(): pass\n\0\ndef two(): pass\n")
    (repo / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\ndef gr\xfc\xdfe(): ...\n")
    (repo / "bom.py").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    (repo / "wide.py").write_bytes(GOOD.encode("utf-16"))
    (repo / "cr.py").write_bytes(b"def one(): pass\rdef two(): pass\r")
    (repo / "empty.py").write_bytes(b"")
    (repo / "unknown.py").write_bytes(b"# coding: no-such-thing\n" + GOOD.encode())
    report, index = indexed(repo, tmp_path)
    assert reasons(report) == {"nul.py": "binary", "wide.py": "binary"}
    nodes = index.contents()["node"]
    assert {"function:invalid.py#fine", "function:latin.py#grüße", "function:bom.py#fine"} <= nodes.keys()
    damaged = {str(error.file): error.line for error in report.parse_errors}
    assert damaged["invalid.py"] == 3
    assert damaged["unknown.py"] == 1
    index.close()


def test_repositories_inside_are_left_to_themselves(repo: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "x.py").write_text(GOOD)
    commit_all(inner, init=True)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    nested = repo / "nested"
    nested.mkdir()
    (nested / "y.py").write_text(GOOD)
    git(nested, "init", "-q")
    report, index = indexed(repo, tmp_path)
    assert set(index.contents()["hash"]) == {"good.py", ".gitmodules"}
    assert reasons(report) == {"nested": "repository", "sub": "repository"}
    index.close()


def test_clones_that_hold_a_part(repo: Path, tmp_path: Path) -> None:
    for folder in ("kept", "left"):
        (repo / folder).mkdir()
        (repo / folder / "x.py").write_text(GOOD)
    commit_all(repo)
    (repo / "kept" / "x.py").write_text(GOOD + "\n")
    commit_all(repo)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repo}", str(clone)], check=True)
    git(clone, "sparse-checkout", "set", "kept")
    _, index = indexed(clone, tmp_path)
    assert set(index.contents()["hash"]) == {"good.py", "kept/x.py"}
    assert index.indexer.state().commit_sha == git(repo, "rev-parse", "HEAD").strip()
    index.close()


def test_a_file_becomes_a_folder_and_back(repo: Path, tmp_path: Path) -> None:
    (repo / "thing").write_text("text")
    _, index = indexed(repo, tmp_path)
    (repo / "thing").unlink()
    (repo / "thing").mkdir()
    (repo / "thing" / "inner.py").write_text(GOOD)
    index.indexer.ensure_fresh()
    assert set(index.contents()["hash"]) == {"good.py", "thing/inner.py"}
    (repo / "thing" / "inner.py").unlink()
    (repo / "thing").rmdir()
    (repo / "thing").write_text("text")
    index.indexer.ensure_fresh()
    assert set(index.contents()["hash"]) == {"good.py", "thing"}
    index.close()


def test_configuration_that_is_nested_too_deeply_counts_as_damaged(repo: Path, tmp_path: Path) -> None:
    deep = "[" * 5_000 + "]" * 5_000
    for name, text in {
        "pyproject.toml": f"a = {deep}\n",
        "Cargo.toml": f"a = {deep}\n",
        "package.json": f'{{"a": {deep}}}',
        "tsconfig.json": f'{{"a": {deep}}}',
        "web.ts": "export const a = 1;\n",
        "lib.rs": "fn a() {}\n",
    }.items():
        (repo / name).write_text(text)
    report, index = indexed(repo, tmp_path)
    assert report.files == 7
    index.close()
