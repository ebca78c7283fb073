"""The client of Temporal where the server takes connections and never says a word."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.runs_temporal import TemporalRunEngine
from smp.domain.errors import Unavailable
from smp.settings import Settings, TemporalSettings, load_settings

AN_HOUR_MS = 3_600_000


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Settings]:
    """Settings that name a server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        yield replace(load_settings(tmp_path, environ={}), temporal=TemporalSettings(address=address))


def test_a_silent_server_is_waited_for_once_and_then_not_for_a_while(silent: Settings) -> None:
    engine = TemporalRunEngine(silent)
    with pytest.raises(Unavailable, match="no Temporal server answers"):
        engine.sessions("queue", wait_ms=50)
    with pytest.raises(Unavailable, match="no Temporal server answers"):
        engine.sessions("queue", wait_ms=AN_HOUR_MS)
