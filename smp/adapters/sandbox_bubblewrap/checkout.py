"""Read-only checkouts of commits, and the private git directory of a box.

`lower/<sha>` is made once per commit by git itself (modes, links, line ends and the user's own filters as in a checkout of
the user's; filters of the repository's configuration do not run) with a private index, so that neither the working tree nor anything in the repository's git directory is
touched. A box never sees that git directory: it gets one of its own whose objects are borrowed, read-only.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path

from msgspec import Struct

from smp.adapters.sandbox_bubblewrap.once import make_once, remove_once, storage_errors
from smp.domain.errors import Invalid, SandboxFailed, Unavailable
from smp.domain.ids import CommitSha
from smp.host_git import HostGit

OBJECTS = "/opt/git-objects"
_TIMEOUT_S = 600
# Without these the first `git status` in a box reads every file, as inodes and change times differ in each overlay.
_INDEX_OPTIONS = {"core.trustctime": "false", "core.checkStat": "minimal", "core.untrackedCache": "false"}
_CHECKOUT_OPTIONS = _INDEX_OPTIONS | {
    "core.bare": "false",
    "core.sparseCheckout": "false",
    "core.splitIndex": "false",
    "index.sparse": "false",
}


class Repository(Struct, frozen=True, kw_only=True):
    """root: the work tree. git_dir: its own git directory. objects: folders of its object store, borrowed ones included."""

    root: Path
    git_dir: Path
    objects: tuple[Path, ...]
    object_format: str
    shallow: str


def _git(host: HostGit, *arguments: str, environment: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """Output of a git command.

    Raises:
        SandboxFailed: git is not installed, or refuses.
    """
    try:
        done = host.run(*arguments, more=environment, cwd=cwd, timeout_s=_TIMEOUT_S, umask=0o022)
    except Unavailable as error:
        raise SandboxFailed(error.message) from error
    except subprocess.TimeoutExpired as error:
        raise SandboxFailed(f"git {arguments[0]} did not finish in {_TIMEOUT_S} s") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-400:]
        raise SandboxFailed(f"git {' '.join(arguments[-3:])}: {said}")
    return done.stdout.decode(errors="replace").strip()


def find_repository(repo: Path) -> Repository:
    """The git directory and object store of a repository, also of a linked work tree.

    Raises:
        Invalid: The folder is no git repository.
    """
    host = HostGit(repo, trusted=True)
    try:
        told = _git(host, "rev-parse", "--absolute-git-dir", "--git-common-dir").splitlines()
    except SandboxFailed as error:
        if "not a git repository" in error.message:
            raise Invalid(f"{str(repo)!r} is no git repository; make one with git init", path="repo") from error
        raise
    git_dir = Path(told[0])
    common = (repo / told[1]).resolve()
    try:
        object_format = _git(host, "config", "--file", str(common / "config"), "extensions.objectformat")
    except SandboxFailed:
        object_format = ""  # unset: SHA-1
    shallow = common / "shallow"
    return Repository(
        root=repo,
        git_dir=git_dir,
        objects=_object_stores(common / "objects"),
        object_format=object_format,
        shallow=shallow.read_text() if shallow.is_file() else "",
    )


def _object_stores(first: Path) -> tuple[Path, ...]:
    found: list[Path] = []
    pending = [first]
    while pending:
        store = pending.pop(0)
        if store in found or not store.is_dir():
            continue
        found.append(store)
        listed = store / "info" / "alternates"
        if listed.is_file():
            lines = [line for line in listed.read_text().splitlines() if line and not line.startswith("#")]
            pending += [(store / line).resolve() for line in lines]
    return tuple(found)


def make_lower(boxes: Path, repository: Repository, commit: CommitSha, *, owner: int | None) -> Path:
    """Folder of the checkout of a commit; its index lies beside it as `<sha>.index`.

    Args:
        owner: User that the boxes run as, when it is not the present one: files must be his for copy-up to work.
    """

    def make(staging: Path) -> None:
        index = staging.with_name(f".{commit}.index")
        index.unlink(missing_ok=True)
        options = [item for key, value in _CHECKOUT_OPTIONS.items() for item in ("-c", f"{key}={value}")]
        environment = {
            "GIT_DIR": str(repository.git_dir),
            "GIT_WORK_TREE": str(staging),
            "GIT_INDEX_FILE": str(index),
        }
        host = HostGit(repository.root, trusted=True)
        _git(host, *options, "read-tree", "--reset", "-u", commit, environment=environment, cwd=staging)
        with storage_errors("cannot keep the checkout"):
            if owner is not None:
                give_tree(staging, owner)
            os.rename(index, staging.with_name(f"{commit}.index"))

    lower = make_once(boxes / "lower" / commit, make)
    with contextlib.suppress(OSError):  # a disk that has become read-only still has the checkout
        os.utime(_used_mark(lower))
    return lower


def prune_lowers(boxes: Path, keep: frozenset[str], *, unused_s: float) -> None:
    """Remove checkouts that no box stands on and that nobody has asked for in a while.

    Args:
        keep: Commits of the present boxes.
    """
    for mark in sorted((boxes / "lower").glob("*.index")):
        commit = mark.name.removesuffix(".index")
        try:
            unused = time.time() - mark.stat().st_mtime > unused_s
        except FileNotFoundError:
            continue  # another process was faster
        if commit not in keep and unused:
            remove_once(mark.with_name(commit), also=mark)


def _used_mark(lower: Path) -> Path:
    """The index beside a checkout; its time stamp is when the checkout was last asked for."""
    return lower.with_name(f"{lower.name}.index")


def make_git_dir(folder: Path, repository: Repository, commit: CommitSha, index: Path) -> None:
    """Write a git directory whose HEAD is the branch `box` at the commit.

    Args:
        folder: Where; it must not exist.
        index: Index of the lower checkout.
    """
    for name in ("", "objects", "objects/info", "refs", "refs/heads", "refs/tags", "info"):
        (folder / name).mkdir()
    borrowed = [f"{OBJECTS}/{number}" for number in range(len(repository.objects))]
    (folder / "objects/info/alternates").write_text("".join(f"{path}\n" for path in borrowed))
    (folder / "HEAD").write_text("ref: refs/heads/box\n")
    (folder / "refs/heads/box").write_text(f"{commit}\n")
    if repository.shallow:
        (folder / "shallow").write_text(repository.shallow)
    options = _INDEX_OPTIONS | {
        "core.bare": "false",
        "core.hooksPath": "/dev/null",
        "core.fsmonitor": "false",
        "gc.auto": "0",
        "user.name": "agent",
        "user.email": "agent@box.invalid",
        "core.repositoryformatversion": "1" if repository.object_format else "0",
    }
    if repository.object_format:
        options["extensions.objectformat"] = repository.object_format
    for key, value in options.items():
        section, name = key.split(".")
        with (folder / "config").open("a") as config:
            config.write(f"[{section}]\n\t{name} = {value}\n")
    shutil.copyfile(index, folder / "index")


def give_tree(folder: Path, owner: int) -> None:
    """Make everything below a folder, and the folder, a user's; links are not followed."""
    os.chown(folder, owner, owner)
    for base, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(os.path.join(base, name), owner, owner, follow_symlinks=False)
