"""The dev server: started once, found again, stopped by pid, healed after SIGKILL, and clear about what is in its way."""

from __future__ import annotations

import os
import signal
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.cli import devserver
from smp.domain.errors import Unavailable
from smp.settings import Settings
from tests.builders.session_rig import Rig

pytestmark = pytest.mark.temporal
SettingsOf = Callable[[Path], Settings]


def _quiet(_: str) -> None: ...


def test_a_second_start_finds_the_first_and_stop_ends_it(tmp_path: Path, settings_of: SettingsOf) -> None:
    settings = settings_of(tmp_path)
    try:
        first, started = devserver.start(settings, _quiet)
        assert started
        assert first.ours
        again, started_again = devserver.start(settings, _quiet)
        assert not started_again
        assert again.pid == first.pid
    finally:
        assert devserver.stop(settings)
    assert not devserver.status(settings).answers
    assert not devserver.stop(settings)


def test_a_server_that_was_killed_is_started_again_on_its_file(own_rig: Rig) -> None:
    settings = own_rig.settings
    request = own_rig.request()
    run = own_rig.engine.start_session(request)
    pid = devserver.status(settings).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    devserver.start(settings, _quiet)
    with own_rig.worker():
        assert own_rig.engine.result(run, timeout_ms=60_000).status == "completed"


def test_a_port_taken_by_another_program_is_named_with_the_way_out(tmp_path: Path, settings_of: SettingsOf) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        settings = settings_of(tmp_path)
        settings = replace(settings, temporal=replace(settings.temporal, address=f"127.0.0.1:{port}"))
        with pytest.raises(Unavailable, match=rf"port {port} .* taken by another program .* SMP_TEMPORAL_ADDRESS"):
            devserver.start(settings, _quiet)


def test_without_a_server_and_without_go_the_sentence_tells_what_to_install(
    tmp_path: Path, settings_of: SettingsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(settings_of(tmp_path), cache_dir=tmp_path / "empty")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(Unavailable, match=r"not on PATH and there is no Go .* install Go"):
        devserver.find_or_build(settings, _quiet)


def test_a_build_that_fails_leaves_nothing_and_says_why(
    tmp_path: Path, settings_of: SettingsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    go = tools / "go"
    go.write_text("#!/bin/sh\necho 'dial tcp: no route to host' >&2\nexit 1\n")
    go.chmod(go.stat().st_mode | stat.S_IEXEC)
    settings = replace(settings_of(tmp_path), cache_dir=tmp_path / "cache")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    with pytest.raises(Unavailable, match=r"building Temporal failed: dial tcp: no route to host"):
        devserver.find_or_build(settings, _quiet)
    assert [path.name for path in (tmp_path / "cache" / "bin").iterdir()] == ["build.lock"]


def test_a_server_that_ends_at_once_is_quoted(
    tmp_path: Path, settings_of: SettingsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    fake = tools / "temporal"
    fake.write_text("#!/bin/sh\necho 'database or disk is full' >&2\nexit 1\n")
    fake.chmod(fake.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    settings = settings_of(tmp_path)
    with pytest.raises(Unavailable, match=r"Temporal did not start: database or disk is full"):
        devserver.start(settings, _quiet)
    assert not devserver.status(settings).ours


def test_a_data_directory_that_cannot_be_written_is_named(tmp_path: Path, settings_of: SettingsOf) -> None:
    settings = settings_of(tmp_path)
    (tmp_path / "file").write_text("in the way")
    settings = replace(settings, data_dir=tmp_path / "file" / "below")
    with pytest.raises(Unavailable, match=r"cannot write .* --data-dir"):
        devserver.start(settings, _quiet)
