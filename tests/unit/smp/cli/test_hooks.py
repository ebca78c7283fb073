"""Git hooks: they index in the background, and leave what others have put there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from smp.cli.hooks import BEGIN, EVENTS, hook, hook_states, hooks_folder, with_ours, without_ours
from smp.domain.errors import Invalid
from tests.builders.command_line import Checkout, environment
from tests.builders.real_sources import git


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "repo", {"a.py": "def one(): ...\n"})


def call(name: str, repo: Path) -> str:
    done = CliRunner().invoke(hook, [name, "--repo", str(repo)], catch_exceptions=False, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.output


def states(repo: Path) -> dict[str, str]:
    return {one.event: one.state for one in hook_states(repo)}


def test_hooks_are_installed_once_and_removed_without_a_trace(checkout: Checkout) -> None:
    folder = hooks_folder(checkout.root)
    before = {path.name: path.read_text() for path in folder.iterdir()} if folder.is_dir() else {}
    call("install", checkout.root)
    call("install", checkout.root)
    assert states(checkout.root) == dict.fromkeys(EVENTS, "installed")
    assert (folder / "post-commit").read_text().count(BEGIN) == 1
    call("remove", checkout.root)
    assert {path.name: path.read_text() for path in folder.iterdir()} == before


@pytest.mark.parametrize("text", ["#!/bin/bash\necho mine\nexit 0\n", "echo mine", "#!/usr/bin/env sh\nexec echo\n"])
def test_a_hook_that_is_there_keeps_its_text(checkout: Checkout, text: str) -> None:
    file = hooks_folder(checkout.root) / "post-merge"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    call("install", checkout.root)
    assert without_ours(file.read_text()).rstrip("\n") == text.rstrip("\n")
    assert file.read_text().splitlines()[0] == (text.splitlines()[0] if text.startswith("#!") else BEGIN)
    subprocess.run(["sh", "-n", str(file)], check=True)
    call("remove", checkout.root)
    assert file.read_text().rstrip("\n") == text.rstrip("\n")


def test_a_hook_in_another_language_is_left_alone_and_named(checkout: Checkout) -> None:
    file = hooks_folder(checkout.root) / "post-commit"
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/usr/bin/env python3\nprint('mine')\n")
    with pytest.raises(Invalid, match="post-commit"):
        call("install", checkout.root)
    assert file.read_text() == "#!/usr/bin/env python3\nprint('mine')\n"
    assert states(checkout.root)["post-merge"] == "installed"


def test_git_s_own_folder_of_hooks_is_the_one_that_is_used(checkout: Checkout) -> None:
    checkout.git("config", "core.hooksPath", "tools/hooks")
    call("install", checkout.root)
    assert (checkout.root / "tools" / "hooks" / "post-commit").exists()
    assert not (checkout.root / ".git" / "hooks" / "post-commit").exists()


def test_ours_twice_is_ours_once() -> None:
    text = "#!/bin/sh\nexit 3\n"
    assert with_ours(with_ours(text)) == with_ours(text)
    assert without_ours(with_ours(text)) == text


def ran(folder: Path, event: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The hook as git runs it: in the checkout, with what git tells its hooks; ends when its background has ended."""
    script = f"{hooks_folder(folder) / event}; code=$?; wait; exit $code"
    return subprocess.run(
        ["sh", "-c", script], cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=240
    )


def test_each_checkout_is_brought_into_its_own_index_and_one_without_an_index_is_left(
    checkout: Checkout, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    checkout.git("worktree", "add", "-q", str(other), "-b", "side")
    call("install", other)
    assert states(checkout.root) == dict.fromkeys(EVENTS, "installed"), "worktrees share their hooks"
    checkout.run("index")
    checkout.write("b.py", "def two(): ...\n")
    (other / "c.py").write_text("def three(): ...\n")
    for folder in (checkout.root, other):
        # waits for what the hook leaves behind: a pipe to it stays open until then
        hook_file = hooks_folder(folder) / "post-commit"
        text = hook_file.read_text().replace("</dev/null >/dev/null 2>&1 &", "</dev/null")
        foreground = tmp_path / "hook"
        foreground.write_text(text)
        subprocess.run(["sh", str(foreground)], cwd=folder, env=environment(GIT_DIR=".git"), check=False, timeout=240)
    report = checkout.answer("status", "--json")
    assert report["index"]["stale"] == []
    assert report["index"]["files"] == 2
    assert not (other / ".smp").exists()


def test_a_hook_that_cannot_do_its_work_says_nothing_and_fails_nothing(checkout: Checkout) -> None:
    call("install", checkout.root)
    checkout.run("index")
    (checkout.root / ".smp" / "graph.db").write_bytes(b"broken")
    done = ran(checkout.root, "post-commit", environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_git_itself_runs_them(checkout: Checkout) -> None:
    call("install", checkout.root)
    checkout.write("b.py", "def two(): ...\n")
    checkout.git("add", "-A")
    done = git(checkout.root, "commit", "-q", "-m", "two")
    assert done == ""
