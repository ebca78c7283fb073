"""Type parameters of functions and classes: what a call states of them, or its arguments say.

`first<T>(list: T[]): T` called with users gives a user. What an argument says is looked for in the declared type of its parameter,
part by part; each value that is found for a parameter adds what the declared result is with it.
"""

from __future__ import annotations

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking.contexts import Contexts
from smp.indexing.linking.flow import UnitState, element_key
from smp.indexing.linking.handing import Argument
from smp.indexing.linking.type_functions import said
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import BOUND, CLASS, CONT, EXT, FUNC, INST, XINST, ClassRef, FuncRef, Value, by_key

Sinks = tuple[tuple[str, int], ...]
"""Name of a type parameter → node that gathers what is found for it."""
MAX_PARTS = 4
"""Types in types that are followed into an argument."""


class Inference(Contexts):
    """Rules of type parameters."""

    PART: int
    INFERRED: int

    def generic_result(
        self,
        state: UnitState,
        ref: FuncRef,
        recv: Value | None,
        arguments: tuple[Argument, ...],
        bound: dict[int, int],
        result: int,
    ) -> bool:
        """The result of a generic function; True where the call states its type arguments, which then say all."""
        names, unit = ref.decl.type_params, self.program.units[ref.unit]
        if not names or not self.tables.infers or ref.decl.annotation == NOTHING:
            return False
        stated = [self.types.instances(state.unit, at) for kind, _, at in arguments if kind == ArgKind.TYPE]
        if stated:
            known = {**self._class_arguments(ref, recv), **{n: v for n, v in zip(names, stated, strict=False) if v}}
            found = self.types.bound_instances(unit, ref.decl.annotation, known)
            for value in found:
                state.add(result, value)
            return bool(found)
        wanted = [
            p for p in sorted(bound) if bound[p] != NOTHING and self._speaks(unit, ref.decl.params[p].annotation, names)
        ]
        if not wanted:
            return False
        sinks: Sinks = tuple((name, state.new_node()) for name in names)
        for name, node in sinks:
            self.watch(state, node, self.INFERRED, ref, recv, name, result)
        for position in wanted:
            self._follow(state, bound[position], unit, ref.decl.params[position].annotation, sinks, 0)
        return False

    def on_inferred(
        self, state: UnitState, value: Value, ref: FuncRef, recv: Value | None, name: str, result: int
    ) -> None:
        """A value was found for a type parameter."""
        known = {**self._class_arguments(ref, recv), name: (value,)}
        for found in self.types.bound_instances(self.program.units[ref.unit], ref.decl.annotation, known):
            state.add(result, found)

    def _class_arguments(self, ref: FuncRef, recv: Value | None) -> dict[str, tuple[Value, ...]]:
        if recv is None or ref.cls is None or not isinstance(recv.ref, ClassRef):
            return {}
        return self.types.arguments(recv.ref, recv.args, ref.cls)

    def _speaks(self, unit: Unit, at: int, names: tuple[str, ...], depth: int = 0) -> bool:
        """Whether a type has one of these parameters in it."""
        op = unit.summary.ops[at] if at != NOTHING else (0,)
        if op[0] == Op.TYPE_PARAM:
            return unit.summary.names[op[1]] in names
        parts = op[1:] if op[0] == Op.UNION else op[2:] if op[0] == Op.APPLY else ()
        return depth < MAX_PARTS and any(self._speaks(unit, part, names, depth + 1) for part in parts)

    def _follow(self, state: UnitState, node: int, unit: Unit, at: int, sinks: Sinks, depth: int) -> None:
        """From now on what reaches a node tells what the parameters in a type are."""
        op = unit.summary.ops[at] if at != NOTHING else (0,)
        if op[0] == Op.TYPE_PARAM:
            for name, sink in sinks:
                if name == unit.summary.names[op[1]]:
                    state.link(node, sink)
        elif op[0] in (Op.UNION, Op.APPLY) and depth < MAX_PARTS:
            self.watch(state, node, self.PART, unit.index, at, sinks, depth)

    def on_part(self, state: UnitState, value: Value, index: int, at: int, sinks: Sinks, depth: int) -> None:
        """A value meets a type with parameters in it."""
        unit = self.program.units[index]
        self.program.read_op(index, at)
        op = unit.summary.ops[at]
        inner = state.new_node()
        if op[0] == Op.UNION:
            compound = [part for part in op[1:] if unit.summary.ops[part][0] == Op.APPLY]
            simple = [part for part in op[1:] if unit.summary.ops[part][0] == Op.TYPE_PARAM]
            for part in compound if value.kind in (XINST, CONT, FUNC, BOUND) and compound else simple:
                state.add(inner, value)
                self._follow(state, inner, unit, part, sinks, depth + 1)
            return
        for base in sorted(self.program.resolve(unit, op[1]).labels, key=by_key):
            if base.kind == EXT:
                if self._opened(state, value, base.name, inner):
                    argument = op[-1] if base.name in self.tables.element_last else op[2]
                    self._follow(state, inner, unit, argument, sinks, depth + 1)
            elif base.kind == CLASS and isinstance(base.ref, ClassRef):
                self._of_class(state, value, base.ref, unit, op, sinks, depth)

    def _opened(self, state: UnitState, value: Value, name: str, inner: int) -> bool:
        """What is in a value of an external generic type."""
        if name in self.tables.element_first:
            self.iterate(state, value, inner)
        elif name in self.tables.awaitables:
            self.watch(state, inner, self.AWAIT, inner)
            state.add(inner, value)
        elif name in self.tables.class_types:
            if value.kind == CLASS and isinstance(value.ref, ClassRef):
                state.add(inner, self.intern.inst(value.ref, below=value.below))
        elif name in self.tables.element_last:
            for found in self.types.item(value):
                state.add(inner, found)
            if value.kind == CONT:
                state.link(self.node(state, element_key(value, "all")), inner)
        else:
            return False
        return True

    def _of_class(
        self, state: UnitState, value: Value, ref: ClassRef, unit: Unit, op: tuple[int, ...], sinks: Sinks, depth: int
    ) -> None:
        """A value meets a type of the project: an instance of a generic class, a class to be made, a function."""
        if value.kind == INST and isinstance(value.ref, ClassRef) and self.program.is_below(value.ref, ref):
            given = self.types.arguments(value.ref, value.args, ref)
            for name, argument in zip(ref.decl.type_params, op[2:], strict=False):
                node = state.new_node()
                for found in given.get(name, ()):
                    state.add(node, found)
                self._follow(state, node, unit, argument, sinks, depth + 1)
        elif value.kind == CLASS and isinstance(value.ref, ClassRef):
            made = self.lookup.declared_type(ref, self.tables.construct_member)
            if made is not None:
                node = state.new_node()
                state.add(node, self.intern.inst(value.ref, below=value.below))
                names = tuple((own, sink) for own, sink in self._renamed(ref, unit, op, sinks))
                self._follow(state, node, self.program.units[made[0]], made[1], names, depth + 1)
        elif value.kind in (FUNC, BOUND):
            for signature in self.lookup.find(ref, self.tables.call_member).functions:
                node = state.new_node()
                owner = self.program.units[signature.unit]
                self.program.read(signature)
                arguments: list[Argument] = []
                for param in signature.decl.params:
                    handed = state.new_node()
                    for instance in self.types.instances(owner, param.annotation):
                        state.add(handed, instance)
                    arguments.append((int(ArgKind.POSITIONAL), "", handed))
                self.on_call(state, value, -1, tuple(arguments), node)
                names = tuple(self._renamed(ref, unit, op, sinks))
                self._follow(state, node, owner, signature.decl.annotation, names, depth + 1)

    def _renamed(self, ref: ClassRef, unit: Unit, op: tuple[int, ...], sinks: Sinks) -> list[tuple[str, int]]:
        """The sinks by the names that the type parameters have inside another generic type."""
        wanted = dict(sinks)
        found: list[tuple[str, int]] = []
        for own, argument in zip(ref.decl.type_params, op[2:], strict=False):
            inner = unit.summary.ops[argument] if argument != NOTHING else (0,)
            if inner[0] == Op.TYPE_PARAM and unit.summary.names[inner[1]] in wanted:
                found.append((own, wanted[unit.summary.names[inner[1]]]))
        return found

    # Classes ---------------------------------------------------------------------------------------------------------

    def made_instance(self, state: UnitState, value: Value, arguments: tuple[Argument, ...]) -> Value:
        """What constructing a class gives, with its type arguments where the call states them or its arguments say them."""
        ref = value.ref
        assert isinstance(ref, ClassRef)
        plain = self.intern.inst(ref, below=value.below, made=value.recv)
        if not self.tables.infers or not ref.decl.type_params:
            return plain
        stated = tuple(self.types.instances(state.unit, at) for kind, _, at in arguments if kind == ArgKind.TYPE)
        if stated:
            return self.intern.inst(ref, below=value.below, args=stated) if any(stated) else plain
        found: dict[str, tuple[Value, ...]] = {}
        for func in self.lookup.constructors(ref):
            unit = self.program.units[func.unit]
            for param, (_, _, node) in zip(func.decl.params, arguments, strict=False):
                if 0 <= node < len(state.unit.summary.ops):
                    for one in said(self.types, state.unit, node):
                        self._static_part(unit, param.annotation, one, found)
        args = tuple(found.get(name, ()) for name in ref.decl.type_params)
        return self.intern.inst(ref, below=value.below, args=args) if any(args) else plain

    def _static_part(self, unit: Unit, at: int, value: Value, found: dict[str, tuple[Value, ...]]) -> None:
        op = unit.summary.ops[at] if at != NOTHING else (0,)
        if op[0] == Op.TYPE_PARAM:
            name = unit.summary.names[op[1]]
            found[name] = tuple(sorted({*found.get(name, ()), value}, key=by_key))
        elif op[0] == Op.APPLY and len(op) > 2 and value.kind == XINST:
            inner = self.types.awaited(value) if value.name in self.tables.awaitables else self.types.item(value)
            for one in inner:
                self._static_part(unit, op[-1], one, found)
        elif op[0] == Op.UNION:
            for part in op[1:]:
                self._static_part(unit, part, value, found)
