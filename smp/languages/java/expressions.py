"""Expressions → ops and sites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tree_sitter

from smp.domain.source import NOTHING, Op, Param
from smp.languages.java.types import TypeWalk
from smp.languages.nominal.expressions import NominalExpressions
from smp.languages.nominal.syntax import first_of, line_of, one_line, parts_of, text_of
from smp.languages.nominal.walk import CONSTRUCTOR

STRING = "java.lang.String"
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
_WIDTH = ("double", "float", "long", "int")


class ExpressionWalk(TypeWalk, NominalExpressions):
    """Values of expressions."""

    def expr(self, node: tree_sitter.Node | None) -> int:
        """The value of an expression."""
        if node is None or self.too_deep(node):
            return NOTHING
        self.depth += 1
        try:
            return self.by_kind(node)
        finally:
            self.depth -= 1

    # Names -----------------------------------------------------------------------------------------------------------

    def _identifier(self, node: tree_sitter.Node) -> int:
        return self.name_value(text_of(node), node)

    def name_value(self, name: str, node: tree_sitter.Node) -> int:
        """A name in an expression: a variable, a field, or, by the rules of the language last, a type."""
        local = self.local(name)
        if local is not None:
            return local
        if self.is_own_field(name):
            return self.own_member(name, method=False)
        found = self.find_type(name)
        if found is not None:
            return found
        if name[:1].isupper() and not (name.isupper() and len(name) > 1):
            return self.open_type(name)
        inherited = self.own_member(name, method=False)
        return self.b.phi([inherited, self.open_type(name)]) if name[:1].isupper() else inherited

    def _this(self, node: tree_sitter.Node) -> int:
        if self.frame.this != NOTHING:
            return self.frame.this
        return self.this_of(self.frame.draft) if self.frame.draft is not None else NOTHING

    def _super(self, node: tree_sitter.Node) -> int:
        draft = self.frame.draft
        return self.b.op(Op.SUPER, draft.index, self.frame.function) if draft is not None else NOTHING

    def _field(self, node: tree_sitter.Node) -> int:
        """`a.b`: a field, a type in a type, `Outer.this`, or a type with its package."""
        holder, name = node.child_by_field_name("object"), node.child_by_field_name("field")
        if holder is None or name is None:
            return NOTHING
        if name.type == "this":
            type_op = self.type_of(holder)
            return self.instance(type_op)
        path = self.package_path(node)
        if path is not None:
            return path
        return self.attribute(self.expr(holder), text_of(name), node)

    def package_path(self, node: tree_sitter.Node) -> int | None:
        """`a.b.C`: a type by its full name, where `a` is nothing else."""
        names: list[str] = []
        current = node
        while current.type == "field_access":
            holder, name = current.child_by_field_name("object"), current.child_by_field_name("field")
            if holder is None or name is None or name.type != "identifier":
                return None
            names.append(text_of(name))
            current = holder
        names.append(text_of(current))
        names.reverse()
        if current.type != "identifier" or not names[0][:1].islower() or not names[-1][:1].isupper():
            return None
        if any(name[:1].isupper() for name in names[:-1]) or not all(name.islower() for name in names[:-1]):
            return None
        if self.local(names[0]) is not None or self.is_own_field(names[0]):
            return None
        return self.by_path(names, line_of(node))

    # Literals and operators ------------------------------------------------------------------------------------------

    def _integer(self, node: tree_sitter.Node) -> int:
        return self.b.const("long" if text_of(node)[-1:] in "lL" else "int")

    def _floating(self, node: tree_sitter.Node) -> int:
        return self.b.const("float" if text_of(node)[-1:] in "fF" else "double")

    def _boolean(self, node: tree_sitter.Node) -> int:
        return self.b.const("boolean")

    def _character(self, node: tree_sitter.Node) -> int:
        return self.b.const("char")

    def _string(self, node: tree_sitter.Node) -> int:
        return self.b.const(STRING)

    def _null(self, node: tree_sitter.Node) -> int:
        return NOTHING

    def _inner(self, node: tree_sitter.Node) -> int:
        parts = parts_of(node)
        return self.expr(parts[0]) if parts else NOTHING

    def _binary(self, node: tree_sitter.Node) -> int:
        """Operators; left-associative chains without recursion."""
        chain = [node]
        left = node.child_by_field_name("left")
        while left is not None and left.type == "binary_expression":
            chain.append(left)
            left = left.child_by_field_name("left")
        value = self.expr(left)
        for step in reversed(chain):
            right = self.expr(step.child_by_field_name("right"))
            operator = text_of(step.child_by_field_name("operator"))
            if operator in ("&&", "||"):
                self.decide()
            value = self._operated(operator, value, right)
        return value

    def _operated(self, operator: str, left: int, right: int) -> int:
        if operator in _COMPARISONS:
            return self.b.const("boolean")
        types = {self._plain_type(value) for value in (left, right)}
        if operator == "+" and STRING in types:
            return self.b.const(STRING)
        if "" in types:  # of a number and something unknown it is the latter that says more
            return left if not self._plain_type(left) else right
        if types == {"boolean"}:
            return self.b.const("boolean")
        return self.b.const(next((name for name in _WIDTH if name in types), "int"))

    def _plain_type(self, value: int) -> str:
        """The primitive type, or `String`, of a value where its op says so; else empty."""
        op = self.b.ops[value] if value != NOTHING else (0,)
        if op[0] == Op.CONST:
            return self.b.names[op[1]]
        if op[0] == Op.INSTANCE and self.b.ops[op[1]][0] == Op.UNBOUND:
            name = self.b.names[self.b.ops[op[1]][1]]
            return STRING if name == "String" else name if name[:1].islower() else ""
        return ""

    def _unary(self, node: tree_sitter.Node) -> int:
        value = self.expr(node.child_by_field_name("operand"))
        return self.b.const("boolean") if text_of(node).startswith("!") else value

    def _ternary(self, node: tree_sitter.Node) -> int:
        self.decide()
        self.expr(node.child_by_field_name("condition"))
        values = [self.expr(node.child_by_field_name(name)) for name in ("consequence", "alternative")]
        return self.b.phi(values)

    def _assignment(self, node: tree_sitter.Node) -> int:
        left = self.expr(node.child_by_field_name("left"))
        value = self.expr(node.child_by_field_name("right"))
        return left if left != NOTHING else value

    def _cast(self, node: tree_sitter.Node) -> int:
        types = node.children_by_field_name("type")
        type_op = self.type_of(types[0]) if types else NOTHING
        value = self.expr(node.child_by_field_name("value"))
        return self.declared(type_op, value)

    def declared(self, type_op: int, value: int) -> int:
        """The value of a place with a declared type: what is declared, and of functions what is given."""
        if type_op == NOTHING:
            return value
        if value != NOTHING and self.b.ops[value][0] == Op.FUNC:
            return self.b.op(Op.DECLARED, value, type_op)
        return self.instance(type_op)

    def _instanceof(self, node: tree_sitter.Node) -> int:
        self.expr(node.child_by_field_name("left"))
        right, name = node.child_by_field_name("right"), node.child_by_field_name("name")
        pattern = node.child_by_field_name("pattern")
        if pattern is not None:
            self.pattern(pattern)
        else:
            type_op = self.type_of(right)
            if name is not None:
                self.bind(text_of(name), self.instance(type_op))
        return self.b.const("boolean")

    def pattern(self, node: tree_sitter.Node) -> None:
        """Binds what a pattern binds; statements say how."""
        raise NotImplementedError

    def _array_access(self, node: tree_sitter.Node) -> int:
        array = self.expr(node.child_by_field_name("array"))
        self.expr(node.child_by_field_name("index"))
        return self.b.op(Op.ITEM, array, NOTHING, NOTHING, NOTHING) if array != NOTHING else NOTHING

    def _array_creation(self, node: tree_sitter.Node) -> int:
        type_op = self.type_of(node.child_by_field_name("type"))
        dimensions = 0
        for child in node.children_by_field_name("dimensions"):
            dimensions += text_of(child).count("[") if child.type == "dimensions" else 1
            if child.type == "dimensions_expr":
                self.expr(first_of(child, *(part.type for part in child.named_children)))
        self.expr(node.child_by_field_name("value"))
        return self.instance(self.array_of(type_op, max(dimensions, 1)))

    def _class_literal(self, node: tree_sitter.Node) -> int:
        parts = parts_of(node)
        inner = self.type_of(parts[0]) if parts else NOTHING
        base = self.unbound("Class")
        return self.instance(self.b.op(Op.APPLY, base, inner) if inner != NOTHING else base)

    # Calls -----------------------------------------------------------------------------------------------------------

    def arguments(self, node: tree_sitter.Node | None) -> list[int]:
        """Operands of the arguments."""
        return self.positional([self.expr(part) for part in parts_of(node)])

    def _invocation(self, node: tree_sitter.Node) -> int:
        """`f(…)`, `x.f(…)`, `super.f(…)`; a chain of calls without recursion."""
        chain = [node]
        holder = node.child_by_field_name("object")
        while holder is not None and holder.type == "method_invocation" and first_of(chain[-1], "super") is None:
            chain.append(holder)
            holder = holder.child_by_field_name("object")
        value = NOTHING
        for position, step in enumerate(reversed(chain)):
            name = step.child_by_field_name("name")
            if name is None:
                continue
            if position == 0:
                callee = self._callee(step, holder, name)
            else:
                callee = self.b.op(Op.ATTR, value, self.b.name(text_of(name))) if value != NOTHING else NOTHING
            given = self.arguments(step.child_by_field_name("arguments"))
            value = self.call(callee, given, line_of(name), self.text_to(step, name))
        return value

    def _callee(self, node: tree_sitter.Node, holder: tree_sitter.Node | None, name: tree_sitter.Node) -> int:
        called = text_of(name)
        if holder is None:
            return self.own_member(called, method=True)
        if first_of(node, "super") is not None and holder.type != "super":  # `Interface.super.f()`
            receiver = self.type_of(holder)
            base = self.instance(receiver)
        else:
            base = self.expr(holder)
        return self.b.op(Op.ATTR, base, self.b.name(called)) if base != NOTHING else NOTHING

    def _creation(self, node: tree_sitter.Node) -> int:
        """`new C(…)`, also with a body of its own."""
        type_node = node.child_by_field_name("type")
        outer = node.named_children[0] if node.named_children and node.named_children[0] != type_node else None
        held = self.expr(outer) if outer is not None and outer.type not in ("type_arguments",) else NOTHING
        if type_node is None:
            return NOTHING
        if held != NOTHING and type_node.type == "type_identifier" and outer is not None and outer.type != "annotation":
            type_op = self.b.op(Op.ATTR, held, self.b.name(text_of(type_node)))
        else:
            type_op = self.type_of(type_node)
        given = self.arguments(node.child_by_field_name("arguments"))
        callee, args = self._without_arguments(type_op)
        named = type_node if type_node.type != "generic_type" else type_node.named_children[0]
        value = self.call(callee, given, line_of(type_node), f"new {one_line(text_of(named))}", new=True)
        body = first_of(node, "class_body")
        if body is not None:
            return self.instance(self.anonymous(node, body, type_op, text_of(named)))
        return self.instance(type_op) if args else value

    def _without_arguments(self, type_op: int) -> tuple[int, bool]:
        op = self.b.ops[type_op] if type_op != NOTHING else (0,)
        return (op[1], True) if op[0] == Op.APPLY else (type_op, False)

    def anonymous(self, node: tree_sitter.Node, body: tree_sitter.Node, base: int, name: str) -> int:
        """The class of a body behind `new`; declarations say how. Returns its type op."""
        raise NotImplementedError

    def constructor_call(self, node: tree_sitter.Node) -> None:
        """`this(…)`, `super(…)`."""
        which = node.child_by_field_name("constructor")
        given = self.arguments(node.child_by_field_name("arguments"))
        draft = self.frame.draft
        if which is None or draft is None:
            return
        holder = self.frame.this if which.type == "this" else self._super(node)
        if which.type == "super" and not any(self.b.ops[base] != self._object_op() for base in draft.bases):
            return
        callee = self.b.op(Op.ATTR, holder, self.b.name(CONSTRUCTOR))
        self.call(callee, given, line_of(which), which.type)

    def _object_op(self) -> tuple[int, ...]:
        return (int(Op.UNBOUND), self.b.name("java.lang.Object"))

    # Functions -------------------------------------------------------------------------------------------------------

    def _lambda(self, node: tree_sitter.Node) -> int:
        slot = self.b.function_slot()
        listed = node.child_by_field_name("parameters")

        def taken() -> list[Param]:
            params: list[Param] = []
            written = [listed] if listed is not None and listed.type == "identifier" else parts_of(listed)
            for position, part in enumerate(written):
                formal = part.type == "formal_parameter"
                name = text_of(part.child_by_field_name("name")) if formal else text_of(part)
                annotation = self.type_of(part.child_by_field_name("type")) if formal else NOTHING
                params.append(Param(name, annotation=annotation))
                typed = annotation != NOTHING
                self.bind(name, self.instance(annotation) if typed else self.b.shared(Op.PARAM, slot, position))
            return params

        return self.lambda_of(slot, taken, node.child_by_field_name("body"))

    def _reference(self, node: tree_sitter.Node) -> int:
        """`C::m`, `this::m`, `C::new`: a function by name."""
        parts = parts_of(node)
        if not parts:
            return NOTHING
        if node.children[-1].type == "new":
            value = NOTHING if parts[0].type == "array_type" else self._without_arguments(self.type_of(parts[0]))[0]
        else:
            types = ("type_identifier", "generic_type", "array_type", "scoped_type_identifier")
            holder = self.type_of(parts[0]) if parts[0].type in types else self.expr(parts[0])
            holder = self._without_arguments(holder)[0]
            if holder == NOTHING or len(parts) < 2:
                return NOTHING
            value = self.b.op(Op.ATTR, holder, self.b.name(text_of(parts[-1])))
        self.use(value, node)
        return value


EXPRESSION_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], int]] = {
    "identifier": ExpressionWalk._identifier,
    "this": ExpressionWalk._this,
    "super": ExpressionWalk._super,
    "field_access": ExpressionWalk._field,
    "scoped_identifier": ExpressionWalk._field,
    **dict.fromkeys(
        ("decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal"),
        ExpressionWalk._integer,
    ),
    **dict.fromkeys(("decimal_floating_point_literal", "hex_floating_point_literal"), ExpressionWalk._floating),
    "true": ExpressionWalk._boolean,
    "false": ExpressionWalk._boolean,
    "character_literal": ExpressionWalk._character,
    "string_literal": ExpressionWalk._string,
    "null_literal": ExpressionWalk._null,
    "parenthesized_expression": ExpressionWalk._inner,
    "binary_expression": ExpressionWalk._binary,
    "unary_expression": ExpressionWalk._unary,
    "update_expression": ExpressionWalk._inner,
    "ternary_expression": ExpressionWalk._ternary,
    "assignment_expression": ExpressionWalk._assignment,
    "cast_expression": ExpressionWalk._cast,
    "instanceof_expression": ExpressionWalk._instanceof,
    "array_access": ExpressionWalk._array_access,
    "array_creation_expression": ExpressionWalk._array_creation,
    "class_literal": ExpressionWalk._class_literal,
    "method_invocation": ExpressionWalk._invocation,
    "object_creation_expression": ExpressionWalk._creation,
    "lambda_expression": ExpressionWalk._lambda,
    "method_reference": ExpressionWalk._reference,
    **dict.fromkeys(
        ("type_arguments", "marker_annotation", "annotation", "line_comment", "block_comment"), ExpressionWalk._null
    ),
}
