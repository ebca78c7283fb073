"""Places with a declared type: what they let values be, and the types that functions without types of their own take from them."""

from __future__ import annotations

from smp.domain.source import NOTHING, Op
from smp.indexing.linking.flow import UnitState, param_key
from smp.indexing.linking.generics import filled, shape_of
from smp.indexing.linking.objects import ObjectRules
from smp.indexing.linking.values import CONT, FUNC, INST, XINST, ClassRef, FuncRef, Value

MAX_NESTING = 6
"""Literals in literals to which a declared type is handed down."""
TRUTHY = "(true)"
_TRUTHS = frozenset({"true", "false"})


class Contexts(ObjectRules):
    """Rules of declared places."""

    def on_declared(self, state: UnitState, value: Value, declared: tuple[Value, ...], result: int) -> None:
        """What a variable with a declared type is given: functions, containers, and instances more exact than declared."""
        exact = value.kind == INST and not value.below and isinstance(value.ref, ClassRef)
        if not declared or value.kind not in (INST, XINST) or exact:
            state.add(result, value)
        self.contextual(state, value, declared)

    def on_where(self, state: UnitState, value: Value, name: str, text: str, positive: int, result: int) -> None:
        """Members of a union whose literal, or lack of a member, says that they cannot be meant are left out."""
        if value.kind == INST and isinstance(value.ref, ClassRef):
            kept = (
                self._has(value.ref, name) == bool(positive)
                if not text
                else self._may_be(value.ref, name, text, positive)
            )
            if not kept:
                return
        state.add(result, value)

    def _has(self, ref: ClassRef, name: str) -> bool:
        return self.lookup.find(ref, name).owner is not None or self.lookup.declared_type(ref, name) is not None

    def _may_be(self, ref: ClassRef, name: str, text: str, positive: int) -> bool:
        declared = self.lookup.declared_type(ref, name)
        if declared is None:
            return True
        texts = self.types.literals(self.program.units[declared[0]], declared[1])
        if text == TRUTHY:
            if not texts or not texts <= _TRUTHS:
                return True
            text = "true"
        return not texts or (text in texts if positive else texts != {text})

    # Contextual types ------------------------------------------------------------------------------------------------

    def contextual(self, state: UnitState, value: Value, declared: tuple[Value, ...]) -> None:
        """A function, or functions in a literal, take the types of parameters from the place they are written in."""
        if not declared or not self.tables.call_member:
            return
        if value.kind == FUNC and isinstance(value.ref, FuncRef):
            self._typed_function(state, value.ref, declared)
        elif value.kind == CONT and value.site[1] >= 0:
            self.program.read(("site", value.site[0]))
            self._typed_literal(state, value.site[0], value.site[1], declared, 0)

    def _typed_function(self, state: UnitState, ref: FuncRef, declared: tuple[Value, ...]) -> None:
        for wanted in declared:
            if wanted.kind == XINST:
                self._take_known_types(state, ref, wanted)
            elif wanted.ref is not None and isinstance(wanted.ref, FuncRef):
                self._take_types(state, ref, wanted.ref, wanted.recv or wanted)
            elif wanted.kind == INST and isinstance(wanted.ref, ClassRef):
                for signature in self.lookup.find(wanted.ref, self.tables.call_member).functions:
                    self._take_types(state, ref, signature, wanted)

    def _typed_literal(self, state: UnitState, unit: int, at: int, declared: tuple[Value, ...], depth: int) -> None:
        """Hands a declared type down into an object or array literal."""
        summary = self.program.units[unit].summary
        op = summary.ops[at] if 0 <= at < len(summary.ops) else (0,)
        if not declared or depth > MAX_NESTING:
            return
        if op[0] == Op.FUNC:
            self._typed_function(state, self.program.units[unit].functions[op[1]], declared)
        elif op[0] == Op.MAP:
            for position in range(2, len(op), 2):
                if op[position] >= 0 and op[position + 1] != NOTHING:
                    inner = self._member_types(declared, summary.names[op[position]])
                    self._typed_literal(state, unit, op[position + 1], inner, depth + 1)
        elif op[0] == Op.SEQ:
            for place, position in enumerate(range(2, len(op), 2)):
                if op[position + 1] != NOTHING:
                    inner = tuple(one for wanted in declared for one in self.types.item(wanted, place))
                    self._typed_literal(state, unit, op[position + 1], inner, depth + 1)

    def _member_types(self, declared: tuple[Value, ...], name: str) -> tuple[Value, ...]:
        """What the members of a name in these types are, methods as functions with their receiver."""
        found: list[Value] = []
        for wanted in declared:
            if wanted.kind == XINST and wanted.name in self.tables.record_types:
                found += self.types.item(wanted)
            if wanted.kind != INST or not isinstance(wanted.ref, ClassRef):
                continue
            for entry in self.program.mro(wanted.ref):
                fields = entry.decl.annotations if isinstance(entry, ClassRef) else ()
                for field, at in fields:
                    if field in (name, self.tables.item_member) and isinstance(entry, ClassRef):
                        found += self.types.instances_for(self.program.units[entry.unit], at, wanted, entry)
            found += [self.intern.bound(ref, wanted) for ref in self.lookup.find(wanted.ref, name).functions]
        return tuple(dict.fromkeys(found))

    def _take_known_types(self, state: UnitState, ref: FuncRef, declared: Value) -> None:
        """As `_take_types`, of a function type from outside."""
        types = self.tables.function_types.get(declared.name, ())
        if types[:1] in (("*",), ("*-1",)):
            types = tuple(str(position) for position in range(len(declared.args)))
        for position, (own, text) in enumerate(zip(ref.decl.params, types, strict=False)):
            if own.annotation == NOTHING and self.param_read(ref, position):
                node = self.node(state, param_key(ref, position))
                for instance in filled(shape_of(text), declared.args, self.intern):
                    state.add(node, instance)

    def _take_types(self, state: UnitState, ref: FuncRef, signature: FuncRef, declared: Value) -> None:
        unit = self.program.units[signature.unit]
        self.program.read(signature)
        for position, (own, given) in enumerate(zip(ref.decl.params, signature.decl.params, strict=False)):
            if own.annotation != NOTHING or not self.param_read(ref, position) or own.kind != given.kind:
                continue
            found = self.types.instances_for(unit, given.annotation, declared, signature.cls)
            if found:
                node = self.node(state, param_key(ref, position))
                for instance in found:
                    state.add(node, instance)
