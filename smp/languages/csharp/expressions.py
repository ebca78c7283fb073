"""Expressions → ops and sites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tree_sitter

from smp.domain.source import NOTHING, Op, Param, SiteKind
from smp.languages.csharp.types import TUPLE, TypeWalk
from smp.languages.nominal.expressions import NominalExpressions
from smp.languages.nominal.syntax import first_of, line_of, parts_of, text_of

STRING = "System.String"
EXTENSION = "ext:"
"""Before the name of an extension method among what a file exports."""
GET_ITEM, SET_ITEM = "__getitem__", "__setitem__"
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
_WIDTH = ("decimal", "double", "float", "long", "int")
_LOGIC = frozenset({"&&", "||", "??"})
_TYPES = frozenset({"predefined_type", "generic_name", "array_type", "nullable_type"})


class ExpressionWalk(TypeWalk, NominalExpressions):
    """Values of expressions."""

    bound_to: int = NOTHING
    """The receiver of a conditional access (`a?.b`) that is being walked."""

    def expr(self, node: tree_sitter.Node | None, wanted: int = NOTHING) -> int:
        """The value of an expression. wanted: the type that its place declares, for `new(…)`."""
        if node is None or self.too_deep(node):
            return NOTHING
        self.depth += 1
        try:
            if node.type == "implicit_object_creation_expression":
                return self.construct(node, wanted, node)
            return self.by_kind(node)
        finally:
            self.depth -= 1

    def construct(self, node: tree_sitter.Node, type_op: int, named: tree_sitter.Node) -> int:
        """`new C(…)`; calls say how."""
        raise NotImplementedError

    def leaving(self, node: tree_sitter.Node | None, wanted: int = NOTHING) -> int:
        """A value that is handed on: a method named here is used."""
        value = self.expr(node, wanted)
        named = node is not None and node.type in ("identifier", "member_access_expression")
        if node is not None and named and value != NOTHING and self.b.ops[value][0] in (Op.ATTR, Op.EXTENDED, Op.FUNC):
            self.use(value, node)
        return value

    # Names -----------------------------------------------------------------------------------------------------------

    def _identifier(self, node: tree_sitter.Node) -> int:
        return self.name_value(text_of(node), node)

    def name_value(self, name: str, node: tree_sitter.Node) -> int:
        """A name in an expression: a variable, a member, or, by the rules of the language last, a type."""
        local = self.local(name)
        if local is not None:
            return local
        function = self.local_function(name)
        if function is not None:
            return function
        if self.is_own_field(name) or any(name in draft.methods for draft, _ in self.enclosing()):
            value = self.own_member(name, method=not self.is_own_field(name))
            self.b.site(SiteKind.GET, value, owner=self.frame.owner, line=line_of(node))
            return value
        found = self.find_type(name)
        if found is not None:
            return found
        receivers = [receiver for draft, receiver in self.enclosing() if draft.extends]
        value = self.open_type(name)
        if not receivers:
            return value
        holder = self.b.op(Op.HOLDER, self.b.name(name), *receivers, NOTHING)
        inherited = self.attribute(holder, name, node)
        return self.b.phi([inherited, value]) if name[:1].isupper() else inherited

    def local_function(self, name: str) -> int | None:
        """A function of the code around."""
        frame = self.frame
        while True:
            if name in frame.functions:
                return frame.functions[name]
            draft = frame.draft
            if draft is None or draft.within is None:
                return None
            frame = draft.within

    def this_value(self, node: tree_sitter.Node) -> int:
        if self.frame.this != NOTHING:
            return self.frame.this
        return self.this_of(self.frame.draft) if self.frame.draft is not None else NOTHING

    def base_value(self, node: tree_sitter.Node) -> int:
        draft = self.frame.draft
        return self.b.op(Op.SUPER, draft.index, self.frame.function) if draft is not None else NOTHING

    def _type_name(self, node: tree_sitter.Node) -> int:
        """A type whose static members are meant; its arguments say nothing of them."""
        value = self.type_of(node)
        op = self.b.ops[value] if value != NOTHING else (0,)
        return op[1] if op[0] == Op.APPLY and node.type == "generic_name" else value

    def _member(self, node: tree_sitter.Node) -> int:
        """`a.b`."""
        holder, name = node.child_by_field_name("expression"), node.child_by_field_name("name")
        if holder is None or name is None:
            return NOTHING
        return self.member(self.holder_of(holder), name, node)

    def holder_of(self, node: tree_sitter.Node) -> int:
        return self._type_name(node) if node.type in _TYPES else self.expr(node)

    def member(self, value: int, name: tree_sitter.Node, node: tree_sitter.Node) -> int:
        """Reads a member that may be a property."""
        plain = name.named_children[0] if name.type == "generic_name" else name
        for part in parts_of(first_of(name, "type_argument_list")):
            self.type_of(part)
        return self.attribute(value, text_of(plain), plain)

    def _conditional(self, node: tree_sitter.Node) -> int:
        """`a?.b`, `a?[i]`."""
        before = self.bound_to
        parts = parts_of(node)
        self.bound_to = self.expr(node.child_by_field_name("condition"))
        value = self.expr(parts[-1]) if len(parts) > 1 else NOTHING
        self.bound_to = before
        return value

    def _binding(self, node: tree_sitter.Node) -> int:
        name = node.child_by_field_name("name")
        return self.member(self.bound_to, name, node) if name is not None else NOTHING

    def _element(self, node: tree_sitter.Node) -> int:
        holder = node.child_by_field_name("expression")
        value = self.bound_to if node.type == "element_binding_expression" else self.expr(holder)
        for argument in parts_of(first_of(node, "bracketed_argument_list") or node):
            if argument.type == "argument":
                self.expr(self.argument_value(argument))
        if value == NOTHING:
            return NOTHING
        self.protocol(value, (GET_ITEM,), node)
        return self.b.op(Op.ITEM, value, NOTHING, NOTHING, NOTHING)

    # Literals and operators ------------------------------------------------------------------------------------------

    def _integer(self, node: tree_sitter.Node) -> int:
        text = text_of(node).lower()
        kind = (
            "ulong"
            if "u" in text and "l" in text
            else "long"
            if text.endswith("l")
            else "uint"
            if "u" in text
            else "int"
        )
        return self.b.const(kind if not text.startswith("0x") or kind != "uint" else "int")

    def _real(self, node: tree_sitter.Node) -> int:
        last = text_of(node)[-1:].lower()
        return self.b.const({"f": "float", "m": "decimal"}.get(last, "double"))

    def _boolean(self, node: tree_sitter.Node) -> int:
        return self.b.const("bool")

    def _character(self, node: tree_sitter.Node) -> int:
        return self.b.const("char")

    def _string(self, node: tree_sitter.Node) -> int:
        for part in node.named_children:
            if part.type == "interpolation":
                for inner in parts_of(part):
                    if not inner.type.startswith("interpolation"):
                        self.expr(inner)
        return self.b.const(STRING)

    def _null(self, node: tree_sitter.Node) -> int:
        return NOTHING

    def _inner(self, node: tree_sitter.Node) -> int:
        parts = parts_of(node)
        return self.expr(parts[0]) if parts else NOTHING

    def _prefix(self, node: tree_sitter.Node) -> int:
        value = self._inner(node)
        if text_of(node).startswith("!"):
            return self.b.const("bool")
        return value

    def _binary(self, node: tree_sitter.Node) -> int:
        chain = [node]
        left = node.child_by_field_name("left")
        while left is not None and left.type == "binary_expression":
            chain.append(left)
            left = left.child_by_field_name("left")
        value = self.expr(left)
        for step in reversed(chain):
            operator = text_of(step.child_by_field_name("operator"))
            right = self.expr(step.child_by_field_name("right"))
            if operator in _LOGIC:
                self.decide()
            value = self._operated(operator, value, right, step)
        return value

    def _operated(self, operator: str, left: int, right: int, node: tree_sitter.Node) -> int:
        if operator == "??":
            return self.b.phi([left, right])
        types = {self._plain_type(value) for value in (left, right)}
        known = "" not in types
        name = f"op_{operator}"
        if not known and left != NOTHING and operator not in _LOGIC:
            self.b.site(
                SiteKind.OPERATOR, left, owner=self.frame.owner, line=line_of(node), names=(name, name), other=right
            )
        if operator in _COMPARISONS:
            return self.b.const("bool")
        if operator == "+" and STRING in types:
            return self.b.const(STRING)
        if known:
            return self.b.const(next((width for width in _WIDTH if width in types), "int"))
        if left == NOTHING or right == NOTHING:
            return left if right == NOTHING else right
        if self._plain_type(right) or self._plain_type(left):
            return left if not self._plain_type(left) else right
        return self.b.op(Op.BINARY, left, right, self.b.name(name))

    def _plain_type(self, value: int) -> str:
        op = self.b.ops[value] if value != NOTHING else (0,)
        if op[0] == Op.CONST:
            return self.b.names[op[1]]
        if op[0] == Op.INSTANCE and self.b.ops[op[1]][0] == Op.UNBOUND:
            name = self.b.names[self.b.ops[op[1]][1]]
            return STRING if name == "string" else name if name[:1].islower() else ""
        return ""

    def _ternary(self, node: tree_sitter.Node) -> int:
        self.decide()
        self.expr(node.child_by_field_name("condition"))
        return self.b.phi([self.expr(node.child_by_field_name(name)) for name in ("consequence", "alternative")])

    def _cast(self, node: tree_sitter.Node) -> int:
        type_op = self.type_of(node.child_by_field_name("type"))
        return self.declared(type_op, self.expr(node.child_by_field_name("value")))

    def _as(self, node: tree_sitter.Node) -> int:
        self.expr(node.child_by_field_name("left"))
        return self.instance(self.type_of(node.child_by_field_name("right")))

    def _is(self, node: tree_sitter.Node) -> int:
        self.expr(node.child_by_field_name("expression") or node.child_by_field_name("left"))
        pattern = node.child_by_field_name("pattern")
        if pattern is not None:
            self.pattern(pattern, NOTHING)
        else:
            self.type_of(node.child_by_field_name("right"))
        return self.b.const("bool")

    def pattern(self, node: tree_sitter.Node, subject: int) -> None:
        """Binds what a pattern binds; statements say how."""
        raise NotImplementedError

    def declared(self, type_op: int, value: int) -> int:
        """The value of a place with a declared type: what is declared, and of functions what is given."""
        if type_op == NOTHING:
            return value
        if value != NOTHING and self.b.ops[value][0] in (Op.FUNC, Op.ATTR, Op.EXTENDED):
            return self.b.op(Op.DECLARED, value, type_op)
        return self.instance(type_op)

    def _await(self, node: tree_sitter.Node) -> int:
        value = self._inner(node)
        return self.b.op(Op.AWAIT, value) if value != NOTHING else NOTHING

    def _declaration(self, node: tree_sitter.Node) -> int:
        """`out var x`, `var (a, b)`."""
        value = self.instance(self.type_of(node.child_by_field_name("type")))
        name = node.child_by_field_name("name")
        if name is not None:
            self.bind(text_of(name), value)
        return value

    def _tuple(self, node: tree_sitter.Node) -> int:
        operands = [self.b.name(TUPLE)]
        for argument in parts_of(node):
            operands += (0, self.expr(self.argument_value(argument)))
        return self.b.op(Op.SEQ, *operands)

    def _collection(self, node: tree_sitter.Node) -> int:
        operands = [self.b.name("[]")]
        for part in parts_of(node):
            operands += (0, self.expr(part))
        return self.b.op(Op.SEQ, *operands)

    def array_creation(self, node: tree_sitter.Node) -> int:
        type_op = self.type_of(node.child_by_field_name("type"))
        for part in parts_of(node):
            if part.type == "initializer_expression":
                for inner in parts_of(part):
                    self.expr(inner)
        return self.instance(type_op)

    def _typeof(self, node: tree_sitter.Node) -> int:
        self.type_of(node.child_by_field_name("type") or next(iter(parts_of(node)), None))
        return self.instance(self.unbound("Type"))

    # Assignment ------------------------------------------------------------------------------------------------------

    def _assignment(self, node: tree_sitter.Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None:
            return NOTHING
        operator = text_of(node.child_by_field_name("operator")) or "="
        if left.type == "tuple_expression":
            self.unpack(left, self.expr(right))
            return NOTHING
        if operator not in ("=", "??="):
            before = self.expr(left)
            value = self.leaving(right)
            return before if before != NOTHING else value
        wanted = self._type_of_place(left)
        value = self.leaving(right, wanted)
        self.assign(left)
        return self.instance(wanted) if wanted != NOTHING else value

    def _type_of_place(self, node: tree_sitter.Node) -> int:
        name = text_of(node.child_by_field_name("name") if node.type == "member_access_expression" else node)
        local = self.local(name) if node.type == "identifier" else None
        if local is not None:
            op = self.b.ops[local]
            return op[1] if op[0] == Op.INSTANCE else NOTHING
        for draft, _ in self.enclosing():
            if name in draft.annotations:
                return draft.annotations[name]
        return NOTHING

    def assign(self, target: tree_sitter.Node) -> None:
        """Writes to a place, which may run a setter."""
        if target.type == "identifier":
            name = text_of(target)
            if self.local(name) is None:
                receivers = [receiver for _, receiver in self.enclosing()]
                if receivers:
                    self.written(self.holder(name, receivers), name, target)
        elif target.type == "member_access_expression":
            holder, named = target.child_by_field_name("expression"), target.child_by_field_name("name")
            if holder is not None and named is not None:
                self.written(self.holder_of(holder), text_of(named), named)
        elif target.type == "element_access_expression":
            value = self.expr(target.child_by_field_name("expression"))
            self.expr(first_of(target, "bracketed_argument_list"))
            self.protocol(value, (SET_ITEM,), target)
        else:
            self.expr(target)

    def written(self, value: int, name: str, node: tree_sitter.Node) -> None:
        """Notes that a member is written."""
        if value != NOTHING:
            self.b.site(SiteKind.SET, value, owner=self.frame.owner, line=line_of(node), names=(name,))

    def unpack(self, target: tree_sitter.Node, value: int) -> None:
        """`(a, b) = value`."""
        for position, argument in enumerate(parts_of(target)):
            inner = self.argument_value(argument)
            part = self.b.op(Op.UNPACK, value, position, 0) if value != NOTHING else NOTHING
            if inner is not None and inner.type == "declaration_expression":
                type_op = self.type_of(inner.child_by_field_name("type"))
                self.bind(text_of(inner.child_by_field_name("name")), self.declared(type_op, part))
            elif inner is not None and inner.type == "tuple_expression":
                self.unpack(inner, part)
            elif inner is not None:
                self.assign(inner)

    def argument_value(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """The expression of an argument."""
        if node.type != "argument":
            return node
        name = node.child_by_field_name("name")
        parts = [part for part in node.children if part.type not in ("ref", "out", "in", ":") and part != name]
        return parts[-1] if parts else None

    # Functions -------------------------------------------------------------------------------------------------------

    def _lambda(self, node: tree_sitter.Node) -> int:
        slot = self.b.function_slot()
        listed = node.child_by_field_name("parameters")

        def taken() -> list[Param]:
            params: list[Param] = []
            simple = listed is not None and listed.type in ("implicit_parameter", "identifier")
            for position, part in enumerate([listed] if simple and listed is not None else parts_of(listed)):
                name = text_of(part.child_by_field_name("name") or part)
                annotation = self.type_of(part.child_by_field_name("type"))
                params.append(Param(name, annotation=annotation))
                value = self.instance(annotation)
                self.bind(name, value if value != NOTHING else self.b.shared(Op.PARAM, slot, position))
            return params

        return self.lambda_of(slot, taken, node.child_by_field_name("body") or first_of(node, "block"))

    # Queries ---------------------------------------------------------------------------------------------------------

    def _query(self, node: tree_sitter.Node) -> int:
        """`from x in xs where … select …`: names are elements of what they run over."""
        self.frame.scopes.append({})
        result = NOTHING
        for clause in node.named_children:
            parts = parts_of(clause)
            name = clause.child_by_field_name("name")
            if clause.type in ("from_clause", "join_clause") and name is not None:
                sources = [part for part in parts if part != name and part != clause.child_by_field_name("type")]
                values = [self.expr(part) for part in sources]
                element = self.b.op(Op.ITER, values[0]) if values and values[0] != NOTHING else NOTHING
                self.bind(text_of(name), self.declared(self.type_of(clause.child_by_field_name("type")), element))
            elif clause.type == "let_clause" and len(parts) > 1:
                self.bind(text_of(parts[0]), self.expr(parts[-1]))
            else:
                for part in parts:
                    result = self.expr(part)
        self.frame.scopes.pop()
        return self.b.op(Op.SEQ, self.b.name("System.Collections.Generic.IEnumerable"), 0, result)


EXPRESSION_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], int]] = {
    "identifier": ExpressionWalk._identifier,
    "this": ExpressionWalk.this_value,
    "this_expression": ExpressionWalk.this_value,
    "base": ExpressionWalk.base_value,
    "base_expression": ExpressionWalk.base_value,
    **dict.fromkeys(
        ("predefined_type", "generic_name", "qualified_name", "alias_qualified_name"), ExpressionWalk._type_name
    ),
    "member_access_expression": ExpressionWalk._member,
    "conditional_access_expression": ExpressionWalk._conditional,
    "member_binding_expression": ExpressionWalk._binding,
    "element_access_expression": ExpressionWalk._element,
    "element_binding_expression": ExpressionWalk._element,
    "integer_literal": ExpressionWalk._integer,
    "real_literal": ExpressionWalk._real,
    "boolean_literal": ExpressionWalk._boolean,
    "character_literal": ExpressionWalk._character,
    **dict.fromkeys(
        ("string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"),
        ExpressionWalk._string,
    ),
    **dict.fromkeys(("null_literal", "default_expression", "comment", "type_argument_list"), ExpressionWalk._null),
    **dict.fromkeys(
        ("parenthesized_expression", "postfix_unary_expression", "checked_expression", "ref_expression"),
        ExpressionWalk._inner,
    ),
    "prefix_unary_expression": ExpressionWalk._prefix,
    "binary_expression": ExpressionWalk._binary,
    "conditional_expression": ExpressionWalk._ternary,
    "cast_expression": ExpressionWalk._cast,
    "as_expression": ExpressionWalk._as,
    "is_expression": ExpressionWalk._is,
    "is_pattern_expression": ExpressionWalk._is,
    "await_expression": ExpressionWalk._await,
    "declaration_expression": ExpressionWalk._declaration,
    "tuple_expression": ExpressionWalk._tuple,
    "collection_expression": ExpressionWalk._collection,
    "implicitarray_creation_expression": ExpressionWalk.array_creation,
    "array_creation_expression": ExpressionWalk.array_creation,
    **dict.fromkeys(("typeof_expression", "sizeof_expression"), ExpressionWalk._typeof),
    "assignment_expression": ExpressionWalk._assignment,
    "lambda_expression": ExpressionWalk._lambda,
    "anonymous_method_expression": ExpressionWalk._lambda,
    "query_expression": ExpressionWalk._query,
}
