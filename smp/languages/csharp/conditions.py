"""Conditional compilation: a source in which one branch of each condition is left, every byte at its place."""

from __future__ import annotations

import re

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(if|elif|else|endif)\b")


def one_branch(content: bytes, *, first: bool) -> bytes:
    """Blanks the directives and all branches but one: the first, or the last (`#else`) where there are several.

    The grammar knows conditions between declarations and statements only; in the middle of one it loses what is around.
    """
    lines = content.split(b"\n")
    kept: list[bytes] = []
    branches = _branches(lines)
    taken: list[bool] = []
    places: list[tuple[int, int]] = []
    opened = 0
    for line in lines:
        found = _DIRECTIVE.match(line)
        if found is None:
            kept.append(line if all(taken) else b" " * len(line))
            continue
        word = found[1]
        if word == b"if":
            places.append((opened, 0))
            opened += 1
            taken.append(_wanted(0, branches.get(opened - 1, 1), first=first))
        elif word == b"endif" and places:
            places.pop()
            taken.pop()
        elif places:
            group, at = places.pop()
            places.append((group, at + 1))
            taken[-1] = _wanted(at + 1, branches.get(group, 1), first=first)
        kept.append(b" " * len(line))
    return b"\n".join(kept)


def _wanted(at: int, count: int, *, first: bool) -> bool:
    return at == (0 if first else count - 1)


def _branches(lines: list[bytes]) -> dict[int, int]:
    """How many branches each condition has, by the order in which they begin."""
    counts: dict[int, int] = {}
    stack: list[int] = []
    for line in lines:
        found = _DIRECTIVE.match(line)
        if found is None:
            continue
        if found[1] == b"if":
            stack.append(len(counts))
            counts[len(counts)] = 1
        elif found[1] == b"endif":
            if stack:
                stack.pop()
        elif stack:
            counts[stack[-1]] += 1
    return counts
