"""Rust's patterns: names that they bind, and to what."""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, Op
from smp.languages.declared import text_of
from smp.languages.rust.types import TypeWalk

OPENED = frozenset({"Some", "Ok"})
"""Variants whose content is what a container holds."""


class PatternWalk(TypeWalk):
    """Patterns."""

    def bind_pattern(self, node: tree_sitter.Node, value: int) -> None:
        """Binds the names of a pattern to the parts of a value."""
        handler = _PATTERNS.get(node.type)
        if handler is not None and not self.too_deep(node):
            self.depth += 1
            handler(self, node, value)
            self.depth -= 1

    def _bind_name(self, node: tree_sitter.Node, value: int) -> None:
        name = text_of(node)
        if name[:1].isupper() and self.find(name) is not None:
            return  # a constant or a variant
        self.declare(name, value)

    def _bind_inner(self, node: tree_sitter.Node, value: int) -> None:
        for child in node.named_children:
            self.bind_pattern(child, value)

    def _bind_match(self, node: tree_sitter.Node, value: int) -> None:
        first = next((c for c in node.named_children if c.type != "comment"), None)
        if first is not None:
            self.bind_pattern(first, value)

    def _bind_tuple(self, node: tree_sitter.Node, value: int) -> None:
        parts = [child for child in node.named_children if child.type != "comment"]
        for position, child in enumerate(parts):
            if child.type == "remaining_field_pattern":
                break
            self.bind_pattern(child, self.b.op(Op.UNPACK, value, position, 0) if value != NOTHING else NOTHING)

    def _bind_slice(self, node: tree_sitter.Node, value: int) -> None:
        for child in node.named_children:
            self.bind_pattern(child, self.opened(value))

    def opened(self, value: int) -> int:
        """What a container holds."""
        return self.b.op(Op.ITEM, value, NOTHING, NOTHING, NOTHING) if value != NOTHING else NOTHING

    def _bind_tuple_struct(self, node: tree_sitter.Node, value: int) -> None:
        type_node = node.child_by_field_name("type")
        parts = self.path_parts(type_node) if type_node is not None else None
        given = [child for child in node.named_children if child != type_node and child.type != "comment"]
        if parts is None or type_node is None:
            return
        if parts[-1] in OPENED and self.find(parts[-1]) is None:
            for child in given:
                self.bind_pattern(child, self.opened(value))
            return
        if parts[-1] == "Err":
            for child in given:
                self.bind_pattern(child, NOTHING)
            return
        cls = self.path_op(parts)
        self.refer(cls, type_node)
        holder = self.instance(cls)
        for position, child in enumerate(given):
            if child.type == "remaining_field_pattern":
                break
            self.bind_pattern(child, self.attribute(holder, str(position)))

    def _bind_struct(self, node: tree_sitter.Node, value: int) -> None:
        type_node = node.child_by_field_name("type")
        cls = self.type_of(type_node) if type_node is not None else NOTHING
        holder = self.instance(cls)
        for child in node.named_children:
            if child.type != "field_pattern":
                continue
            name, pattern = child.child_by_field_name("name"), child.child_by_field_name("pattern")
            if name is None:
                continue
            field = self.attribute(holder, text_of(name))
            if pattern is not None:
                self.bind_pattern(pattern, field)
            else:
                self.declare(text_of(name), field)

    def _bind_captured(self, node: tree_sitter.Node, value: int) -> None:
        parts = [child for child in node.named_children if child.type != "comment"]
        if parts:
            self.declare(text_of(parts[0]), value)
        for child in parts[1:]:
            self.bind_pattern(child, value)


_PATTERNS: dict[str, Callable[[PatternWalk, tree_sitter.Node, int], None]] = {
    "identifier": PatternWalk._bind_name,
    "shorthand_field_identifier": PatternWalk._bind_name,
    "mut_pattern": PatternWalk._bind_inner,
    "ref_pattern": PatternWalk._bind_inner,
    "reference_pattern": PatternWalk._bind_inner,
    "or_pattern": PatternWalk._bind_inner,
    "match_pattern": PatternWalk._bind_match,
    "tuple_pattern": PatternWalk._bind_tuple,
    "slice_pattern": PatternWalk._bind_slice,
    "tuple_struct_pattern": PatternWalk._bind_tuple_struct,
    "struct_pattern": PatternWalk._bind_struct,
    "captured_pattern": PatternWalk._bind_captured,
}
