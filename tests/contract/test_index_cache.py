"""What every index cache must do, transactions above all."""

from __future__ import annotations

from typing import Any

import pytest

from smp.domain.graph import Scope
from smp.domain.metadata import Enrichment
from smp.domain.telemetry import NodeChange


def test_hashes_are_recorded_replaced_and_removed(store: Any) -> None:
    store.put_file_hashes({"b.py": "2", "a.py": "1"}, [])
    store.put_file_hashes({"a.py": "3"}, ["b.py", "unknown.py"])
    assert store.file_hashes() == {"a.py": "3"}


def test_blobs_are_kept_apart_by_kind(store: Any) -> None:
    store.put_blobs("summary", {"b": b"\x00\xff", "a": b""})
    store.put_blobs("facts", {"a": b"other"})
    assert store.blobs("summary", ["a", "b", "c"]) == {"a": b"", "b": b"\x00\xff"}
    assert store.keys("summary") == ("a", "b")
    store.put_blobs("summary", {"a": b"new"})
    store.drop_blobs("summary", ["b", "never"])
    assert store.blobs("summary", ["a", "b"]) == {"a": b"new"}
    assert store.blobs("facts", ["a"]) == {"a": b"other"}
    assert store.keys("nothing") == ()


def test_a_transaction_that_fails_leaves_nothing_behind_in_any_store(store: Any, build: Any) -> None:
    node = build.function("a.py", "f")

    def fail() -> None:
        store.apply(build.delta(build.part("a.py", [node])))
        store.put_enrichments({node.id: Enrichment(tags=("x",))})
        store.put_file_hashes({"a.py": "1"}, [])
        store.put_blobs("summary", {"a": b"1"})
        store.record([NodeChange(node_id=node.id, event="created", at="2026-01-01T00:00:00Z")])
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"), store.transaction():
        fail()
    assert list(store.scan(Scope())) == []
    assert store.file_hashes() == {}
    assert store.keys("summary") == ()
    assert store.history(node.id, since="") == ()


def test_a_transaction_sees_its_own_writes_and_inner_ones_join(store: Any, build: Any) -> None:
    node = build.function("a.py", "f")
    with store.transaction():
        store.apply(build.delta(build.part("a.py", [node])))
        with store.transaction():
            store.put_enrichments({node.id: Enrichment(tags=("x",))})
        assert store.nodes([node.id]) == (node,)
        assert store.enrichments([node.id])[node.id].tags == ("x",)
    assert store.nodes([node.id]) == (node,)


def test_an_outer_failure_undoes_inner_transactions(store: Any) -> None:
    def fail() -> None:
        with store.transaction():
            store.put_blobs("summary", {"a": b"1"})
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"), store.transaction():
        fail()
    assert store.keys("summary") == ()
