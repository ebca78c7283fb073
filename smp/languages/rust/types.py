"""Rust's type expressions → type ops; a reference is what it refers to."""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, Class, ClassFlag, Function, FunctionFlag, Op, Param
from smp.languages.declared import text_of
from smp.languages.rust.paths import PathWalk

CALL_MEMBER = "(call)"
"""Name under which a function type keeps its signature."""
TUPLE = "(tuple)"
LIST = "Vec"
_MARKERS = frozenset(
    [
        "Send",
        "Sync",
        "Sized",
        "Copy",
        "Unpin",
        "Debug",
        "Clone",
        "Display",
        "Default",
        "PartialEq",
        "Eq",
        "Hash",
        "PartialOrd",
        "Ord",
        "UnwindSafe",
        "RefUnwindSafe",
    ]
)
"""Bounds behind which another says more."""


class TypeWalk(PathWalk):
    """Types."""

    def type_of(self, node: tree_sitter.Node | None) -> int:
        """The type op of a type expression; NOTHING for types that lead nowhere."""
        if node is None or self.too_deep(node):
            return NOTHING
        handler = _TYPES.get(node.type)
        if handler is None:
            return NOTHING
        self.depth += 1
        try:
            return handler(self, node)
        finally:
            self.depth -= 1

    def _named(self, node: tree_sitter.Node) -> int:
        name = text_of(node)
        if name == "Self":
            return self.self_type
        value = self.load(name)
        self.refer(value, node)
        return value

    def _scoped(self, node: tree_sitter.Node) -> int:
        parts = self.path_parts(node)
        if parts is None:
            return NOTHING
        if parts[0] == "Self" and len(parts) == 2 and parts[1] in self.associated:
            return self.associated[parts[1]]
        value = self.path_op(parts)
        self.refer(value, node)
        return value

    def _generic(self, node: tree_sitter.Node) -> int:
        base = self.type_of(node.child_by_field_name("type"))
        arguments = node.child_by_field_name("type_arguments")
        if base == NOTHING or arguments is None:
            return base
        kept = [c for c in arguments.named_children if c.type not in ("lifetime", "comment", "type_binding")]
        return self.b.op(Op.APPLY, base, *[self.type_of(child) for child in kept])

    def _inner(self, node: tree_sitter.Node) -> int:
        inner = node.child_by_field_name("type") or node.child_by_field_name("trait")
        if inner is None:
            inner = next((c for c in node.named_children if c.type not in ("comment", "lifetime")), None)
        return self.type_of(inner)

    def _bounded(self, node: tree_sitter.Node) -> int:
        return self.bound_of(node.named_children)

    def bound_of(self, nodes: list[tree_sitter.Node]) -> int:
        """The bound that says what can be called; markers say it last."""
        listed = [n for n in nodes if n.type not in ("lifetime", "comment", "removed_trait_bound")]
        plain = [n for n in listed if text_of(n).rpartition("::")[2] not in _MARKERS]
        found = [self.type_of(n) for n in (plain or listed)]
        return next((at for at in found if at != NOTHING), NOTHING)

    def _list(self, node: tree_sitter.Node) -> int:
        return self.applied(LIST, self.type_of(node.child_by_field_name("element")))

    def _slice(self, node: tree_sitter.Node) -> int:
        return self._list(node)

    def _tuple(self, node: tree_sitter.Node) -> int:
        types = [self.type_of(child) for child in node.named_children if child.type != "comment"]
        return self.applied(TUPLE, *types) if types else NOTHING

    def _function(self, node: tree_sitter.Node) -> int:
        """A function type is an interface whose only member is its signature."""
        slot, function = self.b.class_slot(), self.b.function_slot()
        listed = node.child_by_field_name("parameters")
        kinds = [child for child in (listed.named_children if listed is not None else ()) if child.type != "comment"]
        params = [Param("_", "positional", NOTHING, self.type_of(kind)) for kind in kinds]
        self.b.functions[function] = Function(
            name="",
            definition=NOTHING,
            owner=self.frame.owner,
            cls=slot,
            flags=int(FunctionFlag.METHOD | FunctionFlag.ABSTRACT),
            params=tuple(params),
            annotation=self.type_of(node.child_by_field_name("return_type")),
        )
        self.b.classes[slot] = Class(
            name="",
            definition=NOTHING,
            owner=self.frame.owner,
            members=((CALL_MEMBER, self.b.shared(Op.FUNC, function)),),
            flags=int(ClassFlag.INTERFACE),
        )
        return self.b.shared(Op.CLASS, slot)

    # Type parameters -------------------------------------------------------------------------------------------------

    def bind_parameters(self, node: tree_sitter.Node, positions: dict[str, int]) -> None:
        """Type parameters stand for what bounds them, else for their position in the type that they belong to."""
        listed = node.child_by_field_name("type_parameters")
        bounds: dict[str, int] = {}
        for child in listed.named_children if listed is not None else ():
            name = child.child_by_field_name("name")
            if child.type == "type_parameter" and name is not None:
                bounds[text_of(name)] = NOTHING
                self.bind(text_of(name), NOTHING)
        for child in listed.named_children if listed is not None else ():
            name, bound = child.child_by_field_name("name"), child.child_by_field_name("bounds")
            if child.type == "type_parameter" and name is not None and bound is not None:
                bounds[text_of(name)] = self.bound_of(bound.named_children)
        where = next((child for child in node.named_children if child.type == "where_clause"), None)
        for predicate in where.named_children if where is not None else ():
            left, bound = predicate.child_by_field_name("left"), predicate.child_by_field_name("bounds")
            if left is not None and bound is not None and bounds.get(text_of(left)) == NOTHING:
                bounds[text_of(left)] = self.bound_of(bound.named_children)
        for name_text, found in bounds.items():
            if found == NOTHING and name_text in positions:
                found = self.unbound(f"'{positions[name_text]}")
            self.bind(name_text, found)


_TYPES: dict[str, Callable[[TypeWalk, tree_sitter.Node], int]] = {
    "type_identifier": TypeWalk._named,
    "identifier": TypeWalk._named,
    "primitive_type": TypeWalk._named,
    "scoped_type_identifier": TypeWalk._scoped,
    "scoped_identifier": TypeWalk._scoped,
    "generic_type": TypeWalk._generic,
    "generic_type_with_turbofish": TypeWalk._generic,
    "reference_type": TypeWalk._inner,
    "pointer_type": TypeWalk._inner,
    "parenthesized_type": TypeWalk._inner,
    "dynamic_type": TypeWalk._inner,
    "abstract_type": TypeWalk._inner,
    "higher_ranked_trait_bound": TypeWalk._inner,
    "bounded_type": TypeWalk._bounded,
    "array_type": TypeWalk._list,
    "slice_type": TypeWalk._slice,
    "tuple_type": TypeWalk._tuple,
    "function_type": TypeWalk._function,
}
