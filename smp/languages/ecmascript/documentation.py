"""JSDoc, inline comments, decorators and thrown names: what is attached to a definition without being its code."""

from __future__ import annotations

import re

from tree_sitter import Node

from smp.domain.metadata import Comment
from smp.languages.ecmascript.syntax import member_path, text_of, unwrap

_STAR = re.compile(r"^[ \t]*\* ?")
_FILE_TAG = re.compile(r"@(?:file|fileoverview|overview|module|packageDocumentation)\b")
_FILE_COMMENT_FOLLOWERS = frozenset({"import_statement", "comment"})


def clean_jsdoc(text: str) -> str | None:
    """The text of a `/** … */` comment without its frame; None for other comments and empty ones."""
    if not text.startswith("/**") or text.startswith("/***") or text == "/**/":
        return None
    lines = text[3:].removesuffix("*/").splitlines()
    cleaned = [
        line.strip() if number == 0 else _STAR.sub("", line, count=1).rstrip() for number, line in enumerate(lines)
    ]
    return "\n".join(cleaned).strip() or None


def docstring_node(span: Node) -> Node | None:
    """The JSDoc comment directly before a definition's outermost node (decorators and other comments may stand between)."""
    sibling = span.prev_sibling
    while sibling is not None and sibling.type in ("comment", "decorator"):
        if sibling.type == "comment" and clean_jsdoc(text_of(sibling)) is not None:
            return sibling
        sibling = sibling.prev_sibling
    return None


def file_docstring(root: Node) -> Node | None:
    """The comment that speaks of the whole file: tagged so, or first and followed by an import or a blank line."""
    for child in root.children:
        if child.type == "hash_bang_line":
            continue
        if child.type != "comment":
            return None
        text = text_of(child)
        if clean_jsdoc(text) is None:
            continue
        following = child.next_sibling
        apart = following is None or following.start_point[0] > child.end_point[0] + 1
        if apart or _FILE_TAG.search(text) or (following is not None and following.type in _FILE_COMMENT_FOLLOWERS):
            return child
        return None
    return None


def inline_comment(node: Node) -> tuple[Comment, ...]:
    """A comment, a line of its text an entry, without markers."""
    text = text_of(node)
    line = node.start_point[0] + 1
    if text.startswith("//"):
        stripped = text[2:].strip()
        return (Comment(line=line, text=stripped),) if stripped else ()
    found = []
    for number, part in enumerate(text.removeprefix("/*").removesuffix("*/").splitlines()):
        stripped = part.strip().lstrip("*").strip()
        if stripped:
            found.append(Comment(line=line + number, text=stripped))
    return tuple(found)


def thrown_name(node: Node) -> str | None:
    """What a `throw` statement names: the class made, or a class or error constant; a variable passed on has no name."""
    value = next((child for child in node.named_children if child.type != "comment"), None)
    if value is None:
        return None
    value = unwrap(value)
    if value.type in ("new_expression", "call_expression"):
        callee = value.child_by_field_name("constructor" if value.type == "new_expression" else "function")
        path = member_path(callee) if callee is not None else None
        return ".".join(path) if path and (value.type == "new_expression" or path[-1][:1].isupper()) else None
    path = member_path(value)
    return ".".join(path) if path and path[-1][:1].isupper() else None
