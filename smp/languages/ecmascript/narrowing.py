"""What conditions say of names and of members such as `this.item`, where they hold and where they do not."""

from __future__ import annotations

import tree_sitter

from smp.domain.source import NOTHING, Op
from smp.languages.ecmascript.functions import FunctionWalk
from smp.languages.ecmascript.scopes import Binding
from smp.languages.ecmascript.syntax import member_path, string_value, text_of, unwrap

ASSERTED = 2
"""How a call narrows whose function asserts: it holds behind the call, or nothing behind it runs."""
TRUTHY = "(true)"
"""Text that stands for a member that was tested by itself."""
_ASSERTING = ("assert", "ensure", "invariant", "check", "expect", "must", "require", "verify")
_LITERALS = frozenset({"true", "false", "number", "null", "undefined"})


class NarrowWalk(FunctionWalk):
    """Narrows what names hold by conditions."""

    def narrow(self, condition: tree_sitter.Node, *, positive: bool) -> None:
        """Narrows names by a condition that holds (or does not)."""
        condition = unwrap(condition)
        if condition.type == "unary_expression":
            argument = condition.child_by_field_name("argument")
            if condition.children[0].type == "!" and argument is not None:
                self.narrow(argument, positive=not positive)
            return
        if condition.type == "call_expression":
            self.narrow_by_predicate(condition, how=int(positive))
            return
        if condition.type == "member_expression":
            self._narrow_by_text(condition, TRUTHY, positive=positive)
            return
        operator, left, right = (condition.child_by_field_name(f) for f in ("operator", "left", "right"))
        if condition.type != "binary_expression" or operator is None or left is None or right is None:
            return
        if operator.type == ("&&" if positive else "||"):
            self.narrow(left, positive=positive)
            self.narrow(right, positive=positive)
        elif operator.type == "instanceof":
            path = member_path(right)
            type_op = self.path_value(path) if path is not None else NOTHING
            self._narrow_to(left, type_op, positive=positive)
        elif operator.type == "in":
            self._narrow_by_key(left, right, positive=positive)
        elif operator.type in ("===", "==", "!==", "!="):
            same = operator.type[0] == "="
            self.narrow_by_literal(left, right, positive=positive == same)
            self.narrow_by_literal(right, left, positive=positive == same)

    def path_value(self, path: tuple[str, ...]) -> int:
        """The value of `a.b.c`, read without noting that it is."""
        value = self.frame.this if path[0] == "this" else self.load(path[0])
        for name in path[1:]:
            value = self.b.op(Op.ATTR, value, self.b.name(name)) if value != NOTHING else NOTHING
        return value

    def _narrowed(self, target: tree_sitter.Node) -> tuple[Binding, int] | None:
        """What an expression is of this run of code, a variable or a member of one, and its present value."""
        target = unwrap(target)
        if target.type == "member_expression":
            return self._narrowed_member(target)
        binding = self.scope.find(text_of(target)) if target.type == "identifier" else None
        if binding is None or binding.scope.owner is not self.frame.scope:
            return None
        value = self.load_binding(binding)
        return (binding, value) if value != NOTHING else None

    def _narrowed_member(self, target: tree_sitter.Node) -> tuple[Binding, int] | None:
        path = member_path(target)
        binding = self.member_binding(path) if path is not None else None
        if path is None or binding is None:
            return None
        known = self.frame.values.get(binding)
        value = known if known is not None else self.path_value(path)
        return (binding, value) if value != NOTHING else None

    def _narrow_to(self, target: tree_sitter.Node, type_op: int, *, positive: bool) -> None:
        found = self._narrowed(target) if type_op != NOTHING else None
        if found is not None:
            self.frame.values[found[0]] = self.b.op(Op.NARROW, found[1], type_op, int(positive))

    def narrow_by_predicate(self, call: tree_sitter.Node, *, how: int) -> None:
        """`isCat(x)`: what the function declares of its argument, wherever it is written."""
        callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        path = member_path(callee) if callee is not None else None
        if path is None or arguments is None or not arguments.named_children:
            return
        found = self._narrowed(arguments.named_children[0])
        callee_op = self.path_value(path) if found is not None else NOTHING
        if found is not None and callee_op != NOTHING:
            self.frame.values[found[0]] = self.b.op(Op.PREDICATE, found[1], callee_op, how)

    def may_assert(self, call: tree_sitter.Node) -> bool:
        """Whether a call by itself may be an assertion. By its name: what it is called with would be known less well otherwise."""
        callee = call.child_by_field_name("function")
        path = member_path(callee) if callee is not None else None
        return self.typed and path is not None and path[-1].lower().startswith(_ASSERTING)

    def _narrow_by_key(self, key: tree_sitter.Node, holder: tree_sitter.Node, *, positive: bool) -> None:
        """`"name" in x`, `#name in x`."""
        key = unwrap(key)
        name = text_of(key) if key.type == "private_property_identifier" else string_value(key)
        found = self._narrowed(holder) if name else None
        if found is not None and name:
            operands = (found[1], self.b.name(name), NOTHING, int(positive))
            self.frame.values[found[0]] = self.b.op(Op.WHERE, *operands)

    def narrow_by_literal(self, subject: tree_sitter.Node, literal: tree_sitter.Node, *, positive: bool) -> None:
        """`x.kind === "circle"`, `x.kind === Kind.Circle`, `x.ok === true`."""
        text = literal_text(unwrap(literal))
        if text:
            self._narrow_by_text(unwrap(subject), text, positive=positive)

    def _narrow_by_text(self, subject: tree_sitter.Node, text: str, *, positive: bool) -> None:
        if subject.type != "member_expression":
            return
        holder, name = subject.child_by_field_name("object"), subject.child_by_field_name("property")
        found = self._narrowed(holder) if holder is not None else None
        if found is not None and name is not None:
            operands = (found[1], self.b.name(text_of(name)), self.b.name(text), int(positive))
            self.frame.values[found[0]] = self.b.op(Op.WHERE, *operands)


def literal_text(literal: tree_sitter.Node) -> str | None:
    """A literal as types write it; a member of an enumeration with a dot before its name; None for anything else."""
    text = string_value(literal)
    if text is not None:
        return text
    if literal.type in _LITERALS:
        return text_of(literal)
    path = member_path(literal) if literal.type == "member_expression" else None
    return f".{path[-1]}" if path is not None and path[0] != "this" else None
