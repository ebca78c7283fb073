"""Functions that are handed on by a call whose callee is itself a value.

`app(send)` with forty apps in `app` brings every `send` of every such place to every app: each of them is one that may be
called, few of them are. A function that took this way counts as *weak*: few of them are edges, many are candidates. A
function that was handed to a definition by name (`register(handler)`, `Route("/", view)`) came by what is written there, and
a call through the table that it ends up in has all of them as targets.

A key that holds more than is passed on (`smp.indexing.linking.exchange.MAX_SHARED`) passes on itself instead, as a value of the kind *many*. A
call of it has no targets; what it hands over goes to keys of its own, and from there every file to the functions that it has
put into the key: who calls forty handlers is not said of each of them, what they get is.
"""

from __future__ import annotations

import abc

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking import bits
from smp.indexing.linking.flow import UnitState, argument_key, element_key
from smp.indexing.linking.solver import Solver
from smp.indexing.linking.values import BOUND, CLASS, CONT, FUNC, INST, MANY, PARTIAL, FuncRef, Value

Argument = tuple[int, str, int]
"""(ArgKind, keyword, node in the calling file)."""
_CALLED = frozenset({FUNC, BOUND, INST, PARTIAL, CLASS})
ONE_OF = "m"
"""Tag, as of a key, of the elements of what a key holds."""
MAX_HANDED = 6
"""Arguments that go on from one key that holds many to another."""
_ELEMENTS = (Op.ITEM, Op.ITER, Op.UNPACK)


class Handing(Solver, abc.ABC):
    """Marks what calls through values hand on."""

    HANDED: int
    RECEIVES: int

    def handed_on(
        self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...]
    ) -> tuple[Argument, ...]:
        """The arguments as the callee gets them."""
        if at == NOTHING or not arguments or value.kind not in _CALLED or not self.by_value(state, value, at):
            return arguments
        return tuple(
            (kind, name, self.marked(state, node) if node != NOTHING and kind < ArgKind.STAR else node)
            for kind, name, node in arguments
        )

    def by_value(self, state: UnitState, value: Value, at: int) -> bool:
        """Whether the callee of a call is a value that came there, not a definition that the text names."""
        unit = state.unit
        op = unit.summary.ops[at]
        if op[0] not in (Op.CALL, Op.NEW) or op[1] == NOTHING:
            return False
        callee = unit.summary.ops[op[1]]
        if value.kind == CLASS and callee[0] not in _ELEMENTS:
            return False  # a class in a variable is one, or has its constructor from one; those in a container are many
        if callee[0] == Op.ATTR:
            if value.kind == BOUND and isinstance(value.ref, FuncRef):
                return value.ref.decl.name != unit.summary.names[callee[2]]
        elif callee[0] == Op.PARAM:
            # What a test asks for is handed to it by name.
            return not unit.functions[callee[1]].decl.params[callee[2]].injected
        elif callee[0] not in (Op.VAR, Op.PHI, *_ELEMENTS):
            return False
        return value not in self.program.resolve(unit, op[1]).labels

    def marked(self, state: UnitState, node: int) -> int:
        """What a node holds, as handed on."""
        known = state.handed.get(node)
        if known is None:
            known = state.handed[node] = state.new_node()
            self.watch(state, node, self.HANDED, known)
        return known

    def on_handed(self, state: UnitState, value: Value, result: int) -> None:
        """A value is handed on."""
        state.add(result, self.intern.handed(value))

    # Many ------------------------------------------------------------------------------------------------------------

    def opened(self, state: UnitState, node: int, many: Value) -> None:
        """The functions that this file has put into the key get what calls of the key hand over."""
        self.watch(state, node, self.RECEIVES, many)

    def call_many(self, state: UnitState, many: Value, arguments: tuple[Argument, ...]) -> None:
        """A call of whatever a key holds."""
        for position, (kind, _, node) in enumerate(arguments):
            if kind != ArgKind.POSITIONAL:
                return
            if node != NOTHING:
                state.link(self.marked(state, node), self.node(state, argument_key(many, position)))

    def one_of(self, many: Value) -> Value:
        """An element of whatever a key holds; there are no elements of that."""
        return self.intern.many((ONE_OF, many.site[0], many, "[]"), "")

    def is_one_of(self, many: Value) -> bool:
        """Whether a value is an element of whatever a key holds."""
        _, shared = many.recipe
        return isinstance(shared, tuple) and shared[0] == ONE_OF

    def on_receives(self, state: UnitState, value: Value, many: Value) -> None:
        """A function that this file put into a key which holds many."""
        if (value, many) in state.received:
            return
        state.received.add((value, many))
        if value.kind == CONT and value.name not in self.tables.record_types and not self.is_one_of(many):
            self.watch(state, self.node(state, element_key(value, "all")), self.RECEIVES, self.one_of(many))
        elif value.kind == MANY and value is not many:
            for position in range(MAX_HANDED):
                given = self.node(state, argument_key(many, position))
                state.link(given, self.node(state, argument_key(value, position)))
        if value.kind not in (FUNC, BOUND) or not isinstance(value.ref, FuncRef):
            return
        ref = value.ref
        self.program.read(ref)
        shift = 1 if value.kind == BOUND and ref.decl.flags & bits.F_RECEIVER_PARAM else 0
        count = sum(not param.kind.startswith("var") for param in ref.decl.params) - shift
        arguments = tuple((0, "", self.node(state, argument_key(many, position))) for position in range(count))
        self.bind(state, ref, shift, arguments, value.recv)

    @abc.abstractmethod
    def bind(
        self,
        state: UnitState,
        ref: FuncRef,
        shift: int,
        arguments: tuple[Argument, ...],
        recv: Value | None = None,
    ) -> dict[int, int]:
        """Arguments to parameters."""
