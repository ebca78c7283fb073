"""Follows values through a JavaScript or TypeScript test: from calls of the target to assertions.

An abstract interpreter over the syntax tree; see `values` for what a value carries. Statements run in order, what is
assigned under a condition is joined, loops run twice, callbacks run where they are handed over. Whatever is not understood
passes on all it was given and counts as ambient, so that doubt ends in "asserted".

A call of the target taints its result, its receiver and everything its arguments mention. Unless the function is silent its
effect is remembered too, and any assertion on an ambient value absorbs it. An assertion under a condition absorbs the
condition; one on a function absorbs all that happens inside of it (`expect(() => f()).toThrow()`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from tree_sitter import Node

from smp.domain.assertions import TargetSurface
from smp.languages.ecmascript.gate import assertion_forms as forms
from smp.languages.ecmascript.gate.values import (
    NOTHING,
    UNDEFINED,
    UNKNOWN,
    Helper,
    Kind,
    Scope,
    Value,
    join,
    last_name,
    names_in,
    root_name,
)
from smp.languages.ecmascript.syntax import FUNCTIONS, body_of, key_name, parameters_of, string_value, text_of, unwrap

MAX_DEPTH = 6
MAX_NESTING = 90
MAX_STEPS = 60_000
"""Expressions looked at in one test; beyond it everything called counts as asserted."""
_LITERALS = frozenset({"string", "number", "true", "false", "null", "undefined", "regex", "string_fragment"})
_COMPUTED = frozenset({"unary_expression", "binary_expression", "template_string", "template_substitution"})
_IGNORED = frozenset({"comment", "type_annotation", "type_arguments", "type_parameters", "decorator"})
_STATEMENT_PARENTS = frozenset(
    {"expression_statement", "await_expression", "return_statement", "arrow_function", "sequence_expression"}
)

Block = Callable[["Interpreter", Node, Scope], list[Value]]
Loader = Callable[["Interpreter", str, Scope], Value]
Registrar = Callable[["Interpreter", Node, Scope], bool]


class Interpreter:
    """Runs one test; `called`, `asserted` and `asserts` are the outcome.

    Args:
        spaces: What modules of the test tree and of test frameworks export, by `Value.space`.
        run_statement: What a statement does. load: the value of a module by its specifier. register: takes the calls
            that define suites, tests and hooks while a module is loaded.
    """

    def __init__(
        self,
        surface: TargetSurface,
        spaces: Mapping[str, Mapping[str, Value]],
        run_statement: Block,
        load: Loader,
        register: Registrar | None = None,
    ) -> None:
        self.surface = surface
        self.spaces = spaces
        self.run_statement = run_statement
        self.load = load
        self.register = register
        self.called: set[str] = set()
        self.asserted: set[str] = set()
        self.asserts = False
        self.effects: frozenset[str] = NOTHING
        self.seen: frozenset[str] = NOTHING
        self.control: list[frozenset[str]] = []
        self.tries: list[frozenset[str]] = []
        self.level = 0
        self.depth = 0
        self.frames = 0
        self.nesting = 0
        self.steps = 0
        self.members: dict[str, frozenset[str]] = {}
        for name in surface.functions:
            short = name.rpartition(".")[2]
            if "." in name:
                self.members[short] = self.members.get(short, NOTHING) | {name}

    @property
    def gave_up(self) -> bool:
        return self.steps > MAX_STEPS

    # -- expressions ---------------------------------------------------------------------------------------------

    def value(self, node: Node | None, scope: Scope) -> Value:
        if node is None:
            return UNDEFINED
        node = unwrap(node)
        self.steps += 1
        if self.nesting >= MAX_NESTING:
            self.steps = MAX_STEPS + 1
        if self.gave_up:
            return UNKNOWN
        self.nesting += 1
        try:
            rule = _RULES.get(node.type)
            result = rule(self, node, scope) if rule is not None else self._parts(node, scope)
        finally:
            self.nesting -= 1
        self.seen |= result.taints
        return result

    def _parts(self, node: Node, scope: Scope) -> Value:
        parts = [self.value(child, scope) for child in node.named_children if child.type not in _IGNORED]
        is_fixed = node.type in _LITERALS or (node.type in _COMPUTED and all(part.fixed for part in parts))
        return replace(join([Value(), *parts]), fixed=is_fixed, kind=Kind.PLAIN)

    def _identifier(self, node: Node, scope: Scope) -> Value:
        name = text_of(node)
        known = scope.get(name)
        if known is not None and (known.refs or known.helpers or known.kind is not Kind.PLAIN):
            return known
        if name in forms.EXPECT_NAMES:
            return Value(kind=Kind.EXPECT)
        if name in forms.ASSERT_NAMES:
            return Value(kind=Kind.ASSERT)
        if known is not None:
            return known
        if name in ("undefined", "NaN", "Infinity"):
            return UNDEFINED
        return Value() if name in forms.HARMLESS_GLOBALS else UNKNOWN

    def _member(self, node: Node, scope: Scope) -> Value:
        owner_node = node.child_by_field_name("object")
        name = last_name(node)
        owner = self.value(owner_node, scope)
        if owner.space:
            return self.taken(owner, name)
        match owner.kind:
            case Kind.MODULE:
                return self.exported(name)
            case Kind.EXPECTATION:
                if name not in forms.CHAIN_WORDS:
                    self.sink(owner)
                return owner
            case Kind.EXPECT:
                return Value() if name in forms.EXPECT_QUIET else owner
            case Kind.ASSERT if name not in forms.EXPECT_NAMES:
                return owner
            case _:
                pass
        if name == "should":
            return replace(owner, kind=Kind.EXPECTATION)
        if name in ("assert", "expect"):
            return Value(taints=owner.origins, kind=Kind.ASSERT if name == "assert" else Kind.EXPECT)
        own = frozenset(helper for helper in owner.helpers if helper.name == name)
        if own:
            return Value(taints=owner.taints, helpers=own, ambient=owner.ambient)
        refs = NOTHING
        if owner.origins:
            methods = self.members.get(name, NOTHING)
            refs = frozenset(m for m in methods if m.rpartition(".")[0] in owner.origins) or methods
        kind = owner.kind if owner.kind in (Kind.CONTEXT, Kind.SUPPORT) else Kind.PLAIN
        return Value(taints=owner.origins, refs=refs, ambient=owner.ambient or bool(owner.origins), kind=kind)

    def exported(self, name: str) -> Value:
        """What the target's module exports under a name."""
        own = self.surface.exports.get(name, name)
        if own in self.surface.functions or own in self.surface.classes:
            return Value(refs=frozenset({own}))
        return replace(UNKNOWN, kind=Kind.MODULE) if name == "default" else UNKNOWN

    def _subscript(self, node: Node, scope: Scope) -> Value:
        owner = self.value(node.child_by_field_name("object"), scope)
        index_node = node.child_by_field_name("index")
        index = self.value(index_node, scope)
        constant = string_value(index_node) if index_node is not None else None
        if owner.kind is Kind.MODULE:
            if constant is not None:
                return self.exported(constant)
            return Value(refs=self.surface.functions, ambient=True)  # any of them
        return replace(join([owner, index]), fixed=False, ambient=owner.ambient or index.ambient)

    def _function(self, node: Node, scope: Scope) -> Value:
        return Value(helpers=frozenset({Helper(node, scope)}))

    def _object(self, node: Node, scope: Scope) -> Value:
        parts = [Value()]
        for child in node.named_children:
            if child.type == "method_definition":
                name = key_name(child.child_by_field_name("name")) or ""
                parts.append(Value(helpers=frozenset({Helper(child, scope, name)})))
            elif child.type == "pair":
                held = self.value(child.child_by_field_name("value"), scope)
                name = key_name(child.child_by_field_name("key")) or ""
                named = frozenset(Helper(helper.node, helper.scope, name) for helper in held.helpers)
                parts.append(replace(held, helpers=named))
            elif child.type == "shorthand_property_identifier":
                held = self._identifier(child, scope)
                named = frozenset(Helper(helper.node, helper.scope, text_of(child)) for helper in held.helpers)
                parts.append(replace(held, helpers=named))
            elif child.type not in _IGNORED:
                parts.append(self.value(child, scope))
        return replace(join(parts), fixed=False, kind=Kind.PLAIN)

    def _assignment(self, node: Node, scope: Scope) -> Value:
        right = self.value(node.child_by_field_name("right"), scope)
        if node.type == "augmented_assignment_expression":
            right = replace(join([right, self.value(node.child_by_field_name("left"), scope)]), fixed=False)
        self.bind(node.child_by_field_name("left"), right, scope)
        return right

    def _update(self, node: Node, scope: Scope) -> Value:
        argument = node.child_by_field_name("argument")
        value = replace(self.value(argument, scope), fixed=False)
        self.bind(argument, value, scope)
        return value

    def _conditional(self, node: Node, scope: Scope) -> Value:
        """`a ? b : c`, `a && b`, `a || b`: the condition is part of the outcome and governs what is done."""
        first, *rest = [child for child in node.named_children if child.type not in _IGNORED]
        condition = self.value(first, scope)
        values = self.under(condition.taints, lambda: [self.value(child, scope) for child in rest])
        return replace(join([condition, *values]), fixed=condition.fixed and all(v.fixed for v in values))

    def _binary(self, node: Node, scope: Scope) -> Value:
        operator = node.child_by_field_name("operator")
        if operator is not None and text_of(operator) in ("&&", "||", "??"):
            return self._conditional(node, scope)
        return self._parts(node, scope)

    def _element(self, node: Node, scope: Scope) -> Value:
        """A JSX element: whoever renders it calls the component."""
        opening = node.child_by_field_name("open_tag") or node
        component = self.value(opening.child_by_field_name("name"), scope)
        parts = [
            self.value(child, scope)
            for child in (*opening.named_children, *(node.named_children if opening is not node else ()))
            if child.type not in ("jsx_opening_element", "jsx_closing_element", "identifier", *_IGNORED)
        ]
        if component.refs:
            self.note_call(component.refs)
            self.effects |= component.refs
        inside = self.call_back(join([Value(), component, *parts]), Value(ambient=True), component.refs)
        taints = component.origins | inside.taints
        return replace(join([Value(), *parts]), taints=taints.union(*(p.origins for p in parts)), ambient=True)

    # -- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: Node, scope: Scope) -> Value:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        arguments = node.child_by_field_name("arguments")
        nodes = [arguments] if arguments is not None and arguments.type == "template_string" else []
        if arguments is not None and not nodes:
            nodes = [child for child in arguments.named_children if child.type not in _IGNORED]
        loaded = self._loaded(function, nodes, scope)
        if loaded is not None:
            return loaded
        if self.register is not None and self.register(self, node, scope):
            return UNDEFINED
        callee = self.value(function, scope)
        values = [self.value(child, scope) for child in nodes]
        given = join(values) if values else Value()
        if callee.refs:
            return self._call_target(callee, given, function, nodes, scope)
        assertion = self._assertion(node, function, callee, given)
        if assertion is not None:
            return assertion
        if callee.helpers:
            return self._call_helpers(callee, nodes, values, scope)
        return self._call_other(callee, given, function, nodes, scope)

    def _loaded(self, function: Node | None, nodes: list[Node], scope: Scope) -> Value | None:
        if function is None or not nodes or (specifier := string_value(nodes[0])) is None:
            return None
        if function.type == "import" or (
            last_name(function) in forms.LOADERS and scope.get(last_name(function)) is None
        ):
            return self.load(self, specifier, scope)
        return None

    def _assertion(self, node: Node, function: Node | None, callee: Value, given: Value) -> Value | None:
        """The outcome of a call that asserts; None when it does not."""
        name = last_name(function)
        parent = node.parent
        is_statement = parent is not None and parent.type in _STATEMENT_PARENTS
        everything = replace(join([given, callee]), ambient=given.ambient or callee.ambient)
        if name in forms.FAILS:
            self.absorb(NOTHING.union(*self.tries))
        match callee.kind:
            case Kind.EXPECT if name not in forms.FAILS:
                if callee.taints:  # `request(app).get("/").expect(200)`
                    self.sink(everything)
                return replace(everything, kind=Kind.EXPECTATION)
            case Kind.EXPECTATION | Kind.ASSERT | Kind.DONE:
                self.sink(replace(everything, ambient=everything.ambient and callee.kind is not Kind.DONE))
                return replace(everything, kind=Kind.EXPECTATION)
            case Kind.CONTEXT if name not in forms.CONTEXT_QUIET and is_statement:
                self.sink(replace(everything, ambient=given.ambient))
                return Value(taints=given.origins, ambient=True)
            case _:
                pass
        if is_statement and not callee.helpers and (callee.kind is Kind.SUPPORT or forms.is_assertion(name)):
            self.sink(everything)
            return Value(taints=everything.origins, ambient=True)
        if forms.is_query(name):
            self.sink(replace(everything, ambient=True))
            return Value(taints=everything.origins, ambient=True)
        return None

    def _call_target(
        self, callee: Value, given: Value, function: Node | None, nodes: list[Node], scope: Scope
    ) -> Value:
        taints = callee.origins | given.origins
        self.note_call(callee.refs)
        if given.kind is Kind.DONE:
            self.asserts = True
            self.absorb(callee.refs)
        is_silent = callee.refs <= self.surface.silent
        if not is_silent:
            self.effects |= callee.refs
            scope.taint(root_name(function), taints, escapes=True)
            self._escape(nodes, taints, scope)
        inside = self.call_back(given, Value(taints=taints, ambient=True), callee.refs)
        return Value(taints=taints | inside.taints, ambient=not is_silent)

    def note_call(self, refs: frozenset[str]) -> None:
        if self.depth == 0:
            self.called |= refs
        self.seen |= refs
        self.tries = [seen | refs for seen in self.tries]

    def _escape(self, nodes: Iterable[Node], taints: frozenset[str], scope: Scope) -> None:
        for node in nodes:
            for name in names_in(node):
                scope.taint(name, taints, escapes=True)

    def call_back(self, given: Value, handed: Value, caller: frozenset[str]) -> Value:
        """Functions of the test that were handed over are assumed to be called; all that they give and see."""
        if not given.helpers:
            return Value()
        self.control.append(caller)
        try:
            return self.inside(given.helpers, [handed] * 4)
        finally:
            self.control.pop()

    def inside(self, helpers: frozenset[Helper], handed: list[Value]) -> Value:
        before, self.seen = self.seen, NOTHING
        results = [
            self.run_function(helper, handed, nested=False)
            for helper in sorted(helpers, key=lambda one: one.node.start_byte)
        ]
        result = join([Value(), *results])
        result = replace(result, taints=result.taints | self.seen)
        self.seen |= before
        return result

    def _call_helpers(self, callee: Value, nodes: list[Node], values: list[Value], scope: Scope) -> Value:
        results = [
            self.run_function(helper, values) for helper in sorted(callee.helpers, key=lambda one: one.node.start_byte)
        ]
        given = join([Value(), *values])
        self._escape(nodes, given.taints, scope)
        result = join([Value(), *results])
        return replace(
            result,
            taints=result.taints | callee.taints | given.taints,
            ambient=result.ambient or given.ambient,
            fixed=False,
        )

    def _call_other(self, callee: Value, given: Value, function: Node | None, nodes: list[Node], scope: Scope) -> Value:
        root, name = root_name(function), last_name(function)
        harmless = not callee.ambient and (
            (root in forms.HARMLESS_GLOBALS and scope.get(root) is None and name not in forms.MUTATING_STATICS)
            or name in forms.HARMLESS_METHODS
        )
        self.effects |= given.refs
        if not harmless:
            if function is not None and function.type == "member_expression":
                scope.taint(root, given.origins, escapes=True)
            self._escape(nodes, given.taints | callee.taints, scope)
        handed = Value(taints=callee.taints | given.taints, ambient=callee.ambient or not harmless)
        inside = self.call_back(given, handed, NOTHING)
        return Value(
            taints=callee.taints | given.origins | inside.taints,
            ambient=not harmless or given.ambient or inside.ambient,
        )

    # -- functions -----------------------------------------------------------------------------------------------

    def run_function(self, helper: Helper, handed: list[Value], *, nested: bool = True) -> Value:
        """Run a function's body with these arguments; what it returns, throws away or yields."""
        if self.frames >= MAX_DEPTH or self.gave_up:
            return replace(join([UNKNOWN, *handed]), fixed=False, kind=Kind.PLAIN)
        scope = Scope(helper.scope, level=self.level, is_function=True)
        self.bind_parameters(helper.node, handed, scope)
        self.depth += nested
        self.frames += 1
        try:
            return self.body(helper.node, scope)
        finally:
            self.depth -= nested
            self.frames -= 1

    def body(self, function: Node, scope: Scope) -> Value:
        body = body_of(function)
        if body is None:
            return UNDEFINED
        if body.type != "statement_block":
            return self.value(body, scope)
        returned = self.block(body, scope)
        return join(returned) if returned else UNDEFINED

    def bind_parameters(self, function: Node, handed: list[Value], scope: Scope) -> None:
        everything = replace(join(handed), fixed=False) if handed else UNKNOWN
        for position, parameter in enumerate(parameters_of(function)):
            pattern = parameter.child_by_field_name("pattern") or parameter
            default = parameter.child_by_field_name("value") or pattern.child_by_field_name("right")
            if pattern.type == "rest_pattern" or position >= len(handed):
                value = self.value(default, scope) if default is not None and not handed else everything
            else:
                value = handed[position]
            self.declare(pattern, value, scope)

    def declare(self, pattern: Node | None, value: Value, scope: Scope) -> None:
        """Give new names in this scope their values; parts of an object or array are as the whole."""
        if pattern is None:
            return
        match pattern.type:
            case "identifier" | "shorthand_property_identifier_pattern" | "this":
                scope.names[text_of(pattern)] = replace(value, taints=value.taints.union(*self.control))
            case "pair_pattern":
                key = key_name(pattern.child_by_field_name("key")) or ""
                self.declare(pattern.child_by_field_name("value"), self.taken(value, key), scope)
            case "object_assignment_pattern" | "assignment_pattern":
                default = self.value(pattern.child_by_field_name("right"), scope)
                whole = value if value.kind is Kind.MODULE else join([value, default])
                self.declare(pattern.child_by_field_name("left"), replace(whole, fixed=False), scope)
            case "object_pattern":
                for child in pattern.named_children:
                    if child.type == "shorthand_property_identifier_pattern":
                        self.declare(child, self.taken(value, text_of(child)), scope)
                    else:
                        self.declare(child, value, scope)
            case "comment" | "type_annotation":
                return
            case _:
                for child in pattern.named_children:
                    self.declare(child, replace(value, fixed=False), scope)

    def taken(self, value: Value, name: str) -> Value:
        """`name` taken out of a value by a pattern or an import."""
        if value.space:
            return self.spaces[value.space].get(name) or replace(value, space="")
        if value.kind is Kind.MODULE:
            return self.exported(name)
        if value.kind is Kind.ASSERT and name in forms.EXPECT_NAMES:
            return Value(kind=Kind.EXPECT)
        own = frozenset(helper for helper in value.helpers if helper.name == name)
        if own:
            return Value(helpers=own, taints=value.taints, ambient=value.ambient)
        refs = frozenset(m for m in self.members.get(name, NOTHING) if m.rpartition(".")[0] in value.origins)
        if refs:
            return Value(taints=value.taints, refs=refs, ambient=True)
        return replace(value, fixed=False)

    def bind(self, target: Node | None, value: Value, scope: Scope) -> None:
        """Assign to names, patterns, or members of the object behind a name."""
        if target is None:
            return
        target = unwrap(target)
        match target.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                told = replace(value, taints=value.taints.union(*self.control))
                scope.assign(text_of(target), told, self.level)
            case "member_expression" | "subscript_expression":
                self.value(target.child_by_field_name("object"), scope)
                root = root_name(target)
                scope.taint(root, value.origins.union(*self.control), escapes=value.ambient or bool(value.origins))
                known = scope.get(root)
                if known is not None and value.helpers and not known.refs and known.kind is Kind.PLAIN:
                    name = last_name(target)
                    named = frozenset(Helper(one.node, one.scope, name) for one in value.helpers)
                    scope.assign(root, replace(known, helpers=known.helpers | named), self.level)
            case "pair_pattern":
                self.bind(target.child_by_field_name("value"), value, scope)
            case "object_assignment_pattern" | "assignment_pattern":
                self.bind(target.child_by_field_name("left"), replace(value, fixed=False), scope)
            case _:
                for child in target.named_children:
                    self.bind(child, replace(value, fixed=False), scope)

    # -- assertions ----------------------------------------------------------------------------------------------

    def absorb(self, taints: frozenset[str]) -> None:
        self.asserted |= taints.union(*self.control)

    def sink(self, value: Value) -> None:
        """An assertion looks at a value."""
        self.asserts = True
        inside = self.inside(value.helpers, []) if value.helpers else Value()
        self.absorb(value.origins | inside.origins)
        if value.ambient or inside.ambient:
            self.absorb(self.effects)

    # -- statements ----------------------------------------------------------------------------------------------

    def under(self, control: frozenset[str], work: Callable[[], list[Value]]) -> list[Value]:
        """Do something that depends on a condition of this origin."""
        self.control.append(control)
        self.level += 1
        try:
            return work()
        finally:
            self.level -= 1
            self.control.pop()

    def block(self, node: Node | None, scope: Scope) -> list[Value]:
        """Run statements; the values returned."""
        results: list[Value] = []
        for statement in node.named_children if node is not None else []:
            if self.gave_up:
                break
            results += self.run_statement(self, statement, scope)
        return results


_RULES: dict[str, Callable[[Interpreter, Node, Scope], Value]] = {
    "identifier": Interpreter._identifier,
    "this": lambda run, node, scope: scope.get("this") or UNKNOWN,
    "member_expression": Interpreter._member,
    "subscript_expression": Interpreter._subscript,
    "object": Interpreter._object,
    "assignment_expression": Interpreter._assignment,
    "augmented_assignment_expression": Interpreter._assignment,
    "update_expression": Interpreter._update,
    "ternary_expression": Interpreter._conditional,
    "binary_expression": Interpreter._binary,
    "call_expression": Interpreter._call,
    "new_expression": Interpreter._call,
    "await_expression": lambda run, node, scope: run.value(next(iter(node.named_children), None), scope),
    "jsx_element": Interpreter._element,
    "jsx_self_closing_element": Interpreter._element,
    "comment": lambda run, node, scope: UNDEFINED,
    "class": lambda run, node, scope: join([v for r in [run.run_statement(run, node, scope)] for v in r] or [UNKNOWN]),
} | dict.fromkeys(FUNCTIONS, Interpreter._function)
