"""Bare clones of public repositories, read with git alone: commits, files, trees."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct


class Commit(Struct, frozen=True, kw_only=True):
    """A commit without merges; files: changed against its parent."""

    sha: str
    parent: str
    time: int
    message: str
    files: tuple[str, ...]


def git(repository: Path, *arguments: str) -> bytes:
    """Output of a git command in a bare repository."""
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True).stdout


def commits(repository: Path, head: str, *, below: str, limit: int) -> list[Commit]:
    """Commits that change files below a folder, newest first; merges, first commits and pure deletions left out."""
    layout = "%x1e%H%x1f%P%x1f%ct%x1f%B%x1f"
    log = git(
        repository,
        "log",
        head,
        "--no-merges",
        f"-{limit}",
        "--name-only",
        "--diff-filter=M",
        f"--format={layout}",
        "--",
        below,
    ).decode("utf-8", "replace")
    found: list[Commit] = []
    for entry in log.split("\x1e")[1:]:
        sha, parents, time, message, files = entry.split("\x1f")
        if parents:
            found.append(
                Commit(sha=sha, parent=parents.split()[0], time=int(time), message=message, files=tuple(files.split()))
            )
    return found


def snapshot_before(repository: Path, head: str, time: int) -> str:
    """The last commit of the main line before a time (seconds since the epoch)."""
    return git(repository, "rev-list", "-1", "--first-parent", f"--before={time - 1}", head).decode().strip()


def content(repository: Path, commit: str, path: str) -> bytes | None:
    """A file at a commit; None when it is not there."""
    shown = subprocess.run(["git", "-C", str(repository), "show", f"{commit}:{path}"], capture_output=True, check=False)
    return shown.stdout if shown.returncode == 0 else None


def check_out(repository: Path, commit: str, folder: Path, rewrite: Callable[[bytes], bytes] | None = None) -> None:
    """The tree of a commit as a new repository with one commit.

    Args:
        rewrite: Applied to every Python file.
    """
    folder.mkdir(parents=True)
    archive = git(repository, "archive", "--format=tar", commit)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    for path in sorted(folder.rglob("*.py")) if rewrite is not None else ():
        if path.is_file() and not path.is_symlink() and rewrite is not None:
            path.write_bytes(rewrite(path.read_bytes()))
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
