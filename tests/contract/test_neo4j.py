"""What only the Neo4j stores promise: repositories apart, one query a walk, threads, processes, kills, broken connections."""

from __future__ import annotations

import functools
import itertools
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from neo4j import Transaction
from neo4j.exceptions import ServiceUnavailable

from smp.adapters.neo4j import Neo4jGraphStore, schema
from smp.adapters.neo4j.database import Neo4jDatabase
from smp.adapters.neo4j.sessions import Neo4jSessionStore
from smp.domain.errors import Fenced, LockConflict, Unavailable
from smp.domain.graph import Direction, EdgeKind, GraphSize, Scope
from smp.domain.ids import FilePath, SessionId
from smp.domain.metadata import Metadata
from smp.domain.sessions import AuditEvent, Lock
from smp.ports.metadata_store import TextQuery
from smp.settings import GraphSettings
from tests.builders.server_profile import nobody_listens
from tests.builders.session_records import LATER, NOW, a_session

CLIENTS = 50


@pytest.fixture
def open_store(neo4j: GraphSettings) -> Iterator[Callable[..., Neo4jGraphStore]]:
    """Opens the same repository anew, as another host would; another one when it is named."""
    repository, opened = uuid.uuid4().hex, []

    def open_one(name: str = "") -> Neo4jGraphStore:
        opened.append(Neo4jGraphStore(Neo4jDatabase(neo4j, repository + name)))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def sessions(neo4j: GraphSettings) -> Iterator[Neo4jSessionStore]:
    store = Neo4jSessionStore(Neo4jDatabase(neo4j, uuid.uuid4().hex))
    yield store
    store.close()


def at_once(works: list[Callable[[], None]]) -> None:
    """Run all of these at the same moment, each in a thread."""
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        barrier.wait()
        work()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)


def in_thread(function: Callable[[], Any]) -> Any:
    answer: list[Any] = []
    at_once([lambda: answer.append(function())])
    return answer[0]


def test_two_repositories_with_the_same_ids_never_mix(open_store: Any, build: Any) -> None:
    ours, theirs = open_store("1"), open_store("2")
    f = build.function("a.py", "f", metadata=Metadata(docstring="Pays."))
    g = build.function("a.py", "g")
    for store, call in ((ours, build.calls(f, g)), (theirs, build.calls(g, f))):
        store.apply(build.delta(build.part("a.py", [f, g], [call])))
        store.put_blobs("meta", {"k": b"1"})
    walked = ours.walk([f.id, g.id], hops=3, kinds=(), direction=Direction.BOTH)
    assert (walked, ours.size(), ours.edges([g.id])) == ((), GraphSize(nodes=2, edges=1, unresolved=0), ())
    theirs.apply(build.delta(removed=("a.py",)))
    theirs.drop_blobs("meta", ["k"])
    assert [node.id for node in ours.scan(Scope())] == [f.id, g.id]
    assert ours.keys("meta") == ("k",)
    assert [match.node.id for match in ours.search(TextQuery(text="pays")).matches] == [f.id]
    assert theirs.search(TextQuery(text="pays")).matches == ()


def test_scores_of_words_do_not_depend_on_other_repositories(open_store: Any, build: Any) -> None:
    ours, theirs = open_store("1"), open_store("2")
    nodes = [build.function("a.py", name, metadata=Metadata(docstring=f"{name} pays.")) for name in "abc"]
    ours.apply(build.delta(build.part("a.py", nodes[:2])))
    query = TextQuery(text="pays a", match="any")
    before = ours.search(query)
    theirs.apply(build.delta(build.part("a.py", nodes)))
    assert ours.search(query) == before


def test_a_walk_is_one_query(open_store: Any, build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store()
    nodes = [build.function("a.py", f"f{n}") for n in range(30)]
    edges = [build.calls(a, b) for a, b in itertools.pairwise(nodes)]
    store.apply(build.delta(build.part("a.py", nodes, edges)))
    asked: list[str] = []
    read = Neo4jDatabase.read

    def counted(self: Neo4jDatabase, query: str, /, **parameters: object) -> Any:
        asked.append(query)
        return read(self, query, **parameters)

    monkeypatch.setattr(Neo4jDatabase, "read", counted)
    found = store.walk([nodes[0].id], hops=9, kinds=(EdgeKind.CALLS_STATIC,), direction=Direction.OUTGOING)
    assert (len(found), len(asked)) == (9, 1)


@pytest.mark.parametrize("name", ["'}) DETACH DELETE n //", '"} RETURN 1', "a\\'b", "$repo", "`"])
def test_no_text_reaches_a_query_as_query(open_store: Any, build: Any, name: str) -> None:
    store = open_store()
    node = build.function("a.py", "f")
    store.apply(build.delta(build.part(name, [node])))
    assert store.find(name) == ()
    assert store.search(TextQuery(text=name, match="any")).matches == ()
    assert [one.id for one in store.scan(Scope(kind="package", prefix=name))] == []
    assert store.nodes([node.id]) == (node,)


def test_other_threads_and_hosts_see_a_transaction_only_when_it_has_ended(open_store: Any) -> None:
    store, other = open_store(), open_store()
    with store.transaction():
        store.put_blobs("summary", {"a": b"1"})
        assert store.keys("summary") == ("a",)
        assert in_thread(lambda: store.keys("summary")) == ()
        assert other.keys("summary") == ()
    assert in_thread(lambda: store.keys("summary")) == ("a",)
    assert other.keys("summary") == ("a",)


def test_what_is_kept_in_memory_follows_every_host(open_store: Any, build: Any) -> None:
    ours, theirs = open_store(), open_store()
    assert ours.find("f") == theirs.find("f") == ()
    for number, writer in enumerate((theirs, ours, theirs)):
        node = build.function("a.py", "f", complexity=number)
        writer.apply(build.delta(build.part("a.py", [node])))
        writer.put_file_hashes({FilePath("a.py"): str(number)}, [])
        for asked in (ours, theirs):
            assert asked.find("f") == (node,)
            assert asked.file_hashes() == {"a.py": str(number)}
            assert asked.size().nodes == 1


def test_writers_of_several_threads_and_hosts_queue(open_store: Any) -> None:
    stores = [open_store(), open_store()]
    at_once([functools.partial(stores[n % 2].put_blobs, "summary", {str(n): b""}) for n in range(16)])
    assert len(stores[0].keys("summary")) == 16


def test_a_kill_in_a_transaction_leaves_the_old_state(open_store: Any, neo4j: GraphSettings) -> None:
    store = open_store()
    store.put_blobs("summary", {"old": b"1"})
    script = (
        "import sys, time\n"
        "from smp.adapters.neo4j import Neo4jGraphStore\n"
        "from smp.adapters.neo4j.database import Neo4jDatabase\n"
        "from smp.settings import GraphSettings\n"
        "store = Neo4jGraphStore(Neo4jDatabase(GraphSettings(url=sys.argv[1]), sys.argv[2]))\n"
        "with store.transaction():\n"
        "    store.put_blobs('summary', {'old': b'2', 'new': b'2'})\n"
        "    print('written', flush=True)\n"
        "    time.sleep(60)\n"
    )
    repository = store._database.repository
    child = subprocess.Popen([sys.executable, "-c", script, neo4j.url, repository], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"written\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert store.blobs("summary", ["old", "new"]) == {"old": b"1"}
    store.put_blobs("summary", {"new": b"3"})
    assert store.keys("summary") == ("new", "old")


@pytest.mark.parametrize("committed", [True, False])
def test_a_connection_that_breaks_while_it_commits_neither_loses_nor_doubles(
    open_store: Any, build: Any, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    store = open_store()
    f, g = build.function("a.py", "f"), build.function("a.py", "g")
    store.apply(build.delta(build.part("a.py", [f, g])))
    commit = Transaction.commit
    broken: list[Transaction] = []

    def breaks_once(self: Transaction) -> None:
        if not broken:
            broken.append(self)
            if committed:
                commit(self)
            raise ServiceUnavailable("the connection broke")
        commit(self)

    monkeypatch.setattr(Transaction, "commit", breaks_once)
    seen = build.edge("CALLS_RUNTIME", f, g, call_count=3)
    assert store.observe_calls([seen]) == (seen,)
    (kept,) = store.edges([f.id])
    assert (len(broken), kept.call_count) == (1, 3)
    broken.clear()
    if committed:
        with store.transaction():
            store.put_blobs("summary", {"a": b"1"})
    else:
        with pytest.raises(Unavailable), store.transaction():
            store.put_blobs("summary", {"a": b"1"})
    assert store.keys("summary") == (("a",) if committed else ())


def test_a_server_that_is_away_is_named(neo4j: GraphSettings) -> None:
    away = f"bolt://127.0.0.1:{nobody_listens()}"
    with pytest.raises(Unavailable, match=away) as caught:
        Neo4jDatabase(msgspec.structs.replace(neo4j, url=away, patience_s=0.3), "r")
    assert caught.value.data()["backend"] == "neo4j"


def test_a_newer_schema_is_refused_and_left_alone(open_store: Any) -> None:
    store = open_store()
    change = "MATCH (s:SmpSchema {name: 'smp'}) SET s.version = $version"
    store._database.write(lambda open_one: open_one.run(change, version=99).consume())
    try:
        with pytest.raises(Unavailable, match="99"):
            open_store()
    finally:
        store._database.write(lambda open_one: open_one.run(change, version=schema.SCHEMA_VERSION).consume())


def test_fifty_clients_lose_no_update(sessions: Neo4jSessionStore) -> None:
    session = sessions.insert(a_session(), AuditEvent(seq=0, at=NOW, method="open"))
    fenced: list[int] = []

    def extend() -> None:
        while True:
            read = sessions.get(session.id)
            assert read is not None
            later = msgspec.structs.replace(read, expires_at=read.expires_at + timedelta(seconds=1))
            try:
                sessions.write(later, AuditEvent(seq=0, at=NOW, method="extend"), now=NOW)
            except Fenced:
                fenced.append(1)
                continue
            return

    at_once([extend] * CLIENTS)
    last = sessions.get(session.id)
    assert last is not None
    assert (last.version, last.expires_at) == (session.version + CLIENTS, LATER + timedelta(seconds=CLIENTS))
    assert [event.seq for event in sessions.events(session.id)] == list(range(1, CLIENTS + 2))
    assert fenced


def test_of_fifty_sessions_that_want_the_same_files_one_has_them_all(sessions: Neo4jSessionStore) -> None:
    files = [FilePath(f"{name}.py") for name in "abcd"]
    opened = [
        sessions.insert(a_session(f"ses_{number:02}"), AuditEvent(seq=0, at=NOW, method="open"))
        for number in range(CLIENTS)
    ]
    lost: list[SessionId] = []

    def claim(number: int) -> None:
        one = opened[number]
        wanted = [files[(number + step) % len(files)] for step in range(len(files))]
        locks = tuple(
            Lock(file=file, session_id=one.id, agent_id=one.agent_id, acquired_at=NOW, expires_at=LATER)
            for file in wanted
        )
        try:
            sessions.write(one, None, lock=locks, now=NOW)
        except LockConflict:
            lost.append(one.id)

    at_once([functools.partial(claim, number) for number in range(CLIENTS)])
    holders = {lock.session_id for lock in sessions.locks()}
    assert (len(lost), len(holders), len(sessions.locks())) == (CLIENTS - 1, 1, len(files))
    assert holders.isdisjoint(lost)
