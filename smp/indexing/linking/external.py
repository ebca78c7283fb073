"""Partial applications, and calls out of the project by what the language's tables know of them."""

from __future__ import annotations

import abc

from smp.domain.source import NOTHING, ArgKind
from smp.indexing.linking.calling import MAX_PARTIAL
from smp.indexing.linking.class_making import CLASS_ARGUMENTS
from smp.indexing.linking.flow import UnitState, element_key, op_key
from smp.indexing.linking.handing import Argument
from smp.indexing.linking.overloaded import Overloaded
from smp.indexing.linking.values import (
    BOUND,
    CLASS,
    CONT,
    FUNC,
    GEN,
    INST,
    MANY,
    PARTIAL,
    XINST,
    ClassRef,
    FuncRef,
    Value,
)
from smp.languages.base import Transfer


class External(Overloaded, abc.ABC):
    """What a call of something external does."""

    def call_partial(
        self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...], result: int
    ) -> None:
        inner = value
        prefix: tuple[Argument, ...] = ()
        while inner.kind == PARTIAL and inner.recv is not None:
            unit, op = inner.site
            self.program.read(("site", unit))
            first = True
            given: list[Argument] = []
            for kind, name, node in self.call_arguments(
                self.program.units[unit], self.program.units[unit].summary.ops[op]
            ):
                if first and kind == ArgKind.POSITIONAL:
                    first = False
                    continue
                given.append((kind, name, NOTHING if node == NOTHING else self.node(state, op_key(unit, node))))
            prefix = (*given, *prefix)
            inner = inner.recv
        self.on_call(state, inner, at, (*prefix, *arguments), result)

    def partial_depth(self, value: Value) -> int:
        """How many partial applications a value is wrapped in."""
        depth = 0
        inner: Value | None = value
        while inner is not None and inner.kind == PARTIAL:
            depth += 1
            inner = inner.recv
        return depth

    def call_external(
        self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...], result: int
    ) -> None:
        """A call of something outside the project, by what the language's table knows of it."""
        transfers = self.tables.transfers
        transfer = transfers.get(value.name) or transfers.get(f"*.{value.name.rpartition('.')[2]}")
        stated = tuple(self.types.instances(state.unit, one) for kind, _, one in arguments if kind == ArgKind.TYPE)
        if any(stated):
            state.add(result, self.intern.xinst(self.called_name(value.name), stated))
        if transfer is None:
            state.add(result, self.intern.xinst(self.called_name(value.name)))
            self._handed_beside(state, arguments)
            return
        if transfer.passes >= 0 and arguments and arguments[0][2] != NOTHING:
            self.watch(state, arguments[0][2], self.CALL, NOTHING, arguments[transfer.passes :], state.new_node())
        if any(stated) and value.recv is None:  # what the call states, as if it were said of a receiver
            value = self.intern.xbound(value.name, self.intern.xinst(value.name, stated))
        positional = [node for kind, _, node in arguments if kind == ArgKind.POSITIONAL]
        recv = value.recv
        if recv is not None and recv.kind == CONT:
            keyed = self.constant_key(state, at, arguments) if transfer.result == "receiver_item" else ""
            for which in (keyed or "*", "all"):
                for position in transfer.stores:
                    if position < len(positional) and positional[position] != NOTHING:
                        state.link(positional[position], self.node(state, element_key(recv, which)))
                for position in transfer.spreads:
                    if position < len(positional) and positional[position] != NOTHING:
                        self.watch(
                            state,
                            positional[position],
                            self.TRANSFER,
                            "element",
                            self.node(state, element_key(recv, which)),
                        )
        if transfer.calls >= 0:
            self.hand_over(state, transfer, value, at, positional, result)
        if transfer.calls_keyword:
            for kind, name, node in arguments:
                if kind == ArgKind.KEYWORD and name == transfer.calls_keyword and node != NOTHING:
                    handed = ((int(ArgKind.POSITIONAL), "", self.elements_handed(state, transfer, value, positional)),)
                    self.watch(state, node, self.CALL, -1, handed, state.new_node())
        self.apply(state, transfer.result, value, at, arguments, positional, result)

    @abc.abstractmethod
    def library_result(
        self, state: UnitState, what: str, detail: str, value: Value, at: int, positional: list[int], result: int
    ) -> bool:
        """A result that only some languages' libraries have; False where it is none of them."""

    @abc.abstractmethod
    def hand_over(
        self, state: UnitState, transfer: Transfer, value: Value, at: int, positional: list[int], result: int
    ) -> None:
        """A built-in calls the function it is given."""

    @abc.abstractmethod
    def elements_handed(self, state: UnitState, transfer: Transfer, value: Value, positional: list[int]) -> int:
        """A node of the elements that a called argument receives; NOTHING where they are not known."""

    @abc.abstractmethod
    def typed_result(self, state: UnitState, text: str, recv: Value, at: int, result: int) -> None:
        """A result whose type is said in terms of the receiver's type arguments."""

    @abc.abstractmethod
    def call_receiver(
        self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...], result: int, *, spread: bool
    ) -> None:
        """A method of a function calls it."""

    def called_name(self, dotted: str) -> str:
        """The type of what an external callable returns: the class itself, or a name for the unknown result."""
        if "()" in dotted:
            return "object()"
        holder, _, method = dotted.rpartition(".")
        if method in self.tables.factories and holder.rpartition(".")[2][:1].isupper():
            return holder
        return dotted if dotted.rpartition(".")[2][:1].isupper() else f"{dotted}()"

    def apply(
        self,
        state: UnitState,
        rule: str,
        value: Value,
        at: int,
        arguments: tuple[Argument, ...],
        positional: list[int],
        result: int,
    ) -> None:
        """The result of a well-known external function (`smp.languages.base.Transfer`)."""
        what, _, detail = rule.partition(":")
        if self.library_result(state, what, detail, value, at, positional, result):
            return
        recv = value.recv
        first = positional[0] if positional else NOTHING
        if what == "instance":
            state.add(result, self.intern.xinst(detail))
        elif what == "list_of":
            state.add(result, self.intern.xinst(self.tables.sequence_type, ((self.intern.xinst(detail),),)))
        elif what == "partial":
            if first != NOTHING:
                self.watch(state, first, self.TRANSFER, "partial", result, at)
        elif what == "computed":
            if len(positional) > 1 and NOTHING not in positional[:2]:
                self.watch(state, positional[1], self.NAMED, positional[0], result)
            if len(positional) > 2 and positional[2] != NOTHING:
                state.link(positional[2], result)
        elif what == "identity":
            state.add(result, self.intern.ext("builtins.identity"))
        elif what in ("arg", "element", "awaited") and detail.isdigit():
            node = positional[int(detail)] if int(detail) < len(positional) else NOTHING
            if node != NOTHING:
                self.watch(state, node, self.TRANSFER, what, result)
        elif what in ("container", "pairs", "dict", "chain", "zip", "awaited_all", "awaited_list", "mapped"):
            self._new_container(state, what, detail, at, arguments, positional, result, value)
        elif what == "class_of" and len(positional) == CLASS_ARGUMENTS:
            self.make_class(state, positional[1], positional[2], result)
        elif what in ("class_of", "instance_of", "call"):
            if first != NOTHING:
                self.watch(state, first, self.TRANSFER, what, result)
        elif what == "property":
            made = self.intern.container(self.tables.property_type, state.index, at, state.unit.path)
            state.add(result, made)
            places = dict(enumerate(self.tables.property_keys))
            for position, (kind, name, node) in enumerate(arguments):
                key = name if kind == ArgKind.KEYWORD else places.get(position, "")
                if node != NOTHING and key:
                    state.link(node, self.node(state, element_key(made, f"={key}")))
        elif what in ("receiver_call", "receiver_apply"):
            self.call_receiver(state, value, at, arguments, result, spread=what == "receiver_apply")
        elif what == "receiver_partial":
            if recv is not None:
                # Without arguments to keep, what is bound is the function itself: `this.m = this.m.bind(this)` is a circle.
                bare = len(arguments) < 2 or recv.kind == PARTIAL
                state.add(result, recv if bare else self.intern.partial(recv, state.index, at, state.unit.path))
        elif what == "defaulting":
            made = self.intern.container(self.tables.mapping_type, state.index, at, state.unit.path)
            state.add(result, made)
            if first != NOTHING:
                for which in ("*", "all"):
                    self.watch(state, first, self.CALL, at, (), self.node(state, element_key(made, which)))
        elif what == "merged":
            if recv is not None and recv.kind == CONT:
                self._merge(state, recv, arguments)
        elif what == "type" and recv is not None:
            self.typed_result(state, detail, recv, at, result)
        elif what.startswith("receiver") and recv is not None:
            self._from_receiver(state, what, recv, at, arguments, result)

    def _merge(self, state: UnitState, recv: Value, arguments: tuple[Argument, ...]) -> None:
        """`recv.update(mapping, key=value)`."""
        for kind, name, node in arguments:
            if node == NOTHING:
                continue
            if kind == ArgKind.KEYWORD:
                for key in (f"={name}", "all"):
                    state.link(node, self.node(state, element_key(recv, key)))
            else:
                self.watch(state, node, self.SPREAD, recv)

    def _new_container(
        self,
        state: UnitState,
        what: str,
        detail: str,
        at: int,
        arguments: tuple[Argument, ...],
        positional: list[int],
        result: int,
        value: Value,
    ) -> None:
        kind = self.tables.mapping_type if what == "dict" else self.tables.sequence_type
        if value.name in self.tables.container_types:
            kind = value.name
        made = self.intern.container(kind, state.index, at, state.unit.path)
        state.add(result, made)
        targets = [self.node(state, element_key(made, which)) for which in ("*", "all")]
        chosen = [positional[int(detail)]] if detail.isdigit() and int(detail) < len(positional) else positional
        if what == "mapped":
            self._mapped(state, positional, targets)
            return
        if what == "dict":
            for kind_, name, node in arguments:
                if kind_ == ArgKind.KEYWORD and node != NOTHING:
                    for key in (f"={name}", "all"):
                        state.link(node, self.node(state, element_key(made, key)))
                elif node != NOTHING and (kind_ == ArgKind.DOUBLE_STAR or node == positional[0]):
                    self.watch(state, node, self.SPREAD, made, ("*", "all"), True)
        for node in chosen:
            if node == NOTHING:
                continue
            if what == "awaited_all":
                for target in targets:
                    state.link(node, target)
                continue
            if what == "awaited_list":
                inner = state.new_node()
                self.watch(state, node, self.TRANSFER, "element", inner)
                for target in targets:
                    self.watch(state, inner, self.AWAIT, target)
                continue
            if what in ("pairs", "zip"):
                self._paired(state, what, node, positional.index(node), made, at, targets)
                continue
            for target in targets:
                self.watch(state, node, self.TRANSFER, "element", target)

    def _paired(
        self, state: UnitState, what: str, node: int, position: int, made: Value, at: int, targets: list[int]
    ) -> None:
        """`enumerate` and `zip`: elements are tuples whose N-th entry comes from the N-th argument."""
        pair = self.intern.container(self.tables.tuple_type, state.index, at, state.unit.path)
        for target in targets:
            state.add(target, pair)
        which = "#1" if what == "pairs" else f"#{position}"
        for key in (which, "all"):
            self.watch(state, node, self.TRANSFER, "element", self.node(state, element_key(pair, key)))

    def _mapped(self, state: UnitState, positional: list[int], targets: list[int]) -> None:
        if len(positional) < 2 or positional[0] == NOTHING:
            return
        arguments = []
        for node in positional[1:]:
            inner = state.new_node()
            if node != NOTHING:
                self.watch(state, node, self.ITER, inner)
            arguments.append((int(ArgKind.POSITIONAL), "", inner))
        for target in targets:
            self.watch(state, positional[0], self.CALL, -1, tuple(arguments), target)

    def _from_receiver(
        self, state: UnitState, what: str, recv: Value, at: int, arguments: tuple[Argument, ...], result: int
    ) -> None:
        if what == "receiver":
            state.add(result, recv)
        elif recv.kind == CONT:
            everything = self.node(state, element_key(recv, "all"))
            if what in ("receiver_element", "receiver_item"):
                key = self.constant_key(state, at, arguments) if what == "receiver_item" else ""
                if key:
                    self.read_key(state, recv, key, result)
                else:
                    state.link(everything, result)
                if what == "receiver_item" and len(arguments) > 1 and arguments[1][2] != NOTHING:
                    state.link(arguments[1][2], result)
            elif what in ("receiver_container", "receiver_items", "receiver_pair"):
                made = self.intern.container(self.tables.tuple_type, state.index, at, state.unit.path)
                keys = ("#1", "all") if what != "receiver_container" else ("*", "all")
                for key in keys:
                    state.link(everything, self.node(state, element_key(made, key)))
                if what == "receiver_items":
                    outer = self.intern.container(self.tables.sequence_type, state.index, at, state.unit.path)
                    for key in ("*", "all"):
                        state.add(self.node(state, element_key(outer, key)), made)
                    made = outer
                state.add(result, made)
        elif recv.kind == XINST:
            found = self.types.item(recv)
            if what in ("receiver_element", "receiver_item"):
                for value in found:
                    state.add(result, value)
            elif found:
                wrapped = (
                    found if what == "receiver_container" else (self.intern.xinst(self.tables.tuple_type, ((), found)),)
                )
                kind = self.tables.sequence_type if what != "receiver_pair" else self.tables.tuple_type
                state.add(result, self.intern.xinst(kind, (wrapped,)))
        elif recv.kind == GEN and what == "receiver_element":
            self.iterate(state, recv, result)

    def _handed_beside(self, state: UnitState, arguments: tuple[Argument, ...]) -> None:
        """Values that go outside together with a function (`router.on(path, handler, context)`) come back to its parameters of
        the same name, for that is what they are handed over for."""
        named = tuple((name, node) for kind, name, node in arguments if kind == ArgKind.POSITIONAL and name)
        for kind, name, node in arguments if named else ():
            beside = tuple(one for one in named if one[0] != name)
            if kind == ArgKind.POSITIONAL and node != NOTHING and beside:
                self.watch(state, node, self.BESIDE, beside)

    def on_beside(self, state: UnitState, value: Value, beside: tuple[tuple[str, int], ...]) -> None:
        """A function goes outside beside values that have names."""
        if value.kind != FUNC or not isinstance(value.ref, FuncRef):
            return
        self.program.read(value.ref)
        for position, param in enumerate(value.ref.decl.params):
            node = next((node for name, node in beside if name == param.name), NOTHING)
            if node != NOTHING and not param.kind.startswith("var"):
                self.into_param(state, value.ref, position, node)

    def on_transfer(self, state: UnitState, value: Value, what: str, result: int, at: int = NOTHING) -> None:
        """A value reaches an argument of a well-known external function."""
        if what == "arg":
            state.add(result, value)
        elif what == "element":
            self.iterate(state, value, result)
        elif what == "awaited":
            for found in self.types.awaited(value):
                state.add(result, found)
        elif what == "partial":
            if value.kind in (FUNC, BOUND, CLASS, PARTIAL, MANY) and self.partial_depth(value) < MAX_PARTIAL:
                state.add(result, self.intern.partial(value, state.index, at, state.unit.path))
        elif what == "class_of":
            if value.kind == INST and isinstance(value.ref, ClassRef):
                state.add(result, self.intern.cls(value.ref, below=value.below, made=value.recv))
        elif what == "instance_of":
            if value.kind == CLASS and isinstance(value.ref, ClassRef):
                state.add(result, self.intern.inst(value.ref, below=True))
        elif what == "call":
            self.on_call(state, value, at, (), result)
