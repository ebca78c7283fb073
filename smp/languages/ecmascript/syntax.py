"""Reading the syntax trees of the family: texts, names of members, and values seen through casts and parentheses."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

FUNCTIONS = frozenset(
    {
        "function_declaration",
        "function_expression",
        "generator_function_declaration",
        "generator_function",
        "arrow_function",
        "method_definition",
    }
)
"""Nodes with parameters and a body."""
SIGNATURES = frozenset({"function_signature", "method_signature", "abstract_method_signature"})
"""Named nodes with parameters and no body."""
CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
FIELDS = frozenset({"field_definition", "public_field_definition"})
_TRANSPARENT = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "type_assertion"}
)


def text_of(node: Node) -> str:
    """The source of a node; bytes that are not UTF-8 become replacement characters."""
    raw = node.text
    return raw.decode("utf-8", errors="replace") if raw is not None else ""


def one_line(text: str) -> str:
    """Runs of white space as one blank."""
    return " ".join(text.split())


def line_of(node: Node) -> int:
    """First line, 1-based."""
    return node.start_point[0] + 1


def unwrap(node: Node) -> Node:
    """The expression inside parentheses, casts and `!`, which leave the value as it is."""
    while node.type in _TRANSPARENT:
        inner = _inner(node)
        if inner is None:
            return node
        node = inner
    return node


def _inner(node: Node) -> Node | None:
    children = [child for child in node.named_children if child.type != "comment"]
    if not children:
        return None
    return children[-1] if node.type == "type_assertion" else children[0]


def string_value(node: Node) -> str | None:
    """The text of a string literal, or of a template without holes; None for anything else."""
    if node.type == "string":
        parts = [
            text_of(child) for child in node.named_children if child.type in ("string_fragment", "escape_sequence")
        ]
        return "".join(parts)
    if node.type == "template_string" and not any(
        child.type == "template_substitution" for child in node.named_children
    ):
        return text_of(node)[1:-1]
    return None


def key_name(node: Node | None) -> str | None:
    """The name of a property: an identifier, a string, a number, `#private`, or `[computed]` as written."""
    if node is None:
        return None
    if node.type == "computed_property_name":
        inner = next(iter(node.named_children), None)
        constant = string_value(inner) if inner is not None else None
        return constant if constant is not None else one_line(text_of(node))
    constant = string_value(node)
    return constant if constant is not None else text_of(node)


def member_path(node: Node) -> tuple[str, ...] | None:
    """`a.b.c` as its parts, `this` included; None where something else than names is in it."""
    parts: list[str] = []
    node = unwrap(node)
    while node.type == "member_expression":
        prop, target = node.child_by_field_name("property"), node.child_by_field_name("object")
        if prop is None or target is None:
            return None
        parts.append(text_of(prop))
        node = unwrap(target)
    if node.type not in ("identifier", "this", "type_identifier"):
        return None
    return (text_of(node), *reversed(parts))


def has_token(node: Node, *tokens: str) -> bool:
    """True if a direct child is one of these keywords."""
    return any(child.type in tokens for child in node.children)


def fields_of(node: Node, name: str) -> Iterator[Node]:
    """The children under a field name, comments left out (the grammars let them slip into lists)."""
    for child in node.children_by_field_name(name):
        if child.type != "comment":
            yield child


def decorators_of(node: Node) -> tuple[Node, ...]:
    """Decorators of a class, method, field or parameter, outermost first.

    The grammars put them among the children of what they decorate, of its `export` statement, or, in a class body,
    before it as siblings.
    """
    found = [child for child in node.children if child.type == "decorator"]
    parent = node.parent
    if parent is not None and parent.type == "export_statement":
        found = [child for child in parent.children if child.type == "decorator"] + found
    if parent is not None and parent.type == "class_body":
        before: list[Node] = []
        sibling = node.prev_named_sibling
        while sibling is not None and sibling.type in ("decorator", "comment"):
            if sibling.type == "decorator":
                before.append(sibling)
            sibling = sibling.prev_named_sibling
        found = list(reversed(before)) + found
    return tuple(found)


def is_function(node: Node | None) -> bool:
    """True for expressions that make a function."""
    return node is not None and node.type in FUNCTIONS


def body_of(node: Node) -> Node | None:
    """Statements or expression that run when a function is called."""
    return node.child_by_field_name("body")


def parameters_of(node: Node) -> tuple[Node, ...]:
    """The parameter nodes of a function in order; `x => …` has one without parentheses."""
    single = node.child_by_field_name("parameter")
    if single is not None:
        return (single,)
    listed = node.child_by_field_name("parameters")
    return (
        tuple(c for c in listed.named_children if c.type not in ("comment", "decorator")) if listed is not None else ()
    )
