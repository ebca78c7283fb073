"""Fields that a class fills and a method reads which it inherits: `self.x` in a method of a base is of whatever class it runs in."""

from __future__ import annotations

from smp.domain.source import NOTHING, Op
from smp.indexing.linking.flow import UnitState, lower_field_key
from smp.indexing.linking.iterating import Iterating
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import ClassRef

_DEFINED = (Op.FUNC, Op.DECORATED, Op.CONST)


class InheritedFields(Iterating):
    """What goes from classes below to the methods above."""

    def worth(self, state: UnitState, at: int) -> bool:
        """Whether an op may hold something that a call could reach."""
        ops = state.unit.summary.ops
        return at != NOTHING and (at >= len(ops) or ops[at][0] != Op.CONST)

    def store_above(self, state: UnitState, ref: ClassRef, name: str, stored: int) -> None:
        """What a class writes into its instances, the methods that it inherits read."""
        if self.tables.checked_calls and self.worth(state, stored):
            self._put_above(state, ref, name, (stored,))

    def share_members(self, state: UnitState, ref: ClassRef) -> None:
        """So they do a member of a class that is no definition."""
        if not self.tables.checked_calls or not ref.decl.bases:
            return
        ops = state.unit.summary.ops
        for name, places in ref.members.items():
            own = [at for at in places if at != NOTHING and ops[at][0] not in _DEFINED]
            own = [at for at in own if ops[at][0] != Op.CLASS or not self._is_nested(state.unit, ops[at][1], ref)]
            if own:
                self._put_above(state, ref, name, tuple(own))

    def _put_above(self, state: UnitState, ref: ClassRef, name: str, nodes: tuple[int, ...]) -> None:
        """Nodes fill an attribute, where a class above declares or has it: otherwise each field of each class would be asked for."""
        above = [entry for entry in self.program.mro(ref)[1:] if isinstance(entry, ClassRef)]
        for entry in above:
            self.program.read(("class", entry))
        if any(name in entry.members or any(name == field for field, _ in entry.decl.annotations) for entry in above):
            for entry in above:
                for node in nodes:
                    state.link(node, self.node(state, lower_field_key(entry, name)))

    def _is_nested(self, unit: Unit, index: int, ref: ClassRef) -> bool:
        """Whether a class stands in the body of another."""
        return unit.classes[index].decl.owner == ref.decl.definition
