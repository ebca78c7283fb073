"""A small repository, and the product's command line run on it in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.builders.real_sources import commit_all, git


class Checkout:
    """A git working tree. `run` is `smp …` in it."""

    def __init__(self, root: Path, files: dict[str, str]) -> None:
        self.root = root
        for path, text in files.items():
            self.write(path, text)
        commit_all(root, init=True)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)

    def run(self, *arguments: str, stdin: bytes = b"", check: bool = True) -> subprocess.CompletedProcess[str]:
        """The finished command; with `check` it must have succeeded."""
        done = subprocess.run(
            command(*arguments, repo=self.root), input=stdin.decode(), capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done

    def answer(self, *arguments: str) -> Any:
        """What a command prints as JSON."""
        return json.loads(self.run(*arguments).stdout)

    def nodes(self) -> set[str]:
        """Ids of the nodes that are stored; nothing is brought up to date first."""
        lines = self.run("export", "--nodes").stdout.splitlines()
        return {json.loads(line)["node"]["id"] for line in lines}


def command(*arguments: str, repo: Path) -> list[str]:
    """The argument vector of a command line."""
    return [sys.executable, "-m", "smp.cli.start", *arguments, "--repo", str(repo)]


def environment(**more: str) -> dict[str, str]:
    """That of this process, in which the project can be imported from any folder."""
    root = str(Path(__file__).resolve().parents[2])
    return os.environ | {"PYTHONPATH": root} | more
