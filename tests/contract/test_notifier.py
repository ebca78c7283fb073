"""The notifier port: an ordered feed that survives restarts and crosses processes."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from smp.adapters.neo4j.database import Neo4jDatabase
from smp.adapters.neo4j.notifications import Neo4jNotifier
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.domain.ids import FilePath
from smp.domain.notifications import ConflictDetected
from smp.ports.notifier import Notifier
from smp.settings import Settings

Opener = Callable[[], Notifier]


@pytest.fixture(params=["sqlite", "neo4j"])
def open_notifier(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Opens the same feed anew, as another process would."""
    if request.param == "neo4j":
        settings, repository = request.getfixturevalue("neo4j"), uuid.uuid4().hex
        return lambda: Neo4jNotifier(Neo4jDatabase(settings, repository))
    return lambda: SqliteNotifier(Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache"))


@pytest.fixture
def notifier(open_notifier: Opener) -> Notifier:
    return open_notifier()


def a_notice(number: int) -> ConflictDetected:
    return ConflictDetected(file=FilePath(f"f{number}.py"))


def test_an_empty_feed_has_no_cursor(notifier: Notifier) -> None:
    assert notifier.latest() == 0
    assert notifier.after(0) == ()


def test_notices_come_in_order_after_a_cursor(notifier: Notifier, open_notifier: Opener) -> None:
    for number in range(4):
        (notifier if number % 2 else open_notifier()).publish(a_notice(number))
    everything = open_notifier().after(0)
    assert [notice.body for notice in everything] == [a_notice(number) for number in range(4)]
    assert [notice.cursor for notice in everything] == sorted({notice.cursor for notice in everything})
    assert notifier.after(everything[1].cursor, limit=1) == (everything[2],)
    assert notifier.latest() == everything[3].cursor


def test_concurrent_publishers_lose_nothing(notifier: Notifier) -> None:
    threads = [threading.Thread(target=lambda: [notifier.publish(a_notice(1)) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(notifier.after(0)) == 80


def test_old_notices_are_dropped_and_cursors_go_on_rising(notifier: Notifier, monkeypatch: pytest.MonkeyPatch) -> None:
    # The bound is a module constant on purpose (no option); thousands of rows would prove no more than three do.
    for store in ("sessions_sqlite", "neo4j"):
        monkeypatch.setattr(f"smp.adapters.{store}.notifications.KEPT", 3)
    for number in range(5):
        notifier.publish(a_notice(number))
    kept = notifier.after(0)
    assert [notice.body for notice in kept] == [a_notice(number) for number in (2, 3, 4)]
    assert kept[-1].cursor == 5


def test_publishing_never_raises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notifier = SqliteNotifier(Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache"))
    for part in (tmp_path / "data").glob("sessions.db*"):
        part.write_bytes(b"damaged beyond repair " * 500)
    notifier.publish(a_notice(1))
    assert "notification lost" in capsys.readouterr().err
