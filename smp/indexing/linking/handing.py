"""Functions that are handed on by a call whose callee is itself a value.

`app(send)` with forty apps in `app` brings every `send` of every such place to every app: each of them is one that may be
called, few of them are. A function that took this way counts as *weak*: few of them are edges, many are candidates. A
function that was handed to a definition by name (`register(handler)`, `Route("/", view)`) came by what is written there, and
a call through the table that it ends up in has all of them as targets.
"""

from __future__ import annotations

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking.flow import UnitState
from smp.indexing.linking.solver import Solver
from smp.indexing.linking.values import BOUND, CLASS, FUNC, INST, PARTIAL, FuncRef, Value

Argument = tuple[int, str, int]
"""(ArgKind, keyword, node in the calling file)."""
_CALLED = frozenset({FUNC, BOUND, INST, PARTIAL, CLASS})
_ELEMENTS = (Op.ITEM, Op.ITER, Op.UNPACK)


class Handing(Solver):
    """Marks what calls through values hand on."""

    HANDED: int

    def handed_on(
        self, state: UnitState, value: Value, at: int, arguments: tuple[Argument, ...]
    ) -> tuple[Argument, ...]:
        """The arguments as the callee gets them."""
        if at == NOTHING or not arguments or value.kind not in _CALLED or not self._by_value(state, value, at):
            return arguments
        return tuple(
            (kind, name, self._marked(state, node) if node != NOTHING and kind < ArgKind.STAR else node)
            for kind, name, node in arguments
        )

    def _by_value(self, state: UnitState, value: Value, at: int) -> bool:
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

    def _marked(self, state: UnitState, node: int) -> int:
        known = state.handed.get(node)
        if known is None:
            known = state.handed[node] = state.new_node()
            self.watch(state, node, self.HANDED, known)
        return known

    def on_handed(self, state: UnitState, value: Value, result: int) -> None:
        """A value is handed on."""
        state.add(result, self.intern.handed(value))
