"""Who derives from whom: worked out once, then kept as files change."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smp.indexing.linking import bits
from smp.indexing.linking.hierarchy import MAX_MRO, linearise
from smp.indexing.linking.structural import implement_structurally
from smp.indexing.linking.values import ClassRef

if TYPE_CHECKING:
    from smp.indexing.linking.program import Program


def find_bases(program: Program, ref: ClassRef) -> None:
    """Bases and interfaces of a class; what that read is the basis of `("bases", ref)`."""
    key = ("bases", ref)
    program.basis.pop(key, None)
    outer = program.begin()
    ref.bases = program.bases_of(program.units[ref.unit], ref)
    ref.interfaces = program.interfaces(ref)
    program.end(key, outer)


def build_hierarchy(program: Program) -> None:
    """Bases, resolution orders and derived classes of every class."""
    ordered = [ref for unit in program.ordered() for ref in unit.classes]
    for ref in ordered:
        ref.below = []
        find_bases(program, ref)
    order_classes(program, ordered)


def order_classes(program: Program, ordered: list[ClassRef]) -> None:
    """Resolution orders and derived classes, from the bases; of all classes, in order."""
    done: dict[ClassRef, tuple[ClassRef | str, ...]] = {}
    for ref in ordered:
        ref.below = []
    for ref in ordered:
        ref.mro = linearise(ref, done, frozenset())
    for ref in ordered:
        ref.behind = _ancestors(program, ref)
        for ancestor in ref.behind:
            ancestor.below.append(ref)
    if program.tables.structural:
        implement_structurally(program)


def renew_hierarchy(
    program: Program, again: Iterable[ClassRef], gone: Iterable[ClassRef]
) -> tuple[set[ClassRef], set[ClassRef]]:
    """Keeps the hierarchy.

    Args:
        again: Classes that are new, or whose bases may be others. gone: Classes that are no more.

    Returns:
        Classes with another resolution order; and classes with others below them than before.
    """
    moved: set[ClassRef] = set()
    for ref in again:
        before = ref.bases, ref.interfaces
        find_bases(program, ref)
        if ref.behind is None or before != (ref.bases, ref.interfaces):
            moved.add(ref)
    removed = set(gone)
    if program.tables.structural:
        return _rebuild(program)
    if not moved and not removed:
        return set(), set()
    if program.tables.embedding:
        return _rebuild(program)
    reach = set().union(moved, *(ref.below for ref in moved)) - removed
    if _is_deep(reach):
        return _rebuild(program)
    reordered: set[ClassRef] = set()
    regrouped: set[ClassRef] = set()
    for ref in removed:
        regrouped |= _move(program, ref, ())
    known = _Known(reach)
    fresh = [(ref, linearise(ref, known, frozenset())) for ref in reach]
    for ref, mro in fresh:
        if mro != ref.mro:
            reordered.add(ref)
            ref.mro = mro
    for ref in reach:
        regrouped |= _move(program, ref, _ancestors(program, ref))
    return reordered, regrouped


def _rebuild(program: Program) -> tuple[set[ClassRef], set[ClassRef]]:
    ordered = [ref for unit in program.ordered() for ref in unit.classes]
    before = {ref: (ref.mro, ref.below) for ref in ordered}
    order_classes(program, ordered)
    reordered = {ref for ref in ordered if before[ref][0] != ref.mro}
    return reordered, {ref for ref in ordered if before[ref][1] != ref.below}


def _move(program: Program, ref: ClassRef, behind: tuple[ClassRef, ...]) -> set[ClassRef]:
    """Puts a class below these ancestors; gives those for which that is new."""
    before, ref.behind = ref.behind or (), behind
    changed = set(before).symmetric_difference(behind)
    for ancestor in changed:
        if ancestor in before:
            ancestor.below.remove(ref)
        else:
            insort(ancestor.below, ref, key=lambda other: (program.units[other.unit].path, other.index))
    return changed


def _ancestors(program: Program, ref: ClassRef) -> tuple[ClassRef, ...]:
    """Classes behind a class, and the interfaces that it or they declare to implement; what is embedded is not behind."""
    found: dict[ClassRef | str, None] = dict.fromkeys(ref.mro[1:])
    for entry in ref.mro:
        if isinstance(entry, ClassRef):
            for interface in entry.interfaces:
                found.update(dict.fromkeys(interface.mro))
    classes = [entry for entry in found if isinstance(entry, ClassRef)]
    return tuple(entry for entry in classes if entry.decl.flags & bits.C_INTERFACE or not program.tables.embedding)


def _is_deep(refs: set[ClassRef]) -> bool:
    """Whether a circle, or a chain near the bound, is behind any of these: there the whole order counts."""
    done: set[ClassRef] = set()
    for first in refs:
        path: list[ClassRef] = []
        active: set[ClassRef] = set()
        waiting: list[tuple[ClassRef, bool]] = [(first, False)]
        while waiting:
            ref, left = waiting.pop()
            if left:
                active.discard(path.pop())
                done.add(ref)
            elif ref in active or len(path) > MAX_MRO // 2:
                return True
            elif ref not in done:
                path.append(ref)
                active.add(ref)
                waiting.append((ref, True))
                waiting += [(base, False) for base in ref.bases if isinstance(base, ClassRef)]
    return False


class _Known(dict[ClassRef, tuple[ClassRef | str, ...]]):
    """Resolution orders that stand; those of some classes are to be worked out."""

    def __init__(self, open_: set[ClassRef]) -> None:
        super().__init__()
        self._open = open_

    def get(self, ref: ClassRef, default: object = None) -> tuple[ClassRef | str, ...] | None:  # type: ignore[override]
        """As of a dictionary that holds all other classes."""
        return super().get(ref) if ref in self._open else ref.mro
