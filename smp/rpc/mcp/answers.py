"""Results → what an agent gets: structured content within a budget of tokens, and the same as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from smp.rpc import markdown

CHARACTERS_PER_TOKEN = 4
"""Of JSON and code in the vocabularies in use; a budget is about right, never exact."""
LEFT_OUT = "left_out"
"""Key under which a shortened answer says how many entries of which list are missing."""


def fitted(answer: Mapping[str, object], max_tokens: int) -> dict[str, Any]:
    """Plain data of some results, its longest lists shortened from the end until it fits; what is missing is counted."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(answer))  # `to_builtins` would leave tuples
    room = max_tokens * CHARACTERS_PER_TOKEN
    missing: dict[str, int] = {}
    while len(msgspec.json.encode(plain)) > room:
        longest = max(_parts(plain, ""), key=lambda part: part[0], default=None)
        if longest is None:
            break
        _, path, holder, key = longest
        value = holder[key]
        kept = len(value) // 2
        if isinstance(value, str):
            holder[key] = value[:kept] + " …"
        else:
            missing[path] = missing.get(path, 0) + len(value) - kept
            holder[key] = value[:kept]
    if missing:
        plain[LEFT_OUT] = missing
    return plain


def _parts(value: Any, path: str) -> list[tuple[int, str, Any, Any]]:
    """(length in bytes, path, holder, key) of each list of several entries and each long text below a value."""
    found: list[tuple[int, str, Any, Any]] = []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in entries:
        below = f"{path}.{key}" if path and isinstance(value, dict) else str(key) if isinstance(value, dict) else path
        if isinstance(child, list) and child:
            found.append((len(msgspec.json.encode(child)), below, value, key))
        if isinstance(child, str) and len(child) > 400:
            found.append((len(child), below, value, key))
        found += _parts(child, below)
    return found


def as_text(answer: Mapping[str, object], plain: Mapping[str, Any], max_tokens: int) -> str:
    """The text of an answer: Markdown where a result has such a form and all of it fits, else the plain data as JSON."""
    rendered = [markdown.render(value) for value in answer.values()]
    whole = "\n\n".join(part for part in rendered if part is not None)
    if rendered and None not in rendered and len(whole) <= max_tokens * CHARACTERS_PER_TOKEN:
        return whole
    return msgspec.json.encode(plain).decode()
