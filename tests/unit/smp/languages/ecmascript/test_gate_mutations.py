"""Mutants of JavaScript and TypeScript, and the probes that tell which of them a test could notice."""

from __future__ import annotations

import textwrap

import pytest

from smp.adapters.mutator_native import NativeMutator
from smp.domain.ids import FilePath
from smp.domain.mutants import Mutant
from smp.languages.ecmascript.gate.probes import with_probes
from smp.languages.ecmascript.grammar import dialect_of, parse

PATH = FilePath("src/a.tsx")
MUTATOR = NativeMutator()
EVERYTHING = """
"use strict";
import a, { b } from "./b";
export const LIMIT: number = 3;
export function f(x: number, y = 1, ...rest: string[]): number | undefined {
  if (x < y && !rest.length || x === null) { x += 1; throw new RangeError("text " + x); }
  else if (x) y--;
  else { delete rest[0]; }
  for (let i = 0; i < 3; i++) console.log("hi", i);
  const name = `a
    ${x}`;
  do { g(x); } while (y);
  label: for (const n of rest) { if (n == "a") continue label; }
  switch (x) { case 1: g(2); break; default: y = 0x1f; }
  return x > 0 ? -x : ~y;
}
export class K extends Base<string> {
  size = 4;
  get full(): boolean { return this.size >= LIMIT; }
  async m() { await this.go(); super.m(); return (n: number) => n * 2n; }
}
export const H = () => <p title="x">{f(1)}</p>;
"""


def mutants(source: str, path: FilePath = PATH) -> list[Mutant]:
    return list(MUTATOR.enumerate(path, textwrap.dedent(source).encode(), lines=None))


def pairs(source: str) -> set[tuple[str, str]]:
    return {(one.original, one.mutated.strip()) for one in mutants(source)}


def test_order_and_indices_are_those_of_the_file() -> None:
    found = mutants(EVERYTHING)
    assert [one.index for one in found] == list(range(len(found)))
    assert [one.line for one in found] == sorted(one.line for one in found)
    assert found == mutants(EVERYTHING)
    assert {one.operator for one in found} == {
        "comparison", "boundary", "boolean", "arithmetic", "constant", "return_value", "statement_deletion"
    }  # fmt: skip


def test_every_mutant_parses_differs_and_keeps_the_lines() -> None:
    source = EVERYTHING.encode()
    for one in mutants(EVERYTHING):
        mutated = MUTATOR.apply(source, one)
        assert mutated != source
        assert mutated.count(b"\n") == source.count(b"\n"), one
        assert not parse(mutated, "tsx").root_node.has_error, one


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("x = a < b;", {("<", ">="), ("<", "<=")}),
        ("x = a === b;", {("===", "!==")}),
        ("x = a ?? b;", {("??", "&&")}),
        ("x = a + b;", {("+", "-")}),
        ("x = 'a' + b;", {("'a'", "''")}),
        ("x = -a;", {("-a", "+a")}),
        ("x = !a;", {("!a", "!!a")}),
        ("if (a.b) {}", {("a.b", "!(a.b)")}),
        ("x = '';", {("''", "'XX'")}),
        ("x = 1.5;", {("1.5", "2.5")}),
        ("x = 10n;", {("10n", "11n")}),
        ("x = `a${b}`;", {("`a${b}`", "``")}),
        ("const g = (a) => a.b;", {("a.b", "undefined")}),
        ("const g = (a) => ({ a });", {("({ a })", "undefined")}),
        ("f();", {("f();", ";")}),
        ("throw new Error('a' + 1);", {("throw new Error('a' + 1);", ";")}),
        ("a += 'b';", {("'b'", "''")}),
    ],
)
def test_what_becomes_of_it(source: str, wanted: set[tuple[str, str]]) -> None:
    found = {pair for pair in pairs(source) if not (pair[1] == ";" and source.startswith(("x =", "a +=")))}
    assert found == wanted


@pytest.mark.parametrize(
    "source",
    [
        '"use strict";',
        'import a from "b";',
        'export * from "b";',
        "type A = 'b' | 3;",
        "interface A { b: 3; c?: 'd' }",
        "declare const a: 3;",
        "function f(a: 'x'): 3;",
        "const a = require('b');",
        "console.log('a', 3);",
        "let a = b as 'c';",
        "const a = /b/g;",
        "@dec('a') class A {}",
        "class A extends B(3) { constructor() { super(1); } }",
        "const a = { 'b': c };",
        "const a = <b c='d'>text</b>;",
    ],
)
def test_what_no_test_could_notice_is_left_alone(source: str) -> None:
    assert pairs(source) == set()


def test_only_the_asked_lines_are_changed() -> None:
    found = MUTATOR.enumerate(PATH, b"a = 1;\nb = 2;\n", lines=frozenset({2}))
    assert [one.original for one in found] == ["b = 2;", "2"]


def test_probes_leave_the_lines_and_the_meaning_of_a_file() -> None:
    probed = with_probes(PATH, EVERYTHING.encode())
    assert not parse(probed.source, dialect_of(PATH)).root_node.has_error
    before, after = EVERYTHING.split("\n"), probed.source.decode().split("\n")
    for old, new in zip(before, after, strict=False):
        assert new.replace(" ", "").endswith(old.replace(" ", "")[-3:]) or "__smp_line" in new
    assert "__smp_line" not in after[1], "a directive stays first"


def test_the_innermost_probe_counts() -> None:
    source = b"function f(a) {\n  if (a) return 1;\n  return a.map((x) =>\n    x + 1);\n}\n"
    probed = with_probes(FilePath("a.js"), source)
    assert probed.lines == (2, 3, 4)
    assert probed.probe_of(source.index(b"x + 1")) == 4
    assert probed.probe_of(source.index(b"return 1")) == 2
    assert probed.probe_of(0) is None
