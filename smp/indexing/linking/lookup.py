"""Attributes: one look-up for all receivers (design/linking.md section 2)."""

from __future__ import annotations

from typing import NamedTuple

from smp.domain.source import NOTHING, Op
from smp.indexing.linking import bits
from smp.indexing.linking.program import Program
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import CLASS, FUNC, ClassRef, FuncRef


class Found(NamedTuple):
    """What a class offers under a name.

    Attributes:
        owner: Class whose body has it; None when it is not in the project.
        functions: Methods that may be meant: all branches; of overloads the implementation; getters, setters by flag.
        others: (unit, op) of what else the name may hold.
        external: Dotted name, when an external base has it or may have it.
        doubtful: An external base of unknown content comes first in the resolution order.
    """

    owner: ClassRef | None = None
    functions: tuple[FuncRef, ...] = ()
    others: tuple[tuple[int, int], ...] = ()
    external: str = ""
    doubtful: bool = False
    classes: tuple[ClassRef, ...] = ()


def of_receiver(functions: tuple[FuncRef, ...], *, is_class: bool) -> tuple[FuncRef, ...]:
    """Of methods that share a name those for an instance, or for a class, where a class has both."""
    static = tuple(f for f in functions if f.decl.flags & bits.F_CLASS_METHOD)
    if not static or len(static) == len(functions):
        return functions
    return static if is_class else tuple(f for f in functions if not f.decl.flags & bits.F_CLASS_METHOD)


class Lookup:
    """Attribute look-up in the frozen hierarchy."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.memo: dict[tuple[ClassRef, str, ClassRef | None], Found] = {}
        self.lower: dict[ClassRef, dict[str, tuple[FuncRef, ...]]] = {}
        self.owned: dict[tuple[ClassRef, str], Found] = {}

    def find(self, ref: ClassRef, name: str, after: ClassRef | None = None) -> Found:
        """The first class of the resolution order that has the name; after: begin behind this class (super)."""
        key = (ref, name, after)
        known = self.memo.get(key)
        if known is None:
            outer = self.program.begin()
            known = self.memo[key] = self._find(ref, name, after)
            self.program.end(key, outer)
        else:
            self.program.note(key)
        return known

    def _find(self, ref: ClassRef, name: str, after: ClassRef | None) -> Found:
        tables = self.program.tables
        mro = self.program.mro(ref)
        if after is not None:
            if after not in mro:
                return Found()
            mro = mro[mro.index(after) + 1 :]
        external = ""
        opaque = False
        if tables.overloads:
            gathered = self._gathered(mro, name)
            if gathered is not None:
                return gathered
        for entry in mro:
            if isinstance(entry, ClassRef):
                own = self.own(entry, name)
                if own is not None:
                    return own._replace(doubtful=opaque and not tables.embedding)
                continue
            if entry in tables.ignored_bases:
                continue
            known = tables.members.get(entry)
            if known is not None:
                if name in known:
                    return Found(external=f"{entry}.{name}")
                continue
            opaque = True
            external = external or (f"{entry}.{name}" if entry else "")
        if tables.common_members and name in tables.members[tables.common_members]:
            return Found(external=f"{tables.common_members}.{name}")
        return Found(external=external, doubtful=opaque)

    def _gathered(self, mro: tuple[ClassRef | str, ...], name: str) -> Found | None:
        """All methods of a name that a class has or inherits, without those that are overridden; the nearest comes first."""
        first: Found | None = None
        functions: list[FuncRef] = []
        for entry in mro:
            own = self.own(entry, name) if isinstance(entry, ClassRef) else None
            if own is None:
                continue
            first = first or own
            functions += [f for f in own.functions if not any(self.replaces(known, f) for known in functions)]
            if name in self.program.tables.constructors:
                break
        return first._replace(functions=tuple(functions)) if first is not None else None

    def outside(self, ref: ClassRef, name: str) -> str:
        """The dotted name that a method has which no class of the project offers, if a base from outside may."""
        tables = self.program.tables
        for entry in self.program.mro(ref):
            if isinstance(entry, str) and entry and entry not in tables.ignored_bases:
                known = tables.members.get(entry)
                if known is None or name in known:
                    return f"{entry}.{name}"
        return ""

    def replaces(self, ref: FuncRef, other: FuncRef) -> bool:
        """Whether a method has the parameter types of another, which stands further up; a type parameter equals any type."""
        if ref.cls is other.cls or len(ref.decl.params) != len(other.decl.params):
            return False
        own, theirs = self._signature(ref), self._signature(other)
        return all(one == two or not one or not two for one, two in zip(own, theirs, strict=True))

    def _signature(self, ref: FuncRef) -> tuple[str, ...]:
        unit = self.program.units[ref.unit]
        return tuple(_type_name(unit, param.annotation) for param in ref.decl.params)

    def own(self, ref: ClassRef, name: str) -> Found | None:
        """What the class's own body has under a name."""
        key = (ref, name)
        known = self.owned.get(key)
        if known is None:
            ops = [(ref.unit, at) for at in ref.members.get(name, ())] + [*ref.extended.get(name, ())]
            if not ops:
                self.program.read(("class", ref))
                return None
            outer = self.program.begin()
            self.program.read(("class", ref))
            known = self.owned[key] = self._members(ref, ops)
            self.program.end(key, outer)
        else:
            self.program.note(key)
        return known

    def _members(self, ref: ClassRef, ops: list[tuple[int, int]]) -> Found:
        functions: list[FuncRef] = []
        classes: list[ClassRef] = []
        others: list[tuple[int, int]] = []
        for unit, at in ops:
            resolved = self.program.resolve(self.program.units[unit], at)
            for value in sorted(resolved.labels, key=lambda v: v.key):
                if value.kind == FUNC and isinstance(value.ref, FuncRef):
                    functions.append(value.ref)
                elif value.kind == CLASS and isinstance(value.ref, ClassRef):
                    classes.append(value.ref)
            others += resolved.leaves
        for function in functions:
            self.program.read(function)
        real = [f for f in functions if not f.decl.flags & bits.F_OVERLOAD]
        return Found(
            owner=ref, functions=tuple(real or functions), others=tuple(dict.fromkeys(others)), classes=tuple(classes)
        )

    def overrides(self, ref: ClassRef, name: str) -> tuple[FuncRef, ...]:
        """Methods of that name in classes below."""
        names = self.lower.get(ref)
        if names is None:
            names = self.lower[ref] = {}
        known = names.get(name)
        if known is None:
            known = names[name] = self.overrides_now(ref, name)
        self.program.read(("below", ref, name))
        for function in known:
            self.program.read(function)
        return known

    def overrides_now(self, ref: ClassRef, name: str) -> tuple[FuncRef, ...]:
        """As `overrides`, worked out anew, and read by nobody."""
        before = self.program.begin()
        try:
            if self.program.tables.structural:  # what is promoted implements as well
                found = [self.find(lower, name) for lower in ref.below]
                found = [
                    each for each in found if each.owner is not None and not each.owner.decl.flags & bits.C_INTERFACE
                ]
            else:
                found = [own for lower in ref.below if (own := self.own(lower, name)) is not None]
        finally:
            self.program.reads, self.program.asker = before
        return tuple(dict.fromkeys(function for own in found for function in own.functions))

    def declared_type(self, ref: ClassRef, name: str) -> tuple[int, int] | None:
        """(unit, type op) of a field that a class of the resolution order declares."""
        for entry in self.program.mro(ref):
            if isinstance(entry, ClassRef):
                for field, at in entry.decl.annotations:
                    if field == name:
                        return entry.unit, at
        return None

    def names_like(self, ref: ClassRef, prefix: str, suffix: str) -> tuple[str, ...]:
        """Names of methods that a class has or inherits and that begin and end so."""
        found: set[str] = set()
        for entry in self.program.mro(ref):
            if isinstance(entry, ClassRef):
                self.program.read(("class", entry))
                found.update(name for name in entry.members if name.startswith(prefix) and name.endswith(suffix))
        return tuple(sorted(found))

    def constructors(self, ref: ClassRef) -> list[FuncRef]:
        """Functions of the project that run when the class is called."""
        found: list[FuncRef] = []
        for name in self.program.tables.constructors:
            entry = self.find(ref, name)
            if entry.owner is not None and not entry.doubtful:
                found += entry.functions
        return found


def _type_name(unit: Unit, at: int) -> str:
    """The last name of a declared type, without type arguments; of an array with brackets; empty for a type parameter."""
    ops, names = unit.summary.ops, unit.summary.names
    op = ops[at] if at != NOTHING else (0,)
    if op[0] == Op.APPLY:
        base = _type_name(unit, op[1])
        return _type_name(unit, op[2]) + base if base == "[]" and len(op) > 2 else base
    if op[0] == Op.UNBOUND:
        return names[op[1]].rpartition(".")[2]
    if op[0] == Op.MEMBER_TYPE:
        return _type_name(unit, op[1])
    if op[0] == Op.ATTR:
        return names[op[2]]
    if op[0] == Op.CLASS:
        return unit.classes[op[1]].decl.name
    if op[0] == Op.IMPORT:
        return unit.summary.imports[op[1]].name
    return ""
