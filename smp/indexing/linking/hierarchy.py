"""The order in which a class and those behind it are asked for a name."""

from __future__ import annotations

from smp.indexing.linking.values import ClassRef

MAX_MRO = 64


def linearise(
    ref: ClassRef, done: dict[ClassRef, tuple[ClassRef | str, ...]], active: frozenset[ClassRef]
) -> tuple[ClassRef | str, ...]:
    """C3; where it has no answer (or in a cycle), depth first with later duplicates kept, as old Python did."""
    known = done.get(ref)
    if known is not None:
        return known
    if ref in active or len(active) > MAX_MRO:
        return (ref,)
    inner = active | {ref}
    parts: list[list[ClassRef | str]] = [
        list(linearise(base, done, inner)) if isinstance(base, ClassRef) else [base] for base in ref.bases
    ]
    parts.append(list(ref.bases))
    result: list[ClassRef | str] = [ref]
    while any(parts):
        parts = [part for part in parts if part]
        for part in parts:
            head = part[0]
            if not any(head in other[1:] for other in parts):
                break
        else:
            head = parts[0][0]
        if head not in result:
            result.append(head)
        parts = [[entry for entry in part if entry is not head and entry != head] for part in parts]
    linear = tuple(result[:MAX_MRO])
    if not active:
        done[ref] = linear
    return linear
