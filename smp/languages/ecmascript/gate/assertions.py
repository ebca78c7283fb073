"""The assert check for JavaScript and TypeScript: does what a test gets from the target reach one of its assertions?

Takes a test file, the surface of the target and the files that may hold helpers; gives one `TestFlow` a test. Tests are the
calls by which vitest, jest, mocha, node:test, tap, ava and playwright know them, also in loops, `each` tables and nested
suites; set-up hooks of the suites around a test run before it. See `dataflow` for what counts as reaching, and
`assertion_forms` for what counts as an assertion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from msgspec.structs import replace as with_fields
from tree_sitter import Node

from smp.domain.assertions import TargetSurface, TestFlow
from smp.domain.ids import FilePath
from smp.languages.ecmascript.gate import modules
from smp.languages.ecmascript.gate.assertion_forms import CALLBACK_NAMES
from smp.languages.ecmascript.gate.dataflow import Interpreter
from smp.languages.ecmascript.gate.statements import run_statement
from smp.languages.ecmascript.gate.values import UNKNOWN, Helper, Kind, Scope, Value, last_name
from smp.languages.ecmascript.grammar import dialect_of, parse
from smp.languages.ecmascript.syntax import is_function, line_of, one_line, parameters_of, string_value, text_of, unwrap
from smp.languages.ecmascript.testing import CASES, HOOKS, MAX_TITLE, SUITES

_MOCKING = re.compile(rb"spyOn|\bmock|stub|\bspy\b|proxyquire|rewire|sinon")
_ENDING_HOOKS = frozenset({"afterEach", "afterAll", "after"})
_OWN_RUNNERS = frozenset({"Deno", "QUnit", "t", "tap", "test"})


def ecmascript_support(test_file: FilePath, source: bytes) -> tuple[FilePath, ...]:
    """Files to read for `ecmascript_test_flows`, most of which will not exist."""
    return modules.support_candidates(test_file, parse(source, dialect_of(test_file)).root_node)


def ecmascript_test_flows(
    test_file: FilePath, source: bytes, surface: TargetSurface, support: Mapping[FilePath, bytes]
) -> tuple[TestFlow, ...]:
    """One flow for each test, in source order; the test's name is its suites' titles and its own, joined by ` > `."""
    if _MOCKING.search(source):
        surface = with_fields(surface, silent=frozenset())  # what it calls may be replaced and watched
    tree = _TestFile(test_file, source, surface, support)
    flows = [tree.flow(test) for test in tree.tests.values()]
    return tuple(sorted(flows, key=lambda flow: (flow.line, flow.test)))


@dataclass
class _Suite:
    title: str
    hooks: list[tuple[str, Helper]] = field(default_factory=list)


@dataclass
class _Case:
    """A test: its call, the function it runs, the suites around it, what an `each` table hands over."""

    node: Node
    title: str
    helper: Helper
    suites: list[_Suite]
    rows: Value | None


class _TestFile:
    """A test file whose tests are registered as the runner would register them: by running its top level."""

    def __init__(
        self, test_file: FilePath, source: bytes, surface: TargetSurface, support: Mapping[FilePath, bytes]
    ) -> None:
        self.surface = surface
        self.file = test_file
        self.spaces: dict[str, dict[str, Value]] = {modules.FRAMEWORK: dict(modules.FRAMEWORK_NAMES)}
        self.suites = [_Suite("")]
        self.tests: dict[int, _Case] = {}
        for path in sorted(support):
            if path != surface.path and modules.is_support(test_file, path):
                self.spaces[modules.stem(path)] = self._run_module(path, support[path]).names
        self.file = test_file
        self.scope = self._run_module(test_file, source, registers=True)

    def _interpreter(self, *, registers: bool = False) -> Interpreter:
        register = self._register if registers else None
        return Interpreter(self.surface, self.spaces, run_statement, self._load, register)

    def _load(self, run: Interpreter, specifier: str, scope: Scope) -> Value:
        return modules.module_value(self.surface, self.file, specifier, self.spaces)

    def _run_module(self, path: FilePath, source: bytes, *, registers: bool = False) -> Scope:
        self.file = path
        scope = Scope()
        scope.names["this"] = Value()
        run = self._interpreter(registers=registers)
        run.depth = 1  # what a module does when it is loaded is set-up, not a test's call
        for statement in _hoisted(parse(source, dialect_of(path)).root_node):
            run.run_statement(run, statement, scope)
        return scope

    # -- registering ---------------------------------------------------------------------------------------------

    def _register(self, run: Interpreter, call: Node, scope: Scope) -> bool:
        """Take a call that defines a suite, a test or a hook; False for any other call."""
        callee = call.child_by_field_name("function")
        arguments = call.child_by_field_name("arguments")
        if callee is None or arguments is None or arguments.type != "arguments":
            return False
        word, table = _runner_word(callee)
        known = scope.get(word.split(".")[0]) if word else None
        if not word or (known is not None and (known.refs or known.helpers)):
            return False
        given = [child for child in arguments.named_children if child.type != "comment"]
        helper = _function_of(run, given, scope)
        if helper is None:
            return False
        if word in HOOKS:
            self.suites[-1].hooks.append((word, helper))
            return True
        rows = run.value(table, scope) if table is not None else None
        title = _title(given[0]) if not is_function(unwrap(given[0])) else "(untitled)"
        if word in SUITES:
            self.suites.append(_Suite(title))
            run.run_function(helper, [replace(rows, fixed=False)] * 8 if rows is not None else [], nested=False)
            self.suites.pop()
        else:
            self.tests[call.id] = _Case(call, title, helper, list(self.suites), rows)
        return True

    # -- running -------------------------------------------------------------------------------------------------

    def flow(self, test: _Case) -> TestFlow:
        chain = list(test.helper.scope.chain())
        before = [(scope, dict(scope.names)) for scope in chain]
        run = self._interpreter()
        try:
            self._hooks(run, test, ending=False)
            scope = Scope(test.helper.scope, is_function=True)
            self._bind_parameters(run, test, scope)
            run.body(test.helper.node, scope)
            self._hooks(run, test, ending=True)
        finally:
            for scope, names in before:
                scope.names = names
        title = " > ".join([*(suite.title for suite in test.suites[1:]), test.title])
        return TestFlow(
            test=title,
            line=line_of(test.node),
            called=frozenset(run.called),
            asserted=frozenset(run.called if run.gave_up else run.asserted),
            asserts=run.asserts,
        )

    def _hooks(self, run: Interpreter, test: _Case, *, ending: bool) -> None:
        run.depth += 1
        for suite in test.suites:
            for word, helper in suite.hooks:
                if (word in _ENDING_HOOKS) is ending:
                    # In the scope of the test, so that what a hook sets is what the test sees.
                    run.body(helper.node, Scope(helper.scope))
        run.depth -= 1

    def _bind_parameters(self, run: Interpreter, test: _Case, scope: Scope) -> None:
        if test.rows is not None:
            run.bind_parameters(test.helper.node, [replace(test.rows, fixed=False)] * 12, scope)
            return
        for parameter in parameters_of(test.helper.node):
            pattern = parameter.child_by_field_name("pattern") or parameter
            if pattern.type != "identifier":
                run.declare(pattern, UNKNOWN, scope)
            else:
                kind = Kind.DONE if text_of(pattern) in CALLBACK_NAMES else Kind.CONTEXT
                run.declare(pattern, Value(ambient=kind is Kind.CONTEXT, kind=kind), scope)


def _hoisted(root: Node) -> list[Node]:
    """Statements of a module with its function declarations first, as they are known everywhere in it."""
    declared = ("function_declaration", "generator_function_declaration")
    return sorted(
        root.named_children, key=lambda node: 0 if node.type == "import_statement" else 1 + (node.type not in declared)
    )


def _runner_word(callee: Node) -> tuple[str, Node | None]:
    """The runner's word that a callee begins with (`it` of `it.only.each(rows)`), and the table of an `each`."""
    node, table, last = unwrap(callee), None, ""
    while node.type in ("member_expression", "call_expression"):
        if node.type == "call_expression":
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if last_name(function) in ("each", "for"):
                table = arguments
            inner = function
        else:
            last = last or last_name(node)
            inner = node.child_by_field_name("object")
        if inner is None:
            return "", None
        node = unwrap(inner)
    word = text_of(node) if node.type == "identifier" else ""
    if word in SUITES | CASES | HOOKS:
        # `test.describe(…)`, `test.beforeEach(…)` of playwright
        return (last if last in SUITES | HOOKS else word), table
    return (last if last in SUITES | CASES | HOOKS and word in _OWN_RUNNERS else ""), table


def _function_of(run: Interpreter, given: list[Node], scope: Scope) -> Helper | None:
    """The function among a call's arguments: the last one that is one."""
    for node in reversed(given):
        inner = unwrap(node)
        if is_function(inner):
            return Helper(inner, scope)
        if inner.type == "identifier" or inner.type == "call_expression":
            helpers = run.value(inner, scope).helpers
            if len(helpers) == 1:
                return next(iter(helpers))
            wrapped = inner.child_by_field_name("arguments")
            if wrapped is not None and (found := _function_of(run, wrapped.named_children, scope)) is not None:
                return found
    return None


def _title(node: Node) -> str:
    constant = string_value(node)
    if constant is None:
        constant = text_of(node)[1:-1] if node.type == "template_string" else text_of(node)
    return one_line(constant)[:MAX_TITLE]
