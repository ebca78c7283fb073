"""Which definitions a file has, what they are called, and what hangs on them."""

from __future__ import annotations

from smp.domain.graph import Node, NodeKind
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.languages.ecmascript.analysis import analyse


def read(source: str, path: str = "a.ts") -> FileAnalysis:
    return analyse(FilePath(path), source.encode(), language="typescript")


def nodes(source: str, path: str = "a.ts") -> dict[str, Node]:
    return {node.qualname: node for node in read(source, path).nodes[1:]}


def names(source: str, path: str = "a.ts") -> list[str]:
    return list(nodes(source, path))


def test_functions_take_the_name_they_are_bound_to() -> None:
    source = """
    function plain() { function inner() {} }
    const arrow = () => { const deep = function () {}; };
    const first = () => 1, second = function () {};
    let later; later = function () {};
    export default () => 1;
    """
    found = nodes(source)
    assert list(found) == [
        "plain",
        "plain.inner",
        "arrow",
        "arrow.deep",
        "first",
        "second",
        "later",
        "later~2",
        "default",
    ]
    assert {found[name].kind for name in ("plain", "arrow", "default")} == {NodeKind.FUNCTION}


def test_methods_accessors_fields_and_private_names_belong_to_their_class() -> None:
    source = """
    class A { constructor() {} m() {} static s() {} get v() { return 1 } set v(x) {} f = () => 1; #p() {} [Symbol.iterator]() {} x = 1 }
    const B = class { run() {} };
    """
    assert names(source) == [
        "A", "A.constructor", "A.m", "A.s", "A.v", "A.v~2", "A.f", "A.#p", "A.[Symbol.iterator]", "B", "B.run",
    ]  # fmt: skip


def test_object_literals_name_their_methods_through_the_variable() -> None:
    source = """
    const x = { run() {}, stop: () => 1, nested: { go() {} }, value: 1 }; const y = { run() {} };
    function make() { return { start() {}, "with-dash": function () {} }; }
    const arrow = () => ({ go() {} });
    call({ shorthand() {}, byKey: () => 1 }); call([() => 1]);
    """
    assert names(source) == [
        "x", "x.run", "x.stop", "x.nested.go", "y", "y.run", "make", "make.start", "make.with-dash", "arrow", "arrow.go", "shorthand",
        "byKey",
    ]  # fmt: skip


def test_overloads_and_redefinitions_are_numbered_in_source_order() -> None:
    source = "function f(a: string): void; function f(a: number): void; function f(a: any) {}\nclass C { m(): void; m(a?: any) {} }"
    assert names(source) == ["f", "f~2", "f~3", "C", "C.m", "C.m~2"]
    assert [nodes(source)[name].name for name in ("f~3", "C.m~2")] == ["f~3", "m~2"]


def test_types_enums_and_namespaces_are_definitions() -> None:
    source = """
    interface I { m(): void; p: string } type T = { go(): void }; type U = "a" | "b"; enum E { A }
    namespace N { export function f() {} function hidden() {} } declare module "x" { export function g(): void; }
    """
    found = nodes(source)
    assert list(found) == ["I", "I.m", "T", "T.go", "U", "E", "N", "N.f", "N.hidden", "x.g"]
    assert [found[name].kind for name in ("I", "T", "U", "E", "N")] == [
        NodeKind.INTERFACE, NodeKind.INTERFACE, NodeKind.INTERFACE, NodeKind.CLASS, NodeKind.VARIABLE,
    ]  # fmt: skip


def test_commonjs_and_prototype_assignments_are_definitions() -> None:
    source = """
    exports.a = function () {}; module.exports.b = () => 1; module.exports = { c() {}, d: function () {} };
    function F() { this.own = function () {}; } F.prototype.m = function () {}; F.create = () => 1;
    """
    found = nodes(source, "a.js")
    assert list(found) == ["a", "b", "c", "d", "F", "F.own", "F.m", "F.create"]
    assert found["a"].exported
    assert not found["F"].exported


def test_tests_are_named_by_their_titles() -> None:
    source = """
    import { it, describe } from "vitest";
    describe("cart", () => { describe("empty", () => { it("is free", () => {}); it.each([1])("has %i", () => {}); }); it.todo("later"); });
    test(`plain`, async () => { const helper = () => 1; });
    """
    found = nodes(source, "a.test.ts")
    assert list(found) == ["cart > empty > is free", "cart > empty > has %i", "plain", "plain.helper"]
    assert found["plain"].kind is NodeKind.TEST


def test_a_project_function_called_test_makes_no_tests() -> None:
    assert names('function test(name, f) {} test("x", () => {});', "a.js") == ["test"]


def test_lines_span_decorators_and_the_whole_declaration() -> None:
    source = "@dec()\nexport class A {\n  @log\n  m() {\n  }\n}\nexport const f = () => {\n};\n"
    found = nodes(source)
    assert [(found[n].start_line, found[n].end_line) for n in ("A", "A.m", "f")] == [(1, 6), (3, 5), (7, 8)]
    span = source.encode()[found["f"].start_byte : found["f"].end_byte]
    assert span == b"export const f = () => {\n};"
    assert found["A.m"].metadata.decorators == ("@log",)


def test_signatures_parameters_and_types_are_as_written() -> None:
    node = nodes("async function f<T>(a: string, b?: number, c = 1, { d }: P = {}, ...rest: T[]): Promise<T> {}")["f"]
    assert node.signature == "f<T>(a: string, b?: number, c = 1, { d }: P = {}, ...rest: T[]): Promise<T>"
    assert [(p.name, p.annotation, p.required) for p in node.parameters] == [
        ("a", "string", True), ("b", "number", False), ("c", None, False), ("{ d }", "P", False), ("rest", "T[]", False),
    ]  # fmt: skip
    assert node.return_type == "Promise<T>"
    assert node.modifiers == ("async",)


def test_complexity_counts_decisions_of_unnamed_functions_inside_but_not_of_named_ones() -> None:
    source = """
    function f(x) {
      if (x && x.y || x ?? 1) {}
      for (const a of x) {} while (x) {} do {} while (x);
      switch (x) { case 1: break; case 2: break; default: }
      try {} catch {}
      x.map(i => i ? 1 : 2);
      function named() { if (x) {} }
    }
    """
    found = nodes(source)
    assert found["f"].complexity == 1 + 1 + 3 + 3 + 2 + 1 + 1
    assert found["f.named"].complexity == 2


def test_documentation_is_jsdoc_and_comments_belong_to_the_innermost_definition() -> None:
    source = """
    /** @file The whole file. */
    import x from "x";
    /**
     * Adds numbers.
     *
     *   indented
     * @param a one
     */
    export function add(a) {
      // first
      const inner = () => {
        /* second */
      };
      throw new errors.BadInput("x");
    }
    // not a docstring
    class Plain {
      /** Documented. */
      m() { throw again; }
    }
    """
    found = nodes(source)
    assert found["add"].metadata.docstring == "Adds numbers.\n\n  indented\n@param a one"
    assert [c.text for c in found["add"].metadata.comments] == ["first"]
    assert [c.text for c in found["add.inner"].metadata.comments] == ["second"]
    assert found["add"].metadata.throws == ("errors.BadInput",)
    assert found["Plain"].metadata.docstring is None
    assert found["Plain.m"].metadata.docstring == "Documented."
    assert found["Plain.m"].metadata.throws == ()
    assert read(source).nodes[0].metadata.docstring == "@file The whole file."


def test_exported_follows_the_module_system() -> None:
    source = """
    function a() {} function b() {} function c() {} export { a as z }; export default b; export class K { private p() {} m() {} }
    """
    found = nodes(source)
    assert {name for name, node in found.items() if node.exported} == {"a", "b", "K", "K.m"}


def test_damage_costs_only_the_damaged_part() -> None:
    analysis = read("function good() {}\nfunction bad( { \nfunction later() { good(); }\n")
    assert {"good", "later"} <= {node.qualname for node in analysis.nodes}
    assert analysis.damage
    assert analysis.damage[0].line >= 2


def test_byte_order_mark_crlf_and_bad_bytes_are_read() -> None:
    content = b"\xef\xbb\xbfexport function f() {\r\n  // caf\xe9\r\n}\r\n"
    node = analyse(FilePath("a.js"), content, language="javascript").nodes[1]
    assert (node.qualname, node.start_line, node.end_line) == ("f", 1, 3)
    assert content[node.start_byte : node.end_byte].startswith(b"export function f()")


def test_nesting_of_any_depth_is_read() -> None:
    deep = "(" * 3000 + ")" * 3000
    assert read(f"function f() {{}}\n{deep};").nodes[1].qualname == "f"
    chain = "f(" * 400 + "1" + ")" * 400
    analysis = read(f"function f() {{}}\n{chain};")
    assert any("nested too deeply" in damage.message for damage in analysis.damage)
    assert read("const x = " + " + ".join(["'a'"] * 3000) + ";").nodes[1].qualname == "x"


def test_a_file_of_tests_has_the_role_of_tests() -> None:
    assert read("export const x = 1;", "src/a.ts").nodes[0].role == "source"
    assert read("export const x = 1;", "src/__tests__/a.ts").nodes[0].role == "test"
    assert read("export const x = 1;", "src/a.spec.tsx").nodes[0].role == "test"


def test_the_same_bytes_give_the_same_analysis() -> None:
    source = "import { a } from './a'; export class K { m() { return a(this.x); } }"
    assert read(source) == read(source)
