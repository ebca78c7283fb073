"""Results of library functions that make containers of a kind, pairs, records, or what a callback gives.

Which function gives what comes from the language's transfers (`smp.languages.base.Transfer`).
"""

from __future__ import annotations

from smp.domain.source import NOTHING
from smp.indexing.linking.flow import UnitState, element_key
from smp.indexing.linking.handing import Argument
from smp.indexing.linking.inference import Inference
from smp.indexing.linking.values import BOUND, CONT, FUNC, XINST, FuncRef, Value

_WHOLE = ("*", "all")
_FUNCTIONS = frozenset({FUNC, BOUND})


class LibraryRules(Inference):
    """Rules of library results."""

    ATTR: int
    UNPACK: int
    LIBRARY: int

    def library_result(
        self, state: UnitState, what: str, detail: str, value: Value, at: int, positional: list[int], result: int
    ) -> bool:
        """As the table says; False where it is a result that every language may have."""
        given = positional[0] if positional else NOTHING
        if what in ("values", "entries", "from_pairs"):
            made = self._made(state, detail, at, result)
            if given != NOTHING:
                self.watch(state, given, self.LIBRARY, what, made, at, NOTHING)
        elif what == "mapped_from":
            if len(positional) < 2:
                made = self._made(state, self.tables.sequence_type, at, result)
                inner = state.new_node()
                if given != NOTHING:
                    self.watch(state, given, self.ITER, inner)
                self._fill(state, made, "*", inner)
        elif what == "flat":
            made = self._made(state, self.tables.sequence_type, at, result)
            if value.recv is not None:
                inner = state.new_node()
                self.iterate(state, value.recv, inner)
                self.watch(state, inner, self.LIBRARY, what, made, at, NOTHING)
        elif what == "folded":
            if len(positional) > 1 and positional[1] != NOTHING:
                state.link(positional[1], result)
        elif what in ("kept", "kept_element"):
            self._kept(state, what, value, given, result)
        elif what == "step":
            made = self._made(state, detail, at, result)
            if value.recv is not None:
                inner = state.new_node()
                self.iterate(state, value.recv, inner)
                self._fill(state, made, "=value", inner)
        elif what == "record":
            self._filled_record(state, detail, value, at, positional, result)
        elif what == "state":
            self._state_pair(state, value, at, positional, result)
        elif what == "attribute":
            if given != NOTHING:
                self.watch(state, given, self.ATTR, detail, result)
        else:
            return False
        return True

    def on_library(self, state: UnitState, value: Value, what: str, made: Value, at: int, result: int) -> None:
        """A value reaches an argument of a library function."""
        if what in ("values", "entries"):
            inner = state.new_node()
            if value.kind == CONT:
                state.link(self.node(state, element_key(value, "all")), inner)
            for found in self.types.item(value) if value.kind == XINST else ():
                state.add(inner, found)
            self._fill(state, made, "*", inner if what == "values" else self._pairs(state, inner, at))
        elif what == "from_pairs":
            pairs = state.new_node()
            self.iterate(state, value, pairs)
            inner = state.new_node()
            self.watch(state, pairs, self.UNPACK, 1, 0, inner)
            self._fill(state, made, "*", inner)
        elif what == "flat":
            inner = state.new_node()
            listed = value.kind == CONT and value.name not in self.tables.record_types
            if listed or (value.kind == XINST and value.name in self.tables.element_first):
                self.iterate(state, value, inner)
            else:
                state.add(inner, value)
            self._fill(state, made, "*", inner)
        elif what == "kept":
            self._add_kept(state, value, made, result, at)
        elif what == "call":
            self.on_call(state, value, -1, (), result)
            if value.kind not in _FUNCTIONS:
                state.add(result, value)

    def _made(self, state: UnitState, kind: str, at: int, result: int) -> Value:
        made = self.intern.container(kind, state.index, at, state.unit.path)
        state.add(result, made)
        return made

    def _fill(self, state: UnitState, made: Value, key: str, node: int) -> None:
        for which in (key, "all"):
            state.link(node, self.node(state, element_key(made, which)))

    def _pairs(self, state: UnitState, inner: int, at: int) -> int:
        """A node that holds a pair whose second entry is what a node holds."""
        pair = self.intern.container(self.tables.tuple_type, state.index, at, state.unit.path)
        self._fill(state, pair, "#1", inner)
        node = state.new_node()
        state.add(node, pair)
        return node

    # Callbacks -------------------------------------------------------------------------------------------------------

    def folds(self, state: UnitState, value: Value, positional: list[int], result: int) -> None:
        """`reduce`: what was gathered so far and an element go in, what is gathered comes out, and goes in again."""
        gathered, element = state.new_node(), state.new_node()
        first = len(positional) < 2
        if value.recv is not None:
            self.iterate(state, value.recv, element)
        start = element if first else positional[1]
        if start != NOTHING:
            state.link(start, gathered)
        arguments: tuple[Argument, ...] = ((0, "", gathered), (0, "", element))
        self.watch(state, positional[0], self.CALL, -1, arguments, result)
        state.link(result, gathered)

    def _kept(self, state: UnitState, what: str, value: Value, callback: int, result: int) -> None:
        """`filter`, `find`: elements that a function lets pass; one that says of which type they are narrows them."""
        if value.recv is None:
            return
        if callback == NOTHING:
            self._pass(state, value.recv, what == "kept_element", result)
        else:
            self.watch(state, callback, self.LIBRARY, "kept", value.recv, int(what == "kept_element"), result)

    def _add_kept(self, state: UnitState, callback: Value, recv: Value, result: int, single: int) -> None:
        if callback.kind in _FUNCTIONS and isinstance(callback.ref, FuncRef) and callback.ref.decl.predicate != NOTHING:
            self.program.read(callback.ref)
            found = self.types.instances(self.program.units[callback.ref.unit], callback.ref.decl.predicate)
            if found and single:
                for value in found:
                    state.add(result, value)
                return
            if found:
                state.add(result, self.intern.xinst(self.tables.sequence_type, (found,)))
                return
        self._pass(state, recv, bool(single), result)

    def _pass(self, state: UnitState, recv: Value, single: bool, result: int) -> None:
        if single:
            self.iterate(state, recv, result)
        else:
            state.add(result, recv)

    # Records ---------------------------------------------------------------------------------------------------------

    def _filled_record(
        self, state: UnitState, key: str, value: Value, at: int, positional: list[int], result: int
    ) -> None:
        """A record whose one entry is what the call is given, or states."""
        record = sorted(self.tables.record_types)[0]
        made = self._made(state, record, at, result)
        inner = state.new_node()
        if positional and positional[0] != NOTHING:
            state.link(positional[0], inner)
        for stated in self._stated(value):
            state.add(inner, stated)
        self._fill(state, made, f"={key}", inner)

    def _state_pair(self, state: UnitState, value: Value, at: int, positional: list[int], result: int) -> None:
        """`[state, set]`: the first is what the call is given, what a function that it is given makes, or what it states."""
        made = self._made(state, self.tables.tuple_type, at, result)
        inner = state.new_node()
        given = positional[-1] if positional else NOTHING
        if given != NOTHING:
            self.watch(state, given, self.LIBRARY, "call", made, at, inner)
        if len(positional) > 1 and positional[0] != NOTHING:
            sink = state.new_node()
            self.watch(state, positional[0], self.CALL, -1, ((0, "", given),), sink)
            state.link(sink, inner)
        for stated in self._stated(value):
            state.add(inner, stated)
        self._fill(state, made, "#0", inner)

    def _stated(self, value: Value) -> tuple[Value, ...]:
        recv = value.recv
        return recv.args[0] if recv is not None and recv.kind == XINST and recv.args else ()
