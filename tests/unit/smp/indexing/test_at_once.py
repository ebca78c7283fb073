"""A question that must not wait is answered only while the index is that of the tree and nobody indexes."""

from __future__ import annotations

import threading

from smp.adapters.sources_git import GitSourceTree
from smp.indexing.freshness import IndexFreshness, at_once
from smp.settings import load_settings
from tests.unit.smp.indexing.conftest import Workbench

INDEXED = {"a_py": "def f:\n  g()\n", "b_py": "def g:\n"}


def test_possible_while_the_index_is_that_of_the_tree(bench: Workbench) -> None:
    bench.write(**INDEXED)
    with bench.indexer.answering_at_once() as possible:
        assert not possible  # nothing is indexed
    bench.indexer.ensure_fresh()
    with bench.indexer.answering_at_once() as possible:
        assert possible


def test_an_edit_and_a_commit_are_seen(bench: Workbench) -> None:
    bench.write(**INDEXED)
    bench.commit()
    bench.indexer.ensure_fresh()
    bench.write(a_py="def f:\n")
    with bench.indexer.answering_at_once() as possible:
        assert not possible
        bench.indexer.ensure_fresh()  # does what it always does
    assert bench.store.find("f")[0].end_line == 1
    bench.commit()
    with bench.indexer.answering_at_once() as possible:
        assert not possible


def test_answers_are_dated_as_others_are(bench: Workbench) -> None:
    bench.write(**INDEXED)
    bench.commit()
    bench.write(b_py="def g:\n  f()\n")
    bench.indexer.ensure_fresh()
    bench.indexer.begin_answer()
    usual = bench.indexer.freshness()
    assert usual.dirty == ("b.py",)
    for _ in range(2):
        with bench.indexer.answering_at_once() as possible:
            assert possible
            bench.indexer.ensure_fresh()
            assert bench.indexer.freshness() == usual
    bench.commit()
    bench.indexer.ensure_fresh()
    with bench.indexer.answering_at_once() as possible:
        assert possible
        assert (bench.indexer.freshness().dirty, bench.indexer.freshness().commit_sha) != (
            usual.dirty,
            usual.commit_sha,
        )


def test_changes_by_another_process_are_seen_by_the_next_question(bench: Workbench) -> None:
    bench.write(**INDEXED)
    bench.indexer.ensure_fresh()
    _, other = bench.another_process()
    with bench.indexer.answering_at_once():
        assert bench.store.find("h") == ()
    bench.write(a_py="def h:\n")
    other.ensure_fresh()
    with bench.indexer.answering_at_once() as possible:
        assert possible
        assert [node.id for node in bench.store.find("h")] == ["function:a.py#h"]


def test_whoever_indexes_is_not_waited_for(bench: Workbench) -> None:
    bench.write(**INDEXED)
    bench.indexer.ensure_fresh()
    lock, held, done = threading.RLock(), threading.Event(), threading.Event()

    def indexing() -> None:
        with lock:
            held.set()
            done.wait(30)

    thread = threading.Thread(target=indexing)
    thread.start()
    held.wait(30)
    try:
        freshness = IndexFreshness(bench.store, GitSourceTree(load_settings(bench.root, environ={})))
        with at_once(lock, bench.store, freshness, 1) as possible:
            assert not possible
    finally:
        done.set()
        thread.join()
