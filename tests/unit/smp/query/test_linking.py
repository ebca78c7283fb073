"""Calls without a proved target, and observed ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.graph import Scope
from smp.query.linking import observed_calls, unresolved_calls
from smp.query.resolve import resolve_node

GraphOf = Callable[[str], MemoryStore]


@pytest.fixture
def store(graph_of: GraphOf) -> MemoryStore:
    return graph_of("""
        file src/run.py
        function src/run.py#flush
        function src/run.py#step
        file src/db.py
        function src/db.py#save
        function src/db.py#load
        file lib/x.py
        function lib/x.py#f
        src/run.py#flush CALLS_UNRESOLVED ? name=save reason=ambiguous candidates=src/db.py#save line=9
        src/run.py#flush CALLS_UNRESOLVED ? name=obj.load reason=ambiguous line=3
        src/run.py#step CALLS_UNRESOLVED ? name=table[key] reason=dynamic line=5
        src/run.py#step CALLS_UNRESOLVED ? name=json.dumps reason=external
        src/run.py#step CALLS_STATIC src/db.py#load
        src/run.py#step CALLS_RUNTIME src/db.py#load count=1 commit=abc1234
        src/run.py#step CALLS_RUNTIME src/db.py#save count=2 commit=abc1234
        src/run.py#step CALLS_RUNTIME src/db.py#save count=3 commit=def5678
        src/run.py#step CALLS_STATIC lib/x.py#f
        lib/x.py#f CALLS_UNRESOLVED ? name=g reason=not_in_imports
    """)


def test_each_reason_has_its_action(store: MemoryStore) -> None:
    found = unresolved_calls(store, Scope(kind="file", prefix="src/run.py"))
    assert [(call.to_name, call.action, call.action_target) for call in found.unresolved] == [
        ("obj.load", "annotate_type", "src/run.py"),
        ("table[key]", "trace_runtime", "src/run.py"),
        ("save", "add_import", "src/run.py"),
    ]
    assert found.unresolved[-1].candidates == ("function:src/db.py#save",)


def test_external_calls_are_counted_not_listed(store: MemoryStore) -> None:
    found = unresolved_calls(store, Scope())
    assert found.external_count == 1
    assert "json.dumps" not in {call.to_name for call in found.unresolved}


def test_the_scope_is_a_filter(store: MemoryStore) -> None:
    found = unresolved_calls(store, Scope(kind="package", prefix="lib"))
    assert [(call.file, call.reason.value) for call in found.unresolved] == [("lib/x.py", "not_in_imports")]


def test_observed_calls_add_up_over_commits(store: MemoryStore) -> None:
    found = observed_calls(store, resolve_node(store, "step", path="node_id"), commit_sha=None)
    assert [(item.node_id, item.call_count, item.was_static_unresolved) for item in found.runtime_callees] == [
        ("function:src/db.py#load", 1, False),
        ("function:src/db.py#save", 5, True),
    ]
    assert found.static_only_callees == ("function:lib/x.py#f",)
    assert found.unresolved_remaining == 0


def test_observations_of_one_commit_can_be_asked_for(store: MemoryStore) -> None:
    found = observed_calls(store, resolve_node(store, "step", path="node_id"), commit_sha="def5")
    assert [(item.node_id, item.call_count) for item in found.runtime_callees] == [("function:src/db.py#save", 3)]


def test_what_never_ran_keeps_its_open_calls(store: MemoryStore) -> None:
    found = observed_calls(store, resolve_node(store, "flush", path="node_id"), commit_sha=None)
    assert (found.runtime_callees, found.unresolved_remaining) == ((), 2)


def test_observations_are_listed_by_commit_and_what_never_ran_is_said(store: MemoryStore) -> None:
    found = observed_calls(store, resolve_node(store, "step", path="node_id"), commit_sha=None)
    assert [(run.commit_sha, run.call_count) for run in found.runtime_callees[1].runs] == [
        ("abc1234", 2),
        ("def5678", 3),
    ]
    assert found.ran
    assert not observed_calls(store, resolve_node(store, "flush", path="node_id"), commit_sha=None).ran
    assert observed_calls(store, resolve_node(store, "src/db.py#save", path="node_id"), commit_sha="abc").ran
    assert not observed_calls(store, resolve_node(store, "src/db.py#load", path="node_id"), commit_sha="def").ran


def test_a_settled_call_points_to_its_answer(store: MemoryStore) -> None:
    found = observed_calls(store, resolve_node(store, "step", path="node_id"), commit_sha=None)
    assert [(call.to_name, call.answers) for call in found.settled] == [("table[key]", ("function:src/db.py#save",))]
    listed = unresolved_calls(store, Scope(kind="file", prefix="src/run.py"))
    assert {(call.to_name, call.settled_by) for call in listed.unresolved} == {
        ("obj.load", ()),
        ("save", ()),
        ("table[key]", ("function:src/db.py#save",)),
    }


def test_a_call_without_a_name_is_answered_by_what_no_other_call_names(graph_of: GraphOf) -> None:
    store = graph_of("""
        file a.py
        function a.py#run
        function a.py#save
        function a.py#on_paid
        function a.py#known
        a.py#run CALLS_UNRESOLVED ? name=store.save reason=ambiguous line=2
        a.py#run CALLS_UNRESOLVED ? name=handler reason=dynamic line=3
        a.py#run CALLS_UNRESOLVED ? name=gone.close reason=ambiguous line=4
        a.py#run CALLS_STATIC a.py#known
        a.py#run CALLS_RUNTIME a.py#known count=1 commit=abc1234
        a.py#run CALLS_RUNTIME a.py#save count=1 commit=abc1234
        a.py#run CALLS_RUNTIME a.py#on_paid count=1 commit=abc1234
    """)
    found = observed_calls(store, resolve_node(store, "run", path="node_id"), commit_sha=None)
    assert {(call.to_name, call.answers) for call in found.settled} == {
        ("store.save", ("function:a.py#save",)),
        ("handler", ("function:a.py#on_paid",)),
    }
    assert found.unresolved_remaining == 1
