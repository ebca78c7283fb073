"""Trace, shortest paths, flow and why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.graph import Direction, Node
from smp.domain.queries import TraceTree
from smp.query.flow import flow
from smp.query.navigate import describe, neighbourhood
from smp.query.resolve import resolve_node
from smp.query.trace import trace
from smp.query.why import NO_PATH, readable, why

GraphOf = Callable[[str], MemoryStore]

SHOP = """
file src/api.py
function src/api.py#login params=request:Request returns=Response decorators=@app.post("/login")
file src/auth.py
function src/auth.py#check params=email:str,password returns=Token doc="Check a password."
class src/auth.py#Session
function src/auth.py#Session.__init__ params=self,token:Token
file src/db.py
function src/db.py#save
file src/cache.py
function src/cache.py#save
variable src/db.py#LIMIT
file tests/test_auth.py role=test
test tests/test_auth.py#test_check
src/api.py IMPORTS src/auth.py
src/auth.py IMPORTS src/db.py
src/auth.py IMPORTS src/cache.py
src/api.py DEFINES src/api.py#login
src/db.py DEFINES src/db.py#save
src/api.py#login CALLS_STATIC src/auth.py#check
src/auth.py#check CALLS_STATIC src/db.py#save
src/auth.py#check CALLS_STATIC src/cache.py#save
src/auth.py#check CALLS_STATIC src/auth.py#Session
src/auth.py#check CALLS_STATIC src/auth.py#Session.__init__ resolution=constructor
src/auth.py#check USES src/db.py#LIMIT
src/db.py#save CALLS_STATIC src/auth.py#check
src/cache.py#save CALLS_RUNTIME src/db.py#save count=2
src/db.py#save CALLS_UNRESOLVED ? name=run reason=dynamic
tests/test_auth.py#test_check CALLS_STATIC src/auth.py#check
"""


@pytest.fixture
def store(graph_of: GraphOf) -> MemoryStore:
    return graph_of(SHOP)


def node(store: MemoryStore, ref: str) -> Node:
    return resolve_node(store, ref, path="query")


def keys(tree: TraceTree) -> dict[str, object]:
    return {name: keys(child) for name, child in tree.branches.items()}


def test_a_trace_has_each_node_once_at_its_smallest_depth(store: MemoryStore) -> None:
    found = trace(store, node(store, "login"), relationship="CALLS", depth=5, direction=Direction.OUTGOING)
    assert [(step.id, step.depth) for step in found.nodes] == [
        ("function:src/auth.py#check", 1),
        ("class:src/auth.py#Session", 2),
        ("function:src/auth.py#Session.__init__", 2),
        ("function:src/cache.py#save", 2),
        ("function:src/db.py#save", 2),
    ]


def test_a_trace_tree_tells_siblings_of_one_name_apart_and_ends_at_cycles(store: MemoryStore) -> None:
    found = trace(store, node(store, "login"), relationship="CALLS", depth=5, direction=Direction.OUTGOING)
    assert (found.root, found.label) == ("login", "calls")
    assert keys(found.tree) == {
        "check": {
            "Session": {},
            "Session.__init__": {},
            "src/cache.py#save": {"save": {}},
            "src/db.py#save": {"check": {}},
        }
    }


def test_calls_are_static_and_observed_ones(store: MemoryStore) -> None:
    start = node(store, "src/cache.py#save")
    both = trace(store, start, relationship="CALLS", depth=1, direction=Direction.OUTGOING)
    static = trace(store, start, relationship="CALLS_STATIC", depth=1, direction=Direction.OUTGOING)
    assert ([step.name for step in both.nodes], static.nodes) == (["save"], ())


def test_incoming_traces_name_callers(store: MemoryStore) -> None:
    found = trace(store, node(store, "check"), relationship="CALLS", depth=1, direction=Direction.INCOMING)
    assert found.label == "called_by"
    assert sorted(step.name for step in found.nodes) == ["login", "save", "test_check"]


def test_unresolved_calls_are_leaves_by_name(store: MemoryStore) -> None:
    start = node(store, "src/db.py#save")
    found = trace(store, start, relationship="CALLS_UNRESOLVED", depth=2, direction=Direction.OUTGOING)
    assert (keys(found.tree), found.nodes) == ({"run": {}}, ())


def test_a_flow_passes_through_calls_with_the_types_of_each_callee(store: MemoryStore) -> None:
    found = flow(store, node(store, "login"), node(store, "src/db.py#save"), flow_type="execution")
    assert [(step.node, step.type) for step in found.path] == [
        ("login", "endpoint"),
        ("check", "function"),
        ("save", "function"),
    ]
    first = found.type_transitions[0]
    assert (first.from_node, first.to_node, first.param_types, first.return_type) == (
        "login",
        "check",
        ("str", "unknown"),
        "Token",
    )


def test_calling_a_class_hands_its_arguments_to_the_constructor(store: MemoryStore) -> None:
    found = flow(store, node(store, "check"), node(store, "Session"), flow_type="execution")
    assert [(step.param_types, step.return_type) for step in found.type_transitions] == [(("Token",), "Session")]


def test_data_also_flows_through_what_is_used(store: MemoryStore) -> None:
    start, end = node(store, "login"), node(store, "LIMIT")
    assert flow(store, start, end, flow_type="execution").path == ()
    assert [step.node for step in flow(store, start, end, flow_type="data").path] == ["login", "check", "LIMIT"]


def test_no_flow_leads_backwards_from_a_leaf(store: MemoryStore) -> None:
    assert flow(store, node(store, "Session"), node(store, "login"), flow_type="data").path == ()


def test_why_between_files_is_a_chain_of_imports(store: MemoryStore) -> None:
    source, target = node(store, "src/api.py"), node(store, "src/db.py")
    chain = why(store, source, target)
    assert [(step.source.id, step.kind.value, step.target.id) for step in chain] == [
        ("file:src/api.py", "IMPORTS", "file:src/auth.py"),
        ("file:src/auth.py", "IMPORTS", "file:src/db.py"),
    ]
    assert readable(source, target, chain) == "api.py → imports → auth.py → imports → db.py"


def test_a_file_depends_on_a_function_through_what_it_defines(store: MemoryStore) -> None:
    chain = why(store, node(store, "src/api.py"), node(store, "check"))
    assert [step.kind.value for step in chain] == ["DEFINES", "CALLS_STATIC"]


def test_a_function_depends_on_a_file_through_a_definition_in_it(store: MemoryStore) -> None:
    chain = why(store, node(store, "login"), node(store, "src/db.py"))
    assert chain[-1].target.id in {"function:src/db.py#save", "variable:src/db.py#LIMIT"}


def test_where_nothing_depends_the_answer_says_so(store: MemoryStore) -> None:
    source, target = node(store, "src/db.py"), node(store, "src/api.py")
    assert (why(store, source, target), readable(source, target, ())) == ((), NO_PATH)


def test_a_node_and_itself_need_no_chain(store: MemoryStore) -> None:
    same = node(store, "src/db.py")
    assert (why(store, same, same), readable(same, same, ())) == ((), "db.py")


def test_neighbours_go_by_qualified_name(store: MemoryStore) -> None:
    around = neighbourhood(store, node(store, "check"))
    assert around.calls == ("Session", "Session.__init__", "save")
    assert around.called_by == ("login", "save", "test_check")
    assert around.depends_on == ("LIMIT",)


def test_a_call_of_a_decorated_name_is_listed_by_that_name_alone(graph_of: GraphOf) -> None:
    store = graph_of("""
        file a.py
        function a.py#pay
        function a.py#retry.again
        function a.py#charge
        function a.py#other
        a.py#pay CALLS_STATIC a.py#charge resolution=decorated line=3
        a.py#pay CALLS_STATIC a.py#retry.again resolution=flow line=3
        a.py#pay CALLS_STATIC a.py#other resolution=flow line=4
    """)
    assert neighbourhood(store, node(store, "pay")).calls == ("charge", "other")
    assert neighbourhood(store, node(store, "retry.again")).called_by == ("pay",)


def test_the_purpose_is_the_docstring(store: MemoryStore) -> None:
    assert describe(store, node(store, "check")).purpose == "Check a password."
    assert describe(store, node(store, "login")).purpose is None
