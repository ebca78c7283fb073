"""Attributes that are code: getters, setters and deleters, descriptors, and property objects that a call has made."""

from __future__ import annotations

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking import bits
from smp.indexing.linking.lookup import Found, of_receiver
from smp.indexing.linking.program import Program
from smp.indexing.linking.rules import Rules
from smp.indexing.linking.values import CLASS, CONT, INST, SUPER, ClassRef, FuncRef, Value

_OF_CLASS = bits.F_CLASS_METHOD | bits.F_STATIC
_PLACES = {int(bits.F_PROPERTY): 0, int(bits.F_SETTER): 1, int(bits.F_DELETER): 2}
"""Where a call that makes a property has the function that a flag asks for."""


class Accessors:
    """Looks them up in the finished flow."""

    def __init__(self, program: Program, flow: Rules) -> None:
        self.program = program
        self.flow = flow
        self.lookup = flow.lookup

    def reached(self, held: list[Value], name: str, flag: int, dunder: str) -> tuple[set[str], set[str]]:
        """Functions that reading, writing or deleting the attribute of these values runs, and overrides of them.

        Args:
            flag: Which accessor is asked for. dunder: the method of a descriptor that does the same.
        """
        hit: set[str] = set()
        extra: set[str] = set()
        for value in held:
            if self.flow.is_record(value):
                self._record_accessor(value, name, flag, hit)
        for value in held:
            if value.kind not in (INST, SUPER, CLASS) or not isinstance(value.ref, ClassRef):
                continue
            if value.kind == SUPER:
                found = self.lookup.find(self.flow.class_of(value.recv or value) or value.ref, name, value.ref)
            else:
                found = self._found(value.ref, name)
            if found.doubtful:
                continue
            static = value.kind == CLASS
            for ref in of_receiver(found.functions, is_class=static):
                fits = ref.decl.flags & flag and (not static or ref.decl.flags & _OF_CLASS)
                if fits and ref.node_id is not None:
                    hit.add(ref.node_id)
            if hit and value.below:
                lower = self.lookup.overrides(value.ref, name)
                extra |= {f.node_id for f in lower if f.decl.flags & flag and f.node_id is not None}
            for unit, leaf in found.others if not static else ():
                self._descriptor(unit, leaf, flag, dunder, hit)
        return hit, extra

    def _found(self, ref: ClassRef, name: str) -> Found:
        """As the look-up says; else what a class has that a parameter puts behind this one."""
        found = self.lookup.find(ref, name)
        ops = self.program.units[ref.unit].summary.ops
        given = [at for at in ref.decl.bases if at != NOTHING and ops[at][0] == Op.PARAM] if found.owner is None else []
        for at in given:
            behind = [v.ref for v in self.flow.content(ref.unit, at) if v.kind == CLASS and isinstance(v.ref, ClassRef)]
            others = [self.lookup.find(one, name) for one in sorted(behind, key=lambda one: one.key) if one is not ref]
            found = next((one for one in others if one.owner is not None), found)
        return found

    def _record_accessor(self, value: Value, name: str, flag: int, hit: set[str]) -> None:
        unit, at = value.site
        self.program.read(("site", unit))
        op = self.program.units[unit].summary.ops[at] if at >= 0 else (0,)
        names = self.program.units[unit].summary.names
        for position in range(2, len(op) if op[0] == Op.MAP else 0, 2):
            if op[position] >= 0 and names[op[position]] == name:
                for inner in self.flow.content(unit, op[position + 1]):
                    if isinstance(inner.ref, FuncRef) and inner.ref.node_id is not None and inner.ref.decl.flags & flag:
                        hit.add(inner.ref.node_id)

    def _descriptor(self, unit: int, leaf: int, flag: int, dunder: str, hit: set[str]) -> None:
        for inner in self.flow.content(unit, leaf):
            if inner.kind == INST and isinstance(inner.ref, ClassRef):
                found = self.lookup.find(inner.ref, dunder)
                if not found.doubtful:
                    hit.update(f.node_id for f in found.functions if f.node_id is not None)
            elif inner.kind == CONT and inner.name and inner.name == self.flow.tables.property_type:
                for made in self._property_function(inner, flag):
                    if isinstance(made.ref, FuncRef) and made.ref.node_id is not None:
                        hit.add(made.ref.node_id)

    def _property_function(self, value: Value, flag: int) -> frozenset[Value]:
        """What a property object was made with, for one kind of access."""
        unit, at = value.site
        self.program.read(("site", unit))
        summary = self.program.units[unit].summary
        op = summary.ops[at] if at >= 0 else (0,)
        place = _PLACES[int(flag)]
        wanted = self.flow.tables.property_keys[place]
        for position in range(2, len(op) if op[0] == Op.CALL else 0, 3):
            kind, key, operand = op[position : position + 3]
            by_place = kind == ArgKind.POSITIONAL and position == 2 + 3 * place
            by_name = kind == ArgKind.KEYWORD and summary.names[key] == wanted
            if operand != NOTHING and (by_place or by_name):
                return self.flow.content(unit, operand)
        return frozenset()
