"""The session store port: compare-and-set, locks, idempotent events, and all of it across connections and processes."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.neo4j.database import Neo4jDatabase
from smp.adapters.neo4j.sessions import Neo4jSessionStore
from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore
from smp.domain.errors import Fenced, LockConflict, SessionNotFound, Unavailable
from smp.domain.ids import AuditId, CheckpointId, ContentHash, FilePath, SessionId
from smp.domain.sessions import (
    AuditEvent,
    Checkpoint,
    FileSnapshot,
    Lock,
    Session,
    SessionStatus,
)
from smp.ports.session_store import SessionStore
from smp.safety.audit import verify
from smp.settings import Settings
from tests.builders.session_records import LATER, NOW, A, B, a_session

WRITERS = 50


def an_event(method: str = "smp/lock", key: str = "") -> AuditEvent:
    return AuditEvent(seq=0, at=NOW, method=method, key=key, files=(A,))


def a_lock(session: Session, file: FilePath = A, expires_at: datetime = LATER) -> Lock:
    return Lock(file=file, session_id=session.id, agent_id=session.agent_id, acquired_at=NOW, expires_at=expires_at)


Opener = Callable[[], SessionStore]


@pytest.fixture
def open_file(tmp_path: Path) -> Opener:
    """Opens the same file anew."""
    return lambda: SqliteSessionStore(Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache"))


@pytest.fixture(params=["sqlite", "neo4j"])
def open_store(request: pytest.FixtureRequest, open_file: Opener) -> Iterator[Opener]:
    """Opens the same store anew, as another process would."""
    if request.param == "sqlite":
        yield open_file
        return
    settings, repository = request.getfixturevalue("neo4j"), uuid.uuid4().hex
    opened: list[Neo4jSessionStore] = []

    def open_one() -> SessionStore:
        opened.append(Neo4jSessionStore(Neo4jDatabase(settings, repository)))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Opener) -> SessionStore:
    return open_store()


def test_a_session_is_read_back_as_it_was_written(store: SessionStore, open_store: Opener) -> None:
    session = a_session()
    assert store.insert(session, an_event("smp/session/open")) == session
    assert open_store().get(session.id) == session
    assert open_store().by_audit(session.audit_id) == session
    assert [event.method for event in open_store().events(session.id)] == ["smp/session/open"]


def test_inserting_again_by_the_same_driver_returns_what_is_stored(store: SessionStore) -> None:
    first = store.insert(a_session(), an_event())
    again = store.insert(replace(first, task="other"), an_event())
    assert again == first
    assert len(store.events(first.id)) == 1


def test_an_id_of_another_driver_is_fenced(store: SessionStore) -> None:
    store.insert(a_session(), an_event())
    with pytest.raises(Fenced):
        store.insert(a_session(driver="session/x/run"), an_event())


def test_unknown_sessions_are_none_and_cannot_be_written(store: SessionStore) -> None:
    assert store.get(SessionId("ses_none")) is None
    assert store.by_audit(AuditId("aud_none")) is None
    with pytest.raises(SessionNotFound):
        store.write(a_session(), None, now=NOW)
    with pytest.raises(SessionNotFound):
        store.append(SessionId("ses_none"), an_event())


def test_a_write_raises_the_version_and_an_older_one_is_fenced(store: SessionStore) -> None:
    first = store.insert(a_session(), an_event())
    second = store.write(replace(first, task="two"), None, now=NOW)
    assert (second.version, second.task) == (first.version + 1, "two")
    with pytest.raises(Fenced):
        store.write(replace(first, task="three"), an_event(), now=NOW)
    assert store.get(first.id) == second
    assert len(store.events(first.id)) == 1


def test_an_older_epoch_is_fenced(store: SessionStore) -> None:
    first = store.insert(a_session(), an_event())
    taken = store.write(replace(first, epoch=2, driver="new"), None, now=NOW)
    with pytest.raises(Fenced):
        store.write(replace(taken, epoch=1), None, now=NOW)


def test_a_key_makes_the_second_write_a_no_op(store: SessionStore) -> None:
    first = store.insert(a_session(), an_event())
    done = store.write(replace(first, task="two"), an_event(key="k"), lock=(a_lock(first),), now=NOW)
    again = store.write(replace(done, task="three"), an_event(key="k"), unlock=(A,), now=NOW)
    assert again == done
    assert [lock.file for lock in store.locks()] == [A]
    assert [event.key for event in store.events(first.id)] == ["", "k"]
    assert store.append(first.id, an_event("other", key="k")).method == "smp/lock"
    found = store.event(first.id, "k")
    assert found is not None
    assert found.method == "smp/lock"
    assert store.event(first.id, "") is None
    assert store.event(first.id, "unknown") is None


def test_the_same_key_in_two_sessions_is_two_steps(store: SessionStore) -> None:
    one, two = store.insert(a_session("ses_1"), an_event()), store.insert(a_session("ses_2"), an_event())
    for session in (one, two):
        store.write(session, an_event(key="k"), now=NOW)
        assert len(store.events(session.id)) == 2


def test_a_lock_of_another_session_is_respected_until_it_expires(store: SessionStore) -> None:
    one, two = store.insert(a_session("ses_1"), an_event()), store.insert(a_session("ses_2"), an_event())
    store.write(one, None, lock=(a_lock(one), a_lock(one, B)), now=NOW)
    with pytest.raises(LockConflict) as conflict:
        store.write(two, an_event(), lock=(a_lock(two, B),), now=LATER - timedelta(seconds=1))
    assert conflict.value.data()["held_by_session"] == "ses_1"
    assert len(store.events(two.id)) == 1
    taken = store.write(two, an_event(), lock=(a_lock(two, B, LATER + timedelta(hours=1)),), now=LATER)
    assert [(lock.file, lock.session_id) for lock in store.locks()] == [(A, "ses_1"), (B, "ses_2")]
    assert taken.version == two.version + 1


def test_a_refused_lock_leaves_nothing_of_the_write(store: SessionStore) -> None:
    one, two = store.insert(a_session("ses_1"), an_event()), store.insert(a_session("ses_2"), an_event())
    store.write(one, None, lock=(a_lock(one, B),), now=NOW)
    with pytest.raises(LockConflict):
        store.write(replace(two, task="changed"), an_event(), lock=(a_lock(two, A), a_lock(two, B)), now=NOW)
    assert store.get(two.id) == two
    assert store.locks(session_id=two.id) == ()


def test_unlock_frees_only_what_the_session_holds(store: SessionStore) -> None:
    one, two = store.insert(a_session("ses_1"), an_event()), store.insert(a_session("ses_2"), an_event())
    store.write(one, None, lock=(a_lock(one, A), a_lock(one, B)), now=NOW)
    store.write(two, None, unlock=(A, B), now=NOW)
    assert len(store.locks((A, B))) == 2
    store.write(replace(one, version=2), None, unlock=(A,), now=NOW)
    assert [lock.file for lock in store.locks((A, B))] == [B]
    assert store.locks((A,)) == ()


def test_ending_a_session_frees_all_its_locks(store: SessionStore) -> None:
    session = store.insert(a_session(), an_event())
    held = store.write(session, None, lock=(a_lock(session, A), a_lock(session, B)), now=NOW)
    assert store.active() == (held,)
    store.write(replace(held, status=SessionStatus.COMPLETED), an_event("smp/session/close"), now=NOW)
    assert store.locks() == ()
    assert store.active() == ()


def test_checkpoints_keep_bytes_links_and_absence_in_order(store: SessionStore) -> None:
    session = store.insert(a_session(), an_event())
    points = [
        Checkpoint(
            id=CheckpointId(f"chk_{name}"),
            session_id=session.id,
            files=(
                FileSnapshot(path=A, content=b"\x00\xff" + name.encode(), mode=0o755),
                FileSnapshot(path=B, content=None),
                FileSnapshot(path=FilePath("l"), content=b"", link="a.py"),
            ),
            snapshot_at=NOW,
            content_hash=ContentHash("0" * 64),
        )
        for name in ("z", "a")
    ]
    for point in points:
        session = store.write(session, an_event("smp/checkpoint"), checkpoint=point, now=NOW)
    assert store.checkpoints(session.id) == tuple(points)
    assert store.checkpoint(session.id, points[0].id) == points[0]
    assert store.checkpoint(SessionId("ses_other"), points[0].id) is None


def test_events_form_an_unbroken_chain_whoever_appends(store: SessionStore, open_store: Opener) -> None:
    session = store.insert(a_session(), an_event("smp/session/open"))
    stores = [store, open_store()]
    threads = [
        threading.Thread(target=lambda at=at: [at.append(session.id, an_event("smp/read")) for _ in range(25)])
        for at in stores
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = store.events(session.id)
    assert [event.seq for event in events] == list(range(1, 52))
    assert verify(events) is None


def test_a_tampered_event_breaks_the_chain(open_file: Opener, tmp_path: Path) -> None:
    store = open_file()
    session = store.insert(a_session(), an_event("smp/session/open"))
    for method in ("one", "two", "three"):
        store.append(session.id, an_event(method))
    with sqlite3.connect(tmp_path / "data" / "sessions.db") as db:
        db.execute("UPDATE events SET body = replace(body, '\"two\"', '\"tow\"') WHERE seq = 3")
    assert verify(store.events(session.id)) == 3


def test_of_many_writers_of_one_version_exactly_one_wins(store: SessionStore) -> None:
    session = store.insert(a_session(), an_event())
    barrier, won = threading.Barrier(WRITERS), []

    def write(name: str) -> None:
        barrier.wait()
        with contextlib.suppress(Fenced):
            won.append(store.write(replace(session, task=name), None, now=NOW))

    threads = [threading.Thread(target=write, args=(str(number),)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [store.get(session.id)] == won


def test_what_was_written_survives_the_writer_being_killed(open_file: Opener, tmp_path: Path) -> None:
    store = open_file()
    session = store.insert(a_session(), an_event())
    code = (
        "import os, sys; from pathlib import Path; from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore;"
        "from smp.settings import Settings; from smp.domain.sessions import AuditEvent; from datetime import *;"
        "root = Path(sys.argv[1]); s = SqliteSessionStore(Settings(repo=root, data_dir=root/'data', cache_dir=root));"
        "s.append('ses_one', AuditEvent(seq=0, at=datetime.now(UTC), method='smp/context')); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert [event.method for event in store.events(session.id)] == ["smp/lock", "smp/context"]
    assert verify(store.events(session.id)) is None


def test_a_file_of_another_version_is_refused_with_the_way_out(open_file: Opener, tmp_path: Path) -> None:
    open_file()
    with sqlite3.connect(tmp_path / "data" / "sessions.db") as db:
        db.execute("UPDATE schema_versions SET version = 99")
    with pytest.raises(Unavailable, match="move the file away"):
        open_file()


def test_a_damaged_file_is_unavailable_and_not_a_crash(tmp_path: Path, open_file: Opener) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sessions.db").write_bytes(b"this is no database, it is text" * 100)
    with pytest.raises(Unavailable):
        open_file()
