"""Vectors fill in: resumable, progress told, one model at a time, and in a thread that nobody waits for."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from smp.domain.errors import Unavailable
from smp.indexing import fill, follow
from smp.indexing.fill import BATCH, Embedding

MANY = "".join(f"def alpha{chr(97 + n % 26)}{chr(97 + n // 26)}:\n" for n in range(2 * BATCH + 5))


def embedding(bench: Any) -> Embedding:
    found: Embedding = bench.indexer.ready_to_search().embedding
    return found


@pytest.fixture
def large(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A repository beyond the bound up to which everything is made before the first search."""
    for module in (fill, follow):
        monkeypatch.setattr(module, "SMALL", 3)
    bench.write(a_py=MANY)
    bench.indexer.refresh()
    return bench


def test_a_small_repository_is_embedded_whole_before_the_first_search(bench: Any) -> None:
    bench.write(a_py="def alpha:\ndef beta:\n")
    bench.indexer.refresh()
    assert embedding(bench) == Embedding(embedded=3, total=3)


def test_a_large_one_is_searched_at_once_and_says_how_far_vectors_have_come(large: Any) -> None:
    total = 2 * BATCH + 6
    assert embedding(large) == Embedding(embedded=0, total=total)
    assert large.embedder.embedded == []
    large.indexer.ensure_embedded()
    assert embedding(large) == Embedding(embedded=total, total=total)


def test_what_was_embedded_before_a_stop_is_not_embedded_again(large: Any) -> None:
    stop, told = threading.Event(), []

    def progress(stage: str, done: int, total: int) -> None:
        told.append((stage, done, total))
        stop.set()

    followers = large.indexer._followers
    followers.embed(progress, stop=stop)
    assert told == [("embed", BATCH, 2 * BATCH + 6)]
    assert embedding(large).embedded == BATCH
    first = set(large.embedder.embedded)
    large.embedder.embedded.clear()
    _, other_process = large.another_process()
    other_process.ensure_embedded()
    assert len(large.embedder.embedded) == BATCH + 6
    assert first.isdisjoint(large.embedder.embedded)


def test_an_edit_makes_vectors_incomplete_until_they_are_visited_again(large: Any) -> None:
    large.indexer.ensure_embedded()
    large.write(a_py=MANY + "def omega:\n")
    large.indexer.ensure_fresh()
    state = embedding(large)
    assert (state.embedded, state.total) == (2 * BATCH + 6, 2 * BATCH + 7)


def test_vectors_of_another_model_go_before_the_first_new_one_comes(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write(a_py="def alpha:\n")
    bench.indexer.refresh()
    bench.indexer.ensure_embedded()
    before = bench.vectors.hashes("nodes")
    monkeypatch.setattr(type(bench.embedder), "model", property(lambda self: "letters/2"))
    bench.indexer.ensure_embedded()
    after = bench.vectors.hashes("nodes")
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())


def test_a_thread_fills_in_while_nobody_asks_and_follows_changes(large: Any) -> None:
    done = threading.Semaphore(0)
    original = large.indexer._followers.embed

    def embed(*arguments: Any, **options: Any) -> None:
        original(*arguments, **options)
        done.release()

    large.indexer._followers.embed = embed
    with large.indexer.keeping_up():
        assert done.acquire(timeout=60)
        assert embedding(large).embedded == 2 * BATCH + 6
        large.write(a_py=MANY + "def omega:\n")
        large.indexer.ensure_fresh()
        assert done.acquire(timeout=60)
    assert large.indexer.ready_to_search().embedding.embedded == 2 * BATCH + 7
    assert "omega" in large.embedder.embedded


def test_an_embedder_that_fails_does_not_end_the_thread(large: Any) -> None:
    asked = threading.Semaphore(0)
    embed = large.embedder.embed

    def failing(texts: Any, progress: Any = None) -> Any:
        asked.release()
        raise Unavailable("the endpoint is down; start it", backend="embedder")

    recovered = threading.Semaphore(0)

    def working(texts: Any, progress: Any = None) -> Any:
        recovered.release()
        return embed(texts, progress)

    large.embedder.embed = failing
    with large.indexer.keeping_up():
        assert asked.acquire(timeout=60)
        large.embedder.embed = working
        large.write(a_py=MANY + "def omega:\n")
        large.indexer.ensure_fresh()
        assert recovered.acquire(timeout=60)
