"""Braces nested beyond what anybody writes: the deep part is read as blank.

Names of nested definitions grow with their depth, so that what ten thousand levels of `function f() {` cost rises with the
square of their number: a file within the size limit could take gigabytes. What lies above that depth is read as ever.
"""

from __future__ import annotations

import re

from smp.domain.source import Damage

MAX_NESTED = 300
"""Braces within braces. Libraries that a bundler wrapped and generated data stay below a few dozen."""
_BRACE = re.compile(rb"[{}]")
_NOT_NEWLINE = re.compile(rb"[^\n]")


def without_depths(content: bytes) -> tuple[bytes, Damage | None]:
    """The content with every part beyond `MAX_NESTED` blanked, line for line and byte for byte; and where the first lies.

    Braces are counted as bytes: those in strings and comments too, which for the most part are balanced.
    """
    if content.count(b"{") <= MAX_NESTED:
        return content, None
    pieces: list[bytes] = []
    depth = kept = 0
    begin: int | None = None
    first = len(content)
    for brace in _BRACE.finditer(content):
        if brace[0] == b"{":
            depth += 1
            if begin is None and depth > MAX_NESTED:
                begin = brace.start()
                first = min(first, begin)
                pieces.append(content[kept:begin])
        else:
            depth = max(depth - 1, 0)
            if begin is not None and depth == MAX_NESTED:
                kept = brace.end()
                pieces.append(_NOT_NEWLINE.sub(b" ", content[begin:kept]))
                begin = None
    if begin is not None:
        kept = len(content)
        pieces.append(_NOT_NEWLINE.sub(b" ", content[begin:]))
    if first == len(content):
        return content, None
    pieces.append(content[kept:])
    line = content.count(b"\n", 0, first) + 1
    return b"".join(pieces), Damage(line=line, message=f"braces nested deeper than {MAX_NESTED}: not read there")
