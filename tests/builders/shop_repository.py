"""A small repository with a bug, its `origin`, a dev server of its own, and the product's own processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from smp.cli import devserver
from smp.cli.worker_process import worker_command
from smp.settings import Settings, load_settings
from tests.builders.session_rig import free_port

FILES = {
    "smp.toml": '[sandbox]\nrequirements = ["pytest"]\n',
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
    "shop/__init__.py": "",
    "shop/prices.py": "def discounted(cents: int, percent: int) -> int:\n    return cents - cents * percent // 10\n",
    "tests/test_prices.py": (
        "from shop.prices import discounted\n\n\n"
        "def test_nothing_off() -> None:\n    assert discounted(500, 0) == 500\n"
    ),
}
FIXED = "def discounted(cents: int, percent: int) -> int:\n    return cents - cents * percent // 100\n"
TESTS = FILES["tests/test_prices.py"] + "\n\ndef test_a_tenth_off() -> None:\n    assert discounted(1999, 10) == 1800\n"


_COMMAND_LINE = (
    # a shell without job control starts what it puts into the background deaf to Ctrl-C, and so would be all below it
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from smp.cli.main import main; main()"
)


class Shop:
    """The repository and how the product's processes are started for it."""

    def __init__(self, settings: Settings, environment: dict[str, str]) -> None:
        self.settings = settings
        self.repo = settings.repo
        self.environment = os.environ | environment

    def git(self, *arguments: str) -> str:
        """Output of a git command in the repository."""
        done = subprocess.run(["git", "-C", str(self.repo), *arguments], capture_output=True, text=True, check=True)
        return done.stdout

    def branches(self) -> list[str]:
        """Branches of `origin` besides the main one."""
        listed = self.git("ls-remote", "--heads", "origin").split()[1::2]
        return sorted(name.removeprefix("refs/heads/") for name in listed if name != "refs/heads/main")

    def smp(self, *arguments: str) -> subprocess.Popen[str]:
        """The command line, started."""
        return subprocess.Popen(
            [sys.executable, "-c", _COMMAND_LINE, *arguments, "--repo", str(self.repo)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
            start_new_session=True,
        )

    @contextlib.contextmanager
    def worker(self) -> Iterator[subprocess.Popen[str]]:
        """A worker process that polls; ended afterwards if the test has not."""
        process = subprocess.Popen(
            worker_command(self.settings),
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(60)
            process.stdout.close()

    def edits(self, folder: Path, **files: str) -> Path:
        """A diff that gives files these contents; `prices` and `tests` name the two."""
        places = {"prices": "shop/prices.py", "tests": "tests/test_prices.py"}
        for name, content in files.items():
            (self.repo / places[name]).write_text(content)
        diff = folder / f"{'-'.join(files)}.diff"
        diff.write_text(self.git("diff"))
        self.git("checkout", "--quiet", ".")
        return diff


def _make_repository(root: Path) -> None:
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "."],
        [*identity, "commit", "--quiet", "--message", "first"],
        ["clone", "--quiet", "--bare", ".", str(root.parent / "origin.git")],
        ["remote", "add", "origin", str(root.parent / "origin.git")],
    ):
        subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


@contextlib.contextmanager
def open_shop(folder: Path) -> Iterator[Shop]:
    """The repository below a folder, with a running server."""
    root = folder / "shop"
    root.mkdir()
    _make_repository(root)
    with served(root) as made:
        yield made


@contextlib.contextmanager
def served(root: Path, more: Mapping[str, str] | None = None) -> Iterator[Shop]:
    """A repository with a running server. more: variables of its environment."""
    environment = dict(more or {}) | {
        "SMP_TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}",
        "SMP_TEMPORAL_UI_URL": f"http://127.0.0.1:{free_port()}",
    }
    settings = load_settings(root, environ=environment)
    devserver.start(settings, lambda line: print(line, file=sys.stderr))
    try:
        yield Shop(settings, environment)
    finally:
        devserver.stop(settings)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """The repository with a running server."""
    with open_shop(tmp_path) as made:
        yield made


@pytest.fixture
def until() -> Callable[[Callable[[], object]], None]:
    """Wait for a condition of another process, by asking; fails after two minutes."""

    def wait(condition: Callable[[], object]) -> None:
        pause = threading.Event()
        for _ in range(1200):
            if condition():
                return
            pause.wait(0.1)
        raise AssertionError("it never came to that")

    return wait
