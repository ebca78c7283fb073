"""What is not installed is named with the command that installs it; what is not supported is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap import filters
from smp.adapters.sandbox_bubblewrap.checkout import find_repository
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.interpreters import ask, find_interpreter
from smp.adapters.sandbox_bubblewrap.limits import Rights, plan_limits
from smp.adapters.sandbox_bubblewrap.running import find_bwrap
from smp.domain.errors import Invalid, SandboxFailed
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Limits, SandboxSpec
from smp.settings import SandboxSettings, Settings


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with nothing on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_missing_bubblewrap_is_named(bare: Path) -> None:
    with pytest.raises(SandboxFailed, match="apt-get install bubblewrap"):
        find_bwrap()


def test_missing_git_is_named(bare: Path) -> None:
    with pytest.raises(SandboxFailed, match="apt-get install git"):
        find_repository(bare)


def test_missing_libseccomp_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    with pytest.raises(SandboxFailed, match="apt-get install libseccomp2"):
        filters.compile_filters.__wrapped__()


def test_capabilities_of_a_bare_machine_say_what_to_install(bare: Path) -> None:
    driver = BubblewrapDriver(Settings(repo=bare, data_dir=bare / "data", cache_dir=bare), SystemClock())
    found = driver.capabilities()
    assert not found.available
    assert "apt-get install bubblewrap" in found.missing[0]
    assert not list((bare / "data" / "boxes").glob("probe*"))


def test_a_folder_without_git_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="git init"):
        find_repository(tmp_path)


def test_settings_that_the_driver_cannot_honour_are_refused(tmp_path: Path) -> None:
    settings = SandboxSettings(setup="make deps")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *who, "commit", "-q", "--allow-empty", "-m1"], cwd=tmp_path, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True)
    chosen = Settings(repo=tmp_path, data_dir=tmp_path / ".smp", cache_dir=tmp_path / "cache", sandbox=settings)
    driver = BubblewrapDriver(chosen, SystemClock(), Rights(uid=None, groups=None))
    spec = SandboxSpec(
        sandbox_id=SandboxId("box_0000000000000000"),
        session_id=SessionId("ses_x"),
        commit_sha=CommitSha(head.stdout.strip()),
    )
    with pytest.raises(SandboxFailed, match=r"\[sandbox\]"):
        driver.spawn(spec)


def test_a_configured_interpreter_must_run(tmp_path: Path) -> None:
    with pytest.raises(SandboxFailed, match="does not run"):
        find_interpreter(str(tmp_path / "python"), tmp_path, lambda _: None)


def test_a_virtual_environment_stands_for_the_interpreter_behind_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    found = ask(str(tmp_path / "venv" / "bin" / "python"))
    assert found is not None
    assert found.executable == str(Path(sys.executable).resolve())
    assert not found.prefix.startswith(str(tmp_path))


def test_an_ordinary_user_has_process_limits_and_sampling() -> None:
    plan = plan_limits(None, "box", Limits(memory_mb=100, pids=7, disk_mb=3, timeout_ms=2500))
    assert (plan.groups, plan.sampled_memory_mb) == ({}, 100)
    assert plan.rlimits | {"NPROC": 7, "DATA": 100 << 20, "FSIZE": 3 << 20, "CPU": 7, "CORE": 0} == plan.rlimits
