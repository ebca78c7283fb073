"""Languages that are read by a table: every definition with its lines, and nothing of calls."""

from __future__ import annotations

import pytest

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.indexing.analyse import analyse
from smp.indexing.link import link
from smp.languages.registry import language_named

RUBY = "# doc\nmodule A\n  class B < C\n    # says\n    def run(x, y = 1)\n      x.go if y\n    end\n    def self.make; end\n  end\nend\nLIMIT = 1\nlower = 2\n"
PHP = "<?php\nnamespace App;\n/** doc */\nclass A extends B {\n  const X = 1;\n  private int $y = 2;\n  public function run(int $x): string { $z = 1; return f(); }\n}\ninterface I { function m(); }\ntrait T { }\nfunction f($a) {}\n"
KOTLIN = "/** doc */\nclass A(val x: Int) : B() {\n  fun run(y: Int): String = go()\n  val z = 1\n}\ninterface I {\n  fun m()\n}\nobject O {\n  fun q() {}\n}\nfun top(x: Int) {\n  val local = 1\n}\n"
SWIFT = "/// doc\nclass A: B {\n  var x = 1\n  init(y: Int) {}\n  func run(_ z: Int) -> String { return go() }\n}\nprotocol P { func q() }\nextension A { func more() {} }\nfunc top() { let local = 1 }\n"
SCALA = "/** doc */\nclass A(x: Int) extends B {\n  def run(y: Int): String = go()\n  val z = 1\n}\ntrait T { def m(): Unit }\nobject O { def q() = 1 }\n"
BASH = "#!/bin/sh\n# doc\nrun() {\n  inner=1\n  other\n}\nfunction other { run; }\nX=1\n"
LUA = "-- doc\nfunction top(a, b)\n  local inner = 1\nend\nlocal M = {}\nfunction M.run(x) top(x) end\nfunction M:meth(x) end\nM.f = function(a) end\nlocal g = function() end\n"

EXPECTED = {
    "a.rb": (RUBY, {"class:A": (2, 10), "class:A.B": (3, 9), "function:A.B.run": (5, 7), "function:A.B.make": (8, 8), "variable:LIMIT": (11, 11)}),
    "a.php": (PHP, {"class:A": (4, 8), "variable:A.X": (5, 5), "variable:A.y": (6, 6), "function:A.run": (7, 7), "interface:I": (9, 9), "function:I.m": (9, 9), "class:T": (10, 10), "function:f": (11, 11)}),
    "a.kt": (KOTLIN, {"class:A": (2, 5), "function:A.run": (3, 3), "variable:A.z": (4, 4), "interface:I": (6, 8), "function:I.m": (7, 7), "class:O": (9, 11), "function:O.q": (10, 10), "function:top": (12, 14)}),
    "a.swift": (SWIFT, {"class:A": (2, 6), "variable:A.x": (3, 3), "function:A.init": (4, 4), "function:A.run": (5, 5), "interface:P": (7, 7), "function:P.q": (7, 7), "class:A~2": (8, 8), "function:A.more": (8, 8), "function:top": (9, 9)}),
    "a.scala": (SCALA, {"class:A": (2, 5), "function:A.run": (3, 3), "variable:A.z": (4, 4), "interface:T": (6, 6), "function:T.m": (6, 6), "class:O": (7, 7), "function:O.q": (7, 7)}),
    "a.sh": (BASH, {"function:run": (3, 6), "function:other": (7, 7), "variable:X": (8, 8)}),
    "a.lua": (LUA, {"function:top": (2, 4), "variable:M": (5, 5), "function:M.run": (6, 6), "function:M.meth": (7, 7), "function:M.f": (8, 8), "function:g": (9, 9)}),
}  # fmt: skip


def _read(path: str) -> FileAnalysis:
    return analyse(FilePath(path), EXPECTED[path][0].encode())


@pytest.mark.parametrize("path", sorted(EXPECTED))
def test_every_definition_is_found_with_its_lines(path: str) -> None:
    found = {
        f"{node.kind.value.lower()}:{node.qualname}": (node.start_line, node.end_line) for node in _read(path).nodes[1:]
    }
    assert found == EXPECTED[path][1]


@pytest.mark.parametrize("path", sorted(EXPECTED))
def test_the_first_definition_has_its_comment_and_a_head_without_body(path: str) -> None:
    first = _read(path).nodes[1]
    assert first.metadata.docstring == "doc"
    assert first.signature
    assert "\n" not in first.signature
    assert "{" not in first.signature


@pytest.mark.parametrize("path", sorted(EXPECTED))
def test_nothing_is_linked_and_the_language_says_so(path: str) -> None:
    analysis = _read(path)
    language = language_named(analysis.language or "")
    assert language is not None
    assert not language.links
    assert analysis.summary is None
    assert link({analysis.path: analysis}, configs={}).edges[analysis.path] == ()


def test_nested_definitions_are_defined_by_what_encloses_them() -> None:
    edges = {(edge.source, edge.target) for edge in _read("a.rb").edges}
    assert ("class:a.rb#A.B", "function:a.rb#A.B.run") in edges
    assert ("file:a.rb", "variable:a.rb#LIMIT") in edges


def test_a_decision_counts_for_the_function_it_is_in() -> None:
    complexity = {node.qualname: node.complexity for node in _read("a.rb").nodes}
    assert (complexity["A.B.run"], complexity["A.B.make"]) == (2, 1)


def test_damage_costs_its_own_definition_only() -> None:
    analysis = analyse(FilePath("a.lua"), b"function ok() end\nfunction ( broken\nfunction last() end\n")
    assert {"ok", "last"} <= {node.qualname for node in analysis.nodes}
    assert [damage.line for damage in analysis.damage]


def test_deep_nesting_ends() -> None:
    analysis = analyse(FilePath("a.lua"), b"x = " + b"{" * 20_000)
    assert analysis.nodes[0].qualname == "a.lua"
