"""Edits from a JSON file or a diff; the repository is only read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from smp.cli.session_edits import as_list, read_edits
from smp.domain.errors import Invalid
from smp.domain.ids import CommitSha
from smp.domain.runs import Edit, EditList, EditStep


def _git(repo: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", "-C", str(repo), *identity, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two files, one commit."""
    root = tmp_path / "repo"
    root.mkdir()
    _git(root, "init", "-q")
    (root / "a.py").write_text("one\ntwo\n")
    (root / "b.py").write_text("gone soon\n")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")
    return root


def _head(repo: Path) -> CommitSha:
    return CommitSha(_git(repo, "rev-parse", "HEAD").strip())


def test_a_diff_becomes_the_new_content_of_each_file(repo: Path, tmp_path: Path) -> None:
    (repo / "a.py").write_text("one\nTWO\n")
    (repo / "b.py").unlink()
    (repo / "c.py").write_text("new\n")
    _git(repo, "add", "-N", "c.py")
    diff = tmp_path / "change.diff"
    diff.write_text(_git(repo, "diff", "HEAD"))
    _git(repo, "reset", "-q", "--hard")
    before = sorted(path.name for path in (repo / ".git" / "objects").rglob("*") if path.is_file())

    step = read_edits(diff, repo=repo, commit=_head(repo))

    assert isinstance(step, EditStep)
    assert {edit.file: edit.content for edit in step.edits} == {"a.py": "one\nTWO\n", "b.py": None, "c.py": "new\n"}
    assert (repo / "a.py").read_text() == "one\ntwo\n"
    assert _git(repo, "status", "--porcelain") == ""
    assert sorted(path.name for path in (repo / ".git" / "objects").rglob("*") if path.is_file()) == before


def test_a_diff_that_does_not_apply_says_why(repo: Path, tmp_path: Path) -> None:
    diff = tmp_path / "change.diff"
    diff.write_text("--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-three\n+four\n")
    with pytest.raises(Invalid, match=r"does not apply .*patch failed: a\.py:1.* git diff"):
        read_edits(diff, repo=repo, commit=_head(repo))


def test_a_diff_outside_a_repository_is_refused(tmp_path: Path) -> None:
    diff = tmp_path / "change.diff"
    diff.write_text("--- a/a.py\n+++ b/a.py\n")
    with pytest.raises(Invalid, match="no git repository"):
        read_edits(diff, repo=tmp_path, commit=CommitSha("0" * 40))


def test_json_may_hold_steps_a_step_or_a_list_of_edits(repo: Path, tmp_path: Path) -> None:
    edit = {"file": "a.py", "content": "x"}
    expected = Edit(file="a.py", content="x")  # type: ignore[arg-type]
    shapes: list[object] = [{"steps": [{"edits": [edit]}]}, {"edits": [edit], "summary": "s"}, [edit]]
    for number, shape in enumerate(shapes):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(shape))
        read = as_list([read_edits(path, repo=repo, commit=_head(repo))])
        assert isinstance(read, EditList)
        assert [step.edits for step in read.steps] == [(expected,)]


@pytest.mark.parametrize("body", ["{", '{"steps": 3}', '[{"file": 1}]', '{"edits": [], "extra": 1, "steps": []}'])
def test_json_that_is_not_understood_is_named(repo: Path, tmp_path: Path, body: str) -> None:
    path = tmp_path / "e.json"
    path.write_text(body)
    with pytest.raises(Invalid, match="not understood"):
        read_edits(path, repo=repo, commit=_head(repo))


def test_a_missing_file_is_named(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot read the edits"):
        read_edits(tmp_path / "none.diff", repo=repo, commit=_head(repo))
