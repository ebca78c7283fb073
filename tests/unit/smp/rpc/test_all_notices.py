"""Every kind of notification over WebSocket and over MCP, from the feed on disk, and on from a cursor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest
from starlette.testclient import TestClient

from smp.adapters.clock_system import SystemClock
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.domain.ids import AgentId, FilePath, HandoffId, SandboxId, SessionId
from smp.domain.notifications import (
    Changes,
    ConflictDetected,
    HandoffAccepted,
    LockConflicted,
    MemoryUpdated,
    NetworkBlocked,
    Notification,
    ScopeViolated,
    SessionExpiredNotice,
)
from smp.rpc.http import build_app
from smp.rpc.mcp import resources
from smp.rpc.registry import MethodRegistry
from smp.services import Services
from smp.settings import ServeSettings, Settings

FILE, SESSION, AGENT = FilePath("a.py"), SessionId("ses_1"), AgentId("coder")
ALL: tuple[Notification, ...] = (
    MemoryUpdated(changes=Changes(files_affected=(FILE,))),
    ConflictDetected(file=FILE),
    LockConflicted(file=FILE, held_by_session=SESSION, held_by_agent=AGENT),
    ScopeViolated(session_id=SESSION, attempted_file="b.py", declared_scope=(FILE,)),
    SessionExpiredNotice(session_id=SESSION, expired_at="2026-01-01T00:00:00.000Z", locks_released=(FILE,)),
    NetworkBlocked(sandbox_id=SandboxId("box_1"), blocked_host="example.org", blocked_port=443),
    HandoffAccepted(handoff_id=HandoffId("hnd_1"), reviewer_agent=AGENT, sandbox_id=SandboxId("box_1")),
)
TYPES = [
    "memory_updated",
    "conflict_detected",
    "lock_conflict",
    "scope_violation",
    "session_expired",
    "network_blocked",
    "handoff_accepted",
]


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    notifier = SqliteNotifier(Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path))
    for notification in ALL:
        notifier.publish(notification)
    made = SimpleNamespace(
        indexer=SimpleNamespace(begin_answer=lambda: None),
        tokens=SimpleNamespace(grants=tuple, find=lambda token: None),
        clock=SystemClock(),
        notifier=notifier,
        settings=SimpleNamespace(token="", serve=ServeSettings()),
        spans=None,
    )
    yield cast("Services", made)
    notifier.close()


def over_websocket(services: Services, after: int, expected: int) -> list[dict[str, Any]]:
    app = build_app(services, MethodRegistry(()), host="127.0.0.1")
    with (
        TestClient(app, base_url="http://127.0.0.1:8420") as client,
        client.websocket_connect(f"/ws?after={after}", headers={"Host": "127.0.0.1"}) as socket,
    ):
        messages = [json.loads(socket.receive_text()) for _ in range(expected)]
    assert {message["method"] for message in messages} <= {"smp/notification"}
    return [message["params"] for message in messages]


def over_mcp(services: Services, after: int) -> list[dict[str, Any]]:
    text = resources.read(f"{resources.NOTIFICATIONS}/{after}", services, lambda: cast("Any", None))
    return [{name: value for name, value in one.items() if name != "method"} for one in json.loads(text)]


def test_there_are_seven() -> None:
    assert [type(one) for one in ALL] == list(get_args(Notification))


def test_both_ways_tell_of_each_kind_in_order_and_in_the_same_words(services: Services) -> None:
    told = over_websocket(services, 0, len(ALL))
    assert [one["type"] for one in told] == TYPES
    assert over_mcp(services, 0) == told


@pytest.mark.parametrize("seen", range(len(ALL)))
def test_a_client_that_comes_back_goes_on_behind_what_it_saw_of_any_kind(services: Services, seen: int) -> None:
    cursor = over_mcp(services, 0)[seen]["cursor"]
    missed = over_websocket(services, cursor, len(ALL) - seen - 1)
    assert [one["type"] for one in missed] == TYPES[seen + 1 :]
    assert over_mcp(services, cursor) == missed
