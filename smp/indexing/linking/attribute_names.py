"""Names whose reading depends on what any file does with them: stored attributes, properties, modules written into."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct

from smp.domain.source import NOTHING, Op
from smp.indexing.linking import bits
from smp.indexing.linking.program import Program
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import MODULE

_Entry = TypeVar("_Entry", str, tuple[int, str])


class Contribution(Struct, frozen=True, gc=False):
    """What one file does: names it stores, names of its properties and descriptors, (file, name) that it patches."""

    stored: frozenset[str] = frozenset()
    properties: frozenset[str] = frozenset()
    patched: frozenset[tuple[int, str]] = frozenset()


class AttributeNames:
    """The contributions of all files; a name counts while one file contributes it."""

    def __init__(self) -> None:
        self.stored: dict[str, int] = {}
        self.properties: dict[str, int] = {}
        self.patched: dict[tuple[int, str], int] = {}
        self.by_file: dict[int, Contribution] = {}

    def put(self, unit: int, new: Contribution) -> set[str]:
        """Replaces the contribution of a file; gives the names that begin or cease to count."""
        old = self.by_file.get(unit, Contribution())
        self.by_file[unit] = new
        changed: set[str] = _count(self.stored, old.stored, new.stored)
        changed |= _count(self.properties, old.properties, new.properties)
        return changed | {name for _, name in _count(self.patched, old.patched, new.patched)}


def _count(counts: dict[_Entry, int], before: frozenset[_Entry], after: frozenset[_Entry]) -> set[_Entry]:
    changed: set[_Entry] = set()
    for entry in after - before:
        counts[entry] = counts.get(entry, 0) + 1
        if counts[entry] == 1:
            changed.add(entry)
    for entry in before - after:
        counts[entry] -= 1
        if not counts[entry]:
            del counts[entry]
            changed.add(entry)
    return changed


def contribution(program: Program, unit: Unit) -> Contribution:
    """What a file contributes."""
    stored: set[str] = set()
    patched: set[tuple[int, str]] = set()
    ops, names = unit.summary.ops, unit.summary.names
    accessors = bits.F_PROPERTY | bits.F_SETTER | bits.F_DELETER
    properties = {function.name for function in unit.summary.functions if function.flags & accessors}
    for cls in unit.summary.classes:
        # Class members that hold an instance may be descriptors: their names count as properties do.
        for name, at in cls.members:
            if at != NOTHING and ops[at][0] in (Op.CALL, Op.DECORATED, Op.NEW):
                properties.add(name)
            elif at != NOTHING and ops[at][0] == Op.FUNC and unit.summary.functions[ops[at][1]].flags & accessors:
                properties.add(name)  # a getter that is described has a name of its own
        if cls.flags & bits.C_DATA:
            stored.update(name for name, _ in cls.annotations)
    for op in ops:
        if op[0] == Op.STORE_ATTR:
            name = names[op[2]]
            stored.add(name)
            for value in program.resolve(unit, op[1]).labels:
                target = program.by_path.get(value.name) if value.kind == MODULE else None
                if target is not None:
                    patched.add((target.index, name))
    return Contribution(frozenset(stored), frozenset(properties), frozenset(patched))
