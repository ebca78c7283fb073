"""What the walk asks of single syntax nodes: names and their qualifiers, declarators, comments."""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from smp.domain.metadata import Comment

_SPACE = re.compile(r"\s+")
_POINTERS = frozenset({"pointer_declarator", "abstract_pointer_declarator", "pointer_type_declarator"})
_NAMES = frozenset(
    {
        "identifier", "field_identifier", "type_identifier", "qualified_identifier", "destructor_name", "operator_name",
        "operator_cast", "template_function", "structured_binding_declarator", "template_method", "dependent_name",
        "primitive_type",
    }
)  # fmt: skip
_TEMPLATES = frozenset({"template_type", "template_function", "template_method"})
_DOC = ("/**", "/*!", "///", "//!")


def text_of(node: Node) -> str:
    """Source text; bytes that are no UTF-8 are replaced."""
    return (node.text or b"").decode("utf-8", "replace")


def one_line(text: str) -> str:
    """The text with each run of white space as one space."""
    return _SPACE.sub(" ", text).strip()


def line_of(node: Node) -> int:
    """1-based line of a node's start."""
    return node.start_point[0] + 1


def last_line(node: Node) -> int:
    """1-based line that holds a node's last byte."""
    row, column = node.end_point
    return max(row + (1 if column else 0), line_of(node))


def components(node: Node) -> list[str]:
    """The parts of a (qualified) name without template arguments; `::f` begins with an empty part."""
    kind = node.type
    if kind == "qualified_identifier":
        scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        head = components(scope) if scope is not None else [""]
        return head + (components(name) if name is not None else [])
    if kind == "nested_namespace_specifier":
        return [part for child in node.named_children for part in components(child)]
    if kind in _TEMPLATES:
        name = node.child_by_field_name("name")
        return components(name) if name is not None else [""]
    if kind in ("dependent_name", "dependent_type"):
        return components(node.named_children[-1]) if node.named_children else [""]
    if kind == "destructor_name":
        return ["~" + (text_of(node.named_children[-1]) if node.named_children else "")]
    if kind == "operator_cast":
        target = node.child_by_field_name("type")
        return ["operator " + (one_line(text_of(target)) if target is not None else "")]
    if kind == "operator_name":
        return [one_line(text_of(node)).replace(" ", "")]
    return [one_line(text_of(node))]


def template_arguments(node: Node) -> Node | None:
    """The template arguments of the last part of a name."""
    while node.type in ("qualified_identifier", "dependent_name", "dependent_type"):
        inner = node.child_by_field_name("name") or (node.named_children[-1] if node.named_children else None)
        if inner is None:
            return None
        node = inner
    return node.child_by_field_name("arguments") if node.type in _TEMPLATES else None


class Declared(NamedTuple):
    """What a declarator declares.

    Attributes:
        name: Node of the name; None in abstract declarators.
        function: The function declarator whose name it is. called: as function, of a pointer to a function.
        pointer, array: Whether a pointer or reference, an array stands on the way.
    """

    name: Node | None
    function: Node | None = None
    called: Node | None = None
    pointer: bool = False
    array: bool = False


def declared(node: Node | None) -> Declared:
    """Follows a declarator to the name."""
    pointer = array = behind = False
    function: Node | None = None
    while node is not None:
        kind = node.type
        if kind in _NAMES:
            if kind == "operator_cast":
                return Declared(node, node.child_by_field_name("declarator"), None, pointer, array)
            if function is not None and behind:
                return Declared(node, None, function, True, array)
            return Declared(node, function, None, pointer, array)
        if kind in _POINTERS:
            pointer = behind = True
        elif kind == "reference_declarator":
            pointer = True
        elif kind == "array_declarator":
            array = behind = True
        elif kind == "function_declarator" or kind == "abstract_function_declarator":
            function, behind = node, False
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.named_children if c.type.endswith("declarator") or c.type in _NAMES), None)
        node = inner
    return Declared(None, None, function, pointer, array)


def words_of(node: Node) -> set[str]:
    """Specifiers in front of a declaration: `static`, `virtual`, `inline`, `const` …"""
    found: set[str] = set()
    for child in node.children:
        if child.type in ("storage_class_specifier", "type_qualifier", "explicit_function_specifier"):
            found.add(text_of(child).partition("(")[0].strip())
        elif child.type in ("virtual", "inline", "explicit", "friend"):
            found.add(child.type)
        elif child.type.endswith("declarator"):
            break
    return found


def comment_text(text: str) -> str:
    """A comment without its markers."""
    if text.startswith("//"):
        return "\n".join(line.strip().lstrip("/!").removeprefix("<").strip() for line in text.splitlines()).strip()
    lines = text.removeprefix("/*").removesuffix("*/").lstrip("*!").splitlines()
    return "\n".join(line.strip().lstrip("*").strip() for line in lines).strip()


def docstring_of(node: Node) -> str | None:
    """The comment directly above a definition: the last block, or all `//` lines in a row."""
    lines: list[str] = []
    first = node.start_point[0]
    sibling = node.prev_sibling
    while sibling is not None and sibling.type == "comment":
        ends = sibling.end_point[0]
        before = sibling.prev_sibling
        trailing = before is not None and before.end_point[0] == sibling.start_point[0] and before.end_point[1] > 0
        if first - ends > 1 or trailing:
            break
        text = text_of(sibling)
        if text.startswith("/*"):
            if not lines:
                lines.append(comment_text(text))
            break
        lines.insert(0, comment_text(text))
        first = sibling.start_point[0]
        sibling = before
    return "\n".join(lines).strip() or None


def file_docstring(root: Node) -> str | None:
    """The first comment of a file, if it stands before everything else and is marked as documentation or of the file."""
    first = root.children[0] if root.children else None
    if first is None or first.type != "comment":
        return None
    text = text_of(first)
    if not text.startswith(_DOC) and "@file" not in text:
        follower = first.next_sibling
        if (
            follower is not None
            and follower.start_point[0] <= first.end_point[0] + 1
            and follower.type != "preproc_include"
        ):
            return None
    return comment_text(text) or None


def inline_comments(node: Node) -> tuple[Comment, ...]:
    """A comment inside a definition, a line of its text an entry."""
    line = line_of(node)
    return tuple(
        Comment(line=line + at, text=part) for at, part in enumerate(comment_text(text_of(node)).split("\n")) if part
    )
