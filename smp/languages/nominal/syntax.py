"""Reading syntax trees: texts, lines, fields."""

from __future__ import annotations

from tree_sitter import Node

COMMENTS = frozenset({"comment", "line_comment", "block_comment"})


def text_of(node: Node | None) -> str:
    """The source of a node; bytes that are not UTF-8 become replacement characters."""
    raw = node.text if node is not None else None
    return raw.decode("utf-8", errors="replace") if raw is not None else ""


def one_line(text: str) -> str:
    """Runs of white space as one blank."""
    return " ".join(text.split())


def line_of(node: Node) -> int:
    """First line, 1-based."""
    return node.start_point[0] + 1


def parts_of(node: Node | None) -> list[Node]:
    """Named children without comments."""
    return [child for child in node.named_children if child.type not in COMMENTS] if node is not None else []


def first_of(node: Node | None, *kinds: str) -> Node | None:
    """The first named child of one of these kinds."""
    if node is None:
        return None
    return next((child for child in node.named_children if child.type in kinds), None)


def head_text(node: Node, end: Node | None) -> str:
    """Everything of a definition before a part of it, on one line."""
    raw = node.text or b""
    stop = end.start_byte - node.start_byte if end is not None else len(raw)
    return one_line(raw[:stop].decode("utf-8", errors="replace"))
