"""The assert check for Python: does what a test gets from the target reach one of its assertions?

Takes a test file, the surface of the target and the files that may hold fixtures and helpers; gives one `TestFlow` a
test. Tests are functions and methods named `test*`, as pytest and unittest find them by default. See `dataflow`
for what counts as reaching, and `assertion_forms` for what counts as an assertion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tree_sitter import Node

from smp.domain.assertions import TargetSurface, TestFlow
from smp.domain.ids import FilePath
from smp.languages.python.gate import test_imports
from smp.languages.python.gate.assertion_forms import SETUP_METHODS
from smp.languages.python.gate.dataflow import (
    MAX_STEPS,
    UNKNOWN,
    Helper,
    Interpreter,
    Scope,
    Value,
    join,
    last_name,
    text_of,
)
from smp.languages.python.gate.purity import silent_functions
from smp.languages.python.gate.statements import run_statement
from smp.languages.python.grammar import parse


def python_surface(path: FilePath, source: bytes) -> TargetSurface:
    """The functions and classes of a target file, nested functions left out: a test cannot call those."""
    root = parse(source).root_node
    functions: set[str] = set()
    classes: set[str] = set()
    stack: list[tuple[Node, str]] = [(root, "")]
    while stack:
        node, prefix = stack.pop()
        for child in node.named_children:
            definition = (
                child.child_by_field_name("definition") or child if child.type == "decorated_definition" else child
            )
            name = prefix + text_of(definition.child_by_field_name("name"))
            if definition.type == "function_definition":
                functions.add(name)
            elif definition.type == "class_definition":
                classes.add(name)
                body = definition.child_by_field_name("body")
                stack += [(body, f"{name}.")] if body is not None else []
            elif definition.type in {
                "if_statement",
                "try_statement",
                "else_clause",
                "except_clause",
                "block",
                "elif_clause",
            }:
                stack.append((definition, prefix))
    return TargetSurface(
        path=path,
        functions=frozenset(functions),
        classes=frozenset(classes),
        silent=silent_functions(root) & functions,
    )


def python_support(test_file: FilePath, source: bytes) -> tuple[FilePath, ...]:
    """Files to read for `python_test_flows`, most of which will not exist."""
    return test_imports.support_candidates(test_file, parse(source).root_node)


def python_test_flows(source: bytes, surface: TargetSurface, support: Mapping[FilePath, bytes]) -> tuple[TestFlow, ...]:
    """One flow for each test, in source order."""
    tree = _TestTree(source, surface, support)
    return tuple(tree.flow(test, class_name) for test, class_name in tree.tests())


class _TestTree:
    """A test file with its fixtures and helpers."""

    def __init__(self, source: bytes, surface: TargetSurface, support: Mapping[FilePath, bytes]) -> None:
        self.surface = surface
        self.root = parse(source).root_node
        self.methods = _methods_of_classes(self.root)
        self.fixtures: dict[str, Helper] = {}
        self.support: dict[str, dict[str, Value]] = {}
        # The farthest file first, so that nearer fixtures of the same name win.
        for path in sorted(support, key=lambda one: (one.count("/"), one)):
            root = parse(support[path]).root_node
            scope = self._module(root)
            stem = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
            self.support[stem] = {**self.support.get(stem, {}), **scope.names}
            self._collect_fixtures(root, scope)
        self.scope = self._module(self.root)
        self._collect_fixtures(self.root, self.scope)

    def _interpreter(self) -> Interpreter:
        return Interpreter(self.surface, self.methods, self.support, run_statement)

    def _module(self, root: Node) -> Scope:
        scope = Scope()
        run = self._interpreter()
        run.depth = 1  # what a module does when imported is set-up, not a test's call
        for statement in root.named_children:
            if statement.type != "class_definition" or not _tests_in(statement):
                run.statement(statement, scope)
        return scope

    def _collect_fixtures(self, root: Node, scope: Scope) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            for child in node.named_children:
                if child.type == "class_definition" or child.type == "block":
                    stack.append(child)
                elif child.type == "decorated_definition":
                    definition = child.child_by_field_name("definition")
                    if definition is not None and definition.type == "class_definition":
                        stack.append(definition)
                    elif definition is not None and (name := _fixture_name(child, definition)):
                        self.fixtures[name] = Helper(definition, scope)

    def tests(self) -> list[tuple[Node, str]]:
        """(function definition or its decorated form, class name) in source order."""
        found: list[tuple[Node, str]] = [(node, "") for node in _tests_in(self.root)]
        for node in self.root.named_children:
            definition = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
            if definition is not None and definition.type == "class_definition":
                name = text_of(definition.child_by_field_name("name"))
                found += [(test, name) for test in _tests_in(definition)]
        return sorted(found, key=lambda pair: pair[0].start_byte)

    def flow(self, node: Node, class_name: str) -> TestFlow:
        function = node.child_by_field_name("definition") or node if node.type == "decorated_definition" else node
        run = self._interpreter()
        run.own_class = class_name
        scope = Scope(self.scope)
        if class_name:
            scope.names["self"] = scope.names["cls"] = self._instance(class_name, run, scope)
        parameters = self._parametrised(node, run, scope)
        for name in _parameter_names(function):
            if name not in {"self", "cls"}:
                scope.names[name] = parameters.get(name) or self._fixture(name, run)
        run.called.clear()
        run.reached = frozenset()
        run.block(function.child_by_field_name("body"), scope)
        if run.steps > MAX_STEPS:
            run.absorb(frozenset(run.called))
        short = text_of(function.child_by_field_name("name"))
        return TestFlow(
            test=f"{class_name}.{short}" if class_name else short,
            line=function.start_point[0] + 1,
            called=frozenset(run.called),
            asserted=frozenset(run.asserted),
            asserts=run.asserts,
        )

    def _instance(self, class_name: str, run: Interpreter, scope: Scope) -> Value:
        """`self` after set-up: what class attributes and set-up methods put on it."""
        scope.names["self"] = scope.names["cls"] = Value()
        methods = self.methods.get(class_name, {})
        for name in SETUP_METHODS:
            if name in methods:
                _, inner = run.run_function(Helper(methods[name], scope), [], {})
                scope.names["self"] = join(
                    [scope.names["self"], *(inner.names.get(own, Value()) for own in ("self", "cls"))]
                )
        return scope.names["self"]

    def _fixture(self, name: str, run: Interpreter) -> Value:
        fixture = self.fixtures.get(name)
        if fixture is None or run.depth > 4:
            return UNKNOWN
        arguments = {}
        run.depth += 1
        try:
            for parameter in _parameter_names(fixture.node):
                if parameter not in {"self", "cls", name}:
                    arguments[parameter] = self._fixture(parameter, run)
        finally:
            run.depth -= 1
        result, _ = run.run_function(fixture, [], arguments)
        return replace(result, fixed=False)

    def _parametrised(self, node: Node, run: Interpreter, scope: Scope) -> dict[str, Value]:
        """Values of `parametrize` arguments by name; a function among them is called through its parameter."""
        values: dict[str, Value] = {}
        for decorator in node.named_children if node.type == "decorated_definition" else []:
            call = next(iter(decorator.named_children), None)
            if decorator.type != "decorator" or call is None or call.type != "call":
                continue
            arguments = call.child_by_field_name("arguments")
            given = [child for child in (arguments.named_children if arguments else []) if child.type != "comment"]
            if last_name(call.child_by_field_name("function")) != "parametrize" or len(given) < 2:
                continue
            run.depth += 1
            value = run.value(given[1], scope)
            run.depth -= 1
            for name in text_of(given[0]).strip("([\"'])").replace('"', "").replace("'", "").split(","):
                values[name.strip()] = value
        return values


def _tests_in(owner: Node) -> list[Node]:
    body = owner.child_by_field_name("body") if owner.type == "class_definition" else owner
    found = []
    for child in body.named_children if body is not None else []:
        definition = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
        if definition is not None and definition.type == "function_definition":
            name = text_of(definition.child_by_field_name("name"))
            if name.startswith("test") and not _fixture_name(child, definition):
                found.append(child)
    return found


def _methods_of_classes(root: Node) -> dict[str, dict[str, Node]]:
    """Methods by class and name; a base class in the same file lends its own."""
    own: dict[str, dict[str, Node]] = {}
    for node in root.named_children:
        definition = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if definition is None or definition.type != "class_definition":
            continue
        methods: dict[str, Node] = {}
        bases = definition.child_by_field_name("superclasses")
        for base in bases.named_children if bases is not None else []:
            methods |= own.get(last_name(base), {})
        body = definition.child_by_field_name("body")
        for child in body.named_children if body is not None else []:
            inner = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
            if inner is not None and inner.type == "function_definition":
                methods[text_of(inner.child_by_field_name("name"))] = inner
        own[text_of(definition.child_by_field_name("name"))] = methods
    return own


def _fixture_name(decorated: Node, definition: Node) -> str | None:
    """The name under which a fixture is asked for; None for other functions."""
    if decorated.type != "decorated_definition" or definition.type != "function_definition":
        return None
    for decorator in decorated.named_children:
        inner = next(iter(decorator.named_children), None) if decorator.type == "decorator" else None
        function = inner.child_by_field_name("function") if inner is not None and inner.type == "call" else inner
        if last_name(function).endswith("fixture"):
            arguments = inner.child_by_field_name("arguments") if inner is not None and inner.type == "call" else None
            for argument in arguments.named_children if arguments is not None else []:
                if text_of(argument.child_by_field_name("name")) == "name":
                    return text_of(argument.child_by_field_name("value")).strip("\"'")
            return text_of(definition.child_by_field_name("name"))
    return None


def _parameter_names(function: Node) -> list[str]:
    parameters = function.child_by_field_name("parameters")
    names = []
    for parameter in parameters.named_children if parameters is not None else []:
        name = parameter.child_by_field_name("name") or parameter
        if name.type in {"identifier", "typed_parameter", "list_splat_pattern", "dictionary_splat_pattern"}:
            names.append(text_of(name).split(":")[0].strip().lstrip("*"))
    return names
