"""Rules for languages in which object literals have attributes, functions have methods, and calls are handed functions.

What is called how, and which built-ins do it, comes from the language's tables; where a table is empty, nothing here fires.
"""

from __future__ import annotations

import abc

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking import bits
from smp.indexing.linking.external import External
from smp.indexing.linking.flow import UnitState, element_key, field_key, op_key
from smp.indexing.linking.generics import filled, shape_of
from smp.indexing.linking.handing import Argument
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import (
    BOUND,
    CLASS,
    CONT,
    FUNC,
    GEN,
    INST,
    MANY,
    MODULE,
    PARTIAL,
    UNKNOWN,
    XBOUND,
    XINST,
    ClassRef,
    FuncRef,
    Value,
)
from smp.languages.base import Transfer

RECEIVER_CALLS = frozenset({"receiver_call", "receiver_apply"})
"""Results of transfers that call their receiver."""
SPREAD = -2
"""Key of a spread in a MAP op."""


class ObjectRules(External, abc.ABC):
    """Records, methods of functions, callbacks."""

    ATTR: int
    RECORD: int
    EXTENDED: int

    # Records ---------------------------------------------------------------------------------------------------------

    def is_record(self, value: Value) -> bool:
        """Whether a value is a container whose attributes are its items."""
        return value.kind == CONT and value.name in self.tables.record_types

    def record_attribute(self, state: UnitState, value: Value, name: str, result: int) -> None:
        """`{…}.name`: what is stored under the key, or came with a spread behind it."""
        if any(name in self.tables.members.get(kind, ()) for kind in self.tables.record_types):
            state.add(result, self.intern.xbound(self.dotted(value.name, name), value))
        for which in (f"={name}", "*"):
            node = self.node(state, element_key(value, which))
            self.watch(state, node, self.RECORD, value, result)
        unit, at = value.site
        asked = (value, name, result)
        if asked in state.spread_reads:
            return  # a record that is spread into itself, round a loop
        state.spread_reads.add(asked)
        for spread in self._spreads(unit, at, name):
            self.watch(state, self.node(state, op_key(unit, spread)), self.ATTR, name, result)

    def lent_attribute(self, state: UnitState, value: Value, name: str, result: int) -> bool:
        """A pointer's attribute is that of what it points to; says whether the value is such a pointer."""
        if value.kind not in (XINST, CONT) or value.name not in self.tables.lenders:
            return False
        if name in self.tables.members.get(value.name, ()):
            return False
        held = state.new_node()
        if value.kind == CONT:
            held = self.node(state, element_key(value, "all"))
        for inner in self.types.item(value):
            state.add(held, inner)
        self.watch(state, held, self.ATTR, name, result)
        return True

    def dotted(self, base: str, name: str) -> str:
        """A longer external name, kept bounded."""
        raise NotImplementedError

    def _spreads(self, unit: int, at: int, name: str) -> list[int]:
        """Spread ops of a literal that may provide a key: those behind its last explicit entry."""
        self.program.read(("site", unit))
        summary = self.program.units[unit].summary
        op = summary.ops[at] if 0 <= at < len(summary.ops) else (0,)
        if op[0] != Op.MAP:
            return []
        found: list[int] = []
        for position in range(2, len(op), 2):
            key, element = op[position], op[position + 1]
            if key == SPREAD:
                if element != NOTHING:
                    found.append(element)
            elif key >= 0 and summary.names[key] == name:
                found = []
        return found

    def on_record(self, state: UnitState, value: Value, recv: Value, result: int) -> None:
        """An entry of a record is read: a getter runs, anything else is the value."""
        if value.kind == FUNC and isinstance(value.ref, FuncRef):
            if value.ref.decl.flags & bits.F_PROPERTY:
                self.call_function(state, value.ref, recv, (), result)
                return
            if value.ref.decl.flags & bits.F_SETTER:
                return
        state.add(result, value)

    def store_record(self, state: UnitState, value: Value, name: str, stored: int) -> None:
        """`{…}.name = stored`."""
        for which in (f"={name}", "all"):
            state.link(stored, self.node(state, element_key(value, which)))

    # Narrowing -------------------------------------------------------------------------------------------------------

    def on_narrow_in(self, state: UnitState, value: Value, types: tuple[Value, ...], result: int) -> None:
        if value.kind != INST or not isinstance(value.ref, ClassRef):
            if value.kind not in (UNKNOWN, XINST) and not any(t.kind == INST for t in types):
                state.add(result, value)
            return
        for wanted in types:
            if wanted.kind != INST or not isinstance(wanted.ref, ClassRef):
                continue
            if self.program.is_below(value.ref, wanted.ref):
                state.add(result, value)
            elif value.below and self.program.is_below(wanted.ref, value.ref):
                state.add(result, wanted)

    def on_narrow_out(self, state: UnitState, value: Value, types: tuple[Value, ...], result: int) -> None:
        for wanted in types:
            if value.kind == CLASS and isinstance(wanted.ref, ClassRef) and wanted.kind == INST:
                if any(self.program.is_below(meta, wanted.ref) for meta in self.metaclasses(value)):
                    return
            elif value.kind == INST and isinstance(value.ref, ClassRef) and isinstance(wanted.ref, ClassRef):
                if wanted.kind == INST and self.program.is_below(value.ref, wanted.ref):
                    return
            elif value.kind in (XINST, CONT) and wanted.kind == XINST and value.name == wanted.name:
                return
        state.add(result, value)

    # Classes around a class that a parameter gives -------------------------------------------------------------------

    def given_bases(self, state: UnitState, ref: ClassRef) -> list[int]:
        """Nodes of the parameters that give a class its bases (`(Base) => class extends Base`)."""
        self.program.read(("class", ref))
        ops = self.program.units[ref.unit].summary.ops
        given = [at for at in ref.decl.bases if at != NOTHING and ops[at][0] == Op.PARAM]
        return [self.node(state, op_key(ref.unit, at)) for at in given]

    def on_around(self, state: UnitState, value: Value, name: str, result: int) -> None:
        """A class that stands behind another, of which an attribute is read that this one does not have."""
        if value.kind == CLASS and isinstance(value.ref, ClassRef):
            self.attribute(state, self.intern.inst(value.ref), name, result)

    def on_around_store(self, state: UnitState, value: Value, name: str, stored: int) -> None:
        """What a class writes into its instances, methods of the class behind it read."""
        if value.kind == CLASS and isinstance(value.ref, ClassRef):
            state.link(stored, self.node(state, field_key(value.ref, name)))

    # Unqualified members -------------------------------------------------------------------------------------------

    def hold(self, state: UnitState, at: int, op: tuple[int, ...]) -> None:
        """The innermost class around that has a member decides; where none has, one from outside may."""
        name = state.unit.summary.names[op[1]]
        outside = NOTHING
        for receiver in op[2:]:
            if receiver == NOTHING:
                return
            found = self.has_member(state.unit, receiver, name)
            if found:
                state.link(receiver, at)
                return
            if found is None:
                outside = receiver if outside == NOTHING or not self._is_own(state.unit, receiver) else outside
        state.link(outside if outside != NOTHING else op[2], at)

    def start_extended(self, state: UnitState, at: int, op: tuple[int, ...]) -> None:
        """A method that may be one of the functions which extend types from outside."""
        name = state.unit.summary.names[op[2]]
        refs = [v.ref for v in self.program.resolve(state.unit, op[3]).labels if v.kind == FUNC]
        if refs:
            self.watch(state, op[1], self.EXTENDED, name, tuple(refs), at)
        else:
            self.watch(state, op[1], self.ATTR, name, at)

    def on_extended(self, state: UnitState, value: Value, name: str, refs: tuple[FuncRef, ...], result: int) -> None:
        """The value's own methods come first; those of a class of the project are told apart by the arguments."""
        known = value.kind in (XINST, CONT) and f"{value.name}.{name}" in self.tables.transfers
        fitting: list[FuncRef] = []
        if value.kind in (INST, XINST, CONT, GEN) and not known:
            fitting = [ref for ref in refs if self.overloads.extends(ref, value)]
            for ref in fitting:
                state.add(result, self.intern.bound(ref, value))
        if value.kind == INST and isinstance(value.ref, ClassRef):
            if not fitting or self.lookup.find(value.ref, name).owner is not None:
                self.attribute(state, value, name, result)
        elif not fitting:
            self.attribute(state, value, name, result)

    def attribute(self, state: UnitState, value: Value, name: str, result: int) -> None:
        """`value.name`."""
        raise NotImplementedError

    def _is_own(self, unit: Unit, at: int) -> bool:
        return unit.summary.ops[at][0] in (Op.RECEIVER, Op.INSTANCE)

    def has_member(self, unit: Unit, at: int, name: str) -> bool | None:
        """Whether the class of a receiver has a member; None where something from outside may have it."""
        ref = self._class_at(unit, at)
        if ref is None:
            return None
        found = self.lookup.find(ref, name)
        if found.owner is not None or self.lookup.declared_type(ref, name) is not None:
            return True
        return None if found.external or found.doubtful else False

    def _class_at(self, unit: Unit, at: int) -> ClassRef | None:
        op = unit.summary.ops[at]
        if op[0] == Op.RECEIVER:
            return unit.functions[op[1]].cls
        if op[0] == Op.INSTANCE:
            at = op[1]
        refs = [v.ref for v in self.program.resolve(unit, at).labels if v.kind == CLASS and isinstance(v.ref, ClassRef)]
        return min(refs, key=lambda ref: ref.key) if refs else None

    # Types in terms of a receiver's arguments ---------------------------------------------------------------------------

    def typed_result(self, state: UnitState, text: str, recv: Value, at: int, result: int) -> None:
        """`list.get(0)` is what the list was declared to hold."""
        shape = shape_of(text)
        if recv.kind == INST:
            for base in self.outer_bases(recv):
                self.typed_result(state, text, base, at, result)
        elif recv.kind == XINST:
            for value in filled(shape, recv.args, self.intern):
                state.add(result, value)
        elif recv.kind == CONT:
            everything = self.node(state, element_key(recv, "all"))
            if shape.name.isdigit():
                state.link(everything, result)
            elif not any(part.name.isdigit() for part in shape.arguments):
                state.add(result, self.intern.xinst(shape.name))
            else:
                made = self.intern.container(shape.name, state.index, at, state.unit.path)
                for which in ("*", "all"):
                    state.link(everything, self.node(state, element_key(made, which)))
                state.add(result, made)

    def outer_bases(self, value: Value) -> tuple[Value, ...]:
        """Generic types from outside that the class of an instance extends, with their arguments."""
        found: list[Value] = []
        for entry in self.program.mro(value.ref) if isinstance(value.ref, ClassRef) else ():
            if isinstance(entry, ClassRef):
                unit = self.program.units[entry.unit]
                for at in entry.decl.bases:
                    if at != NOTHING and unit.summary.ops[at][0] == Op.APPLY:
                        found += [v for v in self.types.instances_for(unit, at, value, entry) if v.kind == XINST]
        return tuple(dict.fromkeys(found))

    def base_member(self, state: UnitState, external: str, recv: Value, result: int) -> None:
        """A member that a generic type from outside gives to its subclasses (`this.props` of a component)."""
        position = self.tables.base_members.get(external)
        for base in self.outer_bases(recv) if position is not None else ():
            if external.startswith(base.name + ".") and position is not None and position < len(base.args):
                for value in base.args[position]:
                    state.add(result, value)

    def keyed_member(self, state: UnitState, value: Value, result: int) -> None:
        """`x[key]` where the type of x says what any key gives."""
        ref = value.ref
        declared = self.lookup.declared_type(ref, self.tables.item_member) if isinstance(ref, ClassRef) else None
        if declared is not None and self.tables.item_member:
            for found in self.types.instances(self.program.units[declared[0]], declared[1]):
                state.add(result, found)

    def step(self, state: UnitState, value: Value, result: int) -> bool:
        """An iterator whose steps carry the element; False for anything else."""
        ref, name = value.ref, self.tables.step_method
        if not name or not isinstance(ref, ClassRef):
            return False
        if any(self.lookup.find(ref, way).owner is not None for way in self.tables.iterator_methods):
            return False
        inner = state.new_node()
        stepped = self.call_method(state, value, name, (), inner)
        self.watch(state, inner, self.ATTR, "value", result)
        return stepped

    # Methods that values have by being functions or results of asynchronous ones -----------------------------------------

    def inherent_method(self, value: Value, name: str) -> Value | None:
        """`f.call`, `f.bind`; `g().then` where `g` is asynchronous: external methods of the value."""
        if name in self.tables.function_methods and self._is_function(value, name):
            return self.intern.xbound(self.tables.function_methods[name], value)
        if name not in self.tables.awaited_methods:
            return None
        if value.kind == INST and isinstance(value.ref, ClassRef):
            found = self.lookup.find(value.ref, name)
            if found.owner is not None or self.lookup.declared_type(value.ref, name) is not None:
                return None
        elif value.kind not in (CONT, FUNC, BOUND, CLASS, XINST, XBOUND, MODULE):
            return None
        return self.intern.xbound(self.tables.awaited_methods[name], value)

    def _is_function(self, value: Value, name: str) -> bool:
        """Whether a value has the methods of functions: one, something declared to be one, a class without that member."""
        ref = value.ref
        if value.kind == INST:
            return isinstance(ref, ClassRef) and self.tables.call_member in ref.members
        if value.kind == CLASS and isinstance(ref, ClassRef):
            return self.lookup.find(ref, name).owner is None
        return value.kind in (FUNC, BOUND, PARTIAL, MANY)

    def call_receiver(
        self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...], result: int, *, spread: bool
    ) -> None:
        """`f.call(this, …)` and `f.apply(this, list)`."""
        if value.recv is None:
            return
        ref = value.recv.ref
        if value.recv.kind == FUNC and isinstance(ref, FuncRef) and arguments and self.tables.loose_receivers:
            self.into_receiver(state, ref, arguments[0][2])
        rest = arguments[1:]
        if spread:
            rest = tuple((int(ArgKind.STAR), "", node) for _, _, node in rest[:1])
        self.on_call(state, value.recv, at, rest, result)

    # Callbacks -------------------------------------------------------------------------------------------------------

    def hand_over(
        self, state: UnitState, transfer: Transfer, value: Value, at: int, positional: list[int], result: int
    ) -> None:
        """A built-in calls the function it is given, with elements of what it belongs to."""
        if not self.tables.callback_edges or transfer.calls >= len(positional) or positional[transfer.calls] == NOTHING:
            return
        what = transfer.result.partition(":")[0]
        if what == "folded":
            self.folds(state, value, positional, result)
            return
        if what == "mapped_from":
            self._mapped_from(state, at, positional, result)
            return
        if transfer.hands or what in ("made", "flattened"):
            self._hand_typed(state, transfer, value.recv, at, positional[transfer.calls], result)
            return
        if what == "mapped" and transfer.with_elements >= 0:
            return  # the result is made of what the calls give: they are made with it
        inner = self.elements_handed(state, transfer, value, positional)
        arguments: tuple[Argument, ...] = (*[(0, "", NOTHING)] * transfer.hands_at, (0, "", inner))
        callback = positional[transfer.calls]
        if transfer.result == "mapped":
            made = self.intern.container(self.tables.sequence_type, state.index, at, state.unit.path)
            for which in ("*", "all"):
                self.watch(state, callback, self.CALL, -1, arguments, self.node(state, element_key(made, which)))
        else:
            sink = result if transfer.result == "call" else state.new_node()
            self.watch(state, callback, self.CALL, -1, arguments, sink)

    def elements_handed(self, state: UnitState, transfer: Transfer, value: Value, positional: list[int]) -> int:
        """See `External`."""
        inner = NOTHING
        if transfer.with_elements == -2 and value.recv is not None:
            inner = state.new_node()
            self._handed(state, value.recv, inner)
        elif 0 <= transfer.with_elements < len(positional) and positional[transfer.with_elements] != NOTHING:
            inner = state.new_node()
            self.watch(state, positional[transfer.with_elements], self.ITER, inner)
        return inner

    @abc.abstractmethod
    def folds(self, state: UnitState, value: Value, positional: list[int], result: int) -> None:
        """A function is called with what it gave before and each element."""

    def _mapped_from(self, state: UnitState, at: int, positional: list[int], result: int) -> None:
        """`Array.from(list, f)`: a container of what the function gives for each element."""
        element, sink = state.new_node(), state.new_node()
        if positional[0] != NOTHING:
            self.watch(state, positional[0], self.ITER, element)
        self.watch(state, positional[1], self.CALL, -1, ((0, "", element),), sink)
        made = self.intern.container(self.tables.sequence_type, state.index, at, state.unit.path)
        for which in ("*", "all"):
            state.link(sink, self.node(state, element_key(made, which)))
        state.add(result, made)

    def _hand_typed(
        self, state: UnitState, transfer: Transfer, recv: Value | None, at: int, callback: int, result: int
    ) -> None:
        """Hands what the table says, and makes a container of what comes back where it says so."""
        arguments: list[Argument] = []
        for text in transfer.hands:
            inner = state.new_node()
            if recv is not None:
                self.typed_result(state, text, recv, at, inner)
            arguments.append((0, "", inner))
        what, _, kind = transfer.result.partition(":")
        if what not in ("made", "flattened"):
            sink = result if transfer.result == "call" else state.new_node()
            self.watch(state, callback, self.CALL, -1, tuple(arguments), sink)
            return
        made = self.intern.container(kind, state.index, at, state.unit.path)
        state.add(result, made)
        sink = state.new_node()
        self.watch(state, callback, self.CALL, -1, tuple(arguments), sink)
        for which in ("*", "all"):
            target = self.node(state, element_key(made, which))
            if what == "made":
                state.link(sink, target)
            else:
                self.watch(state, sink, self.ITER, target)

    def _handed(self, state: UnitState, recv: Value, inner: int) -> None:
        """What a built-in hands to a callback: elements, values of a mapping, what a promise resolves to."""
        if recv.kind == CONT:
            state.link(self.node(state, element_key(recv, "all")), inner)
        elif recv.kind == XINST:
            awaited = self.types.awaited(recv)
            found = self.types.item(recv) or (() if awaited == (recv,) else awaited)
            for element in found:
                state.add(inner, element)
        else:
            state.add(inner, recv)
