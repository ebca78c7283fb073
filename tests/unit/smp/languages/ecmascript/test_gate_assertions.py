"""The assert check for JavaScript and TypeScript: which tests let a result of the target go unlooked at."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pytest

from smp.domain.assertions import TestFlow
from smp.domain.ids import FilePath
from smp.languages.assertions import assertion_rules

TARGET = FilePath("src/cart.ts")
TEST = FilePath("tests/cart.test.ts")
SOURCE = """
const seen: string[] = [];
export const LIMIT = 3;
export function net(a: number, b: number): number { return a + b; }
export async function load(id: string): Promise<number> { seen.push(id); return id.length; }
export function notify(send: (text: string) => void): void { send("hello"); }
export function sort(list: number[]): void { list.sort(); }
export const twice = (x: number) => net(x, x);
export class Cart {
  lines: number[] = [];
  add(n: number) { this.lines.push(n); return this; }
  total = () => this.lines.length;
  static of(n: number) { return new Cart().add(n); }
}
export default function make() { seen.push("x"); return new Cart(); }
const api = { ping(x: number) { return x; }, pong: () => 1 };
export { api, net as brutto };
"""
HEAD = """
import { describe, expect, it, test, vi, beforeEach } from "vitest";
import make, { Cart, LIMIT, api, brutto, load, net, notify, sort, twice } from "../src/cart";
import * as cart from "../src/cart";
"""


def flows(test: str, *, head: str = HEAD, support: Mapping[str, str] | None = None) -> list[TestFlow]:
    rules = assertion_rules(TEST)
    assert rules is not None
    surface = rules.surface(TARGET, SOURCE.encode())
    source = (head + textwrap.dedent(test)).encode()
    files = {FilePath(path): textwrap.dedent(text).encode() for path, text in (support or {}).items()}
    assert set(files) <= set(rules.support(TEST, source)), "not asked for"
    return list(rules.flows(TEST, source, surface, files))


def missing(body: str, **options: object) -> set[str]:
    """What a test with this body calls in vain."""
    found = flows(f'it("one", async () => {{\n{textwrap.dedent(body)}\n}});', **options)  # type: ignore[arg-type]
    assert len(found) == 1
    return set(found[0].called - found[0].asserted)


def test_surface_knows_functions_classes_and_the_names_they_go_out_under() -> None:
    rules = assertion_rules(TARGET)
    assert rules is not None
    surface = rules.surface(TARGET, SOURCE.encode())
    assert surface.functions == {
        "net", "load", "notify", "sort", "twice", "Cart.add", "Cart.total", "Cart.of", "make", "api.ping", "api.pong"
    }  # fmt: skip
    assert surface.classes == {"Cart", "api"}
    assert surface.exports == {"default": "make", "brutto": "net"}
    assert surface.silent == {"net", "twice"}


def test_surface_of_a_commonjs_module() -> None:
    rules = assertion_rules(FilePath("a.js"))
    assert rules is not None
    text = "function a() {}\nexports.b = () => 1;\nS.prototype.area = function () {};\nmodule.exports = { c: a, d() {} };\n"
    surface = rules.surface(FilePath("a.js"), text.encode())
    assert surface.functions == {"a", "b", "S.area", "d"}
    assert surface.exports == {"c": "a"}


@pytest.mark.parametrize(
    "body",
    [
        "net(1, 2); expect(true).toBe(true);",
        "const r = net(1, 2); expect(1).toBe(1);",
        "const r = net(1, 2);",
        "expect(net(1, 2));",
        "expect(net(1, 2)).not;",
        "net(1, 2); expect(LIMIT).toBe(3);",  # silent: no effect that LIMIT could show
        "const other = twice(2); const r = net(1, 2); expect(other).toBe(4);",
        "brutto(1, 2); expect(1 + 1).toEqual(2);",
        "cart.net(1, 2); expect(`a${1}`).toBe('a1');",
        "try { net(1, 2); } catch (error) { console.log(error); }",
        "const x = net(1, 2); { const x = 4; expect(x).toBe(4); }",
        "[1, 2].map((n) => net(n, n)); expect([]).toHaveLength(0);",
        "net(1, 2); expect.assertions(0);",
        "const f = () => 1; net(1, 2); expect(f()).toBe(1);",
        "net(1, 2); assert.ok(true);",
    ],
)
def test_a_result_that_no_assertion_sees_is_missing(body: str) -> None:
    assert missing(body) == {"net"}


@pytest.mark.parametrize(
    "body",
    [
        "load('a'); expect(true).toBe(true);",
        "await load('a'); expect(1).toBe(1);",
        "const [a] = await Promise.all([load('a')]);",
    ],
)
def test_an_effect_that_no_assertion_could_see_is_missing(body: str) -> None:
    assert missing(body) == {"load"}


@pytest.mark.parametrize(
    "body",
    [
        "expect(net(1, 2)).toBe(3);",
        "expect(3).toBe(net(1, 2));",
        "expect(net(1, 2) as number).not.toBe(4);",
        "const r = net(1, 2); expect(r!).toBe(3);",
        "const { a } = { a: net(1, 2) }; expect(a).toBe(3);",
        "const [a, ...rest] = [net(1, 2)]; expect(rest).toEqual([]);",
        "let r; r = net(1, 2); expect(`${r} EUR`).toMatchInlineSnapshot();",
        "let r = 0; r += net(1, 2); expect(r).toBe(3);",
        "let r = 0; [1].forEach((n) => { r = net(n, n); }); expect(r).toBe(2);",
        "expect([1, 2].map((n) => net(n, n))).toEqual([2, 4]);",
        "expect(() => net(1, 2)).toThrow(RangeError);",
        "const act = () => net(1, 2); expect(act).not.toThrow();",
        "expect(typeof net(1, 2)).toBe('number');",
        "expect({ ...{ x: net(1, 2) } }).toMatchObject({ x: 3 });",
        "expect(net(1, 2)).to.be.true;",
        "expect(net(1, 2)).to.deep.equal(3);",
        "net(1, 2).should.equal(3);",
        "net(1, 2).should.be.ok;",
        "should(net(1, 2)).equal(3);",
        "assert(net(1, 2) === 3);",
        "assert.equal(net(1, 2), 3);",
        "assert.strict.deepEqual([net(1, 2)], [3]);",
        "chai.expect(net(1, 2)).to.equal(3);",
        "sinon.assert.match(net(1, 2), 3);",
        "if (net(1, 2) !== 3) throw new Error('no');",
        "if (net(1, 2) !== 3) expect.fail('no');",
        "if (net(1, 2) === 3) { expect(true).toBe(true); }",
        "try { net(1, 2); assert.fail(); } catch (e) { }",
        "try { net(1, 2); } catch (e) { expect(e.message).toBe('x'); }",
        "for (const n of [net(1, 2)]) { expect(n).toBe(3); }",
        "switch (net(1, 2)) { case 3: break; default: expect.unreachable(); }",
        "const ok = net(1, 2) === 3 ? 1 : 2; expect(ok).toBe(1);",
        "const check = (x: number) => expect(x).toBe(3); check(net(1, 2));",
        "function same(x: number) { expect(x).toBe(3); } same(net(1, 2));",
        "const h = { check(x: number) { expect(x).toBe(3); } }; h.check(net(1, 2));",
        "const wrap = (x: number) => expect(x); wrap(net(1, 2)).toBe(3);",
        "expectSame(net(1, 2), 3);",
        "await waitFor(() => { expect(net(1, 2)).toBe(3); });",
        "expect(JSON.stringify(net(1, 2))).toBe('3');",
        "expect(cart.net(1, 2)).toBe(3); expect(cart['net'](1, 2)).toBe(3);",
        "expect.soft(net(1, 2)).toBe(3);",
        "expect(new Set([net(1, 2)]).size).toBe(1);",
        "const m = await import('../src/cart'); expect(m.net(1, 2)).toBe(3);",
        "const { net: add } = require('../src/cart'); expect(add(1, 2)).toBe(3);",
        "verifyAll([net(1, 2)]);",
        "expect(net(1, 2)).toSatisfy((x) => x > 2);",
        "const o: any = {}; o.x = net(1, 2); expect(o).toEqual({ x: 3 });",
        "const o: any = []; o.push(net(1, 2)); expect(o).toEqual([3]);",
    ],
)  # fmt: skip
def test_a_result_that_reaches_an_assertion_is_not_missing(body: str) -> None:
    assert missing(body) == set()


@pytest.mark.parametrize(
    "body",
    [
        "await expect(load('a')).resolves.toBe(1);",
        "expect(await load('a')).toBe(1);",
        "return load('a').then((n) => { expect(n).toBe(1); });",
        "return load('a').then((n) => n + 1).then((n) => expect(n).toBe(2));",
        "return load('a').catch((e) => assert.match(e.message, /x/));",
        "await assert.rejects(load('a'), TypeError);",
        "await assert.rejects(async () => { await load('a'); });",
        "const [a] = await Promise.all([load('a')]); expect(a).toBe(1);",
        "await load('a'); expect(spy).toHaveBeenCalledWith('a');",
        "const list = [3, 1]; sort(list); expect(list).toEqual([1, 3]);",
        "const send = vi.fn(); notify(send); expect(send).toHaveBeenCalledWith('hello');",
        "const send = vi.fn(); notify(send); expect(send.mock.calls[0][0]).toBe('hello');",
        "let got = ''; notify((text) => { got = text; }); expect(got).toBe('hello');",
        "let called = false; notify(() => { called = true; }); expect(called).toBe(true);",
        "const got: string[] = []; notify((t) => got.push(t)); expect(got).toEqual(['hello']);",
        "notify((text) => { expect(text).toBe('hello'); });",
        "const got = await new Promise((resolve) => notify(resolve)); expect(got).toBe('hello');",
        "const got = await new Promise((resolve) => { notify((t) => resolve(t)); }); expect(got).toBe('hello');",
        "const c = new Cart(); c.add(1); expect(c.lines).toEqual([1]);",
        "const c = new Cart(); c.add(1); expect(c.total()).toBe(1);",
        "const c = make(); c.add(1).add(2); expect(c.total()).toBe(2);",
        "expect(Cart.of(2).lines).toHaveLength(1);",
        "expect(api.ping(1)).toBe(1);",
        "const { ping } = api; expect(ping(1)).toBe(1);",
        "const box = { c: new Cart() }; box.c.add(1); expect(box.c.lines).toEqual([1]);",
        "make(); screen.getByText('x');",
        "await request(make()).get('/').expect(200);",
        "let r: any; const on = (x: any) => { r = x; }; notify(on); make(); expect(r).toBe(1);",
        "class Fake extends Cart { add() { return this; } } const f = new Fake(); expect(f.lines).toEqual([]);",
        "await vi.waitFor(async () => expect(await load('a')).toBe(1));",
    ],
)  # fmt: skip
def test_effects_errors_and_later_values_that_reach_an_assertion_are_not_missing(body: str) -> None:
    assert missing(body) == set()


def test_every_way_to_write_a_test_is_found_with_its_suites() -> None:
    found = flows(
        """
        describe("outer", () => {
          describe("inner", function () { it("a", () => { net(1, 2); }); });
          it.only("b", async () => { expect(net(1, 2)).toBe(3); });
          it.each([[1, 2]])("c %i", (a, b) => { net(a, b); });
          it.each`a | b
          ${1} | ${2}`("d $a", ({ a, b }) => { expect(net(a, b)).toBe(3); });
          it.todo("later");
        });
        for (const n of [1, 2]) { test(`e ${n}`, () => { net(n, n); }); }
        [1].forEach((n) => test("f", { timeout: 5 }, () => { expect(net(n, n)).toBe(2); }));
        test("g", named);
        function named() { net(1, 1); }
        test.describe("h", () => { test("i", ({ page }) => { net(1, 1); }); });
        """
    )
    assert [(flow.test, bool(flow.called - flow.asserted)) for flow in found] == [
        ("outer > inner > a", True),
        ("outer > b", False),
        ("outer > c %i", True),
        ("outer > d $a", False),
        ("e ${n}", True),
        ("f", False),
        ("g", True),
        ("h > i", True),
    ]


def test_functions_in_an_each_table_are_called_through_their_parameter() -> None:
    found = flows(
        """
        it.each([[net, 3], [brutto, 3]])("a", (f, want) => { expect(f(1, 2)).toBe(want); });
        it.each([{ f: net }])("b", ({ f }) => { f(1, 2); expect(1).toBe(1); });
        """
    )
    assert [flow.called - flow.asserted for flow in found] == [frozenset(), {"net"}]


def test_hooks_of_the_suites_around_a_test_run_before_it() -> None:
    found = flows(
        """
        describe("cart", () => {
          let box: Cart;
          let sum = 0;
          beforeEach(() => { box = new Cart(); sum = net(1, 2); });
          it("adds", () => { box.add(1); expect(box.lines).toEqual([1]); });
          it("sums", () => { expect(sum).toBe(3); });
          it("idles", () => { box.add(1); });
          afterEach(() => { expect(vi.getTimerCount()).toBe(0); });
        });
        """
    )
    assert [flow.called - flow.asserted for flow in found] == [frozenset()] * 3  # the last hook may see any effect
    assert {"net"} <= set(found[1].asserted)


def test_one_test_does_not_excuse_the_next() -> None:
    found = flows(
        """
        let last: number;
        it("a", () => { last = net(1, 2); expect(last).toBe(3); });
        it("b", () => { net(1, 2); expect(4).toBe(4); });
        """
    )
    assert [flow.called - flow.asserted for flow in found] == [frozenset(), {"net"}]


def test_helpers_of_the_test_tree_are_followed() -> None:
    helper = {
        "tests/support.ts": "export function same(x: any) { expect(x).toBe(3); }\nexport const idle = (x: any) => x;\n"
    }
    head = HEAD + 'import { same, idle } from "./support";\nimport * as h from "./support.js";\n'
    assert missing("same(net(1, 2));", head=head, support=helper) == set()
    assert missing("h.same(net(1, 2));", head=head, support=helper) == set()
    assert missing("idle(net(1, 2));", head=head, support=helper) == {"net"}
    unread = HEAD + 'import { same } from "./support";\n'
    assert missing("same(net(1, 2));", head=unread) == set()


def test_node_test_and_its_assertions() -> None:
    head = """
    import test from "node:test";
    import assert, { strictEqual as eq } from "node:assert/strict";
    import { net, notify } from "../src/cart.js";
    """
    assert missing("eq(net(1, 2), 3);", head=head) == set()
    found = flows(
        """
        test("a", (t) => { t.assert.equal(net(1, 2), 3); });
        test("b", async (t) => { await t.test("c", () => { assert.equal(net(1, 2), 3); }); });
        test("d", (t) => { const f = t.mock.fn(); notify(f); assert.equal(f.mock.callCount(), 1); });
        test("e", (t) => { t.plan(1); net(1, 2); });
        test("f", (t, done) => { notify(() => done()); });
        """,
        head=textwrap.dedent(head),
    )
    assert [flow.called - flow.asserted for flow in found] == [frozenset()] * 3 + [{"net"}, frozenset()]


def test_tape_ava_and_callbacks_that_end_a_test() -> None:
    head = 'const test = require("tape");\nconst { net, notify, load } = require("../src/cart");\n'
    found = flows(
        """
        test("a", (t) => { t.equal(net(1, 2), 3); t.end(); });
        test("b", (t) => { net(1, 2); t.pass(); t.end(); });
        it("c", (done) => { notify(done); });
        it("d", (done) => { load("a").then((n) => { done(n === 1 ? null : new Error("no")); }); });
        """,
        head=head,
    )
    assert [flow.called - flow.asserted for flow in found] == [frozenset(), {"net"}, frozenset(), frozenset()]


@pytest.mark.parametrize(
    ("specifier", "leads"),
    [
        ("../src/cart", True), ("../src/cart.js", True), ("../src", True), ("../src/index.ts", True), ("..", True),
        ("@/cart", True), ("~/src/cart", True), ("src/cart", True), ("../src/basket", False), ("cart", False),
        ("lodash", False), ("../lib", False),
    ],
)  # fmt: skip
def test_an_import_leads_to_the_target_or_not(specifier: str, leads: bool) -> None:
    head = f'import {{ net }} from "{specifier}";\n'
    assert missing("net(1, 2); expect(1).toBe(1);", head=head) == ({"net"} if leads else set())


def test_components_and_hooks_of_react() -> None:
    rules = assertion_rules(FilePath("a.tsx"))
    assert rules is not None
    target, test = FilePath("src/hello.tsx"), FilePath("src/hello.test.tsx")
    surface = rules.surface(
        target, b"export const Hello = memo(({ name }) => <p>{name}</p>);\nexport function useN() { return 1; }\n"
    )
    source = textwrap.dedent(
        """
        import { Hello, useN } from "./hello";
        it("a", () => { render(<Hello name="x" />); expect(screen.getByText("x")).toBeInTheDocument(); });
        it("b", () => { const { container } = render(<Hello name="x" />); expect(container).toMatchSnapshot(); });
        it("c", () => { const { result } = renderHook(() => useN()); expect(result.current).toBe(1); });
        it("d", () => { render(<Hello name="x" />); });
        """
    ).encode()
    found = rules.flows(test, source, surface, {})
    assert [flow.called - flow.asserted for flow in found] == [frozenset()] * 3 + [{"Hello"}]


def test_a_test_beyond_the_bounds_counts_as_asserting() -> None:
    deep = "net(" * 200 + "1, 2" + ", 2)" * 200
    assert missing(f"{deep};") == set()


def test_damaged_files_are_read_as_far_as_possible() -> None:
    assert missing("net(1, 2); expect(true).toBe(true); const = ;") == {"net"}


@pytest.mark.parametrize(
    ("specifier", "expected"),
    [
        ("../", ["index.ts", "index.js"]),
        ("..", ["index.ts", "index.js"]),
        ("../src", ["src.ts", "src/index.ts"]),
        ("./helper.js", ["tests/helper.js", "tests/helper.ts"]),
        ("../../elsewhere", []),
        ("../.git/config.js", []),
    ],
)
def test_files_that_an_import_may_mean_are_files_of_the_checkout(specifier: str, expected: list[str]) -> None:
    rules = assertion_rules(TEST)
    assert rules is not None
    found = rules.support(TEST, f'const it = require("{specifier}");'.encode())
    assert set(expected) <= set(found)
    assert bool(found) == bool(expected)
    assert [path for path in found if not {"", ".", "..", ".git"}.isdisjoint(path.split("/")) or "\0" in path] == []
