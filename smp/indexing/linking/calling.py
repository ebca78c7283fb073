"""Calls: from each callee value to parameters and results."""

from __future__ import annotations

import abc
from typing import Any

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking import bits
from smp.indexing.linking.acceptance import accepts
from smp.indexing.linking.class_making import CLASS_ARGUMENTS, ClassMaking
from smp.indexing.linking.flow import UnitState, element_key, field_key, op_key, param_key, return_key
from smp.indexing.linking.handing import Argument
from smp.indexing.linking.units import MAKER, THIS, Unit
from smp.indexing.linking.values import (
    BOUND,
    CLASS,
    CONT,
    EXT,
    FUNC,
    INST,
    MANY,
    PARTIAL,
    TEXT,
    UNKNOWN,
    XBOUND,
    ClassRef,
    FuncRef,
    Value,
)

MAX_PARTIAL = 4
MAX_OVERRIDES = 32
"""Overriding methods that get what a call on a base type hands over."""
_NAMED = frozenset({Op.FUNC, Op.CLASS, Op.IMPORT, Op.UNBOUND, Op.DECORATED})
_FUNCTIONS = frozenset({FUNC, BOUND, CLASS, PARTIAL})


class Calling(ClassMaking, abc.ABC):
    """What a call does."""

    ARGUMENT: int
    STAR_ARGUMENT: int
    MAP_ARGUMENT: int
    TRANSFER: int
    SPREAD: int
    CALL: int
    ATTR: int
    ITER: int
    AWAIT: int
    CONTEXT: int
    BESIDE: int
    COMPUTED: int
    NAMED: int

    def call_arguments(self, unit: Unit, op: tuple[int, ...]) -> tuple[Argument, ...]:
        """Arguments of a CALL op; those that can hold nothing are kept for their position, without a node."""
        ops, names = unit.summary.ops, unit.summary.names
        found = []
        for position in range(2, len(op), 3):
            at = op[position + 2]
            node = NOTHING if at == NOTHING or ops[at][0] == Op.CONST else at
            if op[position] == ArgKind.TYPE:
                node = at  # a type, not a value
            name = names[op[position + 1]] if op[position + 1] != NOTHING else ""
            found.append((op[position], name, node))
        return tuple(found)

    def on_call(
        self,
        state: UnitState,
        value: Value,
        at: int,
        arguments: tuple[Argument, ...] | None = None,
        result: int = NOTHING,
    ) -> None:
        """A callee value reaches a call; without arguments it is the CALL op `at`, with its own arguments and result."""
        if arguments is None:
            arguments, result = self.call_arguments(state.unit, state.unit.summary.ops[at]), at
            if self.refused(state, value, at, arguments):
                return
        kind = value.kind
        if self.tables.overloads and kind in (FUNC, BOUND) and not self._may_mean(state, value, at):
            return
        arguments = self.handed_on(state, value, at, arguments)
        if kind == FUNC:
            assert isinstance(value.ref, FuncRef)
            self._called_on(state, value.ref, at)
            self.call_function(state, value.ref, None, arguments, result, at)
        elif kind == BOUND:
            assert isinstance(value.ref, FuncRef)
            self.call_function(state, value.ref, value.recv, arguments, result, at)
            self.into_overrides(state, value.ref, value.recv, arguments)
        elif kind == CLASS:
            self.construct(state, value, arguments, result, at)
        elif kind in (EXT, XBOUND):
            self.call_external(state, value, at, arguments, result)
        elif kind == INST:
            if self.tables.call_method:
                self.call_method(state, value, self.tables.call_method, arguments, result)
        elif kind == PARTIAL:
            self.call_partial(state, value, at, arguments, result)
        elif kind == UNKNOWN:
            state.add(result, value)
        elif kind == MANY:
            self.call_many(state, value, arguments)

    def into_overrides(
        self, state: UnitState, ref: FuncRef, recv: Value | None, arguments: tuple[Argument, ...]
    ) -> None:
        """A method that is called on "the class or one below it" may be one that overrides it: that gets the arguments as well."""
        if recv is None or not recv.below or ref.cls is None or not self.tables.checked_calls:
            return
        if all(node == NOTHING for _, _, node in arguments) or not isinstance(recv.ref, ClassRef):
            return
        overriding = self.lookup.overrides(recv.ref, ref.decl.name)
        for lower in overriding if len(overriding) <= MAX_OVERRIDES else ():
            if lower is not ref:
                self.bind(state, lower, 1 if lower.decl.flags & bits.F_RECEIVER_PARAM else 0, arguments, recv)

    def _called_on(self, state: UnitState, ref: FuncRef, at: int) -> None:
        """`x.f()` where `f` is no method of a class: x is the receiver."""
        op = state.unit.summary.ops[at] if at >= 0 and self.tables.loose_receivers else (0, NOTHING)
        callee = state.unit.summary.ops[op[1]] if op[1] != NOTHING and op[0] == Op.CALL else (0,)
        if callee[0] == Op.ATTR and callee[1] != NOTHING:
            self.into_receiver(state, ref, callee[1])

    def into_receiver(self, state: UnitState, ref: FuncRef, node: int) -> None:
        """A node becomes the receiver of a function without a class."""
        if ref.cls is None and node != NOTHING and self.param_read(ref, THIS):
            state.link(node, self.node(state, param_key(ref, THIS)))

    def refused(self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...]) -> bool:
        """Whether a value that came to a call cannot take its arguments."""
        return self.came_by_flow(state, value, at) and not accepts(value, arguments) and self.by_value(state, value, at)

    def op_rule(self, state: UnitState, at: int) -> tuple[Any, ...]:
        """The rule of a call or attribute and its operands."""
        op = state.unit.summary.ops[at]
        if op[0] == Op.ATTR:
            return self.ATTR, state.unit.summary.names[op[2]], at
        return self.CALL, at

    def came_by_flow(self, state: UnitState, value: Value, at: int) -> bool:
        """Whether a function may have come to a call as a value: cheap, for nearly all are named there (`by_value` decides)."""
        if not self.tables.checked_calls or value.kind not in (FUNC, BOUND) or not isinstance(value.ref, FuncRef):
            return False
        ops = state.unit.summary.ops
        callee = ops[ops[at][1]]
        if callee[0] == Op.ATTR:
            return value.ref.decl.name != state.unit.summary.names[callee[2]]
        return callee[0] not in _NAMED

    def _may_mean(self, state: UnitState, value: Value, at: int) -> bool:
        """Whether the arguments of a call, as the text says them, can go to a method of that name."""
        ref = value.ref
        if at < 0 or not isinstance(ref, FuncRef) or ref.cls is None:
            return True
        return self.overloads.may(ref, self.overloads.given(state.unit, at), bound=value.kind == BOUND)

    def call_method(
        self, state: UnitState, value: Value, name: str, arguments: tuple[Argument, ...], result: int
    ) -> bool:
        """Calls a method of an instance, if the project has it; says whether it has."""
        assert isinstance(value.ref, ClassRef)
        found = self.lookup.find(value.ref, name)
        if found.doubtful or found.owner is None:
            return False
        for ref in found.functions:
            self.call_function(state, ref, value, arguments, result)
        return bool(found.functions)

    def call_function(
        self,
        state: UnitState,
        ref: FuncRef,
        recv: Value | None,
        arguments: tuple[Argument, ...],
        result: int,
        at: int = NOTHING,
    ) -> None:
        """Binds arguments to parameters and gives the result. at: The CALL op whose arguments they are, if they are one's."""
        decl = ref.decl
        self.program.read(ref)
        shift = 1 if recv is not None and decl.flags & bits.F_RECEIVER_PARAM else 0
        bound = self.bind(state, ref, shift, arguments, recv)
        if decl.yields:
            state.add(result, self.intern.generator(ref))
            return
        if self.overloaded_result(state, ref, recv, arguments, at, result):
            return
        if self.generic_result(state, ref, recv, arguments, bound, result):
            return
        if ref.rest or decl.annotation != NOTHING:
            state.link(self.node(state, return_key(ref)), result)
        if decl.annotation != NOTHING and recv is not None and ref.cls is not None and ref.cls.decl.type_params:
            for value in self.types.instances_for(self.program.units[ref.unit], decl.annotation, recv, ref.cls):
                state.add(result, value)
        declared = self.program.declared.get(ref)
        if declared is not None and decl.annotation == NOTHING:
            unit = self.program.units[declared.unit]
            for value in self.types.instances_for(unit, declared.decl.annotation, recv, declared.cls):
                state.add(result, value)
        symbolic = ref.symbolic
        if not symbolic and decl.annotation == NOTHING:
            return
        if decl.annotation != NOTHING and self.types.says_self(self.program.units[ref.unit], decl.annotation):
            new = decl.flags & bits.F_CLASS_METHOD
            symbolic = (*symbolic, ("new" if new else "receiver", 0))
        for what, position in symbolic:
            if what == "param":
                node = bound.get(position, NOTHING)
                if node != NOTHING:
                    state.link(node, result)
                elif decl.params[position].default != NOTHING and position not in bound:
                    state.link(self.node(state, op_key(ref.unit, decl.params[position].default)), result)
            elif what == "computed":
                node = bound.get(position, NOTHING)
                if node != NOTHING and recv is not None:
                    self.watch(state, node, self.COMPUTED, recv, result)
            elif recv is not None:
                self.symbolic_receiver(state, recv, what, result)
            elif arguments and decl.flags & bits.F_RECEIVER_PARAM and arguments[0][2] != NOTHING and what == "receiver":
                state.link(arguments[0][2], result)

    def symbolic_receiver(self, state: UnitState, recv: Value, what: str, result: int) -> None:
        if what == "receiver":
            state.add(result, recv)
        elif recv.kind == CLASS and isinstance(recv.ref, ClassRef):
            state.add(result, self.intern.inst(recv.ref, below=recv.below, made=recv.recv))
        elif recv.kind == INST and isinstance(recv.ref, ClassRef) and recv not in self._calling:
            # An instance whose call returns a call of itself gives nothing that its call does not give already.
            self._calling.add(recv)
            self.call_method(state, recv, self.tables.call_method or "", (), result)
            self._calling.discard(recv)

    @abc.abstractmethod
    def overloaded_result(
        self,
        state: UnitState,
        ref: FuncRef,
        recv: Value | None,
        arguments: tuple[Argument, ...],
        at: int,
        result: int,
    ) -> bool:
        """The result of a function with declared overloads; False for any other."""

    @abc.abstractmethod
    def generic_result(
        self,
        state: UnitState,
        ref: FuncRef,
        recv: Value | None,
        arguments: tuple[Argument, ...],
        bound: dict[int, int],
        result: int,
    ) -> bool:
        """The result of a generic function; True where that is all there is."""

    @abc.abstractmethod
    def made_instance(self, state: UnitState, value: Value, arguments: tuple[Argument, ...]) -> Value:
        """What constructing a class gives."""

    def bind(
        self, state: UnitState, ref: FuncRef, shift: int, arguments: tuple[Argument, ...], recv: Value | None = None
    ) -> dict[int, int]:
        """Lets arguments flow into parameters; gives parameter position → argument node."""
        params = ref.decl.params
        plain = [at for at, p in enumerate(params) if p.kind in ("positional", "positional_only")]
        rest = next((at for at, p in enumerate(params) if p.kind == "var_positional"), NOTHING)
        named = next((at for at, p in enumerate(params) if p.kind == "var_keyword"), NOTHING)
        bound: dict[int, int] = {}
        place = shift
        surplus = 0
        stars: list[tuple[int, int]] = []
        for kind, name, node in arguments:
            if kind == ArgKind.POSITIONAL:
                if place < len(plain):
                    bound[plain[place]] = node
                    self.into_param(state, ref, plain[place], node, recv)
                    place += 1
                elif rest != NOTHING:
                    self._into_element(state, ref, rest, f"#{surplus}", node)
                    if self.tables.overloads and node != NOTHING:
                        elements = self.types.instances(self.program.units[ref.unit], params[rest].annotation)
                        self.watch(state, node, self.CONTEXT, elements)
                    surplus += 1
            elif kind == ArgKind.KEYWORD:
                at = next((i for i, p in enumerate(params) if p.name == name and i not in (rest, named)), NOTHING)
                if at != NOTHING:
                    bound[at] = node
                    self.into_param(state, ref, at, node, recv)
                elif named != NOTHING:
                    self._into_element(state, ref, named, f"={name}", node)
            elif kind == ArgKind.STAR and node != NOTHING:
                stars.append((node, place))
                place = len(plain)
            elif kind == ArgKind.DOUBLE_STAR and node != NOTHING:
                stars.append((node, NOTHING))
        for node, first in stars:  # what is given by name or place is not given by a star
            if first == NOTHING:
                left = tuple(at for at, p in enumerate(params) if at not in (*bound, *plain[:shift], rest, named))
                self.watch(state, node, self.MAP_ARGUMENT, ref, left, named)
            else:
                open_ = plain[first : next((at for at in range(first, len(plain)) if plain[at] in bound), len(plain))]
                self.watch(state, node, self.STAR_ARGUMENT, ref, tuple(open_), rest)
        return bound

    def param_read(self, ref: FuncRef, position: int) -> bool:
        """Whether a function reads a parameter as a value that may be something."""
        self.program.read(ref)
        return (ref.index, position) in self.program.units[ref.unit].params

    def into_param(self, state: UnitState, ref: FuncRef, position: int, node: int, recv: Value | None = None) -> None:
        """A node becomes an argument of a parameter."""
        if node == NOTHING:
            return
        unit, param = self.program.units[ref.unit], ref.decl.params[position]
        declared = self.types.instances_for(unit, param.annotation, recv, ref.cls)
        if not self.param_read(ref, position):
            if self.tables.call_member and declared:
                self.watch(state, node, self.CONTEXT, declared)
            return
        target = self.node(state, param_key(ref, position))
        if declared:
            # What is declared stops instances (they are at most what is declared), not functions.
            self.watch(state, node, self.ARGUMENT, target, declared)
        else:
            state.link(node, target)

    def on_argument(self, state: UnitState, value: Value, target: int, declared: tuple[Value, ...]) -> None:
        # A container written in place is exact, and may hold functions.
        if (
            value.kind in _FUNCTIONS
            or value.kind == TEXT
            or (value.kind == CONT and (self.tables.checked_calls or self.is_record(value)))
        ):
            state.add(target, value)
        self.contextual(state, value, declared)

    @abc.abstractmethod
    def is_record(self, value: Value) -> bool:
        """Whether a value is a container whose attributes are its items."""

    @abc.abstractmethod
    def contextual(self, state: UnitState, value: Value, declared: tuple[Value, ...]) -> None:
        """A value meets the type that its place declares."""

    def _rest_container(self, ref: FuncRef, position: int) -> Value | None:
        if not self.param_read(ref, position):
            return None
        kind = (
            self.tables.tuple_type if ref.decl.params[position].kind == "var_positional" else self.tables.mapping_type
        )
        return self.intern.rest(kind, ref, position)

    def _into_element(self, state: UnitState, ref: FuncRef, position: int, which: str, node: int) -> None:
        container = self._rest_container(ref, position)
        if container is not None and node != NOTHING:
            for key in (which, "all"):
                state.link(node, self.node(state, element_key(container, key)))

    def on_star_argument(self, state: UnitState, value: Value, ref: FuncRef, open_: tuple[int, ...], rest: int) -> None:
        """`f(*value)`: elements to the open positions, what is over to `*args`."""
        if value.kind == CONT:
            loose = self.node(state, element_key(value, "*"))
            for index, position in enumerate(open_):
                if self.param_read(ref, position):
                    self.into_param(state, ref, position, self.node(state, element_key(value, f"#{index}")))
                    self.into_param(state, ref, position, loose)
            container = self._rest_container(ref, rest) if rest != NOTHING else None
            if container is not None and container is not value:
                for index in range(len(open_), len(open_) + 8):
                    source = self.node(state, element_key(value, f"#{index}"))
                    for key in (f"#{index - len(open_)}", "all"):
                        state.link(source, self.node(state, element_key(container, key)))
                for key in ("*", "all"):
                    state.link(loose, self.node(state, element_key(container, key)))
            return
        inner = state.new_node()
        self.iterate(state, value, inner)
        for position in open_:
            self.into_param(state, ref, position, inner)

    def on_map_argument(self, state: UnitState, value: Value, ref: FuncRef, open_: tuple[int, ...], named: int) -> None:
        """`f(**value)`: constant keys to parameters of that name, the rest to `**kwargs`."""
        if value.kind != CONT:
            return
        for position in open_:
            if self.param_read(ref, position):
                inner = state.new_node()
                self.read_key(state, value, f"={ref.decl.params[position].name}", inner)
                self.into_param(state, ref, position, inner)
        container = self._rest_container(ref, named) if named != NOTHING else None
        if container is not None:
            self.spread_into(state, value, container)

    # Classes ---------------------------------------------------------------------------------------------------------

    def metaclasses(self, value: Value) -> list[ClassRef]:
        """Metaclasses of the project that a class has."""
        found: list[ClassRef] = []
        ref = value.ref
        if isinstance(ref, ClassRef):
            for entry in self.program.mro(ref):
                if isinstance(entry, ClassRef) and entry.decl.metaclass != NOTHING:
                    resolved = self.program.resolve(self.program.units[entry.unit], entry.decl.metaclass)
                    for meta in sorted(resolved.labels, key=lambda v: v.key):
                        if isinstance(meta.ref, ClassRef) and meta.ref not in found:
                            found.append(meta.ref)
        return found

    def construct(
        self, state: UnitState, value: Value, arguments: tuple[Argument, ...], result: int, at: int = NOTHING
    ) -> None:
        """`C(...)`: an instance, and what its constructors do with the arguments."""
        ref = value.ref
        assert isinstance(ref, ClassRef)
        instance = self.made_instance(state, value, arguments)
        state.add(result, instance)
        if len(arguments) == CLASS_ARGUMENTS and self.makes_classes(ref):
            self.make_class(state, arguments[1][2], arguments[2][2], result)
        constructors = self.lookup.constructors(ref)
        if self.tables.overloads and at >= 0 and len(constructors) > 1:
            given = self.overloads.given(state.unit, at)
            constructors = [func for func in constructors if self.overloads.may(func, given, bound=True)]
        sink = NOTHING
        for func in constructors:
            if sink == NOTHING:
                sink = state.new_node()
            if func.decl.name == MAKER and self.tables.constructors[0] == MAKER:
                made = state.new_node()
                self.call_function(state, func, value, arguments, made)
                self.watch(state, made, self.MADE, ref, result)
                if self.param_read(func, THIS):
                    state.add(self.node(state, param_key(func, THIS)), value)
                continue
            self.call_function(
                state, func, value if func.decl.flags & bits.F_CLASS_METHOD else instance, arguments, sink
            )
        if not constructors and ref.decl.flags & bits.C_DATA:
            self._fill_fields(state, ref, arguments)

    def data_fields(self, ref: ClassRef) -> list[tuple[ClassRef, str]]:
        """Fields of a class that is made of them, each with the class that declares it: those of bases come first."""
        fields: list[tuple[ClassRef, str]] = []
        for entry in reversed(self.program.mro(ref)):
            if isinstance(entry, ClassRef):
                fields += [(entry, name) for name, _ in entry.decl.annotations if name not in {n for _, n in fields}]
        return fields

    def _fill_fields(self, state: UnitState, ref: ClassRef, arguments: tuple[Argument, ...]) -> None:
        """A class made of its fields: arguments become fields, in the order of the bases' fields, then its own."""
        fields = self.data_fields(ref)
        place = 0
        for kind, name, node in arguments:
            if kind == ArgKind.POSITIONAL and place < len(fields):
                target: tuple[ClassRef, str] | None = fields[place]
                place += 1
            else:
                target = (
                    next((field for field in fields if field[1] == name), None) if kind == ArgKind.KEYWORD else None
                )
            if target is not None and node != NOTHING:
                state.link(node, self.node(state, field_key(*target)))

    @abc.abstractmethod
    def call_external(
        self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...], result: int
    ) -> None:
        """A call of something outside the project."""

    @abc.abstractmethod
    def call_partial(
        self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...], result: int
    ) -> None:
        """A call of a partial application."""
