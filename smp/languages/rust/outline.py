"""What a reader sees of an item: its kind, head, parameters, attributes, documentation."""

from __future__ import annotations

import tree_sitter

from smp.domain.graph import NodeKind, Parameter
from smp.languages.declared import Definition, documentation, one_line, text_of

_CODE = frozenset({"function_item", "macro_definition"})


def attributes_of(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Attributes in front of an item, in order."""
    found: list[tree_sitter.Node] = []
    sibling = node.prev_named_sibling
    while sibling is not None and sibling.type in ("attribute_item", "line_comment", "block_comment"):
        if sibling.type == "attribute_item":
            found.insert(0, sibling)
        sibling = sibling.prev_named_sibling
    return found


def is_test(node: tree_sitter.Node) -> bool:
    """Whether an attribute makes a function a test: `#[test]`, `#[tokio::test]`, `#[rstest]` and the like."""
    for attribute in attributes_of(node):
        name = text_of(attribute).removeprefix("#[").rstrip("]").partition("(")[0].strip()
        if name.rpartition("::")[2] in ("test", "rstest", "test_case", "bench", "quickcheck"):
            return True
    return False


def declared_modules(node: tree_sitter.Node, prefix: str) -> list[str]:
    """`name` or `name=path` of a module that is a file of its own; those in a module written in place with its names."""
    name = text_of(node.child_by_field_name("name") or node)
    full = f"{prefix}.{name}".strip(".")
    for attribute in attributes_of(node):
        text = text_of(attribute)
        if text.startswith("#[path") and '"' in text:
            return [f"{full}={text.split(chr(34))[1]}"]
    return [full]


def describe(node: tree_sitter.Node, kind: NodeKind, parent: int, suffix: str = "") -> tuple[Definition, list[int]]:
    """The definition that an item is, and the offsets of its documentation."""
    attributes = attributes_of(node)
    doc, offsets = documentation(node, lambda text: text.startswith(("///", "/**", "//", "/*")))
    name = text_of(node.child_by_field_name("name") or node) + suffix
    body = node.child_by_field_name("body")
    runs = node.type in _CODE
    raw = node.text or b""
    end = body.start_byte - node.start_byte if body is not None else len(raw)
    head = (
        one_line(raw[:end].decode("utf-8", errors="replace")).rstrip(" ;{")
        if node.type != "macro_definition"
        else f"macro {name}"
    )
    result = node.child_by_field_name("return_type")
    visibility = next((child for child in node.named_children if child.type == "visibility_modifier"), None)
    modifiers = next((child for child in node.named_children if child.type == "function_modifiers"), None)
    words = set(text_of(modifiers).split()) & {"async", "const", "unsafe"} if modifiers is not None else set()
    if visibility is not None:
        words.add("pub")
    if node.type == "function_signature_item":
        words.add("abstract")
    if node.type == "macro_definition":
        words.add("macro")
    return (
        Definition(
            kind=kind,
            name=name,
            span=node,
            first=attributes[0] if attributes else node,
            parent=parent,
            signature=head,
            parameters=_parameters(node),
            returns=one_line(text_of(result)) if result is not None else None,
            exported=visibility is not None and text_of(visibility) == "pub",
            modifiers=tuple(sorted(words)),
            docstring=doc,
            decorators=tuple(one_line(text_of(attribute)) for attribute in attributes),
            runs=runs,
        ),
        offsets,
    )


def _parameters(node: tree_sitter.Node) -> tuple[Parameter, ...]:
    listed = node.child_by_field_name("parameters") if node.type.startswith("function") else None
    found: list[Parameter] = []
    for child in listed.named_children if listed is not None else ():
        if child.type == "self_parameter":
            found.append(Parameter(name=one_line(text_of(child)), kind="positional_only", receiver=True))
        elif child.type == "parameter":
            pattern, type_node = child.child_by_field_name("pattern"), child.child_by_field_name("type")
            if pattern is not None and type_node is not None:
                annotation = one_line(text_of(type_node))
                found.append(Parameter(name=one_line(text_of(pattern)), kind="positional_only", annotation=annotation))
    return tuple(found)
