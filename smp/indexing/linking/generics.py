"""Types in terms of a receiver's type arguments: what well-known generic methods give and hand to functions.

A text such as `java.util.Map.Entry[0,1]` names a type whose arguments are the receiver's first and second; `0` alone is the
first argument itself (`smp.languages.base.Transfer`).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from smp.indexing.linking.values import Interner, Value, by_key


class Shape(NamedTuple):
    """A parsed text: the name of a type with its arguments, or the number of an argument."""

    name: str
    arguments: tuple[Shape, ...] = ()


@cache
def shape_of(text: str) -> Shape:
    """Parses a text."""
    shape, rest = _parse(text)
    assert not rest, text
    return shape


def _parse(text: str) -> tuple[Shape, str]:
    start = 2 if text.startswith("[]") else 0  # the name of an array
    end = next((at for at in range(start, len(text)) if text[at] in "[],"), len(text))
    name, rest = text[:end], text[end:]
    arguments: list[Shape] = []
    if rest.startswith("["):
        while not rest.startswith("]"):
            inner, rest = _parse(rest[1:])
            arguments.append(inner)
        rest = rest[1:]
    return Shape(name, tuple(arguments)), rest


def filled(shape: Shape, args: tuple[tuple[Value, ...], ...], intern: Interner) -> tuple[Value, ...]:
    """The values that a shape stands for with these arguments."""
    if shape.name.isdigit():
        return args[int(shape.name)] if int(shape.name) < len(args) else ()
    inner = tuple(tuple(sorted(filled(part, args, intern), key=by_key)) for part in shape.arguments)
    return (intern.xinst(shape.name, inner if any(inner) else ()),)
