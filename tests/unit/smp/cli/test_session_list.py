"""`smp session list`: a list, or one sentence, never the head of a list with nothing below."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from smp.cli.session import list_sessions
from smp.domain.errors import Unavailable


def test_without_a_server_nothing_is_printed_but_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    with socket.socket() as taken:  # bound but not listening: refused, and nobody else's meanwhile
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("SMP_TEMPORAL_ADDRESS", f"127.0.0.1:{taken.getsockname()[1]}")
        result = CliRunner().invoke(list_sessions, ["--repo", str(tmp_path)])
    assert result.stdout == ""
    assert isinstance(result.exception, Unavailable)
    assert "smp temporal start" in result.exception.message
