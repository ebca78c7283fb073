"""The demo's repository: a published source distribution, pinned by hash, with a bare `origin` beside it.

It lies in the user's cache, outside the project, and is made once; an interrupted making leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from smp.domain.errors import Unavailable

NAME = "humanize"
VERSION = "4.17.0"
SHA256 = "1d6a36c453dbfbb3f0b34601d2e0b4ce5d48d780305cd45714843f0068fde6ac"
SETTINGS = """\
# How SMP runs this project's tests in a box.
[sandbox]
requirements = ["pytest>=9", "freezegun"]

[sandbox.environment]
PYTHONPATH = "src"
"""
TEST_COMMAND = "python -m pytest -q tests --ignore tests/test_benchmarks.py --ignore tests/test_time.py"
"""Benchmarks need plug-ins of their own; the tests of clocks are another module's, and long when every call is traced."""
IDENTITY = {
    "GIT_AUTHOR_NAME": "SMP demo",
    "GIT_AUTHOR_EMAIL": "demo@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "SMP demo",
    "GIT_COMMITTER_EMAIL": "demo@example.org",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}

Say = Callable[[str], None]


def prepare(cache: Path, say: Say) -> Path:
    """The repository's root, made at the first call.

    Raises:
        Unavailable: The distribution cannot be fetched, or there is no room for it; the message says what to do.
    """
    # Another recipe is another repository: an older demo's is left alone.
    recipe = hashlib.sha256(f"{SHA256}\0{SETTINGS}".encode()).hexdigest()[:8]
    home = cache / "demo" / f"{NAME}-{VERSION}-{recipe}"
    repo = home / "repository"
    if repo.is_dir():
        return repo
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(home.parent)
        with tempfile.TemporaryDirectory(prefix="making-", dir=home.parent) as folder:
            staging = Path(folder) / "home"
            staging.mkdir()
            say(f"fetching the source distribution of {NAME} {VERSION} through pip")
            _unpack(_download(Path(folder)), staging / "repository")
            _commit(staging / "repository")
            _git(staging, "clone", "--quiet", "--bare", "repository", "origin.git")
            _git(staging / "repository", "remote", "add", "origin", "../origin.git")
            staging.rename(home)
    except OSError as error:
        raise Unavailable(
            f"cannot make the demo's repository under {str(home.parent)!r}: {error.strerror}; free some space, or name "
            "another place with SMP_CACHE_DIR",
            backend="cache",
        ) from error
    return repo


def _remove_leftovers(folder: Path) -> None:
    """What a killed earlier run was making."""
    for path in folder.glob("making-*"):
        shutil.rmtree(path, ignore_errors=True)


def _download(folder: Path) -> Path:
    requirement = folder / "requirements.txt"
    requirement.write_text(f"{NAME}=={VERSION} --hash=sha256:{SHA256}\n")
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--no-binary", ":all:", "--require-hashes", "--requirement", str(requirement), "--dest", str(folder),
    ]  # fmt: skip
    code, said = _run_whole(command, os.environ | {"TMPDIR": str(folder)})
    if code != 0:
        words = [line for line in said.splitlines() if line.strip()]
        raise Unavailable(
            f"pip cannot fetch {NAME} {VERSION}: {words[-1].removeprefix('ERROR: ') if words else 'no reason given'}; "
            "check that pip reaches its package index (pip config list)",
            backend="package index",
        )
    return folder / f"{NAME}-{VERSION}.tar.gz"


def _run_whole(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Exit code and standard error. Interrupted, it takes the command's whole family with it.

    pip builds in processes of its own, whose temporary folders nobody would remove.
    """
    # An interrupt between the start and the `try` would find nobody who knows the process: it waits until someone does.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _, said = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return process.returncode, said


def _unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as bundle:
        bundle.extractall(target.parent, filter="data")
    (target.parent / archive.name.removesuffix(".tar.gz")).rename(target)


def _commit(repo: Path) -> None:
    _git(repo, "init", "--quiet", "--initial-branch=main")
    # -f: a distribution holds built files (compiled translations) that its .gitignore leaves out of its repository.
    _git(repo, "add", "--force", "--all")
    _git(repo, "commit", "--quiet", "--message", f"{NAME} {VERSION}, as published")
    (repo / "smp.toml").write_text(SETTINGS)
    _git(repo, "add", "smp.toml")
    _git(repo, "commit", "--quiet", "--message", "How SMP runs the tests")


def _git(folder: Path, *arguments: str) -> None:
    # The user's own git configuration (signing, templates, hooks) has no say in the demo.
    environment = os.environ | IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        words = done.stderr.strip().splitlines()
        raise Unavailable(
            f"git {arguments[0]} failed while making the demo's repository: {words[-1] if words else 'no reason given'}; "
            f"see that there is room under {str(folder.parent.parent.parent)!r}, or name another place with SMP_CACHE_DIR",
            backend="git",
        )
