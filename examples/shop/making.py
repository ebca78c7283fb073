"""The example shop as a git repository. Always the same commit: identity and time are fixed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "repository"
IDENTITY = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", "2026-01-01T09:00:00Z"))
}


def make_shop(target: Path) -> str:
    """A repository at `target` and its bare origin at `<target>-origin.git`; the commit's hash.

    Raises:
        SystemExit: One of the two is there already.
    """
    target = target.absolute()
    origin = target.with_name(f"{target.name}-origin.git")
    for place in (target, origin):
        if place.exists():
            raise SystemExit(f"error: {place} is there already; remove it, or name another directory")
    shutil.copytree(SOURCE, target, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    _git(target, "init", "--quiet", "--initial-branch=main")
    _git(target, "add", ".")
    _git(target, "commit", "--quiet", "--message", "A small shop")
    _git(target.parent, "clone", "--quiet", "--bare", str(target), str(origin))
    _git(target, "remote", "add", "origin", str(origin))
    return _git(target, "rev-parse", "HEAD")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "commit.gpgsign=false", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | IDENTITY)
    return done.stdout.strip()
