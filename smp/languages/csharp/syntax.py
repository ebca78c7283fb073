"""Reading syntax trees of C#: members, modifiers, attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from smp.domain.graph import NodeKind
from smp.languages.nominal.syntax import one_line, parts_of, text_of

TYPES = {
    "class_declaration": NodeKind.CLASS,
    "struct_declaration": NodeKind.CLASS,
    "record_declaration": NodeKind.CLASS,
    "record_struct_declaration": NodeKind.CLASS,
    "enum_declaration": NodeKind.CLASS,
    "interface_declaration": NodeKind.INTERFACE,
    "delegate_declaration": NodeKind.INTERFACE,
}
_TAG = re.compile(r"<[^<>]*>")


def flattened(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The children of a body, those in conditional sections and in what did not parse included."""
    for child in node.named_children:
        if child.type.startswith("preproc_") or child.type == "ERROR":
            yield from flattened(child)
        else:
            yield child


def modifiers_of(node: tree_sitter.Node) -> set[str]:
    """Keywords in front of a declaration."""
    return {text_of(child) for child in node.children if child.type == "modifier"}


def attributes_of(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The attributes of a declaration or parameter."""
    return [part for child in node.named_children if child.type == "attribute_list" for part in parts_of(child)]


def documentation(node: tree_sitter.Node) -> str | None:
    """The text of the `///` lines before a declaration, without their tags."""
    lines: list[str] = []
    before = node.prev_named_sibling
    while before is not None and before.type == "comment":
        text = text_of(before)
        if not text.startswith("///"):
            break
        lines.append(_TAG.sub("", text[3:]).strip())
        before = before.prev_named_sibling
    shown = "\n".join(line for line in reversed(lines) if line)
    return shown or None


def accessors_of(node: tree_sitter.Node) -> dict[str, tree_sitter.Node]:
    """Accessors of a property, indexer or event by keyword."""
    found: dict[str, tree_sitter.Node] = {}
    for accessor in parts_of(node.child_by_field_name("accessors")):
        word = next((c.type for c in accessor.children if c.type in ("get", "set", "init", "add", "remove")), "")
        found["set" if word == "init" else word] = accessor
    return found


def arrow_of(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The expression body of a property or indexer."""
    value = node.child_by_field_name("value")
    return value if value is not None and value.type == "arrow_expression_clause" else None


def member_name(node: tree_sitter.Node) -> str:
    """The name under which a member is shown."""
    kind = node.type
    if kind == "indexer_declaration":
        return "this[]"
    if kind == "operator_declaration":
        return f"operator{operator_of(node)}"
    if kind == "conversion_operator_declaration":
        return "operator_" + re.sub(r"\W+", "_", one_line(text_of(node.child_by_field_name("type"))))
    if kind == "destructor_declaration":
        return "Finalize"
    return text_of(node.child_by_field_name("name"))


def operator_of(node: tree_sitter.Node) -> str:
    """The sign of an operator."""
    words = [child for child in node.children if not child.is_named]
    place = next((at for at, child in enumerate(words) if child.type == "operator"), -1)
    return words[place + 1].type if 0 <= place < len(words) - 1 else ""
