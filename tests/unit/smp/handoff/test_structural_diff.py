"""What counts as added, modified, removed, or called differently."""

from __future__ import annotations

from smp.domain.graph import Edge, EdgeKind, UnresolvedReason
from smp.domain.ids import FilePath, NodeId
from smp.handoff.structural_diff import StructuralDiff, diff_definitions, diff_previews
from smp.indexing.reports import GraphPreview

BEFORE = b"""def net(cents):
    free = cents // 10
    return cents - free


class Cart:
    size = 1

    def add(self, line):
        return line

    def gone(self):
        return 1
"""


def diff(after: bytes | None) -> StructuralDiff:
    path = FilePath("src/prices.py")
    return diff_definitions({path: BEFORE}, {} if after is None else {path: after})


def test_a_change_inside_a_function_modifies_that_function_alone() -> None:
    assert diff(BEFORE.replace(b"free", b"gratis")) == StructuralDiff(modified=(NodeId("function:src/prices.py#net"),))


def test_a_change_inside_a_method_does_not_modify_its_class() -> None:
    got = diff(BEFORE.replace(b"return line", b"return 2 * line"))
    assert got.modified == ("function:src/prices.py#Cart.add",)


def test_a_change_of_the_class_itself_does() -> None:
    assert "class:src/prices.py#Cart" in diff(BEFORE.replace(b"class Cart:", b"class Cart(dict):")).modified


def test_moved_code_is_not_modified() -> None:
    assert diff(b"# a comment\n\n" + BEFORE) == StructuralDiff()


def test_another_signature_is_reported_with_both() -> None:
    got = diff(BEFORE.replace(b"def net(cents)", b"def net(cents, count=1)"))
    assert [(one.node_id, one.before, one.after) for one in got.signatures] == [
        ("function:src/prices.py#net", "net(cents)", "net(cents, count=1)")
    ]


def test_added_and_removed_definitions_are_named() -> None:
    got = diff(BEFORE.replace(b"def gone", b"def come"))
    assert (got.added, got.removed) == (("function:src/prices.py#Cart.come",), ("function:src/prices.py#Cart.gone",))


def test_a_new_and_a_deleted_file_are_all_added_and_all_removed() -> None:
    path = FilePath("src/prices.py")
    everything = diff(None).removed
    assert {"function:src/prices.py#net", "class:src/prices.py#Cart"} <= set(everything)
    assert diff_definitions({}, {path: BEFORE}).added == everything


def test_files_without_definitions_change_nothing() -> None:
    path = FilePath("notes.bin")
    assert diff_definitions({path: b"\0a"}, {path: b"\0b"}) == StructuralDiff()


def test_calls_are_compared_by_their_ends() -> None:
    a, b, c = NodeId("function:a.py#a"), NodeId("function:a.py#b"), NodeId("function:a.py#c")
    before = [
        Edge(kind=EdgeKind.CALLS_STATIC, source=a, target=b, line=1),
        Edge(kind=EdgeKind.USES, source=a, target=c),
    ]
    unresolved = Edge(kind=EdgeKind.CALLS_UNRESOLVED, source=a, to_name="x", reason=UnresolvedReason.DYNAMIC)
    after = [Edge(kind=EdgeKind.CALLS_STATIC, source=a, target=c, line=9), unresolved]
    assert between(before, after) == ([(a, c)], [(a, b)])
    assert between(before, [Edge(kind=EdgeKind.CALLS_STATIC, source=a, target=b, line=7)]) == ([], [])


def between(before: list[Edge], after: list[Edge]) -> tuple[list[tuple[NodeId, NodeId]], list[tuple[NodeId, NodeId]]]:
    """From the state of the graph to another of a.py."""
    base = GraphPreview(files=(), before_edges=tuple(before))
    return diff_previews(
        base, GraphPreview(files=(FilePath("a.py"),), before_edges=tuple(before), after_edges=tuple(after))
    )


def test_what_one_side_leaves_as_the_graph_has_it_counts_as_it_is_there() -> None:
    a, b, c = NodeId("function:a.py#a"), NodeId("function:b.py#b"), NodeId("function:b.py#c")
    held, other = (
        Edge(kind=EdgeKind.CALLS_STATIC, source=a, target=b),
        Edge(kind=EdgeKind.CALLS_STATIC, source=a, target=c),
    )
    changed, linked = (FilePath("b.py"),), (FilePath("a.py"),)
    base = GraphPreview(files=changed, relinked=linked, before_edges=(held,), after_edges=(other,))
    assert diff_previews(base, GraphPreview(files=())) == ([(a, b)], [(a, c)])
    assert diff_previews(GraphPreview(files=()), base) == ([(a, c)], [(a, b)])
    assert diff_previews(base, base) == ([], [])
