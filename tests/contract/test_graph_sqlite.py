"""What only the SQLite store promises: threads, processes, kills, versions."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from smp.adapters.graph_sqlite import SqliteGraphStore
from smp.domain.errors import Unavailable
from smp.domain.graph import Scope
from smp.domain.metadata import Enrichment
from smp.ports.metadata_store import TextQuery
from smp.settings import load_settings


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[[], SqliteGraphStore]]:
    opened: list[SqliteGraphStore] = []

    def open_one() -> SqliteGraphStore:
        opened.append(SqliteGraphStore(load_settings(tmp_path, environ={})))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


def in_thread(function: Callable[[], Any]) -> Any:
    answer: list[Any] = []
    thread = threading.Thread(target=lambda: answer.append(function()))
    thread.start()
    thread.join(30)
    return answer[0] if answer else None


def test_other_threads_and_processes_see_a_transaction_only_when_it_has_ended(open_store: Any) -> None:
    store, other = open_store(), open_store()
    with store.transaction():
        store.put_blobs("summary", {"a": b"1"})
        assert in_thread(lambda: store.keys("summary")) == ()
        assert other.keys("summary") == ()
    assert in_thread(lambda: store.keys("summary")) == ("a",)
    assert other.keys("summary") == ("a",)


def test_writers_of_several_threads_queue(open_store: Any) -> None:
    store = open_store()
    threads = [threading.Thread(target=lambda n=n: store.put_blobs("summary", {str(n): b""})) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(store.keys("summary")) == 16


def test_reading_goes_on_while_a_scan_is_open(open_store: Any, build: Any) -> None:
    store = open_store()
    store.apply(build.delta(build.part("a.py", [build.function("a.py", name) for name in "abc"])))
    scan = store.scan(Scope())
    first = next(scan)
    store.apply(build.delta(removed=("a.py",)))
    assert [first.name, *(node.name for node in scan)] == ["a", "b", "c"]
    assert list(store.scan(Scope())) == []


def test_a_kill_in_a_transaction_leaves_the_old_state(open_store: Any, build: Any, tmp_path: Path) -> None:
    store = open_store()
    store.put_blobs("summary", {"old": b"1"})
    script = (
        "import sys, pathlib, time\n"
        "from smp.adapters.graph_sqlite import SqliteGraphStore\n"
        "from smp.settings import load_settings\n"
        "store = SqliteGraphStore(load_settings(pathlib.Path(sys.argv[1]), environ={}))\n"
        "with store.transaction():\n"
        "    store.put_blobs('summary', {'old': b'2', 'new': b'2'})\n"
        "    store.put_file_hashes({'a.py': '1'}, [])\n"
        "    print('written', flush=True)\n"
        "    time.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"written\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert store.blobs("summary", ["old", "new"]) == {"old": b"1"}
    assert store.file_hashes() == {}
    store.put_blobs("summary", {"new": b"3"})
    assert store.keys("summary") == ("new", "old")


def test_everything_is_there_after_reopening(open_store: Any, build: Any) -> None:
    first = open_store()
    f, g = build.function("a.py", "f"), build.function("a.py", "g")
    first.apply(build.delta(build.part("a.py", [f, g], [build.calls(f, g)])))
    first.close()
    assert open_store().edges([f.id]) == (build.calls(f, g),)


def test_a_file_of_another_schema_is_refused_and_left_alone(open_store: Any, tmp_path: Path) -> None:
    open_store().close()
    file = tmp_path / ".smp" / "graph.db"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(Unavailable, match="99"):
        open_store()


def test_a_damaged_file_is_reported_with_the_way_out(open_store: Any, tmp_path: Path) -> None:
    (tmp_path / ".smp").mkdir()
    (tmp_path / ".smp" / "graph.db").write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(Unavailable, match="move the file away"):
        open_store()


def test_the_state_folder_ignores_itself(open_store: Any, tmp_path: Path) -> None:
    open_store()
    assert (tmp_path / ".smp" / ".gitignore").read_text() == "*\n"


def test_a_data_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="--data-dir"):
        SqliteGraphStore(load_settings(tmp_path, data_dir=tmp_path / "file" / "data", environ={}))


def test_a_closed_store_says_so(open_store: Any) -> None:
    store = open_store()
    store.close()
    with pytest.raises(Unavailable):
        store.file_hashes()
    with pytest.raises(Unavailable):
        in_thread_raising(store.file_hashes)


def in_thread_raising(function: Callable[[], Any]) -> None:
    caught: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except Unavailable as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    if caught:
        raise caught[0]


def test_more_ids_than_one_statement_takes(open_store: Any, build: Any) -> None:
    store = open_store()
    nodes = [build.function("a.py", f"f{n}") for n in range(40_000)]
    store.apply(build.delta(build.part("a.py", nodes)))
    assert len(store.nodes(node.id for node in nodes)) == 40_000
    assert store.apply(build.delta(removed=("a.py",))).nodes_removed == 40_000


def test_words_of_an_older_schema_are_filled_in_by_the_next_write_of_the_same_nodes(
    open_store: Any, tmp_path: Path, build: Any
) -> None:
    node = build.function("pay.py", "pay")
    part = msgspec.structs.replace(build.part("pay.py", [node]), bodies={node.id: "gateway charge"})
    store = open_store()
    store.apply(build.delta(part))
    store.put_enrichments({node.id: Enrichment(description="Asks for money.", manually_set=True)})
    store.close()
    with sqlite3.connect(tmp_path / ".smp" / "graph.db") as raw:
        raw.execute("DROP TABLE words_known")
        raw.execute("DROP TABLE words")
        raw.execute("CREATE VIRTUAL TABLE words USING fts5 (docstring, description, tags, code)")
        raw.execute("PRAGMA user_version = 1")
    raw.close()
    store = open_store()
    store.apply(build.delta(part))
    query = TextQuery(text="charge money", fields=("body", "description"))
    assert [match.node.id for match in store.search(query).matches] == [node.id]
