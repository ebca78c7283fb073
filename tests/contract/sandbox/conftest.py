"""A repository, and a driver for it; as whoever runs the tests, and, where that is root, also without root's means."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.limits import Rights, present_rights
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Execution, Limits, Sandbox, SandboxSpec, TracerName
from smp.settings import Settings, load_settings

FILES = {
    "README.md": "read me\n",
    "src/shop/__init__.py": "",
    "src/shop/money.py": "def double(x):\n    return 2 * x\n",
    "tests/test_money.py": "from shop.money import double\n\n\ndef test_double():\n    assert double(2) == 4\n",
    "docs/a/one.txt": "one\n",
    "docs/a/two.txt": "two\n",
    ".gitignore": "*.log\n/build/\n",
    "run.sh": "#!/bin/sh\necho ran\n",
}


@pytest.fixture
def commit_files(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Makes a repository with one commit of these files; `.sh` files are executable, `->x` is a link."""

    def make(files: dict[str, str]) -> Path:
        repo = tmp_path / "repo"
        repo.mkdir()
        for name, text in files.items():
            path = repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text.startswith("->"):
                path.symlink_to(text[2:])
            else:
                path.write_text(text)
                path.chmod(0o755 if name.endswith(".sh") else 0o644)
        for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm1"]):
            subprocess.run(["git", *command], cwd=repo, check=True)
        return repo

    return make


@pytest.fixture
def repo(commit_files: Callable[[dict[str, str]], Path]) -> Path:
    return commit_files(FILES)


@pytest.fixture
def settings(repo: Path) -> Settings:
    """The cache is the user's own, so that the packages of boxes are installed once and not by every test."""
    return load_settings(repo)


def _rights() -> list[object]:
    if shutil.which("bwrap") is None:
        return [pytest.param(None, marks=pytest.mark.skip(reason="bubblewrap is not installed"))]
    own = pytest.param(present_rights(), id="root" if os.geteuid() == 0 else "user")
    # Root in a user namespace without control groups takes the ordinary user's path through the driver.
    return [own, pytest.param(Rights(uid=None, groups=None), id="user")] if os.geteuid() == 0 else [own]


@pytest.fixture(params=_rights())
def rights(request: pytest.FixtureRequest) -> Rights:
    found = request.param
    assert isinstance(found, Rights)
    return found


@pytest.fixture
def driver(settings: Settings, rights: Rights) -> BubblewrapDriver:
    return BubblewrapDriver(settings, SystemClock(), rights)


Spawn = Callable[..., Sandbox]
Run = Callable[..., Execution]


@pytest.fixture
def head(repo: Path) -> CommitSha:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True)
    return CommitSha(done.stdout.strip())


@pytest.fixture
def spawn(driver: BubblewrapDriver, head: CommitSha) -> Iterator[Spawn]:
    """Makes boxes; they are destroyed in the end."""
    made: list[Sandbox] = []

    def make(commit: CommitSha | None = None, *, tracer: TracerName | None = TracerName.MONITORING) -> Sandbox:
        spec = SandboxSpec(
            sandbox_id=SandboxId(SystemClock().fresh_id("box")),
            session_id=SessionId("ses_test"),
            commit_sha=commit or head,
            tracer=tracer,
        )
        made.append(driver.spawn(spec))
        return made[-1]

    yield make
    for box in made:
        driver.destroy(box)


@pytest.fixture
def box(spawn: Spawn) -> Sandbox:
    return spawn()


@pytest.fixture
def run(driver: BubblewrapDriver, box: Sandbox) -> Run:
    """Runs a command in `box` (or another one) under narrow limits."""

    def execute(command: str, *, on: Sandbox | None = None, **limits: int) -> Execution:
        narrow = {"memory_mb": 512, "disk_mb": 64, "pids": 64, "timeout_ms": 60_000} | limits
        return driver.execute(on or box, command, limits=Limits(**narrow))

    return execute
