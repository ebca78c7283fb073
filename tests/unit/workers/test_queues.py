"""Queues belong to a repository's data directory and to a host; liveness to a living process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from smp.cli.worker_process import worker_lives
from smp.domain.errors import Unavailable
from smp.settings import Settings, load_settings
from workers.liveness import alive
from workers.queues import queues_of


def _settings(folder: Path) -> Settings:
    folder.mkdir(parents=True, exist_ok=True)
    return load_settings(folder, environ={})


def test_two_repositories_on_one_server_share_no_queue(tmp_path: Path) -> None:
    one, other = queues_of(tmp_path / "a" / ".smp"), queues_of(tmp_path / "b" / ".smp")
    assert len({one.session, one.host, other.session, other.host}) == 4


def test_hosts_that_share_a_repository_share_its_queue_and_keep_their_own(tmp_path: Path) -> None:
    one, other = (queues_of(tmp_path / name / ".smp", "shared-id") for name in "ab")
    assert one.session == other.session != queues_of(tmp_path / "a" / ".smp").session
    assert one.host != other.host


def test_runs_are_shared_only_where_sessions_are(tmp_path: Path) -> None:
    named = {"SMP_GRAPH_REPOSITORY": "shared-id"}
    shared = load_settings(tmp_path, environ=named | {"SMP_PROFILE": "server"})
    assert shared.runs_of == "shared-id"
    assert load_settings(tmp_path, environ=named).runs_of == str(tmp_path / ".smp")


def test_the_queues_of_a_repository_outlive_the_worker(tmp_path: Path) -> None:
    assert queues_of(tmp_path / ".smp") == queues_of(tmp_path / ".smp")


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match=r"cannot write .* --data-dir"):
        queues_of(tmp_path / "file" / ".smp")


def test_a_worker_counts_as_alive_only_while_it_lives(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    assert not worker_lives(settings)
    settings.data_dir.mkdir()
    with alive(settings.data_dir), alive(settings.data_dir):
        assert worker_lives(settings)
    assert not worker_lives(settings)


def test_a_killed_worker_is_not_taken_for_alive(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    settings.data_dir.mkdir()
    program = (
        "import pathlib, sys; from workers.liveness import alive\n"
        "with alive(pathlib.Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(settings.data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    assert worker_lives(settings)
    process.kill()
    process.communicate()
    assert not worker_lives(settings)
