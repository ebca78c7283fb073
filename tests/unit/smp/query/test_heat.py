"""Churn times dependence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smp.adapters.memory import MemoryStore
from smp.domain.graph import Scope
from smp.domain.ids import AgentId, NodeId
from smp.domain.telemetry import NodeChange
from smp.query.heat import heat_of, heat_score, hot_nodes, stability, window_start

GraphOf = Callable[[str], MemoryStore]
SINCE = "2026-01-01T00:00:00.000000Z"
F, G = NodeId("function:a.py#f"), NodeId("function:lib/b.py#g")


@pytest.fixture
def store(graph_of: GraphOf) -> MemoryStore:
    store = graph_of("""
        file a.py
        function a.py#f
        file lib/b.py
        function lib/b.py#g
        test lib/b.py#t
        lib/b.py#g CALLS_STATIC a.py#f
        lib/b.py#g CALLS_RUNTIME a.py#f count=4
        lib/b.py#t CALLS_STATIC a.py#f
        a.py#f CALLS_STATIC a.py#f
        a.py#f CALLS_STATIC lib/b.py#g
    """)
    store.record(
        [
            NodeChange(node_id=F, event="modified", at="2025-12-01T00:00:00Z"),
            NodeChange(node_id=F, event="modified", at="2026-01-02T00:00:00Z"),
            NodeChange(node_id=F, event="modified", at="2026-01-03T00:00:00Z", agent=AgentId("coder")),
            NodeChange(node_id=G, event="modified", at="2026-01-02T00:00:00Z"),
        ]
    )
    return store


@given(changes=st.integers(0, 10**9), callers=st.integers(0, 10**9))
def test_heat_stays_between_0_and_100(changes: int, callers: int) -> None:
    assert 0 <= heat_score(changes, callers) <= 100


def test_callers_are_distinct_nodes_tests_included_itself_excluded(store: MemoryStore) -> None:
    assert heat_of(store, store, [F, G], since=SINCE) == {F: 4, G: 1}


def test_hot_nodes_reach_both_limits_hottest_first(store: MemoryStore) -> None:
    found = hot_nodes(store, store, scope=Scope(), since=SINCE, min_changes=1, min_callers=1)
    assert [(heat.node_id, heat.changes_in_window, heat.caller_count, heat.heat_score) for heat in found] == [
        (F, 2, 2, 4),
        (G, 1, 1, 1),
    ]
    assert (found[0].last_changed_by, found[0].last_changed_at) == ("coder", "2026-01-03T00:00:00Z")
    assert hot_nodes(store, store, scope=Scope(), since=SINCE, min_changes=3, min_callers=0) == ()
    assert hot_nodes(store, store, scope=Scope(), since=SINCE, min_changes=0, min_callers=3) == ()


def test_the_scope_is_a_filter(store: MemoryStore) -> None:
    scope = Scope(kind="package", prefix="lib")
    found = hot_nodes(store, store, scope=scope, since=SINCE, min_changes=0, min_callers=0)
    assert [heat.node_id for heat in found] == [G]


def test_a_window_ends_now() -> None:
    assert window_start(datetime(2026, 1, 31, tzinfo=UTC), 30) == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(("changes", "word"), [(0, "stable"), (2, "stable"), (3, "moderate"), (10, "unstable")])
def test_stability_falls_with_changes(changes: int, word: str) -> None:
    assert stability(changes) == word
