"""Types as written → type ops."""

from __future__ import annotations

import tree_sitter

from smp.domain.source import NOTHING, Op
from smp.languages.nominal.syntax import line_of, parts_of, text_of
from smp.languages.nominal.walk import NominalWalk

PRIMITIVES = frozenset({"integral_type", "floating_point_type", "boolean_type"})
ARRAY = "[]"
OBJECT = "java.lang.Object"


class TypeWalk(NominalWalk):
    """Types of declarations."""

    def type_of(self, node: tree_sitter.Node | None) -> int:
        """The type that a node denotes; NOTHING for `void`, `var` and what leads nowhere."""
        if node is None or self.too_deep(node):
            return NOTHING
        kind = node.type
        if kind in PRIMITIVES:
            return self.unbound(text_of(node))
        if kind in ("type_identifier", "identifier"):
            return self._named(node)
        if kind in ("scoped_type_identifier", "scoped_identifier"):
            return self._scoped(node)
        if kind == "generic_type":
            return self._generic(node)
        if kind == "array_type":
            element = self.type_of(node.child_by_field_name("element"))
            return self.array_of(element, text_of(node.child_by_field_name("dimensions")).count("["))
        if kind == "annotated_type":
            parts = parts_of(node)
            return self.type_of(parts[-1]) if parts else NOTHING
        if kind == "wildcard":
            bounds = [part for part in parts_of(node) if part.type != "super" and not part.type.endswith("annotation")]
            return self.type_of(bounds[-1]) if bounds else NOTHING
        if kind == "catch_type":
            operands = [op for op in (self.type_of(part) for part in parts_of(node)) if op != NOTHING]
            return self.b.op(Op.UNION, *operands) if len(operands) > 1 else next(iter(operands), NOTHING)
        return NOTHING

    def array_of(self, element: int, dimensions: int) -> int:
        """The type of an array."""
        for _ in range(dimensions):
            element = self.b.shared(Op.APPLY, self.unbound(ARRAY), element)
        return element

    def _named(self, node: tree_sitter.Node) -> int:
        name = text_of(node)
        if name == "var":
            return NOTHING
        found = self.find_type(name)
        value = found if found is not None else self.open_type(name)
        if self.b.ops[value][0] != Op.TYPE_PARAM:
            self.refer(value, node)
        return value

    def _scoped(self, node: tree_sitter.Node) -> int:
        names = [text_of(part) for part in _identifiers(node)]
        value = self.by_path(names, line_of(node))
        self.refer(value, node)
        return value

    def by_path(self, names: list[str], line: int) -> int:
        """A type named with its package or its outer types: the package ends at the first capital."""
        first = next((at for at, name in enumerate(names) if name[:1].isupper()), len(names) - 1)
        if first == 0:
            found = self.find_type(names[0])
            value = found if found is not None else self.open_type(names[0])
        else:
            value = self.qualified(".".join(names[:first]), names[first], line)
        for name in names[first + 1 :]:
            value = self.b.shared(Op.ATTR, value, self.b.name(name))
        return value

    def qualified(self, package: str, name: str, line: int) -> int:
        """A type by its full name."""
        for index, known in enumerate(self.b.imports):
            if known.module == package and known.name == name:
                return self.b.shared(Op.IMPORT, index)
        return self.declare_import(package, name, line, local=True)

    def _generic(self, node: tree_sitter.Node) -> int:
        parts = parts_of(node)
        arguments = next((part for part in parts if part.type == "type_arguments"), None)
        base = self.type_of(parts[0]) if parts else NOTHING
        given = [self.type_of(part) for part in parts_of(arguments)]
        if base == NOTHING or not given:
            return base
        return self.b.op(Op.APPLY, base, *given)

    def type_parameters(self, node: tree_sitter.Node) -> dict[str, int]:
        """Type parameters of a class or method, each with its first bound; bounds may name each other."""
        found: dict[str, int] = {}
        listed = node.child_by_field_name("type_parameters")
        for parameter in parts_of(listed):
            if parameter.type != "type_parameter":
                continue
            parts = parts_of(parameter)
            name = next((text_of(part) for part in parts if part.type in ("type_identifier", "identifier")), "")
            bound = next((part for part in parts if part.type == "type_bound"), None)
            bounds = [op for op in (self.type_of(part) for part in parts_of(bound)) if op != NOTHING]
            limit = self.b.op(Op.UNION, *bounds) if len(bounds) > 1 else next(iter(bounds), self.unbound(OBJECT))
            found[name] = self.b.op(Op.TYPE_PARAM, self.b.name(name), limit)
        return found


def _identifiers(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The names of a dotted path, type arguments left out."""
    found: list[tree_sitter.Node] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in ("identifier", "type_identifier"):
            found.append(current)
        elif current.type != "type_arguments":
            stack.extend(reversed(parts_of(current)))
    return found
