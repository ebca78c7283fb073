"""Go's type expressions → type ops; a pointer is what it points to, for both have the same methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import tree_sitter

from smp.domain.source import NOTHING, Class, ClassFlag, Function, FunctionFlag, Op, Param
from smp.languages.blocks import BlockWalk
from smp.languages.declared import text_of

CALL_MEMBER = "(call)"
"""Name under which a function type keeps its signature."""
TUPLE = "(tuple)"
"""Type of several results."""
BASIC = frozenset(
    [
        "bool",
        "string",
        "int",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "uintptr",
        "byte",
        "rune",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
)
"""Predeclared types whose name, called, converts."""
_SILENT = frozenset({"any", "comparable"})


class TypeWalk(BlockWalk):
    """Types."""

    imports: dict[str, int]

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
        known = self.find(name)
        if known is None and name in _SILENT:
            return NOTHING
        value = self.load(name)
        if known is not None or name not in BASIC:
            self.refer(value, node)
        return value

    def _qualified(self, node: tree_sitter.Node) -> int:
        package, name = node.child_by_field_name("package"), node.child_by_field_name("name")
        if package is None or name is None:
            return NOTHING
        value = self.attribute(self.package(text_of(package)), text_of(name))
        self.refer(value, node)
        return value

    def package(self, name: str) -> int:
        """The package that a qualifier names."""
        index = self.imports.get(name)
        return self.b.shared(Op.IMPORT, index) if index is not None else self.unbound(name)

    def _generic(self, node: tree_sitter.Node) -> int:
        base = self.type_of(node.child_by_field_name("type"))
        arguments = node.child_by_field_name("type_arguments")
        if base == NOTHING or arguments is None:
            return base
        return self.b.op(Op.APPLY, base, *[self.type_of(child) for child in arguments.named_children])

    def _inner_type(self, node: tree_sitter.Node) -> int:
        return self.type_of(next((c for c in node.named_children if c.type != "comment"), None))

    def _list(self, node: tree_sitter.Node) -> int:
        return self.applied("[]", self.type_of(node.child_by_field_name("element")))

    def _map(self, node: tree_sitter.Node) -> int:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        return self.applied("map", self.type_of(key), self.type_of(value))

    def _channel(self, node: tree_sitter.Node) -> int:
        return self.applied("chan", self.type_of(node.child_by_field_name("value")))

    def _struct(self, node: tree_sitter.Node) -> int:
        slot = self.b.class_slot()
        fields, bases, lines = self.fields(node)
        self.b.classes[slot] = Class("", NOTHING, self.frame.owner, bases=bases, base_lines=lines, annotations=fields)
        return self.b.shared(Op.CLASS, slot)

    def _interface(self, node: tree_sitter.Node) -> int:
        if not any(child.type == "method_elem" for child in node.named_children):
            parts = [self.type_of(child) for child in node.named_children if child.type == "type_elem"]
            return parts[0] if len(parts) == 1 else NOTHING
        slot = self.b.class_slot()
        bases, lines = self.embedded(node)
        members = tuple(self.signatures(node, slot, NOTHING, {}))
        self.b.classes[slot] = Class(
            "",
            NOTHING,
            self.frame.owner,
            bases=bases,
            base_lines=lines,
            members=members,
            flags=int(ClassFlag.INTERFACE),
        )
        return self.b.shared(Op.CLASS, slot)

    def _function(self, node: tree_sitter.Node) -> int:
        """A function type is an interface whose only member is its signature."""
        slot = self.b.class_slot()
        member = self.signature(node, slot, NOTHING, "")
        self.b.classes[slot] = Class(
            "", NOTHING, self.frame.owner, members=((CALL_MEMBER, member),), flags=int(ClassFlag.INTERFACE)
        )
        return self.b.shared(Op.CLASS, slot)

    def _constraint(self, node: tree_sitter.Node) -> int:
        """Of a union of types nothing can be called that is known."""
        return self._inner_type(node) if node.named_child_count == 1 else NOTHING

    # Members ---------------------------------------------------------------------------------------------------------

    def fields(self, node: tree_sitter.Node) -> tuple[tuple[tuple[str, int], ...], tuple[int, ...], tuple[int, ...]]:
        """Fields of a struct with their types; the types that it embeds, which are fields too, and their lines."""
        fields: list[tuple[str, int]] = []
        bases: list[int] = []
        lines: list[int] = []
        for listed in node.named_children:
            for field in listed.named_children if listed.type == "field_declaration_list" else ():
                if field.type != "field_declaration":
                    continue
                type_node = field.child_by_field_name("type")
                type_op = self.type_of(type_node)
                names = [text_of(name) for name in field.children_by_field_name("name")]
                if not names and type_node is not None:
                    names = [base_name(type_node)]
                    bases.append(type_op)
                    lines.append(field.start_point[0] + 1)
                fields += [(name, type_op) for name in names if type_op != NOTHING]
        return tuple(fields), tuple(bases), tuple(lines)

    def embedded(self, node: tree_sitter.Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Interfaces that an interface embeds."""
        parts = [child for child in node.named_children if child.type == "type_elem" and child.named_child_count == 1]
        found = [(self.type_of(part), part.start_point[0] + 1) for part in parts]
        found = [(at, line) for at, line in found if at != NOTHING]
        return tuple(at for at, _ in found), tuple(line for _, line in found)

    def signatures(
        self, node: tree_sitter.Node, slot: int, owner: int, indexes: dict[int, int]
    ) -> Iterator[tuple[str, int]]:
        """Methods of an interface; indexes: offset → definition."""
        for child in node.named_children:
            name = child.child_by_field_name("name") if child.type == "method_elem" else None
            if name is not None:
                yield text_of(name), self.signature(child, slot, indexes.get(child.start_byte, NOTHING), text_of(name))

    def signature(self, node: tree_sitter.Node, cls: int, definition: int, name: str) -> int:
        """A function that has no body."""
        slot = self.b.function_slot()
        self.b.functions[slot] = Function(
            name=name,
            definition=definition,
            owner=self.frame.owner,
            cls=cls,
            flags=int(FunctionFlag.METHOD | FunctionFlag.ABSTRACT),
            params=tuple(self.parameters(node.child_by_field_name("parameters"))),
            annotation=self.results(node.child_by_field_name("result")),
        )
        return self.b.shared(Op.FUNC, slot)

    def parameters(self, node: tree_sitter.Node | None) -> list[Param]:
        """Parameters with their types; nameless ones count."""
        found: list[Param] = []
        for child in node.named_children if node is not None else ():
            if child.type not in ("parameter_declaration", "variadic_parameter_declaration"):
                continue
            annotation = self.type_of(child.child_by_field_name("type"))
            kind = "var_positional" if child.type.startswith("variadic") else "positional"
            names = [text_of(name) for name in child.children_by_field_name("name")] or ["_"]
            found += [Param(name, kind, NOTHING, annotation) for name in names]
        return found

    def results(self, node: tree_sitter.Node | None) -> int:
        """Type of what a call gives: of several results a tuple."""
        if node is None:
            return NOTHING
        if node.type != "parameter_list":
            return self.type_of(node)
        types = [param.annotation for param in self.parameters(node)]
        return types[0] if len(types) == 1 else self.applied(TUPLE, *types) if types else NOTHING


def base_name(node: tree_sitter.Node) -> str:
    """The name by which an embedded type is a field."""
    if node.type in ("pointer_type", "generic_type", "qualified_type"):
        inner = node.child_by_field_name("name") or node.child_by_field_name("type")
        inner = inner or next((c for c in node.named_children if c.type != "comment"), None)
        return base_name(inner) if inner is not None else ""
    return text_of(node)


_TYPES: dict[str, Callable[[TypeWalk, tree_sitter.Node], int]] = {
    "type_identifier": TypeWalk._named,
    "identifier": TypeWalk._named,
    "qualified_type": TypeWalk._qualified,
    "generic_type": TypeWalk._generic,
    "pointer_type": TypeWalk._inner_type,
    "parenthesized_type": TypeWalk._inner_type,
    "type_elem": TypeWalk._constraint,
    "type_constraint": TypeWalk._constraint,
    "slice_type": TypeWalk._list,
    "array_type": TypeWalk._list,
    "implicit_length_array_type": TypeWalk._list,
    "map_type": TypeWalk._map,
    "channel_type": TypeWalk._channel,
    "struct_type": TypeWalk._struct,
    "interface_type": TypeWalk._interface,
    "function_type": TypeWalk._function,
}
TYPES = frozenset(_TYPES) - {"identifier"}
"""Nodes that can only be types."""
