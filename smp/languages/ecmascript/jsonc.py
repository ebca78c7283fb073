"""JSON as configuration files have it: comments and trailing commas are legal, anything broken counts as absent."""

from __future__ import annotations

import re
from typing import Any

import msgspec

_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)


def read_object(content: bytes | None) -> dict[str, Any]:
    """The object a file holds; empty when the file is missing, damaged or holds something else."""
    if content is None:
        return {}
    text = content.decode("utf-8-sig", errors="replace")
    text = _COMMENT.sub(lambda match: match[1] or " ", text)
    text = _TRAILING_COMMA.sub(lambda match: match[1] or "", text)
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str | None:
    """The value if it is a string."""
    return value if isinstance(value, str) else None


def as_texts(value: object) -> tuple[str, ...]:
    """The strings of a list, or the one string."""
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
