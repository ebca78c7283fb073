"""Mappings with constant keys: what is stored under a key is read under that key, also after the mapping was handed on.

`f(**options)` and `{**options}` put one mapping into another. Copying the entries would lose their keys, and every entry would
reach every parameter of every function further down. So the mapping itself is kept, as an entry of the other under `SPREAD_IN`,
and who reads a key there looks into it as well.
"""

from __future__ import annotations

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking.flow import UnitState, element_key
from smp.indexing.linking.handing import Argument, Handing
from smp.indexing.linking.values import CONT, Value

SPREAD_IN = "**"
"""The element under which a mapping keeps those that were spread into it."""
_SPREAD = -2
"""Key of a spread in a MAP op."""


class Spreading(Handing):
    """Reads and writes of mappings by constant key."""

    KEYED: int

    def read_key(self, state: UnitState, container: Value, key: str, result: int) -> None:
        """What a mapping may hold under a key (`=name`): what is stored there or at no known key, here or in what was spread in."""
        for which in (key, "*"):
            state.link(self.node(state, element_key(container, which)), result)
        if not self.takes_spreads(state, container):
            return
        asked = (container, key, result)
        if asked not in state.spread_reads:  # mappings that are spread into each other, round a recursion
            state.spread_reads.add(asked)
            self.watch(state, self.node(state, element_key(container, SPREAD_IN)), self.KEYED, key, result)

    def on_keyed(self, state: UnitState, value: Value, key: str, result: int) -> None:
        """A mapping was spread into one that is read."""
        if value.kind == CONT:
            self.read_key(state, value, key, result)

    def takes_spreads(self, state: UnitState, container: Value) -> bool:
        """Whether a container is one that others are spread into: `**options`, `{**other}`, `dict(other)`."""
        unit, at = container.site
        if at < 0:
            return True
        self.program.read(("site", unit))
        ops = self.program.units[unit].summary.ops
        op = ops[at] if at < len(ops) else (0,)
        return op[0] == Op.CALL or (op[0] == Op.MAP and _SPREAD in op[2::2])

    def spread_into(self, state: UnitState, value: Value, container: Value) -> None:
        """All entries of a mapping are entries of another."""
        if value is not container:
            state.link(self.node(state, element_key(value, "all")), self.node(state, element_key(container, "all")))
            state.add(self.node(state, element_key(container, SPREAD_IN)), value)

    def constant_key(self, state: UnitState, at: int, arguments: tuple[Argument, ...]) -> str:
        """The element that the first argument of a call names, if that is a constant text: `options.get("name")`."""
        op = state.unit.summary.ops[at] if at >= 0 else (0,)
        if op[0] != Op.CALL or len(op) < 5 or op[2] != ArgKind.POSITIONAL or op[4] == NOTHING:
            return ""
        first = state.unit.summary.ops[op[4]]
        plain = bool(arguments) and arguments[0][0] == ArgKind.POSITIONAL and arguments[0][2] == NOTHING
        return (
            f"={state.unit.summary.names[first[2]]}" if plain and first[0] == Op.CONST and first[2] != NOTHING else ""
        )
