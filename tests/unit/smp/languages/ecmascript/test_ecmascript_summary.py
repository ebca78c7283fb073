"""What a file's summary says: imports, exports, tests and their hooks, and edges that follow from several files."""

from __future__ import annotations

from smp.domain.graph import Edge, EdgeKind
from smp.domain.ids import FilePath
from smp.domain.source import FileSummary, ImportDecl, SiteKind
from smp.indexing.analyse import analyse, wants_config
from smp.indexing.link import link


def summary(source: str, path: str = "a.ts") -> FileSummary:
    found = analyse(FilePath(path), source.encode()).summary
    assert found is not None
    return found


def edges(files: dict[str, str]) -> list[Edge]:
    analyses = {FilePath(path): analyse(FilePath(path), text.encode()) for path, text in files.items()}
    configs = {FilePath(path): text.encode() for path, text in files.items() if wants_config(FilePath(path))}
    result = link(analyses, configs=configs)
    return [edge for path in sorted(result.edges) for edge in result.edges[path]]


def pairs(found: list[Edge], kind: EdgeKind) -> set[tuple[str, str]]:
    return {(e.source.partition(":")[2], (e.target or "").partition(":")[2]) for e in found if e.kind is kind}


def by_bound(imports: tuple[ImportDecl, ...]) -> dict[str, tuple[str, str, bool]]:
    return {i.bound or i.name: (i.module, i.name, i.type_only) for i in imports}


def test_every_form_of_import_is_declared_once_a_name() -> None:
    source = """
    import d, { n as m, type T } from "./x"; import * as ns from "./y"; import type U from "./z"; import "./side";
    import q = require("./q"); const { r } = require("./r"); const s = require("./s"); const pkg = require("pkg");
    export { e } from "./e"; export * from "./star"; import("./lazy");
    """
    found = summary(source).imports
    bound = by_bound(found)
    assert bound["d"] == ("./x", "default", False)
    assert bound["m"] == ("./x", "n", False)
    assert bound["T"] == ("./x", "T", True)
    assert bound["ns"] == ("./y", "", False)
    assert bound["U"] == ("./z", "default", True)
    assert bound["q"] == ("./q", "export=", False)
    assert bound["*"] == ("./star", "*", False)
    assert {(i.module, i.name, i.dynamic) for i in found if i.dynamic} == {
        ("./r", "r", True),
        ("./s", "export=", True),
        ("pkg", "", True),
        ("./lazy", "", True),
    }


def test_exports_hold_the_value_at_the_end_of_the_file() -> None:
    source = """
    export let late = first; late = second; function first() {} function second() {}
    export { first as renamed }; export default class {}
    export interface Shape { a: string }
    """
    found = summary(source)
    names = dict(found.exports.names)
    assert set(names) == {"late", "renamed", "default", "Shape"}
    assert names["late"] != names["renamed"]
    assert [name for name, _ in found.exports.types] == ["Shape"]


def test_module_kind_is_what_the_file_uses() -> None:
    assert summary("export {};", "a.js").module_kind == "esm"
    assert summary("exports.a = 1;", "a.js").module_kind == "commonjs"
    assert summary("var a = 1;", "a.js").module_kind == ""


def test_type_only_imports_are_marked_and_a_mixed_statement_is_not() -> None:
    files = {
        "a.ts": 'import type { B } from "./b"; export type A = { b: B };',
        "b.ts": 'import { type A, run } from "./a2"; export type B = { a: A }; run();',
        "a2.ts": "export type A = string; export function run() {}",
    }
    marks = {(e.source, e.target): e.type_only for e in edges(files) if e.kind is EdgeKind.IMPORTS}
    assert marks == {("file:a.ts", "file:b.ts"): True, ("file:b.ts", "file:a2.ts"): False}


def test_tests_reach_what_they_call_and_what_a_named_hook_calls() -> None:
    files = {
        "cart.ts": "export function add() {} export function reset() {}",
        "cart.test.ts": """
        import { add, reset } from "./cart";
        function setUp() { reset(); }
        describe("cart", () => {
          it("adds", () => { [1].forEach(() => add()); });
          it("stays", () => {});
          beforeEach(setUp);
        });
        """,
    }
    found = edges(files)
    assert pairs(found, EdgeKind.TESTS) == {
        ("cart.test.ts#cart > adds", "cart.ts#add"),
        ("cart.test.ts#cart > adds", "cart.ts#reset"),
        ("cart.test.ts#cart > stays", "cart.ts#reset"),
    }
    assert ("cart.test.ts#cart > adds", "cart.ts#add") in pairs(found, EdgeKind.CALLS_STATIC)


def test_inheritance_and_implementation_are_edges_across_files() -> None:
    files = {
        "base.ts": "export class Base {} export interface Shape { area(): number } export interface Flat extends Shape {}",
        "main.ts": 'import { Base, Shape } from "./base"; class Square extends Base implements Shape { area() { return 1 } }',
        "old.js": "function A() {} A.prototype.m = function () {}; function B() {} B.prototype = Object.create(A.prototype);",
    }
    found = edges(files)
    assert pairs(found, EdgeKind.INHERITS) >= {("main.ts#Square", "base.ts#Base"), ("base.ts#Flat", "base.ts#Shape")}
    assert pairs(found, EdgeKind.IMPLEMENTS) == {("main.ts#Square", "base.ts#Shape")}


def test_functions_handed_over_are_uses_and_types_named_are_references() -> None:
    source = """
    class Job {} function work() {} const table = { work };
    function start(job: Job) { schedule(work); button.onclick = work; return work; }
    """
    found = edges({"a.ts": source})
    assert {("a.ts#start", "a.ts#work"), ("a.ts", "a.ts#work")} <= pairs(found, EdgeKind.USES)
    assert ("a.ts#start", "a.ts#Job") in pairs(found, EdgeKind.REFERENCES)


def test_a_call_in_another_language_is_never_meant() -> None:
    files = {"a.py": "def add():\n    pass\n", "b.js": "export function run() { add(); }"}
    assert pairs(edges(files), EdgeKind.CALLS_STATIC) == set()


def test_the_order_of_files_does_not_show() -> None:
    files = {
        "a.ts": 'import { b } from "./b"; export const a = () => b(); export * from "./c";',
        "b.ts": 'import { a } from "./a"; export const b = () => a();',
        "c.ts": 'export { b as c } from "./b"; export const table = { go: () => 1 };',
        "d.ts": 'import * as all from "./a"; all.c(); all.table.go();',
    }
    forwards = edges(files)
    assert forwards == edges(dict(reversed(list(files.items()))))
    assert ("d.ts", "b.ts#b") in pairs(forwards, EdgeKind.CALLS_STATIC)


def test_an_endless_circle_of_bound_methods_and_spread_records_ends() -> None:
    source = """
    class A { constructor() { this.m = this.m.bind(this); } m() { this.m(); } }
    let state = { go() {} }; for (;;) { state = { ...state, next: state.next }; state.go(); }
    """
    assert ("a.js#A.m", "a.js#A.m") in pairs(edges({"a.js": source}), EdgeKind.CALLS_STATIC)


def test_blank_lines_move_lines_and_nothing_else() -> None:
    source = "import { a } from './a';\nexport function f() { a(); }\n"
    before, after = summary(source), summary("\n\n" + source)
    assert (before.ops, before.names, before.functions) == (after.ops, after.names, after.functions)
    lines = [[s.line for s in found.sites if s.kind == SiteKind.CALL] for found in (before, after)]
    assert lines == [[2], [4]]
