"""Damage that swallows what stands around it: declarations that do not parse are cut out, and the rest is read again.

Error recovery of a parser may take everything behind a broken function for a part of it. Where declarations begin at the
start of a line, each can be tried by itself; the bytes keep their places.
"""

from __future__ import annotations

import re

import tree_sitter

_BLANK = re.compile(rb"[^\n]")
MAX_PIECES = 2000
"""Declarations of a damaged file that are tried one by one."""


def parse(
    parser: tree_sitter.Parser, content: bytes, beginning: re.Pattern[bytes], before: bytes = b""
) -> tuple[tree_sitter.Node, tree_sitter.Node]:
    """Parses a file.

    Args:
        beginning: Matches where a declaration begins, at the start of a line. before: what a declaration needs before it to
            parse alone.

    Returns:
        The tree to read, and the tree that shows the damage; the same unless something was cut out.
    """
    root = parser.parse(content).root_node
    damaged = [child for child in root.children if child.has_error]
    if not damaged:
        return root, root
    starts = [match.start() for match in beginning.finditer(content)]
    swallowed = any(child.start_byte < start < child.end_byte for child in damaged for start in starts)
    loose = any(child.type == "ERROR" for child in damaged)
    if not starts or len(starts) > MAX_PIECES or not (swallowed or loose):
        return root, root
    pieces = [content[: starts[0]]]
    for start, end in zip(starts, [*starts[1:], len(content)], strict=True):
        piece = content[start:end]
        whole = not parser.parse(before + piece).root_node.has_error
        pieces.append(piece if whole else _BLANK.sub(b" ", piece))
    return parser.parse(b"".join(pieces)).root_node, root
