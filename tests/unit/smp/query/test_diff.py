"""Structural differences, from sources whose nodes are cut out by hand."""

from __future__ import annotations

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import ContentHash, FilePath, NodeId, mint_node_id
from smp.query.diff import FileVersion, diff_versions

FILE = mint_node_id("file", "a.py")


def version(source: str, *definitions: tuple[str, str], calls: tuple[tuple[str, str], ...] = ()) -> FileVersion:
    """A version whose definitions are (qualname, text of it in the source)."""
    nodes = [_node(NodeKind.FILE, "a.py", 0, len(source), source)]
    for qualname, text in definitions:
        start = source.index(text)
        kind = NodeKind.CLASS if qualname[0].isupper() and "." not in qualname else NodeKind.FUNCTION
        nodes.append(_node(kind, qualname, start, start + len(text), text))
    edges = tuple(
        Edge(
            kind=EdgeKind.CALLS_STATIC,
            source=mint_node_id("function", "a.py", caller),
            target=mint_node_id("function", "a.py", callee),
        )
        for caller, callee in calls
    )
    return FileVersion(nodes=tuple(nodes), edges=edges, content=source.encode())


def _node(kind: NodeKind, qualname: str, start: int, end: int, text: str) -> Node:
    is_file = kind is NodeKind.FILE
    return Node(
        id=FILE if is_file else mint_node_id(kind.value.lower(), "a.py", qualname),
        kind=kind,
        name=qualname.rpartition(".")[2],
        qualname=qualname,
        file=FilePath("a.py"),
        start_byte=start,
        end_byte=end,
        signature=None if is_file else text.split(":")[0],
        complexity=text.count("if ") + 1,
        source_hash=ContentHash(str(hash(text))),
    )


def modified(before: FileVersion, after: FileVersion) -> dict[NodeId, tuple[bool, bool, int]]:
    return {
        item.after.id: (item.changes.signature_changed, item.changes.body_changed, item.changes.complexity_delta)
        for item in diff_versions(before, after).modified
    }


BEFORE = version(
    "class A:\n  def m(self): 1\n\ndef f(): 2\n",
    ("A", "class A:\n  def m(self): 1"),
    ("A.m", "def m(self): 1"),
    ("f", "def f(): 2"),
)


def test_equal_versions_have_no_difference() -> None:
    found = diff_versions(BEFORE, BEFORE)
    assert (found.added, found.removed, found.modified, found.links_added, found.links_removed) == ((), (), (), (), ())


def test_editing_a_method_does_not_modify_its_class_or_file() -> None:
    after = version(
        "class A:\n  def m(self): 9\n\ndef f(): 2\n",
        ("A", "class A:\n  def m(self): 9"),
        ("A.m", "def m(self): 9"),
        ("f", "def f(): 2"),
    )
    assert modified(BEFORE, after) == {"function:a.py#A.m": (False, True, 0)}


def test_moving_a_definition_changes_nothing() -> None:
    after = version(
        "\n\n\nclass A:\n  def m(self): 1\n\n\n\ndef f(): 2\n\n",
        ("A", "class A:\n  def m(self): 1"),
        ("A.m", "def m(self): 1"),
        ("f", "def f(): 2"),
    )
    assert modified(BEFORE, after) == {}


def test_a_statement_of_the_module_modifies_the_file_only() -> None:
    after = version(
        "X = 1\nclass A:\n  def m(self): 1\n\ndef f(): 2\n",
        ("A", "class A:\n  def m(self): 1"),
        ("A.m", "def m(self): 1"),
        ("f", "def f(): 2"),
    )
    assert modified(BEFORE, after) == {FILE: (False, True, 0)}


def test_removing_a_function_leaves_the_rest_unmodified() -> None:
    after = version("class A:\n  def m(self): 1\n", ("A", "class A:\n  def m(self): 1"), ("A.m", "def m(self): 1"))
    found = diff_versions(BEFORE, after)
    assert [node.id for node in found.removed] == ["function:a.py#f"]
    assert found.modified == ()


def test_a_new_branch_raises_the_complexity_and_a_new_parameter_changes_the_signature() -> None:
    after = version(
        "class A:\n  def m(self): 1\n\ndef f(x): if x: 2\n",
        ("A", "class A:\n  def m(self): 1"),
        ("A.m", "def m(self): 1"),
        ("f", "def f(x): if x: 2"),
    )
    assert modified(BEFORE, after) == {"function:a.py#f": (True, True, 1)}


def test_calls_that_come_and_go_are_named() -> None:
    one, two = (
        version("def f(): 1\ndef g(): 2\n", ("f", "def f(): 1"), ("g", "def g(): 2"), calls=calls)
        for calls in ((), (("f", "g"),))
    )
    appeared, vanished = diff_versions(one, two), diff_versions(two, one)
    assert appeared.modified[0].changes.calls_added == ("function:a.py#g",)
    assert vanished.modified[0].changes.calls_removed == ("function:a.py#g",)
    assert [(link.source, link.target) for link in appeared.links_added] == [("function:a.py#f", "function:a.py#g")]


def test_a_new_file_has_only_additions() -> None:
    found = diff_versions(FileVersion(), BEFORE)
    assert [node.id for node in found.added] == ["class:a.py#A", "function:a.py#A.m", "function:a.py#f"]
    assert (found.removed, found.modified) == ((), ())
