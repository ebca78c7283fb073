"""Types as written → type ops."""

from __future__ import annotations

import tree_sitter

from smp.domain.source import NOTHING, Op
from smp.languages.nominal.syntax import first_of, parts_of, text_of
from smp.languages.nominal.walk import NominalWalk

ARRAY = "[]"
OBJECT = "object"
TUPLE = "System.ValueTuple"


class TypeWalk(NominalWalk):
    """Types of declarations."""

    def type_of(self, node: tree_sitter.Node | None) -> int:
        """The type that a node denotes; NOTHING for `void`, `var` and what leads nowhere."""
        if node is None or self.too_deep(node):
            return NOTHING
        kind = node.type
        if kind == "predefined_type":
            name = text_of(node)
            return NOTHING if name == "void" else self.unbound(name)
        if kind == "identifier":
            return self._named(node)
        if kind == "generic_name":
            parts = parts_of(node)
            base = self._named(parts[0]) if parts else NOTHING
            return self._applied(base, first_of(node, "type_argument_list"))
        if kind in ("qualified_name", "member_access_expression"):
            return self._qualified(node)
        if kind == "alias_qualified_name":
            return self.unbound(text_of(node.child_by_field_name("name")))
        if kind in ("nullable_type", "ref_type", "scoped_type", "pointer_type"):
            inner = node.child_by_field_name("type")
            return self.type_of(inner if inner is not None else next(iter(parts_of(node)), None))
        if kind == "array_type":
            return self.array_of(self.type_of(node.child_by_field_name("type")))
        if kind == "tuple_type":
            given = [self.type_of(part.child_by_field_name("type")) for part in parts_of(node)]
            return self.b.op(Op.APPLY, self.unbound(TUPLE), *given)
        return NOTHING

    def array_of(self, element: int) -> int:
        """The type of an array."""
        return self.b.shared(Op.APPLY, self.unbound(ARRAY), element)

    def _named(self, node: tree_sitter.Node) -> int:
        name = text_of(node)
        if name in ("var", "dynamic"):
            return NOTHING
        found = self.find_type(name)
        value = found if found is not None else self.open_type(name)
        if self.b.ops[value][0] != Op.TYPE_PARAM:
            self.refer(value, node)
        return value

    def _qualified(self, node: tree_sitter.Node) -> int:
        """`A.B.C`: namespaces and types alike; linking tells them apart."""
        steps: list[tree_sitter.Node] = []
        current: tree_sitter.Node | None = node
        while current is not None and current.type in ("qualified_name", "member_access_expression"):
            name = current.child_by_field_name("name")
            if name is None:
                return NOTHING
            steps.append(name)
            current = current.child_by_field_name("qualifier") or current.child_by_field_name("expression")
        value = self.type_of(current)
        for step in reversed(steps):
            if value == NOTHING:
                return NOTHING
            plain = step.named_children[0] if step.type == "generic_name" else step
            value = self.b.shared(Op.ATTR, value, self.b.name(text_of(plain)))
            value = self._applied(value, first_of(step, "type_argument_list"))
        self.refer(value, node)
        return value

    def _applied(self, base: int, arguments: tree_sitter.Node | None) -> int:
        given = [self.type_of(part) for part in parts_of(arguments)]
        return self.b.op(Op.APPLY, base, *given) if given and base != NOTHING else base

    def type_parameters(self, node: tree_sitter.Node) -> dict[str, int]:
        """Type parameters of a class or method, each with its first constraint."""
        found: dict[str, int] = {}
        listed = first_of(node, "type_parameter_list")
        limits: dict[str, tree_sitter.Node] = {}
        for clause in node.named_children:
            if clause.type == "type_parameter_constraints_clause":
                limits[text_of(first_of(clause, "identifier"))] = clause
        for parameter in parts_of(listed):
            name = text_of(parameter.child_by_field_name("name"))
            limit = self.unbound(OBJECT)
            for constraint in parts_of(limits.get(name)):
                type_op = self.type_of(constraint.child_by_field_name("type"))
                if type_op != NOTHING:
                    limit = type_op
                    break
            found[name] = self.b.op(Op.TYPE_PARAM, self.b.name(name), limit)
        return found
