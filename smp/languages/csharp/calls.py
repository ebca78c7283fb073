"""Calls and constructions → ops and sites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tree_sitter

from smp.domain.source import NOTHING, ArgKind, Op
from smp.languages.csharp.expressions import EXTENSION, STRING, ExpressionWalk
from smp.languages.nominal.syntax import first_of, line_of, one_line, parts_of, text_of
from smp.languages.nominal.walk import CONSTRUCTOR


class CallWalk(ExpressionWalk):
    """Values of calls."""

    def arguments(self, node: tree_sitter.Node | None) -> list[int]:
        """Operands of the arguments."""
        operands: list[int] = []
        for part in parts_of(node):
            if part.type != "argument":
                continue
            name = part.child_by_field_name("name")
            value = self.leaving(self.argument_value(part))
            if name is not None:
                operands += (int(ArgKind.KEYWORD), self.b.name(text_of(name)), value)
            else:
                operands += (int(ArgKind.POSITIONAL), NOTHING, value)
        return operands

    def _invocation(self, node: tree_sitter.Node) -> int:
        """`f(…)`, `x.f(…)`; a chain of calls without recursion."""
        chain = [node]
        while True:
            target = chain[-1].child_by_field_name("function")
            inner = target.child_by_field_name("expression") if target is not None else None
            if target is None or target.type != "member_access_expression" or inner is None:
                break
            if inner.type != "invocation_expression":
                break
            chain.append(inner)
        value = NOTHING
        for position, step in enumerate(reversed(chain)):
            target = step.child_by_field_name("function")
            arguments = step.child_by_field_name("arguments")
            if target is None:
                continue
            if target.type == "identifier" and text_of(target) == "nameof" and self.local("nameof") is None:
                value = self.b.const(STRING)
                continue
            callee, name = self._callee(target, value if position else None)
            given = self.arguments(arguments)
            value = self.call(callee, given, line_of(name), self.text_to(step, name))
        return value

    def _callee(self, target: tree_sitter.Node, before: int | None) -> tuple[int, tree_sitter.Node]:
        """What is called, and the name to show."""
        kind = target.type
        if kind == "member_access_expression":
            holder, name = target.child_by_field_name("expression"), target.child_by_field_name("name")
            if holder is not None and name is not None:
                value = before if before is not None else self.holder_of(holder)
                return self._extended(value, name)
        if kind in ("identifier", "generic_name"):
            name = target if kind == "identifier" else target.named_children[0]
            for part in parts_of(first_of(target, "type_argument_list")):
                self.type_of(part)
            return self._simple(text_of(name)), name
        if kind == "conditional_access_expression":
            receiver = self.expr(target.child_by_field_name("condition"))
            return self._bound_callee(parts_of(target)[-1], receiver)
        return self.expr(target), target

    def _bound_callee(self, node: tree_sitter.Node, receiver: int) -> tuple[int, tree_sitter.Node]:
        """`a?.b.c` as a callee: the last step is what is called."""
        outer, self.bound_to = self.bound_to, receiver
        name = node.child_by_field_name("name")
        if node.type == "member_binding_expression" and name is not None:
            found = self._extended(receiver, name)
        elif node.type == "member_access_expression" and name is not None:
            found = self._extended(self.expr(node.child_by_field_name("expression")), name)
        elif node.type == "conditional_access_expression":
            found = self._bound_callee(parts_of(node)[-1], self.expr(node.child_by_field_name("condition")))
        else:
            found = self.expr(node), node
        self.bound_to = outer
        return found

    def _extended(self, value: int, name: tree_sitter.Node) -> tuple[int, tree_sitter.Node]:
        """A method of a value: its own, else one that extends its type."""
        plain = name.named_children[0] if name.type == "generic_name" else name
        for part in parts_of(first_of(name, "type_argument_list")):
            self.type_of(part)
        if value == NOTHING:
            return NOTHING, plain
        text = text_of(plain)
        return self.b.op(Op.EXTENDED, value, self.b.name(text), self.unbound(EXTENSION + text)), plain

    def _simple(self, name: str) -> int:
        local = self.local(name)
        if local is not None:
            return local
        function = self.local_function(name)
        return function if function is not None else self.own_member(name, method=not self.is_own_field(name))

    def _creation(self, node: tree_sitter.Node) -> int:
        type_node = node.child_by_field_name("type")
        if type_node is not None and type_node.type == "array_type":
            return self.array_creation(node)
        return self.construct(node, self.type_of(type_node), type_node if type_node is not None else node)

    def construct(self, node: tree_sitter.Node, type_op: int, named: tree_sitter.Node) -> int:
        """`new C(…) { … }`."""
        arguments = node.child_by_field_name("arguments") or first_of(node, "argument_list")
        given = self.arguments(arguments)
        op = self.b.ops[type_op] if type_op != NOTHING else (0,)
        callee = op[1] if op[0] == Op.APPLY else type_op
        plain = named.named_children[0] if named.type == "generic_name" else named
        shown = "new()" if named == node else f"new {one_line(text_of(plain))}"
        value = self.call(callee, given, line_of(named), shown, new=True)
        value = self.instance(type_op) if op[0] == Op.APPLY else value
        self._initialise(node.child_by_field_name("initializer") or first_of(node, "initializer_expression"), value)
        return value

    def _initialise(self, node: tree_sitter.Node | None, value: int) -> None:
        """Properties that an initialiser sets."""
        for part in parts_of(node):
            left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
            if part.type == "assignment_expression" and left is not None and left.type == "identifier":
                if right is not None and right.type == "initializer_expression":
                    self._initialise(right, NOTHING)
                else:
                    self.leaving(right)
                self.written(value, text_of(left), left)
            elif value != NOTHING and left is None:
                self._added(part, value)
            else:
                self.expr(part)

    def _added(self, node: tree_sitter.Node, value: int) -> None:
        """An element of a collection's initialiser runs its `Add`."""
        parts = parts_of(node) if node.type == "initializer_expression" else [node]
        given = self.positional([self.leaving(part) for part in parts])
        self.b.op(Op.CALL, self.b.op(Op.ATTR, value, self.b.name("Add")), *given)
        self.protocol(value, ("Add",), node)

    def _with(self, node: tree_sitter.Node) -> int:
        parts = parts_of(node)
        value = self.expr(parts[0]) if parts else NOTHING
        for part in parts[1:]:
            for inner in parts_of(part)[1:]:
                self.expr(inner)
        return value

    def constructor_call(self, node: tree_sitter.Node, which: str) -> None:
        """`: this(…)`, `: base(…)`."""
        given = self.arguments(first_of(node, "argument_list") or node)
        draft = self.frame.draft
        if draft is None or (which == "base" and not draft.extends):
            return
        holder = self.this_value(node) if which == "this" else self.base_value(node)
        callee = self.b.op(Op.ATTR, holder, self.b.name(CONSTRUCTOR))
        self.call(callee, given, line_of(node), which)


CALL_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], int]] = {
    "invocation_expression": CallWalk._invocation,
    "object_creation_expression": CallWalk._creation,
    "with_expression": CallWalk._with,
}
