"""What the SQLite store keeps in memory is that of the last commit, whoever made it: threads, processes, transactions."""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smp.adapters.graph_sqlite import SqliteGraphStore, held
from smp.domain.graph import Direction, EdgeKind, NodeKind, Scope, Scores
from smp.settings import load_settings

CALLS = (EdgeKind.CALLS_STATIC,)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[SqliteGraphStore, SqliteGraphStore]]:
    """Two stores on one file, as two processes have them."""
    opened = [SqliteGraphStore(load_settings(tmp_path, environ={})) for _ in range(2)]
    yield opened[0], opened[1]
    for store in opened:
        store.close()


def everything(store: Any, ids: Any, kind: NodeKind = NodeKind.FUNCTION) -> Any:
    """All that is held, as questions get it."""
    return (
        store.nodes(ids),
        tuple(store.scan(Scope(), (kind,))),
        store.walk(ids[:1], hops=2, kinds=CALLS, direction=Direction.BOTH),
        store.links(ids, CALLS),
        store.scores(ids),
    )


def in_thread(function: Callable[[], Any]) -> Any:
    answer: list[Any] = []
    thread = threading.Thread(target=lambda: answer.append(function()))
    thread.start()
    thread.join(30)
    return answer[0]


def graph(build: Any, *signatures: str) -> Any:
    """Functions f0 … in one file, each calling the next; their signatures tell the versions apart."""
    nodes = [build.function("a.py", f"f{n}", signature=text) for n, text in enumerate(signatures)]
    return nodes, build.delta(build.part("a.py", nodes, [build.calls(a, b) for a, b in itertools.pairwise(nodes)]))


def test_a_change_by_another_process_or_thread_is_seen_by_the_next_question(two: Any, build: Any) -> None:
    ours, theirs = two
    drawn = random.Random(3)
    ids = [node.id for node in graph(build, *"abcd")[0]]
    for number in range(12):
        nodes, delta = graph(build, *(f"{number}.{n}" for n in range(drawn.randrange(1, 5))))
        writer = drawn.choice([ours, theirs])
        write = functools.partial(writer.apply, delta)
        in_thread(write) if drawn.random() < 0.5 else write()
        writer.put_scores({node.id: Scores(pagerank=number) for node in nodes})
        for asked in (ours, theirs):
            seen = everything(asked, ids)
            assert seen == in_thread(functools.partial(everything, asked, ids)) == everything(asked, ids)
            assert seen[0] == seen[1] == tuple(nodes)
            assert seen[3] == tuple((a.id, b.id) for a, b in itertools.pairwise(nodes))
            assert {score.pagerank for score in seen[4].values()} == {number}


def test_what_a_transaction_has_written_is_seen_by_its_own_thread_alone_and_gone_with_it(two: Any, build: Any) -> None:
    store, _ = two
    nodes, delta = graph(build, "old")
    store.apply(delta)
    ids = [nodes[0].id]
    with contextlib.suppress(RuntimeError), store.transaction():
        store.apply(graph(build, "new")[1])
        assert store.nodes(ids)[0].signature == "new"
        assert in_thread(lambda: store.nodes(ids))[0].signature == "old"
        raise RuntimeError
    assert store.nodes(ids)[0].signature == "old"
    assert in_thread(lambda: store.nodes(ids))[0].signature == "old"


def test_what_is_read_behind_a_change_while_a_scan_goes_on_is_not_kept(two: Any, build: Any) -> None:
    """A scan sees the file as it was when it began, and so does what its thread asks meanwhile."""
    store, other = two
    nodes, delta = graph(build, "old", "old")
    store.apply(delta)
    ids = [node.id for node in nodes]
    scan = store.scan(Scope(kind="package", prefix=""), (NodeKind.FUNCTION,))
    next(scan)
    other.apply(graph(build, "new", "new")[1])
    in_thread(lambda: store.nodes(ids))
    store.nodes(ids)
    list(scan)
    assert {node.signature for node in store.nodes(ids)} == {"new"}
    assert {node.signature for node in in_thread(lambda: store.nodes(ids))} == {"new"}


def test_an_unchanged_graph_is_read_once(two: Any, build: Any) -> None:
    store, _ = two
    nodes, delta = graph(build, *"abc")
    store.apply(delta)
    ids = [node.id for node in nodes]
    first = everything(store, ids)
    again = everything(store, ids)
    assert [id(node) for node in first[0]] == [id(node) for node in again[0]]
    assert first == again


def test_what_is_held_is_bounded(two: Any, build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store, other = two
    for name, bound in (("MOST_NODES", 2), ("MOST_NEIGHBOURS", 3), ("SMALL_SCAN", 1)):
        monkeypatch.setattr(held, name, bound)
    monkeypatch.setattr("smp.adapters.graph_sqlite.graph.SMALL_SCAN", 1)
    nodes, delta = graph(build, *"abcdefgh")
    store.apply(delta)
    for node in nodes:
        assert everything(store, [node.id]) == everything(other, [node.id])
        assert len(store._last.nodes) <= 2 + 4  # the bound, and what the last question has brought
        assert not store._last.scans


def test_links_are_the_edges_between_these_nodes(store: Any, build: Any) -> None:
    f, g, h = (build.function("a.py", name) for name in "fgh")
    edges = [build.calls(f, g), build.calls(g, h), build.calls(h, h), build.edge("DEFINES", f, h)]
    store.apply(build.delta(build.part("a.py", [f, g, h], edges)))
    assert store.links([f.id, h.id], CALLS) == ((h.id, h.id),)
    assert store.links([g.id, f.id, h.id], CALLS) == ((f.id, g.id), (g.id, h.id), (h.id, h.id))
    assert store.links([f.id, h.id], (*CALLS, EdgeKind.DEFINES)) == ((f.id, h.id), (h.id, h.id))
    assert store.links([], CALLS) == ()


def test_names_blobs_and_keys_follow_every_change(two: Any, build: Any) -> None:
    ours, theirs = two
    assert ours.find("f0") == ours.find("a.py#f0") == ()
    assert (ours.blobs("meta", ["x"]), ours.keys("meta")) == ({}, ())
    for number, writer in enumerate((theirs, ours, theirs)):
        nodes, delta = graph(build, str(number))
        writer.apply(delta)
        writer.put_blobs("meta", {"x": b"%d" % number, "large": b"." * 5_000, str(number): b""})
        for asked in (ours, theirs):
            assert asked.find("f0") == asked.find("a.py#f0") == asked.find(nodes[0].id) == tuple(nodes)
            assert asked.blobs("meta", ["x", "large", "none"]) == {"large": b"." * 5_000, "x": b"%d" % number}
            assert asked.blobs("meta", ["x"]) == {"x": b"%d" % number}
            assert asked.keys("meta") == (*map(str, range(number + 1)), "large", "x")
    ours.drop_blobs("meta", ["x"])
    assert theirs.blobs("meta", ["x"]) == ours.blobs("meta", ["x"]) == {}
    with ours.transaction():
        ours.put_blobs("meta", {"x": b"inside"})
        assert ours.blobs("meta", ["x"]) == {"x": b"inside"}
        assert theirs.blobs("meta", ["x"]) == in_thread(lambda: ours.blobs("meta", ["x"])) == {}
    assert theirs.blobs("meta", ["x"]) == ours.blobs("meta", ["x"]) == {"x": b"inside"}
