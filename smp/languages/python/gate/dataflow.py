"""Follows values through a Python test: from calls of the target to assertions.

An abstract interpreter over the syntax tree. A `Value` carries the target functions it comes from (`taints`), the target
functions it *is* (`refs`), the local functions it is (`helpers`), whether it may show effects of earlier calls
(`ambient`), and whether it is a literal that nobody can change (`fixed`). Statements run in order, branches are joined,
loops run twice. Whatever is not understood passes on all it was given and counts as ambient, so that doubt ends in
"asserted".

A call of the target taints its result, its receiver and its mutable arguments. Unless the function is silent its effect
is remembered too, and any assertion on an ambient value absorbs it. An assertion under a condition absorbs the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tree_sitter import Node

from smp.domain.assertions import TargetSurface
from smp.languages.python.gate.assertion_forms import CAPTURES, HARMLESS_BUILTINS, is_assertion, is_raising

MAX_DEPTH = 6
MAX_STEPS = 60_000
"""Expressions looked at in one test; helpers in loops in helpers multiply. Beyond it everything called counts as asserted."""
NOTHING: frozenset[str] = frozenset()
_LITERALS = frozenset({"string", "integer", "float", "true", "false", "none", "concatenated_string", "ellipsis"})


@dataclass(frozen=True)
class Helper:
    """A function of the test tree: its definition and the names around it."""

    node: Node
    scope: Scope

    def __hash__(self) -> int:
        return hash((self.node.id, id(self.scope)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Helper) and other.node.id == self.node.id and other.scope is self.scope


@dataclass(frozen=True)
class Value:
    taints: frozenset[str] = NOTHING
    refs: frozenset[str] = NOTHING
    helpers: frozenset[Helper] = frozenset()
    ambient: bool = False
    fixed: bool = False
    module: bool = False
    support: bool = False


NONE = Value(fixed=True)
UNKNOWN = Value(ambient=True)


class Scope:
    """Names of one function or module; look-ups go outwards."""

    def __init__(self, outer: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.outer = outer
        self.borrowed: set[str] = set()

    def get(self, name: str) -> Value | None:
        found = self.names.get(name)
        return found if found is not None else self.outer.get(name) if self.outer else None

    def assign(self, name: str, value: Value) -> None:
        """Strong update; of a `nonlocal` or `global` name a weak one of every scope outwards that has it."""
        if name not in self.borrowed:
            self.names[name] = value
            return
        outer = self.outer
        while outer is not None:
            if name in outer.names:
                outer.names[name] = join([outer.names[name], value])
            outer = outer.outer

    def taint(self, name: str, taints: frozenset[str]) -> None:
        """Weak update: the object behind a name may have changed."""
        known = self.get(name)
        if known is not None and not known.fixed and not taints <= known.taints:
            self.names[name] = replace(known, taints=known.taints | taints)


def join(values: Iterable[Value]) -> Value:
    """What may be any of these, or holds them all."""
    given = list(values)
    return Value(
        taints=NOTHING.union(*(value.taints for value in given)),
        refs=NOTHING.union(*(value.refs for value in given)),
        helpers=frozenset[Helper]().union(*(value.helpers for value in given)),
        ambient=any(value.ambient for value in given),
        fixed=all(value.fixed for value in given),
        support=any(value.support for value in given),
    )


def text_of(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def last_name(node: Node | None) -> str:
    if node is not None and node.type == "attribute":
        return text_of(node.child_by_field_name("attribute"))
    return text_of(node) if node is not None and node.type == "identifier" else ""


def root_name(node: Node | None) -> str:
    """`a` of `a.b[c].d()`."""
    while node is not None and node.type not in {"identifier"}:
        node = (
            node.child_by_field_name("object")
            or node.child_by_field_name("value")
            or node.child_by_field_name("function")
        )
    return text_of(node)


class Interpreter:
    """Runs one test; `called`, `asserted` and `asserts` are the outcome."""

    def __init__(
        self,
        surface: TargetSurface,
        methods: dict[str, dict[str, Node]],
        support: dict[str, dict[str, Value]],
        run_statement: Callable[[Interpreter, Node, Scope], list[Value]],
    ) -> None:
        self.surface = surface
        self.methods = methods
        self.support = support
        self._run_statement = run_statement
        self.called: set[str] = set()
        self.asserted: set[str] = set()
        self.asserts = False
        self.effects: frozenset[str] = NOTHING
        self.reached: frozenset[str] = NOTHING
        self.touched: frozenset[str] = NOTHING
        self.control: list[frozenset[str]] = []
        self.tries: list[frozenset[str]] = []
        self.depth = 0
        self.steps = 0
        self.own_class = ""
        self.members = {
            short: frozenset(name for name in surface.functions if name.rpartition(".")[2] == short and "." in name)
            for short in {name.rpartition(".")[2] for name in surface.functions}
        }

    # -- expressions ---------------------------------------------------------------------------------------------

    def value(self, node: Node | None, scope: Scope) -> Value:
        if node is None:
            return NONE
        self.steps += 1
        if self.steps > MAX_STEPS:
            return UNKNOWN
        rule = getattr(self, f"_value_{node.type}", None)
        if rule is not None:
            result: Value = rule(node, scope)
            self.touched |= result.taints
            return result
        children = [self.value(child, scope) for child in node.named_children]
        is_literal = node.type in _LITERALS or (
            node.type in {"tuple", "expression_list"} and all(c.fixed for c in children)
        )
        return replace(join([Value(), *children]), fixed=is_literal)

    def _value_identifier(self, node: Node, scope: Scope) -> Value:
        name = text_of(node)
        known = scope.get(name)
        if known is not None:
            return known
        return Value() if name in HARMLESS_BUILTINS else UNKNOWN

    def _value_attribute(self, node: Node, scope: Scope) -> Value:
        owner_node = node.child_by_field_name("object")
        name = text_of(node.child_by_field_name("attribute"))
        owner = self.value(owner_node, scope)
        if text_of(owner_node) in {"self", "cls"} and name in self.methods.get(self.own_class, {}):
            return replace(owner, helpers=frozenset({Helper(self.methods[self.own_class][name], scope)}))
        if owner.module:
            known = name in self.surface.functions or name in self.surface.classes
            return Value(refs=frozenset({name})) if known else replace(UNKNOWN, module=True)
        origins = owner.taints | owner.refs
        refs = NOTHING
        if origins:
            methods = self.members.get(name, NOTHING)
            exact = frozenset(method for method in methods if method.rpartition(".")[0] in origins)
            refs = exact or methods
        return Value(taints=owner.taints, refs=refs, ambient=owner.ambient or bool(owner.taints))

    def _value_named_expression(self, node: Node, scope: Scope) -> Value:
        value = self.value(node.child_by_field_name("value"), scope)
        self.bind(node.child_by_field_name("name"), value, None, scope)
        return value

    def _value_assignment(self, node: Node, scope: Scope) -> Value:
        right = node.child_by_field_name("right")
        if right is None:
            return NONE
        value = self.value(right, scope)
        self.bind(node.child_by_field_name("left"), value, right, scope)
        return value

    def _value_augmented_assignment(self, node: Node, scope: Scope) -> Value:
        left = node.child_by_field_name("left")
        value = join([self.value(left, scope), self.value(node.child_by_field_name("right"), scope)])
        self.bind(left, value, None, scope)
        return value

    def _value_lambda(self, node: Node, scope: Scope) -> Value:
        inner = Scope(scope)
        self.bind_parameters(node.child_by_field_name("parameters"), [], {}, inner)
        return self.value(node.child_by_field_name("body"), inner)

    def _comprehension(self, node: Node, scope: Scope) -> Value:
        inner = Scope(scope)
        clauses = [child for child in node.named_children if child.type in {"for_in_clause", "if_clause"}]
        values = []
        for clause in clauses:
            if clause.type == "for_in_clause":
                right = self.value(clause.child_by_field_name("right"), inner)
                self.bind(clause.child_by_field_name("left"), replace(right, fixed=False), None, inner)
                values.append(right)
            else:
                values.append(join(self.value(child, inner) for child in clause.named_children))
        values.append(self.value(node.child_by_field_name("body"), inner))
        return replace(join(values), fixed=False)

    _value_list_comprehension = _value_set_comprehension = _comprehension
    _value_dictionary_comprehension = _value_generator_expression = _comprehension

    def _value_keyword_argument(self, node: Node, scope: Scope) -> Value:
        return self.value(node.child_by_field_name("value"), scope)

    def _value_comment(self, node: Node, scope: Scope) -> Value:
        return NONE

    def _value_call(self, node: Node, scope: Scope) -> Value:
        function = node.child_by_field_name("function")
        callee = self.value(function, scope)
        arguments = node.child_by_field_name("arguments")
        nodes = [child for child in (arguments.named_children if arguments else []) if child.type != "comment"]
        if arguments is not None and arguments.type == "generator_expression":
            nodes = [arguments]
        values = [self.value(child, scope) for child in nodes]
        given = join(values) if values else Value()
        name = last_name(function)
        if callee.refs:
            return self._call_target(callee, given, function, nodes, scope)
        if callee.helpers:
            return self._call_helpers(callee, nodes, values, scope)
        is_statement = node.parent is not None and node.parent.type in {"expression_statement", "await"}
        if is_raising(name) or (is_statement and (is_assertion(name) or callee.support)):
            self.sink(join([given, callee]), node)
            if name in {"fail", "exit"} or (name.startswith("fail") and not nodes):
                self.absorb(NOTHING.union(*self.tries))
            return Value(taints=given.taints | callee.taints | given.refs, ambient=True)
        if function is not None and function.type == "attribute":
            scope.taint(root_name(function), given.taints | given.refs)
        harmless = (
            function is not None and function.type == "identifier" and name in HARMLESS_BUILTINS and not callee.ambient
        )
        if not harmless:
            for argument in nodes:
                scope.taint(root_name(argument), given.taints)
        taints = callee.taints | given.taints | given.refs | self._call_back(given, callee.taints)
        return Value(taints=taints, ambient=not harmless or given.ambient)

    def _call_target(
        self, callee: Value, given: Value, function: Node | None, nodes: list[Node], scope: Scope
    ) -> Value:
        taints = callee.refs | callee.taints | given.taints | given.refs
        if self.depth == 0:
            self.called |= callee.refs
        self.reach(callee.refs)
        if not callee.refs <= self.surface.silent:
            self.effects |= callee.refs
            scope.taint(root_name(function), taints)
            for node in nodes:
                for name in _names_in(node):
                    scope.taint(name, taints)
        taints |= self._call_back(given, callee.refs)
        return Value(taints=taints, ambient=not callee.refs <= self.surface.silent)

    def _call_back(self, given: Value, caller: frozenset[str]) -> frozenset[str]:
        """Functions of the test that were handed over are assumed to be called by it; taints of what they return."""
        self.control.append(caller)
        results = [
            self.run_function(helper, [], {})[0] for helper in sorted(given.helpers, key=lambda h: h.node.start_byte)
        ]
        self.control.pop()
        return NOTHING.union(*(result.taints for result in results))

    def _call_helpers(self, callee: Value, nodes: list[Node], values: list[Value], scope: Scope) -> Value:
        positional = [value for node, value in zip(nodes, values, strict=True) if node.type != "keyword_argument"]
        keywords = {
            text_of(node.child_by_field_name("name")): value
            for node, value in zip(nodes, values, strict=True)
            if node.type == "keyword_argument"
        }
        results = []
        for helper in sorted(callee.helpers, key=lambda one: one.node.start_byte):
            result, inner = self.run_function(helper, positional, keywords, passed_receiver=bool(callee.taints))
            results.append(result)
            changed = NOTHING.union(*(value.taints for value in inner.names.values()))
            for node in nodes:
                scope.taint(root_name(node), changed & self.reached)
        return replace(
            join([*results, *values, Value(taints=callee.taints)]), fixed=False, helpers=join(results).helpers
        )

    # -- functions -----------------------------------------------------------------------------------------------

    def run_function(
        self, helper: Helper, positional: list[Value], keywords: dict[str, Value], *, passed_receiver: bool = False
    ) -> tuple[Value, Scope]:
        """Run a helper's or fixture's body with these arguments; what it returns or yields, and its names."""
        scope = Scope(helper.scope)
        if self.depth >= MAX_DEPTH or self.steps > MAX_STEPS:
            return replace(join([UNKNOWN, *positional, *keywords.values()]), fixed=False), scope
        parameters = helper.node.child_by_field_name("parameters")
        self.bind_parameters(parameters, positional, keywords, scope)
        self.depth += 1
        try:
            return join([Value(), *self.block(helper.node.child_by_field_name("body"), scope)]), scope
        finally:
            self.depth -= 1

    def bind_parameters(
        self, parameters: Node | None, positional: list[Value], keywords: dict[str, Value], scope: Scope
    ) -> None:
        rest = list(positional)
        everything = join([*positional, *keywords.values()]) if positional or keywords else UNKNOWN
        for parameter in parameters.named_children if parameters is not None else []:
            name_node = parameter.child_by_field_name("name") or parameter
            if name_node.type in {"typed_parameter", "list_splat_pattern", "dictionary_splat_pattern"}:
                is_splat = name_node.type != "typed_parameter" or any(
                    "splat" in c.type for c in name_node.named_children
                )
                scope.names[text_of(name_node).split(":")[0].strip().lstrip("*")] = (
                    everything if is_splat else keywords.get(text_of(name_node).split(":")[0].strip(), UNKNOWN)
                )
                if not is_splat and rest:
                    scope.names[text_of(name_node).split(":")[0].strip()] = rest.pop(0)
                continue
            name = text_of(name_node)
            if name in {"self", "cls"}:
                scope.names[name] = scope.get(name) or Value()
            elif name in keywords:
                scope.names[name] = keywords[name]
            elif rest:
                scope.names[name] = rest.pop(0)
            elif (default := parameter.child_by_field_name("value")) is not None:
                scope.names[name] = self.value(default, scope)
            else:
                scope.names[name] = everything

    def bind(self, target: Node | None, value: Value, source: Node | None, scope: Scope) -> None:
        """Assign; patterns of equal length are taken apart, other targets change the object behind their root."""
        if target is None:
            return
        if target.type == "identifier":
            # What is bound under a condition tells of the condition.
            scope.assign(text_of(target), replace(value, taints=value.taints.union(*self.control)))
        elif target.type in {"pattern_list", "tuple_pattern", "list_pattern"}:
            parts = target.named_children
            sources = (
                source.named_children if source is not None and source.type in {"expression_list", "tuple"} else []
            )
            for index, part in enumerate(parts):
                pairwise = len(sources) == len(parts)
                self.bind(
                    part, self.value(sources[index], scope) if pairwise else replace(value, fixed=False), None, scope
                )
        elif target.type in {"attribute", "subscript"}:
            self.value(target, scope)
            scope.taint(root_name(target), value.taints | value.refs)
            root = root_name(target)
            known = scope.get(root)
            if known is not None and value.refs and root not in {"self", "cls"}:
                scope.names[root] = replace(known, ambient=True)
        else:
            for child in target.named_children:
                self.bind(child, value, None, scope)

    # -- assertions ----------------------------------------------------------------------------------------------

    def reach(self, refs: frozenset[str]) -> None:
        self.reached |= refs
        self.tries = [seen | refs for seen in self.tries]

    def absorb(self, taints: frozenset[str]) -> None:
        self.asserts = True
        self.asserted |= taints

    def sink(self, value: Value, node: Node) -> None:
        self.absorb(value.taints | value.refs | NOTHING.union(*self.control))
        if value.ambient or any(name in CAPTURES for name in _names_in(node)):
            self.absorb(self.effects)

    # -- statements ----------------------------------------------------------------------------------------------

    def block(self, node: Node | None, scope: Scope) -> list[Value]:
        """Run statements; the values returned or yielded."""
        results: list[Value] = []
        for statement in node.named_children if node is not None else []:
            if self.steps > MAX_STEPS:
                self.absorb(self.reached | frozenset(self.called))
                break
            results += self.statement(statement, scope)
        return results

    def statement(self, node: Node, scope: Scope) -> list[Value]:
        return self._run_statement(self, node, scope)


def _names_in(node: Node) -> list[str]:
    """Root names of everything mentioned in an expression."""
    names: list[str] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == "identifier":
            names.append(text_of(current))
        elif current.type == "attribute":
            stack += [child for child in [current.child_by_field_name("object")] if child is not None]
        elif current.type == "keyword_argument":
            stack += [child for child in [current.child_by_field_name("value")] if child is not None]
        else:
            stack += current.named_children
    return names
