"""Expressions → ops and sites.

`expr` gives the value of an expression that is used (a name in it that holds a function has left by this use); `quiet` that of
one which only leads on (`a` in `a.b`, the callee of a call).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import tree_sitter

from smp.domain.source import NOTHING, Op, SiteKind
from smp.languages.ecmascript.syntax import (
    decorators_of,
    key_name,
    line_of,
    member_path,
    string_value,
    text_of,
    unwrap,
)
from smp.languages.ecmascript.type_expressions import TypeWalk

_LEAVES = frozenset({int(Op.FUNC), int(Op.CLASS), int(Op.DECORATED), int(Op.IMPORT), int(Op.VAR), int(Op.PHI)})
MAX_KEY = 200
OBJECT = "Object"
ARRAY = "Array"


class ExpressionWalk(TypeWalk):
    """Values of expressions."""

    handlers: ClassVar[dict[str, Callable[[Any, tree_sitter.Node], int]]] = {}
    """What walks an expression, by node type; anything else has its parts walked."""
    placed: int = NOTHING
    """The function that is being assigned, if it is written right there."""

    def expr(self, node: tree_sitter.Node) -> int:
        """The value of an expression that is used."""
        value = self.quiet(node)
        if value != NOTHING:
            kind = unwrap(node).type
            if kind == "identifier":
                if self.b.ops[value][0] in _LEAVES:
                    self.use(value, node)
            elif kind == "member_expression":
                self.use(value, node)
        return value

    def quiet(self, node: tree_sitter.Node) -> int:
        """The value of an expression that only leads on."""
        if self.too_deep(node):
            return NOTHING
        self.depth += 1
        try:
            return self.handlers.get(node.type, ExpressionWalk.parts)(self, node)
        finally:
            self.depth -= 1

    def visit(self, node: tree_sitter.Node) -> None:
        """A statement or an expression, whichever it is; statements override."""
        self.expr(node)

    def parts(self, node: tree_sitter.Node) -> int:
        """For syntax without a value of interest: its parts are walked."""
        for child in node.named_children:
            self.visit(child)
        return NOTHING

    def _nothing(self, node: tree_sitter.Node) -> int:
        return NOTHING

    def _identifier(self, node: tree_sitter.Node) -> int:
        return self.load(text_of(node))

    def _this(self, node: tree_sitter.Node) -> int:
        self.named_this.add(self.frame.this)
        return self.frame.this

    def _super(self, node: tree_sitter.Node) -> int:
        draft = self.frame.draft
        if draft is None or self.frame.function == NOTHING:
            return NOTHING
        return self.b.op(Op.SUPER, draft.index, self.frame.function)

    # Literals --------------------------------------------------------------------------------------------------------

    def _string(self, node: tree_sitter.Node) -> int:
        value = string_value(node)
        return self.b.const("String", value if value is not None and len(value) <= MAX_KEY else None)

    def _template(self, node: tree_sitter.Node) -> int:
        for child in node.named_children:
            if child.type == "template_substitution":
                self.parts(child)
        return self._string(node)

    def _number(self, node: tree_sitter.Node) -> int:
        return self.b.const("Number")

    def _boolean(self, node: tree_sitter.Node) -> int:
        return self.b.const("Boolean")

    def _regex(self, node: tree_sitter.Node) -> int:
        return self.b.const("RegExp")

    def _array(self, node: tree_sitter.Node) -> int:
        operands = [self.b.name(ARRAY)]
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type == "spread_element":
                operands += (1, self.spread(child))
            else:
                operands += (0, self.expr(child))
        return self.b.op(Op.SEQ, *operands)

    def spread(self, node: tree_sitter.Node) -> int:
        """The value whose elements are spread; an iterator of the project runs for it."""
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        value = self.expr(inner) if inner is not None else NOTHING
        self.iterates(value, node)
        return value

    def iterates(self, value: int, node: tree_sitter.Node, *, is_async: bool = False) -> None:
        """Notes that syntax runs a value's iterator."""
        if value != NOTHING and self.b.ops[value][0] not in (Op.CONST, Op.SEQ):
            names = ("[Symbol.asyncIterator]",) if is_async else ("[Symbol.iterator]",)
            self.b.site(SiteKind.PROTOCOL, value, owner=self.frame.owner, line=line_of(node), names=(*names, "next"))

    def _object(self, node: tree_sitter.Node) -> int:
        """An object literal: one container, whose methods have it as `this`."""
        operands = [self.b.name(OBJECT)]
        methods: list[int] = []
        named: list[int] = []
        for member in node.named_children:
            if member.type == "pair":
                key, value = member.child_by_field_name("key"), member.child_by_field_name("value")
                constant = self.constant_key(key)
                if value is not None and unwrap(value).type in ("function_expression", "generator_function"):
                    methods.append(len(operands) + 1)
                elif value is not None and unwrap(value).type == "identifier":
                    named.append(len(operands) + 1)
                operands += (constant, self.expr(value) if value is not None else NOTHING)
            elif member.type == "shorthand_property_identifier":
                value_op = self.expr_named(member)
                named.append(len(operands) + 1)
                operands += (self.b.name(text_of(member)), value_op)
            elif member.type == "method_definition":
                methods.append(len(operands) + 1)
                key = member.child_by_field_name("name")
                operands += (self.constant_key(key), self.function(member, method_flags=True))
            elif member.type == "spread_element":
                inner = next((child for child in member.named_children if child.type != "comment"), None)
                operands += (-2, self.expr(inner) if inner is not None else NOTHING)
        value_op = self.b.op(Op.MAP, *operands)
        for position in methods:
            self.receive(operands[position], value_op)
        for position in named:
            self.receive(operands[position], value_op, among=True)
        return value_op

    def expr_named(self, node: tree_sitter.Node) -> int:
        """The value of a name written where it is key and value at once."""
        value = self.load(text_of(node))
        if value != NOTHING and self.b.ops[value][0] in _LEAVES:
            self.use(value, node)
        return value

    def constant_key(self, node: tree_sitter.Node | None) -> int:
        """Index of a constant key's text, else NOTHING."""
        if node is None:
            return NOTHING
        if node.type == "computed_property_name":
            for child in node.named_children:
                self.expr(child)
        fixed = self.fixed_key(node.named_children[0]) if node.type == "computed_property_name" else None
        name = fixed or key_name(node)
        return self.b.name(name) if name and len(name) <= MAX_KEY else NOTHING

    def fixed_key(self, key: tree_sitter.Node) -> str | None:
        """The one key that a computed key always is: a text, or `[name]` for a symbol that a constant of the file names."""
        text = string_value(key)
        if text is not None:
            return text if text and len(text) <= MAX_KEY else None
        path = member_path(key)
        if path is None or path[0] == "this":
            return None
        binding = self.scope.find(path[0])
        if binding is None:
            return f"[{'.'.join(path)}]" if path[0] == "Symbol" and len(path) > 1 else None
        stored = self.stores.get(binding, [])
        held = self.fixed.get(binding, stored[0] if len(stored) == 1 and not binding.writes else NOTHING)
        if held == NOTHING or binding.scope is not self.scopes.file:
            return None
        op = self.b.ops[held]
        if len(path) == 1 and op[0] == Op.CONST:
            return self.b.names[op[2]] if op[2] != NOTHING else None
        if op[0] == Op.IMPORT or (len(path) == 1 and self._is_symbol(op)):
            return f"[{path[-1]}]"
        return None

    def _is_symbol(self, op: tuple[int, ...]) -> bool:
        """Whether an op is `Symbol(…)`, `Symbol.for(…)`, or a name taken from a module."""
        inner = self.b.ops[op[1]] if op[0] in (Op.CALL, Op.ATTR) and op[1] != NOTHING else (0,)
        if op[0] == Op.ATTR:
            return inner[0] == Op.IMPORT
        if op[0] == Op.CALL and inner[0] == Op.ATTR and inner[1] != NOTHING:
            inner = self.b.ops[inner[1]]
        return op[0] == Op.CALL and inner[0] == Op.UNBOUND and self.b.names[inner[1]] == "Symbol"

    # Access ----------------------------------------------------------------------------------------------------------

    def _member(self, node: tree_sitter.Node) -> int:
        holder, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if holder is None:
            return NOTHING
        own = self.own_export(holder)
        if own and name is not None:
            return self.b.shared(Op.GLOBAL, self.b.name(text_of(name)))
        value = self.quiet(holder)
        if value == NOTHING or name is None:
            return NOTHING
        return self.known_member(node, self.attribute(value, text_of(name), name))

    def known_member(self, node: tree_sitter.Node, plain: int) -> int:
        """What a condition said of a member, else its plain value."""
        if not self.members:
            return plain
        path = member_path(node)
        binding = self.member_binding(path, make=False) if path is not None else None
        return self.frame.values.get(binding, plain) if binding is not None else plain

    def own_export(self, node: tree_sitter.Node) -> bool:
        """True for `exports` and `module.exports` of this file, read; modules say how."""
        raise NotImplementedError

    def attribute(self, value: int, name: str, node: tree_sitter.Node) -> int:
        """Reads an attribute, which may run a getter."""
        result = self.b.op(Op.ATTR, value, self.b.name(name))
        self.b.site(SiteKind.GET, result, owner=self.frame.owner, line=line_of(node))
        return result

    def _subscript(self, node: tree_sitter.Node) -> int:
        holder, key = node.child_by_field_name("object"), node.child_by_field_name("index")
        if holder is None:
            return NOTHING
        value = self.quiet(holder)
        key_op = self.expr(key) if key is not None else NOTHING
        if value == NOTHING or key is None:
            return NOTHING
        constant = self.fixed_key(key)
        if constant is not None:
            return self.attribute(value, constant, node)
        index = NOTHING
        digits = text_of(key)
        if key.type == "number" and digits.isdecimal() and len(digits) < 4:
            index = int(digits)
        return self.b.op(Op.ITEM, value, NOTHING, index, key_op)

    # Operators -------------------------------------------------------------------------------------------------------

    def _transparent(self, node: tree_sitter.Node) -> int:
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        return self.quiet(inner) if inner is not None else NOTHING

    def _cast(self, node: tree_sitter.Node) -> int:
        """`x as T`, `<T>x`: declared to be a T; `as const`, `as any` and `satisfies` leave the value what it is."""
        inner = unwrap(node)
        value = self.expr(inner) if inner != node else NOTHING
        children = [child for child in node.named_children if child.type != "comment"]
        type_node = children[0] if node.type == "type_assertion" else children[-1]
        if node.type == "type_assertion":
            type_node = next(iter(type_node.named_children), type_node)
        if len(children) < 2 or text_of(type_node) in ("const", "any", "unknown"):
            return value
        declared = self.type_of(type_node)
        if node.type == "satisfies_expression":
            return self.placed_in(value, declared)
        if declared == NOTHING or value == NOTHING:
            return self.instance(declared) if declared != NOTHING else value
        return self.b.op(Op.DECLARED, value, declared)

    def placed_in(self, value: int, type_op: int) -> int:
        """What is written where a type is declared; functions say how."""
        raise NotImplementedError

    def _binary(self, node: tree_sitter.Node) -> int:
        """Operators; left-associative chains without recursion (generated files add up thousands of terms)."""
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type in ("&&", "||", "??"):
            return self._logical(node, operator.type)
        chain = [node]
        left = node.child_by_field_name("left")
        while left is not None and left.type == "binary_expression" and not _is_logical(left):
            chain.append(left)
            left = left.child_by_field_name("left")
        if left is not None:
            self.expr(left)
        for step in reversed(chain):
            right = step.child_by_field_name("right")
            if right is not None:
                self.expr(right)
        return (
            self.b.const("Boolean")
            if operator is not None and operator.type in _COMPARISONS
            else self.b.const("Number")
        )

    def _logical(self, node: tree_sitter.Node, operator: str) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self.parts(node)
        first = self.expr(left)
        before = dict(self.frame.values)
        self.narrow(left, positive=operator == "&&")
        second = self.expr(right)
        after = self.frame.values
        # What the right side wrote counts as maybe written; what the condition narrowed is narrowed there only.
        changed = {b: v for b, v in after.items() if b in before and before[b] != v and not self.is_narrowed(v)}
        self.frame.values = {**before, **{b: self.b.phi([before[b], v]) for b, v in changed.items()}}
        return second if operator == "&&" else self.b.phi([first, second])

    def is_narrowed(self, value: int) -> bool:
        """True for values that a condition made narrower."""
        return value != NOTHING and self.b.ops[value][0] in (Op.NARROW, Op.PREDICATE, Op.WHERE)

    def _ternary(self, node: tree_sitter.Node) -> int:
        condition = node.child_by_field_name("condition")
        if condition is None:
            return self.parts(node)
        self.expr(condition)
        before = dict(self.frame.values)
        values = []
        for field, positive in (("consequence", True), ("alternative", False)):
            part = node.child_by_field_name(field)
            self.frame.values = dict(before)
            self.narrow(condition, positive=positive)
            values.append(self.expr(part) if part is not None else NOTHING)
        self.frame.values = before
        return self.b.phi(values)

    def narrow(self, condition: tree_sitter.Node, *, positive: bool) -> None:
        """Narrows names by a condition; statements say how."""
        raise NotImplementedError

    def _unary(self, node: tree_sitter.Node) -> int:
        self.parts(node)
        operator = node.children[0].type if node.children else ""
        if operator == "typeof":
            return self.b.const("String")
        return self.b.const("Boolean") if operator in ("!", "delete") else NOTHING

    def _sequence(self, node: tree_sitter.Node) -> int:
        value = NOTHING
        for child in node.named_children:
            if child.type != "comment":
                value = self.expr(child)
        return value

    def _await(self, node: tree_sitter.Node) -> int:
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        value = self.expr(inner) if inner is not None else NOTHING
        return self.b.op(Op.AWAIT, value) if value != NOTHING else NOTHING

    def _yield(self, node: tree_sitter.Node) -> int:
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        if inner is None:
            return NOTHING
        value = self.expr(inner)
        if any(child.type == "*" for child in node.children):
            self.iterates(value, node)
            value = self.b.op(Op.ITER, value) if value != NOTHING else NOTHING
        if value != NOTHING:
            self.frame.yields.append(value)
        return NOTHING

    # Assignment ------------------------------------------------------------------------------------------------------

    def _assignment(self, node: tree_sitter.Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self.parts(node)
        value = self.expr(right)
        self.placed = value if unwrap(right).type in ("function_expression", "generator_function") else NOTHING
        self.assign(left, value, node)
        self.placed = NOTHING
        return value

    def _augmented(self, node: tree_sitter.Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None:
            return self.parts(node)
        before = self.quiet(left)
        value = self.expr(right)
        if operator is None or operator.type not in ("||=", "&&=", "??="):
            value = self.b.const("Number")
        joined = self.b.phi([before, value])
        self.assign(left, joined, node)
        return joined

    def assign(self, target: tree_sitter.Node, value: int, node: tree_sitter.Node) -> None:
        """Writes a value to a name, a place or a pattern of them."""
        target = unwrap(target)
        kind = target.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            self.write(self.scope.find(text_of(target)), value)
        elif kind == "member_expression":
            self.assign_member(target, value)
        elif kind == "subscript_expression":
            holder, key = target.child_by_field_name("object"), target.child_by_field_name("index")
            container = self.quiet(holder) if holder is not None else NOTHING
            constant = self.fixed_key(key) if key is not None else None
            if key is not None:
                self.expr(key)
            if container != NOTHING and constant is not None:
                self.store_attribute(container, constant, value, target)
            elif container != NOTHING:
                self.b.op(Op.STORE_ITEM, container, NOTHING, value)
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            self.assign_default(target, value, node)
        elif kind == "object_pattern":
            for member in target.named_children:
                self._assign_property(member, value, node)
        elif kind == "array_pattern":
            self._assign_positions(target, value, node)
        elif kind == "rest_pattern":
            for child in target.named_children:
                self.assign(child, value, node)

    def assign_member(self, target: tree_sitter.Node, value: int) -> None:
        """`a.b = value`; modules and prototypes say more."""
        holder, name = target.child_by_field_name("object"), target.child_by_field_name("property")
        container = self.quiet(holder) if holder is not None else NOTHING
        if container == NOTHING or name is None:
            return
        self.store_attribute(container, text_of(name), value, name)
        path = member_path(target) if self.members else None
        if path is not None:
            self.forget_members(None if path[0] == "this" else self.scope.find(path[0]))

    def store_attribute(self, container: int, attribute: str, value: int, node: tree_sitter.Node) -> None:
        """Writes an attribute, which may run a setter."""
        if value == self.placed:
            self.receive(value, container)  # written as a method of the object
        self.b.op(Op.STORE_ATTR, container, self.b.name(attribute), value)
        self.b.site(SiteKind.SET, container, owner=self.frame.owner, line=line_of(node), names=(attribute,))

    def assign_default(self, target: tree_sitter.Node, value: int, node: tree_sitter.Node) -> None:
        """`a = default` in a pattern: the value, or the default."""
        left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
        default = self.expr(right) if right is not None else NOTHING
        if left is not None:
            self.assign(left, self.b.phi([value, default]), node)

    def _assign_property(self, member: tree_sitter.Node, value: int, node: tree_sitter.Node) -> None:
        kind = member.type
        if kind == "rest_pattern":
            self.assign(member, value, node)
        elif kind == "pair_pattern":
            name, target = key_name(member.child_by_field_name("key")), member.child_by_field_name("value")
            if target is not None:
                self.assign(target, self._read(value, name, member), node)
        elif kind == "shorthand_property_identifier_pattern":
            self.assign(member, self._read(value, text_of(member), member), node)
        elif kind == "object_assignment_pattern":
            left = member.child_by_field_name("left")
            self.assign_default(member, self._read(value, text_of(left) if left is not None else None, member), node)

    def _read(self, value: int, name: str | None, node: tree_sitter.Node) -> int:
        return self.attribute(value, name, node) if value != NOTHING and name else NOTHING

    def _assign_positions(self, target: tree_sitter.Node, value: int, node: tree_sitter.Node) -> None:
        position = 0
        for child in target.children:
            if child.type == ",":
                position += 1
            elif child.is_named and child.type != "comment":
                starred = int(child.type == "rest_pattern")
                item = self.b.op(Op.UNPACK, value, position, starred) if value != NOTHING else NOTHING
                self.assign(child, item, node)

    # Functions and classes -------------------------------------------------------------------------------------------

    def _function(self, node: tree_sitter.Node) -> int:
        return self.function(node)

    def function(self, node: tree_sitter.Node, *, method_flags: bool = False) -> int:
        """A function object; functions say how."""
        raise NotImplementedError

    def receive(self, function_op: int, this: int, *, among: bool = False) -> None:
        """Says what `this` is in a function whose body has not been walked yet; functions say how."""
        raise NotImplementedError

    def _class(self, node: tree_sitter.Node) -> int:
        return self.class_value(node)

    def class_value(self, node: tree_sitter.Node) -> int:
        """A class object; classes say how."""
        raise NotImplementedError

    def decorate(self, node: tree_sitter.Node, value: int) -> None:
        """Calls of decorators; the name keeps what it names (a decorator of this family returns nothing or an equal)."""
        for decorator in reversed(decorators_of(node)):
            for inner in decorator.named_children:
                callee = self.quiet(inner)
                if inner.type != "call_expression" and callee != NOTHING:
                    operands = (0, NOTHING, value) if value != NOTHING else ()
                    result = self.b.op(Op.CALL, callee, *operands)
                    self.b.site(
                        SiteKind.DECORATOR, result, owner=self.frame.owner, line=line_of(decorator), text=text_of(inner)
                    )


_COMPARISONS = frozenset({"==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof"})


def _is_logical(node: tree_sitter.Node) -> bool:
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type in ("&&", "||", "??")


EXPRESSION_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], int]] = {
    "identifier": ExpressionWalk._identifier,
    "this": ExpressionWalk._this,
    "super": ExpressionWalk._super,
    "string": ExpressionWalk._string,
    "template_string": ExpressionWalk._template,
    "number": ExpressionWalk._number,
    "true": ExpressionWalk._boolean,
    "false": ExpressionWalk._boolean,
    "regex": ExpressionWalk._regex,
    "array": ExpressionWalk._array,
    "object": ExpressionWalk._object,
    "member_expression": ExpressionWalk._member,
    "subscript_expression": ExpressionWalk._subscript,
    "parenthesized_expression": ExpressionWalk._transparent,
    "non_null_expression": ExpressionWalk._transparent,
    "as_expression": ExpressionWalk._cast,
    "satisfies_expression": ExpressionWalk._cast,
    "type_assertion": ExpressionWalk._cast,
    "binary_expression": ExpressionWalk._binary,
    "ternary_expression": ExpressionWalk._ternary,
    "unary_expression": ExpressionWalk._unary,
    "sequence_expression": ExpressionWalk._sequence,
    "await_expression": ExpressionWalk._await,
    "yield_expression": ExpressionWalk._yield,
    "assignment_expression": ExpressionWalk._assignment,
    "augmented_assignment_expression": ExpressionWalk._augmented,
    "arrow_function": ExpressionWalk._function,
    "function_expression": ExpressionWalk._function,
    "generator_function": ExpressionWalk._function,
    "class": ExpressionWalk._class,
    **dict.fromkeys(
        (
            "comment",
            "null",
            "undefined",
            "type_annotation",
            "type_arguments",
            "type_parameters",
            "meta_property",
            "import",
        ),
        ExpressionWalk._nothing,
    ),
}
"""By node type; the whole walk joins them with those of calls and elements."""
