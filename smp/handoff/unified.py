"""What a session changed, as the unified diff that people read."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from smp.domain.ids import FilePath

_NOTHING = "/dev/null"


def unified_diff(before: Mapping[FilePath, bytes | None], after: Mapping[FilePath, bytes | None]) -> Iterator[str]:
    """Lines of a unified diff, without their ends, file by file in order of path.

    Args:
        before, after: Content of each file; None (or absent) where it does not exist.
    """
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        names = (f"a/{path}" if old is not None else _NOTHING, f"b/{path}" if new is not None else _NOTHING)
        if any(content is not None and b"\0" in content for content in (old, new)):
            yield f"Binary files {names[0]} and {names[1]} differ"
            continue
        was, now = ((content or b"").decode("utf-8", "replace").splitlines() for content in (old, new))
        yield from difflib.unified_diff(was, now, *names, lineterm="")
