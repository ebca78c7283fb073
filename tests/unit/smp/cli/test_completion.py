"""Shells complete commands, options and methods."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def _smp(*arguments: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", "from smp.cli.main import main; main()", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_smp(shell: str) -> None:
    script = _smp("completion", shell)
    assert f"_SMP_COMPLETE={shell}_complete" in script
    assert "smp" in script


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("smp ses", "session"),
        ("smp session run --sc", "--scope"),
        ("smp call smp/loc", "smp/locate"),
        ("smp call smp/verify/", "smp/verify/integrity"),
    ],
)
def test_what_was_begun_is_completed(words: str, offered: str) -> None:
    request = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_SMP_COMPLETE": "bash_complete"}
    found = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'smp'; from smp.cli.main import main; main()"],
        env=os.environ | request,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert f"plain,{offered}" in found.splitlines()
