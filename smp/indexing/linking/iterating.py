"""Iteration, unpacking, entering: what syntax takes out of values."""

from __future__ import annotations

from smp.domain.source import NOTHING
from smp.indexing.linking import bits
from smp.indexing.linking.flow import UnitState, element_key, yield_key
from smp.indexing.linking.library import LibraryRules
from smp.indexing.linking.values import CLASS, CONT, GEN, INST, UNKNOWN, XINST, ClassRef, FuncRef, Value

MAX_INDEX = 16
"""Constant indexes that are told apart in a container."""
_MAPPINGS = ("dict", "Dict", "OrderedDict", "defaultdict", "Mapping", "Object")


class Iterating(LibraryRules):
    """Rules of iteration."""

    def on_iter(self, state: UnitState, value: Value, result: int) -> None:
        self.iterate(state, value, result)

    def iterate(self, state: UnitState, value: Value, result: int) -> None:
        """Elements of a value."""
        kind = value.kind
        if kind == CONT:
            if value.name in self.tables.pair_types:
                pair = self.intern.pair(self.tables.tuple_type, state.index, value)
                for which in ("#1", "all"):
                    state.link(self.node(state, element_key(value, "all")), self.node(state, element_key(pair, which)))
                state.add(result, pair)
            elif not value.name.endswith(_MAPPINGS):
                state.link(self.node(state, element_key(value, "all")), result)
        elif kind == GEN:
            assert isinstance(value.ref, FuncRef)
            state.link(self.node(state, yield_key(value.ref)), result)
        elif kind == XINST:
            for found in self.types.elements(value):
                state.add(result, found)
        elif kind == CLASS:
            if isinstance(value.ref, ClassRef) and value.ref.decl.flags & bits.C_ENUM:
                state.add(result, self.intern.inst(value.ref))
        elif kind == INST:
            assert isinstance(value.ref, ClassRef)
            # An iterator that is its own iterable leads back here with the node it began with.
            if (value, result) in state.iterated:
                return
            state.iterated.add((value, result))
            nexts = [name for name in ("__next__", "__anext__") if self.lookup.find(value.ref, name).functions]
            for name in nexts:
                self.call_method(state, value, name, (), result)
            if self.step(state, value, result):
                return
            if not nexts:
                known = state.iterators.get(value)
                inner = state.new_node() if known is None else known
                state.iterators[value] = inner
                ways = ("__iter__", "__aiter__", *self.tables.iterator_methods)
                made = [self.call_method(state, value, name, (), inner) for name in ways]
                if any(made):
                    self.watch(state, inner, self.ITER, result)
                elif self.tables.overloads:
                    for base in self.outer_bases(value):
                        self.iterate(state, base, result)
                else:
                    self.call_method(state, value, "__getitem__", ((0, "", NOTHING),), result)
        elif kind == UNKNOWN:
            state.add(result, value)

    def on_unpack(self, state: UnitState, value: Value, place: int, starred: int, result: int) -> None:
        if value.kind == CONT:
            if starred:
                rest = self.intern.container(self.tables.sequence_type, state.index, result, state.unit.path)
                state.add(result, rest)
                sources = [f"#{index}" for index in range(max(place, 0), MAX_INDEX)] + ["*"]
                for which in ("*", "all"):
                    target = self.node(state, element_key(rest, which))
                    for source in sources:
                        state.link(self.node(state, element_key(value, source)), target)
            elif place >= 0:
                for which in (f"#{place}", "*"):
                    state.link(self.node(state, element_key(value, which)), result)
            else:
                state.link(self.node(state, element_key(value, "all")), result)
        elif value.kind == XINST and place >= 0 and (not starred or value.name in self.tables.element_first):
            for found in (value,) if starred else self.types.item(value, place):
                state.add(result, found)
        elif value.kind == INST and not starred and place >= 0:
            self._unpack_instance(state, value, place, result)
        elif not starred:
            self.iterate(state, value, result)

    def _unpack_instance(self, state: UnitState, value: Value, place: int, result: int) -> None:
        """By place what its `__iter__` returns; a record's fields in their order."""
        assert isinstance(value.ref, ClassRef)
        if (value, result) in state.iterated:
            return
        if self.lookup.find(value.ref, "__iter__").functions:
            state.iterated.add((value, result))
            inner = state.new_node()
            self.call_method(state, value, "__iter__", (), inner)
            self.watch(state, inner, self.UNPACK, place, 0, result)
        elif value.ref.decl.flags & bits.C_DATA:
            fields = self.data_fields(value.ref)
            if place < len(fields):
                self.watch(state, self.given(state, value), self.ATTR, fields[place][1], result)
        else:
            self.iterate(state, value, result)

    def given(self, state: UnitState, value: Value) -> int:
        """A node that holds one value."""
        node = state.new_node()
        state.add(node, value)
        return node

    def on_enter(self, state: UnitState, value: Value, result: int) -> None:
        if value.kind == GEN:
            assert isinstance(value.ref, FuncRef)
            state.link(self.node(state, yield_key(value.ref)), result)
        elif value.kind == INST:
            for name in ("__enter__", "__aenter__"):
                self.call_method(state, value, name, (), result)
        elif value.kind == XINST and value.name in self.tables.contexts and value.args:
            for entered in value.args[0]:
                state.add(result, entered)
        elif value.kind in (XINST, UNKNOWN):
            state.add(result, value)
