"""Answers in pieces: within a budget of tokens, page by page.

A cursor is opaque to clients. It holds the place, a digest of the question, and the generation of the index that the page was
cut from: another question or a changed index makes it stale, and that is said, for the places of two rankings do not fit.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from smp.domain.errors import Invalid

CHARACTERS_PER_TOKEN = 4
"""Of JSON and code in the vocabularies in use; a budget is about right, never exact."""
MaxTokens = Annotated[
    int, Meta(ge=100, le=1_000_000, description="Lists are shortened until the answer has about as many tokens.")
]
Cursor = Annotated[str, Meta(min_length=1, max_length=400, description="`next_cursor` of the page before.")]
_IGNORED = frozenset({"cursor", "top_k", "max_tokens"})

R = TypeVar("R", bound=Struct)


class _Place(Struct, frozen=True, array_like=True):
    question: bytes
    generation: int
    offset: int


def page_start(params: Struct, cursor: str | None, *, generation: int) -> int:
    """Where a page begins; 0 without a cursor.

    Raises:
        Invalid: The cursor is none, belongs to another question, or to an index that has changed since.
    """
    if cursor is None:
        return 0
    try:
        raw = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        place = msgspec.msgpack.decode(raw, type=_Place)
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise Invalid(
            "that is no cursor; pass next_cursor of the page before as it was given", path="cursor"
        ) from error
    if place.question != _digest(params) or place.offset < 0:
        raise Invalid("the cursor belongs to another question; repeat the question without it", path="cursor")
    if place.generation != generation:
        raise Invalid("the cursor is stale: the index has changed since; repeat the question without it", path="cursor")
    return place.offset


def cursor_after(params: Struct, offset: int, *, generation: int) -> str:
    """The cursor of the page that begins at an offset."""
    place = _Place(_digest(params), generation, offset)
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).decode().rstrip("=")


def shortened(result: R, max_tokens: int, lists: tuple[str, ...]) -> tuple[R, dict[str, int]]:
    """The result with its longest lists cut from the end until it fits, and how many entries each has lost.

    Args:
        lists: Names of the lists that may be cut, as attributes; `a.b` is the list b of the struct a. What else there is
            stays, so that a small budget may be exceeded.
    """
    room = max_tokens * CHARACTERS_PER_TOKEN
    omitted: dict[str, int] = {}
    while _size(result) > room:
        longest = max(lists, key=lambda path: _size(_at(result, path)))
        entries = _at(result, longest)
        if not entries:
            break
        over = _size(result) - room
        each = max(1, _size(entries) // len(entries))
        kept = max(0, len(entries) - max(1, over // each))
        # the longest is not cut below half at once: others may have become longer than it by then
        kept = max(kept, len(entries) // 2)
        omitted[longest] = omitted.get(longest, 0) + len(entries) - kept
        result = _replaced(result, longest, entries[:kept])
    return result, omitted


def fitting(entries: tuple[Any, ...], room: int) -> int:
    """How many of the first entries have at most as many bytes together; at least one."""
    used = 0
    for number, entry in enumerate(entries):
        used += _size(entry)
        if used > room and number:
            return number
    return len(entries)


def _size(value: object) -> int:
    return len(msgspec.json.encode(value))


def _at(result: Struct, path: str) -> tuple[Any, ...]:
    value: Any = result
    for name in path.split("."):
        value = getattr(value, name, ())
    return value if isinstance(value, tuple) else ()


def _replaced(result: R, path: str, entries: tuple[Any, ...]) -> R:
    name, _, rest = path.partition(".")
    return msgspec.structs.replace(
        result, **{name: _replaced(getattr(result, name), rest, entries) if rest else entries}
    )


def _digest(params: Struct) -> bytes:
    asked = {name: getattr(params, name) for name in params.__struct_fields__ if name not in _IGNORED}
    known = {name: value for name, value in asked.items() if value is not msgspec.UNSET}
    return hashlib.sha256(msgspec.json.encode(known, order="deterministic")).digest()[:8]
