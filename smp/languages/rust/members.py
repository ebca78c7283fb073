"""Members of types: fields, variants, derived traits, associated types."""

from __future__ import annotations

import tree_sitter

from smp.domain.source import NOTHING, Class, FunctionFlag
from smp.languages.declared import line_of, text_of
from smp.languages.rust.expressions import ExpressionWalk
from smp.languages.rust.outline import attributes_of

_DERIVED = frozenset(["Clone", "Debug", "Default", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Copy"])


class MemberWalk(ExpressionWalk):
    """What types are made of."""

    def positions(self, node: tree_sitter.Node) -> dict[str, int]:
        listed = node.child_by_field_name("type_parameters")
        names = [
            text_of(name)
            for child in (listed.named_children if listed is not None else ())
            if child.type == "type_parameter" and (name := child.child_by_field_name("name")) is not None
        ]
        return {name: position for position, name in enumerate(names)}

    def derived(self, node: tree_sitter.Node) -> list[tuple[int, int]]:
        """Traits of std that are derived, which bring methods from outside."""
        found: list[tuple[int, int]] = []
        for attribute in attributes_of(node):
            text = text_of(attribute)
            if text.startswith("#[derive("):
                names = [part.strip().rpartition("::")[2] for part in text[9:].rstrip(")]").split(",")]
                found += [(self.unbound(name), line_of(attribute)) for name in names if name in _DERIVED]
        return found

    def fill_variants(self, node: tree_sitter.Node, slot: int, made: int) -> list[tuple[str, int]]:
        body = node.child_by_field_name("body")
        for variant in body.named_children if body is not None else ():
            name = variant.child_by_field_name("name")
            op = self.variants.get(slot, {}).get(text_of(name)) if name is not None else None
            if variant.type == "enum_variant" and name is not None and op is not None:
                fields = self.fields(variant.child_by_field_name("body"))
                inner = Class(name=text_of(name), definition=NOTHING, owner=0, bases=(made,), annotations=fields)
                if self.b.classes[self.b.ops[op][1]] is None:
                    self.b.classes[self.b.ops[op][1]] = inner
        return list(self.variants.get(slot, {}).items())

    def fields(self, body: tree_sitter.Node | None) -> tuple[tuple[str, int], ...]:
        if body is None:
            return ()
        if body.type == "ordered_field_declaration_list":
            types = [self.type_of(child) for child in body.children_by_field_name("type")]
            return tuple((str(position), at) for position, at in enumerate(types) if at != NOTHING)
        found = []
        for child in body.named_children:
            name = child.child_by_field_name("name") if child.type == "field_declaration" else None
            type_op = self.type_of(child.child_by_field_name("type")) if name is not None else NOTHING
            if name is not None and type_op != NOTHING:
                found.append((text_of(name), type_op))
        return tuple(found)

    def associated_types(self, node: tree_sitter.Node) -> dict[str, int]:
        """Associated types that an impl sets, or that a trait bounds."""
        found: dict[str, int] = {}
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            name = child.child_by_field_name("name")
            if child.type == "type_item" and name is not None:
                found[text_of(name)] = self.type_of(child.child_by_field_name("type"))
            elif child.type == "associated_type" and name is not None:
                bounds = child.child_by_field_name("bounds")
                found[text_of(name)] = self.bound_of(bounds.named_children) if bounds is not None else NOTHING
        return found

    def method_flags(self, node: tree_sitter.Node) -> FunctionFlag:
        listed = node.child_by_field_name("parameters")
        first = next(
            (
                c
                for c in (listed.named_children if listed is not None else ())
                if c.type in ("self_parameter", "parameter")
            ),
            None,
        )
        pattern = first.child_by_field_name("pattern") if first is not None and first.type == "parameter" else None
        has_self = first is not None and (
            first.type == "self_parameter" or (pattern is not None and text_of(pattern) in ("self", "mut self"))
        )
        return FunctionFlag.METHOD | (FunctionFlag.RECEIVER_PARAM if has_self else FunctionFlag.STATIC)
