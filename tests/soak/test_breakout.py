"""Every attempt to get out of a box, against each driver: each is shown to work outside first, and fails inside.

Run by `make soak`; `tests/contract/sandbox/test_isolation.py` is the sample of `make test`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.limits import Rights, present_rights
from smp.adapters.sandbox_docker.driver import DockerDriver
from smp.adapters.sandbox_microvm.driver import MicrovmDriver
from smp.domain.ids import CommitSha, FilePath, SandboxId, SessionId
from smp.domain.sandboxes import ChangedFile, Limits, Sandbox, SandboxSpec
from smp.ports.sandbox_driver import SandboxDriver
from smp.settings import load_settings
from tests.builders import docker_daemon
from tests.builders.alive_host import Host, alive_host
from tests.builders.breakout import ALL, EPILOGUE, PRELUDE, Attempt

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

LIBRARY = Path(__file__).parents[1] / "contract" / "sandbox" / "attempts.py"
LIMITS = Limits(memory_mb=512, disk_mb=64, pids=64, timeout_ms=60_000)
LEAST = 50
NEW_NAMESPACES = ["unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--mount-proc"]


def _drivers() -> list[object]:
    own = pytest.param(present_rights(), id="root" if os.geteuid() == 0 else "user")
    found: list[object] = [own]
    if os.geteuid() == 0:
        found.append(pytest.param(Rights(uid=None, groups=None), id="user"))
    if docker_daemon.can_run():
        found.append(pytest.param("docker", id="docker"))
    if os.geteuid() == 0 and shutil.which("qemu-system-x86_64"):
        found.append(pytest.param("microvm", id="microvm"))
    return found


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with alive_host(tmp_path_factory.mktemp("host")) as found:
        yield found


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repo")
    (folder / "README.md").write_text("read me\n")
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm1"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module", params=_drivers())
def driver(
    request: pytest.FixtureRequest, repo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SandboxDriver]:
    if request.param == "microvm":
        yield MicrovmDriver(load_settings(repo), SystemClock())
        return
    if request.param != "docker":
        yield BubblewrapDriver(load_settings(repo), SystemClock(), request.param)
        return
    with docker_daemon.docker_daemon(tmp_path_factory.mktemp("docker")) as found, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", found)
        yield DockerDriver(load_settings(repo), SystemClock())


@pytest.fixture(scope="module")
def box(driver: SandboxDriver, repo: Path) -> Iterator[Sandbox]:
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True)
    spec = SandboxSpec(
        sandbox_id=SandboxId(SystemClock().fresh_id("box")),
        session_id=SessionId("ses_test"),
        commit_sha=CommitSha(head.stdout.strip()),
    )
    made = driver.spawn(spec)
    driver.write(made, [ChangedFile(path=FilePath("attempts.py"), content=LIBRARY.read_bytes())])
    yield made
    driver.destroy(made)


def program(attempt: Attempt) -> str:
    """The whole of an attempt."""
    body = "\n".join(f"    {line}" for line in attempt.code.strip().splitlines())
    return f"{PRELUDE}{body}{EPILOGUE}"


def outside(attempt: Attempt, host: Host, folder: Path) -> str:
    """What the attempt comes to on the host."""
    source = program(attempt).replace('"/work"', repr(str(LIBRARY.parent)))
    command = [sys.executable, "-c", source, json.dumps(host.given)]
    if attempt.control == "namespace":
        command = [*NEW_NAMESPACES, *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=60)
    return done.stdout.strip() or done.stderr.strip()[-200:]


def inside(driver: SandboxDriver, box: Sandbox, attempt: Attempt, host: Host) -> str:
    """What it comes to in a box."""
    driver.write(box, [ChangedFile(path=FilePath("try.py"), content=program(attempt).encode())])
    done = driver.execute(box, f"python try.py '{json.dumps(host.given)}'", limits=LIMITS)
    return done.stdout.strip() or done.stderr.strip()[-200:]


def test_there_are_enough_attempts_that_work_outside(host: Host, tmp_path: Path) -> None:
    host.prove_alive()
    proved = [
        attempt.name for attempt in ALL if attempt.control == "target" or outside(attempt, host, tmp_path) == "open"
    ]
    host.assert_intact()
    unproved = sorted({attempt.name for attempt in ALL} - set(proved))
    print(f"{len(proved)} of {len(ALL)} attempts work outside a box; not here: {', '.join(unproved)}")
    assert len(proved) >= LEAST


@pytest.mark.parametrize("attempt", ALL, ids=[attempt.name for attempt in ALL])
def test_the_attempt_fails(driver: SandboxDriver, box: Sandbox, host: Host, attempt: Attempt) -> None:
    host.prove_alive()
    said = inside(driver, box, attempt, host)
    assert said.isupper(), f"{attempt.name}: {said!r}"  # the name of an errno
    assert host.hits == []
    host.assert_intact()
    if attempt.name.startswith(("tcp", "udp", "dns")) and "racing" not in attempt.name:
        assert said in ("ECONNREFUSED", "EPERM"), said  # the latter: told by a child's exit status
