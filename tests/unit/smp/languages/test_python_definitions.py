"""Definitions of Python files: names, kinds, lines, metadata, damage, encodings."""

from __future__ import annotations

import pytest

from smp.domain.graph import Node, NodeKind
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.indexing.analyse import analyse


def read(text: str | bytes, path: str = "a.py") -> FileAnalysis:
    return analyse(FilePath(path), text.encode() if isinstance(text, str) else text)


def definitions(text: str | bytes, path: str = "a.py") -> dict[str, Node]:
    return {node.qualname: node for node in read(text, path).nodes[1:]}


def test_every_definition_is_kept_under_a_name_of_its_own() -> None:
    found = definitions(
        "class C:\n"
        "    @property\n    def p(self): ...\n"
        "    @p.setter\n    def p(self, v): ...\n"
        "if x:\n    def f(): ...\nelse:\n    def f():\n        def g(): ...\n"
        "def f(): ...\n"
    )
    assert list(found) == ["C", "C.p", "C.p~2", "f", "f~2", "f.g", "f~3"]
    assert found["C.p~2"].name == "p~2"
    assert found["C.p~2"].id == "function:a.py#C.p~2"


def test_start_line_counts_decorators() -> None:
    found = definitions("@one\n@two(\n    1)\ndef f():\n    pass\n")["f"]
    assert (found.start_line, found.end_line, found.lines) == (1, 5, 5)
    assert found.metadata.decorators == ("@one", "@two( 1)")


def test_metadata_is_read_from_the_source_alone() -> None:
    found = definitions(
        "def f(self_, a: int, b: 'list[str]' = 1, *c, d, **e) -> str:\n"
        '    """Does it.\n\n    At length.\n    """\n'
        "    # because\n"
        "    if a and b:\n        raise ValueError(1)\n"
        "    raise other.Error\n"
    )["f"]
    assert found.metadata.docstring == "Does it.\n\nAt length."
    assert [(comment.line, comment.text) for comment in found.metadata.comments] == [(6, "because")]
    assert found.metadata.throws == ("ValueError", "other.Error")
    assert [(a.name, a.type) for a in found.metadata.annotations] == [("a", "int"), ("b", "'list[str]'")]
    assert found.metadata.returns == "str"
    assert found.complexity == 3
    assert found.signature == "f(self_, a: int, b: 'list[str]' = 1, *c, d, **e) -> str"
    assert [(p.name, p.kind, p.required) for p in found.parameters] == [
        ("self_", "positional", True),
        ("a", "positional", True),
        ("b", "positional", False),
        ("c", "var_positional", False),
        ("d", "keyword_only", True),
        ("e", "var_keyword", False),
    ]


def test_receivers_are_marked_and_positional_only_parameters_known() -> None:
    found = definitions("class C:\n    def m(self, a, /, b): ...\n    @staticmethod\n    def s(a): ...\n")
    assert [(p.name, p.kind, p.receiver) for p in found["C.m"].parameters] == [
        ("self", "positional_only", True),
        ("a", "positional_only", False),
        ("b", "positional", False),
    ]
    assert not found["C.s"].parameters[0].receiver


def test_variables_are_module_constants_once_each() -> None:
    found = definitions("A = 1\nA = 2\nB: int = 3\nfrom x import C\nC = 4\ndef D(): ...\nD = 5\n__all__ = []\n")
    assert {name for name, node in found.items() if node.kind is NodeKind.VARIABLE} == {"A", "B"}


def test_protocols_are_interfaces() -> None:
    found = definitions("from typing import Protocol\nclass P(Protocol): ...\nclass C: ...\n")
    assert (found["P"].kind, found["C"].kind) == (NodeKind.INTERFACE, NodeKind.CLASS)


def test_tests_are_told_from_functions_by_file_and_name() -> None:
    text = "def test_a(): ...\ndef helper(): ...\nclass TestX:\n    def test_b(self): ...\nclass Other:\n    def test_c(self): ...\n"
    found = definitions(text, "tests/test_a.py")
    assert {name for name, node in found.items() if node.kind is NodeKind.TEST} == {"test_a", "TestX.test_b"}
    assert not [node for node in definitions(text, "app.py").values() if node.kind is NodeKind.TEST]
    assert read(text, "tests/test_a.py").nodes[0].role == "test"


def test_exported_follows_all_or_the_underscore() -> None:
    listed = definitions("__all__ = ['_a']\ndef _a(): ...\ndef b(): ...\n")
    assert (listed["_a"].exported, listed["b"].exported) == (True, False)
    plain = definitions("def _a(): ...\ndef b():\n    def c(): ...\n")
    assert [plain[name].exported for name in ("_a", "b", "b.c")] == [False, True, False]


def test_damage_costs_the_damaged_function_only() -> None:
    found = read("def a():\n    pass\n\ndef b():\n    x = (1\n    return x\n\ndef c():\n    a()\n")
    names = {node.qualname for node in found.nodes[1:]}
    assert {"a", "c"} <= names
    assert found.damage
    assert found.damage[0].line >= 4


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xef\xbb\xbfdef f():\n    pass\n", 1),
        (b"# -*- coding: latin-1 -*-\n# \xe9\ndef f():\n    return '\xe9'\n", 3),
        (b"# \xe9 without a cookie\ndef f():\n    pass\n", 2),
        (b"x = 1\r\ndef f():\r\n    pass\r\n", 2),
        ("s = '\u4fa1\u683c'\ndef f():\n    pass\n".encode(), 2),
        (b"# coding: utf-8\ndef f():\n    pass\n", 2),
        (b"# coding: nonsense\ndef f():\n    pass\n", 2),
    ],
)
def test_offsets_are_those_of_the_stored_bytes(content: bytes, line: int) -> None:
    found = definitions(content)["f"]
    assert found.start_line == line
    assert content[found.start_byte :].startswith(b"def f():")
    assert content[found.start_byte : found.end_byte].rstrip().endswith((b"pass", b"'"))


def test_names_need_not_be_ascii() -> None:
    assert "gr\u00f6\u00dfe" in definitions("def gr\u00f6\u00dfe(): ...\n")


def test_defines_edges_go_from_the_enclosing_definition() -> None:
    found = {
        (edge.source, edge.target) for edge in read("class C:\n    def m(self):\n        def n(): ...\nX = 1\n").edges
    }
    assert found == {
        ("file:a.py", "class:a.py#C"),
        ("class:a.py#C", "function:a.py#C.m"),
        ("function:a.py#C.m", "function:a.py#C.m.n"),
        ("file:a.py", "variable:a.py#X"),
    }


def test_deep_nesting_costs_calls_not_definitions() -> None:
    deep = "(" * 2000 + "f()" + ")" * 2000
    found = read(f"def f():\n    return {deep}\n\ndef g(): ...\n")
    assert {"f", "g"} <= {node.qualname for node in found.nodes}
    assert any("nested" in damage.message for damage in found.damage)


def test_long_sums_are_not_deep() -> None:
    total = " + ".join(["f()"] * 3000)
    found = read(f"def f():\n    return {total}\n")
    assert not found.damage
    assert found.summary is not None
    assert len([site for site in found.summary.sites if site.kind == 0]) == 3000


def test_an_empty_file_is_a_file() -> None:
    found = read("")
    assert [node.kind for node in found.nodes] == [NodeKind.FILE]
    assert found.nodes[0].lines == 0
