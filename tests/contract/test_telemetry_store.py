"""What every telemetry store must do."""

from __future__ import annotations

from typing import Any

import pytest

from smp.domain.graph import Scope
from smp.domain.telemetry import NodeChange


def change(node: Any, day: int, event: str = "modified", agent: Any = None) -> NodeChange:
    return NodeChange(node_id=node.id, event=event, at=f"2026-01-{day:02}T00:00:00.000000Z", agent=agent)


@pytest.fixture
def nodes(store: Any, build: Any) -> Any:
    f, g = build.function("lib/a.py", "f"), build.function("app.py", "g")
    store.apply(build.delta(build.part("lib/a.py", [f]), build.part("app.py", [g])))
    return f, g


def test_history_is_newest_first_and_bounded(store: Any, nodes: Any) -> None:
    f, g = nodes
    store.record([change(f, 1, "created"), change(f, 3, agent="ann"), change(g, 2)])
    assert store.history(f.id, since="2026-01-01") == (change(f, 3, agent="ann"), change(f, 1, "created"))
    assert store.history(f.id, since="2026-01-02") == (change(f, 3, agent="ann"),)


def test_an_equal_change_is_recorded_once(store: Any, nodes: Any) -> None:
    f, _ = nodes
    store.record([change(f, 1), change(f, 1)])
    store.record([change(f, 1), change(f, 1, "deleted")])
    assert len(store.history(f.id, since="")) == 2


def test_counts_hold_the_changed_nodes_of_a_scope_in_the_window(store: Any, nodes: Any) -> None:
    f, g = nodes
    store.record([change(f, 1), change(f, 5), change(g, 5)])
    assert store.counts(Scope(), since="2026-01-02") == {f.id: 1, g.id: 1}
    assert store.counts_of([f.id], since="2026-01-02") == {f.id: 1}
    assert store.counts_of([g.id, f.id, g.id], since="") == store.counts(Scope(), since="")
    assert store.counts(Scope(kind="package", prefix="lib"), since="") == {f.id: 2}
    assert store.counts(Scope(kind="file", prefix="app.py"), since="2026-01-06") == {}


def test_nodes_that_are_gone_are_not_counted_but_keep_their_history(store: Any, build: Any, nodes: Any) -> None:
    f, _ = nodes
    store.record([change(f, 1)])
    store.apply(build.delta(removed=("lib/a.py",)))
    assert store.counts(Scope(), since="") == {}
    assert store.history(f.id, since="") == (change(f, 1),)


def test_last_is_the_newest_change_of_each(store: Any, nodes: Any) -> None:
    f, g = nodes
    store.record([change(f, 1), change(f, 7, agent="bob"), change(f, 3)])
    assert store.last([f.id, g.id]) == {f.id: change(f, 7, agent="bob")}
