"""Frames that ran find their nodes: by name and line, through lambdas, classes and several definitions of one name."""

from __future__ import annotations

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.graph import GraphDelta, GraphPart, Node, NodeKind, Owner
from smp.domain.ids import CommitSha, FilePath, NodeId, SandboxId, mint_node_id
from smp.domain.traces import CallObservation, Frame, Trace
from smp.indexing.link_runtime import LinkedTrace, link_trace

FILE = "src/a.py"


def node(kind: NodeKind, qualname: str, start: int, end: int) -> Node:
    return Node(
        id=mint_node_id(kind.value.lower(), FILE, qualname),
        kind=kind,
        name=qualname.rpartition(".")[2],
        qualname=qualname,
        file=FilePath(FILE),
        start_line=start,
        end_line=end,
    )


NODES = (
    Node(id=NodeId(f"file:{FILE}"), kind=NodeKind.FILE, name="a.py", qualname=FILE, file=FilePath(FILE)),
    node(NodeKind.FUNCTION, "outer", 1, 10),
    node(NodeKind.FUNCTION, "outer.inner", 3, 5),
    node(NodeKind.CLASS, "Cart", 20, 40),
    node(NodeKind.FUNCTION, "Cart.total", 22, 25),
    node(NodeKind.FUNCTION, "Cart.total~2", 27, 30),
    node(NodeKind.CLASS, "outer.Local", 7, 9),
    node(NodeKind.TEST, "test_it", 50, 55),
)


@pytest.fixture
def graph() -> MemoryStore:
    store = MemoryStore()
    store.apply(GraphDelta(parts=(GraphPart(owner=Owner(FILE), nodes=NODES, edges=()),)))
    return store


def frame(qualname: str, line: int = 1, file: str = FILE) -> Frame:
    return Frame(file=file, qualname=qualname, first_line=line)


def link(graph: MemoryStore, *calls: tuple[Frame, Frame, int]) -> LinkedTrace:
    trace = Trace(
        tracer="monitoring", calls=tuple(CallObservation(caller=one, callee=two, count=n) for one, two, n in calls)
    )
    return link_trace(
        trace, graph, sandbox_id=SandboxId("box_1"), commit_sha=CommitSha("c" * 40), first_seen="2026-01-01T00:00:00Z"
    )


def ends(linked: LinkedTrace) -> list[tuple[str, str, int]]:
    short = [(edge.source, edge.target or "", edge.call_count) for edge in linked.edges]
    return [(one.replace(FILE, "a"), two.replace(FILE, "a"), count) for one, two, count in short]


def test_locals_are_left_out_of_names_and_modules_are_the_file(graph: MemoryStore) -> None:
    linked = link(
        graph,
        (frame("<module>"), frame("outer"), 1),
        (frame("outer"), frame("outer.<locals>.inner", 3), 4),
        (frame("test_it", 50), frame("Cart.total", 22), 2),
    )
    assert ends(linked) == [
        ("file:a", "function:a#outer", 1),
        ("function:a#outer", "function:a#outer.inner", 4),
        ("test:a#test_it", "function:a#Cart.total", 2),
    ]
    assert linked.unresolved == ()


def test_an_edge_says_where_and_when_it_was_seen(graph: MemoryStore) -> None:
    (edge,) = link(graph, (frame("outer"), frame("outer"), 3)).edges
    assert (edge.sandbox_id, edge.commit_sha, edge.first_seen) == ("box_1", "c" * 40, "2026-01-01T00:00:00Z")


def test_several_definitions_of_a_name_are_told_apart_by_line(graph: MemoryStore) -> None:
    first = link(graph, (frame("outer"), frame("Cart.total", 22), 1))
    second = link(graph, (frame("outer"), frame("Cart.total", 27), 1))
    neither = link(graph, (frame("outer"), frame("Cart.total", 23), 1))
    assert ends(first) == [("function:a#outer", "function:a#Cart.total", 1)]
    assert ends(second) == [("function:a#outer", "function:a#Cart.total~2", 1)]
    assert (neither.edges, neither.unresolved) == ((), (frame("Cart.total", 23),))


def test_a_moved_function_is_found_by_its_name(graph: MemoryStore) -> None:
    linked = link(graph, (frame("outer", 101), frame("outer.<locals>.inner", 103), 1))
    assert ends(linked) == [("function:a#outer", "function:a#outer.inner", 1)]


@pytest.mark.parametrize(
    ("caller", "expected"),
    [
        (frame("outer.<locals>.<lambda>", 2), "function:a#outer"),
        (frame("outer.<locals>.inner.<locals>.<listcomp>", 4), "function:a#outer.inner"),
        (frame("outer.<locals>.<lambda>.<locals>.<genexpr>", 2), "function:a#outer"),
        (frame("<lambda>", 60), "file:a"),
        (frame("<genexpr>", 2), "file:a"),  # a default value or decorator: evaluated in the module
        (frame("Cart", 20), "file:a"),
        (frame("Cart.<lambda>", 21), "file:a"),
        (frame("outer.<locals>.Local", 7), "function:a#outer"),
    ],
)
def test_unnamed_code_and_class_bodies_belong_to_what_is_around(
    graph: MemoryStore, caller: Frame, expected: str
) -> None:
    assert ends(link(graph, (caller, frame("test_it", 50), 1))) == [(expected, "test:a#test_it", 1)]


def test_calls_from_several_frames_of_one_node_add_up(graph: MemoryStore) -> None:
    linked = link(
        graph,
        (frame("outer"), frame("test_it", 50), 2),
        (frame("outer.<locals>.<lambda>", 2), frame("test_it", 50), 3),
    )
    assert ends(linked) == [("function:a#outer", "test:a#test_it", 5)]


def test_a_call_of_unnamed_code_or_of_a_class_body_is_no_edge(graph: MemoryStore) -> None:
    linked = link(
        graph, (frame("outer"), frame("outer.<locals>.<lambda>", 2), 1), (frame("<module>"), frame("Cart", 20), 1)
    )
    assert linked.edges == ()


def test_bare_names_of_old_interpreters_are_found_by_line(graph: MemoryStore) -> None:
    linked = link(
        graph,
        (frame("?.inner", 3), frame("?.total", 27), 1),
        (frame("?.<lambda>", 4), frame("?.test_it", 50), 1),
        (frame("?.total", 99), frame("?.test_it", 50), 1),
    )
    assert ends(linked) == [
        ("function:a#outer.inner", "function:a#Cart.total~2", 1),
        ("function:a#outer.inner", "test:a#test_it", 1),
    ]
    assert linked.unresolved == (frame("?.total", 99),)


def test_a_bare_name_is_found_around_its_line_when_no_definition_begins_there(graph: MemoryStore) -> None:
    linked = link(
        graph,
        (frame("?.inner", 4), frame("?.total", 29), 1),
        (frame("?.<anonymous>", 52), frame("?.outer", 2), 1),
        (frame("?.inner", 6), frame("?.total", 26), 1),
    )
    assert ends(linked) == [
        ("function:a#outer.inner", "function:a#Cart.total~2", 1),
        ("test:a#test_it", "function:a#outer", 1),
    ]
    assert linked.unresolved == (frame("?.inner", 6), frame("?.total", 26))


def test_what_the_graph_does_not_know_is_counted_and_never_guessed(graph: MemoryStore) -> None:
    linked = link(
        graph,
        (frame("outer"), frame("total", 1, "src/b.py"), 1),
        (frame("outer"), frame("inner", 3), 1),
        (frame("<module>", 1, "src/b.py"), frame("outer"), 1),
    )
    assert linked.edges == ()
    assert [(one.file, one.qualname) for one in linked.unresolved] == [
        (FILE, "inner"),
        ("src/b.py", "<module>"),
        ("src/b.py", "total"),
    ]
