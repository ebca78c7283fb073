"""A repository whose own `.git` names programs: none of them runs on the host, whatever we do with it.

Each trap is first sprung by git itself, so that silence proves something.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from smp.adapters.forge_git import GitForge
from smp.adapters.sandbox_bubblewrap.checkout import find_repository, make_lower
from smp.adapters.shipped_state import refuse_shipped_state
from smp.adapters.sources_git import GitSourceTree
from smp.cli.session_edits import read_edits
from smp.domain.errors import Invalid, Unavailable
from smp.domain.handoffs import BranchChange
from smp.domain.ids import CommitSha, FilePath, SessionId
from smp.domain.sandboxes import ChangedFile
from smp.domain.swarms import SwarmBranch
from smp.host_git import HostGit
from smp.settings import load_settings
from tests.builders.folder_boxes import START, git, make_repository, write_files

FILES = {"a.txt": "one\ntwo\nthree\n", "b.py": "def b():\n    return 1\n"}
HOOKS = ("pre-push", "post-checkout", "reference-transaction", "post-index-change", "fsmonitor", "pre-commit")
NAME = "ev=il.x"
"""Of the drivers: with what an option on the command line would be split at."""


class Trapped:
    """A checkout with a trap in every key that runs a program; a sprung trap leaves its name in `sprung`."""

    def __init__(self, root: Path) -> None:
        self.root, self.repo, self.sprung = root, root / "repo", root / "sprung"
        self.sprung.mkdir()
        self.base = make_repository(self.repo, FILES)
        self.remote = root / "remote.git"
        git(root, "init", "-q", "--bare", "-b", "main", str(self.remote))
        git(self.repo, "remote", "add", "origin", str(self.remote))
        git(self.repo, "push", "-q", "-u", "origin", "main")
        self._nested()
        write_files(self.repo, {".gitattributes": f"* filter={NAME} diff={NAME} merge={NAME}\n"})
        git(self.repo, "add", ".gitattributes")
        git(self.repo, "commit", "-q", "-m", "attributes")
        self.base = CommitSha(git(self.repo, "rev-parse", "HEAD").strip())
        git(self.repo, "push", "-q", "origin", "main")
        self._lay(self.repo / ".git")

    def _nested(self) -> None:
        """A submodule with traps of its own, whose git is started by the outer one's `status`."""
        inner = self.repo / "inner"
        make_repository(inner, {"c.txt": "c\n"})
        git(self.repo, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
        git(self.repo, "commit", "-q", "-m", "inner")
        self._lay(inner / ".git", "inner-")

    def _lay(self, git_dir: Path, prefix: str = "") -> None:
        hooks = git_dir / "traps"
        hooks.mkdir()
        for name in HOOKS:
            hook = hooks / name
            hook.write_text(f"#!/bin/sh\ntouch {self.sprung / (prefix + name)}\n")
            hook.chmod(0o755)

        def trap(name: str, then: str = "cat") -> str:
            return f"touch {self.sprung / (prefix + name)}; {then}"

        keys = {
            "core.hooksPath": str(hooks),
            "core.fsmonitor": str(hooks / "fsmonitor"),
            f"filter.{NAME}.clean": trap("clean"),
            f"filter.{NAME}.smudge": trap("smudge"),
            f"filter.{NAME}.required": "true",
            f"diff.{NAME}.command": trap("diff", "true"),
            f"diff.{NAME}.textconv": trap("textconv"),
            "diff.external": trap("external", "true"),
            f"merge.{NAME}.driver": trap("merge", "false"),
            "remote.origin.receivepack": trap("receivepack", "git-receive-pack"),
            "remote.origin.uploadpack": trap("uploadpack", "git-upload-pack"),
            "credential.helper": "!" + trap("helper", "true"),
            "commit.gpgSign": "true",
            "log.showSignature": "true",
            "submodule.recurse": "true",
        }
        for key, value in keys.items():
            git(git_dir.parent, "config", key, value)

    def touched(self) -> None:
        """What git has stamped no longer tells whether a file changed."""
        for path in ("a.txt", "b.py", "inner/c.txt"):
            os.utime(self.repo / path, ns=(1, 1))

    def names(self) -> set[str]:
        found = {path.name for path in self.sprung.iterdir()}
        for path in self.sprung.iterdir():
            path.unlink()
        return found

    def git(self, *arguments: str) -> None:
        """As a user who does not know what he has there."""
        subprocess.run(["git", *arguments], cwd=self.repo, capture_output=True, check=False, stdin=subprocess.DEVNULL)


@pytest.fixture
def trapped(tmp_path: Path) -> Trapped:
    found = Trapped(tmp_path)
    found.names()
    return found


def _branch(trapped: Trapped, name: str, text: str) -> SwarmBranch:
    """A commit upon the base that writes a line of its own into a file of all."""
    forge = GitForge(load_settings(trapped.repo, environ={}))
    change = BranchChange(
        branch=f"smp/{name}",
        base_sha=trapped.base,
        title="edit",
        body="",
        author="coder",
        files=(FilePath("a.txt"),),
        authored_at=START,
        trailers=(),
    )
    pushed = forge.push(change, (ChangedFile(path=FilePath("a.txt"), content=text.encode()),))
    return SwarmBranch(
        session_id=SessionId(name),
        base_sha=trapped.base,
        head_sha=CommitSha(pushed.head_sha),
        files=(FilePath("a.txt"),),
    )


def test_the_traps_are_alive(trapped: Trapped) -> None:
    """The control of all below: what plain git runs."""
    trapped.touched()
    trapped.git("status")
    trapped.git("-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "x")
    (trapped.repo / "a.txt").write_text("changed\n")
    trapped.git("-c", "diff.external=", "diff")
    trapped.git("-c", f"diff.{NAME}.command=", "log", "-p")
    trapped.git("push", "origin", "HEAD:refs/heads/other")
    trapped.git("fetch", "origin")
    trapped.git("stash")
    assert trapped.names() >= {
        "fsmonitor", "inner-fsmonitor", "clean", "smudge", "pre-push", "receivepack", "uploadpack",
        "reference-transaction", "post-index-change", "pre-commit",
    }  # fmt: skip


def test_reading_the_tree_springs_none(trapped: Trapped) -> None:
    settings = load_settings(trapped.repo, environ={})
    trapped.touched()
    tree = GitSourceTree(settings)
    assert FilePath("b.py") in tree.list().files
    assert tree.dirty() == ()
    assert tree.history(since_days=3650)
    assert [file.path for file in tree.read_at(trapped.base, [FilePath("b.py")])] == ["b.py"]
    refuse_shipped_state(settings)
    assert trapped.names() == set()


def test_a_changed_file_is_seen_without_its_filter(trapped: Trapped) -> None:
    (trapped.repo / "b.py").write_text("def b():\n    return 2\n")
    assert GitSourceTree(load_settings(trapped.repo, environ={})).dirty() == ("b.py",)
    assert trapped.names() == set()


def test_a_checkout_for_boxes_springs_none(trapped: Trapped, tmp_path: Path) -> None:
    lower = make_lower(tmp_path / "boxes", find_repository(trapped.repo), trapped.base, owner=None)
    assert (lower / "a.txt").read_text() == FILES["a.txt"]
    assert trapped.names() == set()


def test_publishing_and_trial_merges_spring_none(trapped: Trapped) -> None:
    one, other = _branch(trapped, "ses_1", "ONE\ntwo\nthree\n"), _branch(trapped, "ses_2", "uno\ntwo\nthree\n")
    last = _branch(trapped, "ses_3", "one\ntwo\nTHREE\n")
    forge = GitForge(load_settings(trapped.repo, environ={}))
    clashes = {clash.sessions for clash in forge.clashes((one, other, last))}
    assert clashes == {("ses_1", "ses_2")}  # by the merge that git itself would make: near lines, far lines
    assert trapped.names() == set()


def test_a_diff_given_as_edits_springs_none(trapped: Trapped, tmp_path: Path) -> None:
    diff = tmp_path / "fix.diff"
    diff.write_text("--- a/b.py\n+++ b/b.py\n@@ -1,2 +1,2 @@\n def b():\n-    return 1\n+    return 2\n")
    assert read_edits(diff, repo=trapped.repo, commit=trapped.base)
    assert trapped.names() == set()


def test_a_trap_laid_later_is_seen(trapped: Trapped) -> None:
    host = HostGit(trapped.repo)
    host.run("status")
    git(trapped.repo, "config", "filter.late.clean", f"touch {trapped.sprung / 'late'}; cat")
    write_files(trapped.repo, {".gitattributes": "* filter=late\n"})
    trapped.touched()
    host.run("status")
    assert trapped.names() == set()
    trapped.touched()
    trapped.git("status")
    assert "late" in trapped.names()


def test_a_trap_in_an_included_file_is_seen(trapped: Trapped) -> None:
    more = trapped.repo / ".git" / "more"
    git(trapped.repo, "config", "include.path", "more")
    host = HostGit(trapped.repo)
    host.run("status")
    git(trapped.repo, "config", "--file", str(more), "filter.late.clean", f"touch {trapped.sprung / 'late'}; cat")
    write_files(trapped.repo, {".gitattributes": "* filter=late\n"})
    trapped.touched()
    host.run("status")
    assert trapped.names() == set()


def test_a_partial_clone_that_names_its_program_is_refused(trapped: Trapped) -> None:
    git(trapped.repo, "config", "remote.origin.promisor", "true")
    with pytest.raises(Invalid, match=r"git config --unset remote\.origin\.uploadpack"):
        HostGit(trapped.repo).run("cat-file", "-p", "1" * 40)
    assert trapped.names() == set()


def test_the_users_own_filter_stands(trapped: Trapped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.gitconfig"
    seen = trapped.sprung / "own"
    git(trapped.repo, "config", "--file", str(own), f"filter.{NAME}.clean", f"touch {seen}; cat")
    monkeypatch.setenv("HOME", str(tmp_path))
    own.rename(tmp_path / ".gitconfig")
    trapped.touched()
    assert HostGit(trapped.repo).run("status").returncode == 0
    assert trapped.names() == {"own"}


def test_a_git_that_takes_no_overrides_is_refused(trapped: Trapped, monkeypatch: pytest.MonkeyPatch) -> None:
    shims = trapped.root / "bin"
    shims.mkdir()
    (shims / "git").write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec env PATH={os.environ["PATH"]} git "$@"\n')
    (shims / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}:{os.environ['PATH']}")
    with pytest.raises(Unavailable, match="cannot be told"):
        HostGit(trapped.repo).run("status")
