"""Type expressions → type ops, also where they are written as strings."""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, Op, SiteKind
from smp.languages.python import grammar as g
from smp.languages.python.definitions import string_value
from smp.languages.python.scopes import CLASS, Scope
from smp.languages.python.walk import ClassDraft, WalkState


class AnnotationWalk(WalkState):
    """Types of annotations.

    heading: The class whose bases are being read.
    """

    heading: ClassDraft | None = None

    def annotation(self, node: tree_sitter.Node) -> int:
        """The type that an annotation denotes; NOTHING for None and for what is no type expression."""
        if self.too_deep(node):
            return NOTHING
        self.depth += 1
        try:
            handler = _TYPES.get(node.type)
            return handler(self, node) if handler is not None else NOTHING
        finally:
            self.depth -= 1

    def _type_wrapper(self, node: tree_sitter.Node) -> int:
        return self.annotation(node.named_children[0]) if node.named_child_count else NOTHING

    def _type_name(self, node: tree_sitter.Node) -> int:
        name = self.text(node)
        value = self.load(name)
        self._refer(value, node)
        return self.b.op(Op.TYPE_PARAM, self.b.name(name), value) if self._is_type_parameter(name) else value

    def _is_type_parameter(self, name: str) -> bool:
        """Whether a class around this place is generic in the name."""
        if self.heading is not None and name in self.heading.type_params:
            return True
        scope: Scope | None = self.scope
        while scope is not None:
            if scope.kind == CLASS and any(
                draft.index == scope.class_index and name in draft.type_params for draft in self.drafts
            ):
                return True
            scope = scope.parent
        return False

    def type_parameters(self, bases: tree_sitter.Node | None) -> list[str]:
        """Type parameters of a class by its bases: those of `Generic` or `Protocol`, else the type variables in order."""
        found: list[str] = []
        for child in bases.named_children if bases is not None else ():
            holder = child.child_by_field_id(g.F_VALUE) if child.type == "subscript" else None
            if holder is None:
                continue
            names = [self.text(argument) for argument in child.children_by_field_name("subscript")]
            if self.text(holder).rpartition(".")[2] in ("Generic", "Protocol"):
                return names
            found += [name for name in names if name not in found and self.is_type_variable(name)]
        return found

    def is_type_variable(self, name: str) -> bool:
        """Whether the module binds the name to a `TypeVar`."""
        value = self.module.lookup(name)
        op = self.b.ops[value] if value is not None and value != NOTHING else (0,)
        if op[0] != Op.CALL:
            return False
        callee = self.b.ops[op[1]] if op[1] != NOTHING else (0,)
        if callee[0] == Op.IMPORT:
            return self.b.imports[callee[1]].name == "TypeVar"
        return callee[0] == Op.ATTR and self.b.names[callee[2]] == "TypeVar"

    def _refer(self, value: int, node: tree_sitter.Node) -> None:
        if value != NOTHING and self.b.ops[value][0] != Op.UNBOUND:
            self.b.site(SiteKind.REFERENCE, value, owner=self.scope.owner, line=self.line_of(node))

    def line_of(self, node: tree_sitter.Node) -> int:
        """Line of a node, also inside an annotation written as a string."""
        return node.start_point.row + 1 + self.line_shift

    line_shift = 0

    def _type_attribute(self, node: tree_sitter.Node) -> int:
        holder, name = node.child_by_field_id(g.F_OBJECT), node.child_by_field_id(g.F_ATTRIBUTE)
        parts = [holder, name] if holder is not None and name is not None else node.named_children[:2]
        if len(parts) != 2 or parts[0] is None or parts[1] is None:
            return NOTHING
        value = self._dotted(parts[0])
        if value == NOTHING:
            return NOTHING
        result = self.b.op(Op.ATTR, value, self.b.name(self.text(parts[1])))
        self._refer(result, node)
        return result

    def _dotted(self, node: tree_sitter.Node) -> int:
        if node.kind_id == g.IDENTIFIER:
            return self.load(self.text(node))
        if node.type == "type" and node.named_child_count:
            return self._dotted(node.named_children[0])
        holder, name = node.child_by_field_id(g.F_OBJECT), node.child_by_field_id(g.F_ATTRIBUTE)
        if holder is None or name is None:
            return NOTHING
        value = self._dotted(holder)
        return self.b.op(Op.ATTR, value, self.b.name(self.text(name))) if value != NOTHING else NOTHING

    def _type_string(self, node: tree_sitter.Node) -> int:
        literal = string_value(node, self.source)
        if literal is None or len(literal) > 1000 or not literal.strip():
            return NOTHING
        before = (self.source, self.line_shift)
        self.line_shift = node.start_point.row + self.line_shift
        self.source = f"({literal.strip()})".encode()
        try:
            root = g.parse(self.source).root_node
            if root.has_error or root.named_child_count != 1:
                return NOTHING
            return self.annotation(root.named_children[0])
        finally:
            self.source, self.line_shift = before

    def _type_arguments(self, base: int, arguments: list[tree_sitter.Node]) -> int:
        if base == NOTHING:
            return NOTHING
        operands = [self.annotation(argument) for argument in arguments if argument.kind_id != g.COMMENT]
        return self.b.op(Op.APPLY, base, *operands)

    def _type_subscript(self, node: tree_sitter.Node) -> int:
        holder = node.child_by_field_id(g.F_VALUE)
        if holder is None:
            return NOTHING
        arguments = node.children_by_field_name("subscript")
        if self.text(holder).rpartition(".")[2] == "Literal":
            return NOTHING
        if len(arguments) == 1 and arguments[0].type == "tuple":
            arguments = arguments[0].named_children
        return self._type_arguments(self.annotation(holder), arguments)

    def _type_generic(self, node: tree_sitter.Node) -> int:
        holder = node.named_children[0]
        if self.text(holder).rpartition(".")[2] == "Literal":
            return NOTHING
        arguments = [
            argument
            for child in node.named_children[1:]
            for argument in (child.named_children if child.type == "type_parameter" else [child])
        ]
        return self._type_arguments(self.annotation(holder), arguments)

    def _type_union(self, node: tree_sitter.Node) -> int:
        operands = [self.annotation(child) for child in node.named_children if child.kind_id != g.COMMENT]
        operands = [operand for operand in operands if operand != NOTHING]
        if len(operands) <= 1:
            return operands[0] if operands else NOTHING
        return self.b.op(Op.UNION, *operands)

    def _type_list(self, node: tree_sitter.Node) -> int:
        for child in node.named_children:
            self.annotation(child)
        return NOTHING


_TYPES: dict[str, Callable[[AnnotationWalk, tree_sitter.Node], int]] = {
    "type": AnnotationWalk._type_wrapper,
    "parenthesized_expression": AnnotationWalk._type_wrapper,
    "expression_statement": AnnotationWalk._type_wrapper,
    "splat_type": AnnotationWalk._type_wrapper,
    "constrained_type": AnnotationWalk._type_wrapper,
    "identifier": AnnotationWalk._type_name,
    "attribute": AnnotationWalk._type_attribute,
    "member_type": AnnotationWalk._type_attribute,
    "string": AnnotationWalk._type_string,
    "concatenated_string": AnnotationWalk._type_string,
    "subscript": AnnotationWalk._type_subscript,
    "generic_type": AnnotationWalk._type_generic,
    "union_type": AnnotationWalk._type_union,
    "binary_operator": AnnotationWalk._type_union,
    "list": AnnotationWalk._type_list,
}
