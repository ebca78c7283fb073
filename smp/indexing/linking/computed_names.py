"""Attributes whose names are texts of the program: `getattr(self, token["type"])`.

Texts do not flow as other values do; there are too many. What is read under a constant key and handed to a call is "one of the
texts that any mapping of the program holds under that key".
"""

from __future__ import annotations

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking import bits
from smp.indexing.linking.attribute_names import texts_token
from smp.indexing.linking.flow import UnitState
from smp.indexing.linking.inherited_fields import InheritedFields
from smp.indexing.linking.values import CLASS, INST, MODULE, TEXT, ClassRef, FuncRef, Value

MAX_TEXTS = 256
"""Texts under a key; beyond, the key says nothing."""


class ComputedNames(InheritedFields):
    """Rules of such names."""

    NAMED_FROM: int

    def read_texts(self, state: UnitState, op: tuple[int, ...]) -> None:
        """The positional arguments of a call that are read under a constant key."""
        ops, names = state.unit.summary.ops, state.unit.summary.names
        for position in range(2, len(op) - 2, 3):
            at = op[position + 2]
            if op[position] != ArgKind.POSITIONAL or at == NOTHING or ops[at][0] != Op.ITEM or ops[at][2] == NOTHING:
                continue
            key = names[ops[at][2]]
            self.program.read(texts_token(key))
            texts = self.attribute_names.named_under(key)
            if 0 < len(texts) <= MAX_TEXTS:
                state.add(at, self.intern.text(texts))

    def on_named_like(self, state: UnitState, value: Value, prefix: str, suffix: str, result: int) -> None:
        """`getattr(value, "visit_" + name)`: any method of the class with such a name."""
        if value.kind not in (INST, CLASS) or not isinstance(value.ref, ClassRef):
            return
        for name in self.lookup.names_like(value.ref, prefix, suffix):
            self.attribute(state, value, name, result)

    def on_named(self, state: UnitState, value: Value, holder: int, result: int) -> None:
        """`getattr(holder, value)`."""
        if value.kind == TEXT:
            self.watch(state, holder, self.NAMED_FROM, value, result)

    def on_named_from(self, state: UnitState, value: Value, text: Value, result: int) -> None:
        """An object of which an attribute is asked for by a text."""
        if value.kind in (INST, CLASS):
            self.on_computed(state, text, value, result)
        elif value.kind == MODULE:
            for name in text.name.split("\n"):
                self.attribute(state, value, name, result)

    def on_computed(self, state: UnitState, value: Value, recv: Value, result: int) -> None:
        """A method of the receiver's class that a text names; of the classes below it, where it may be one of them."""
        if value.kind != TEXT or not isinstance(recv.ref, ClassRef):
            return
        caller = self._calling_method(state, result) if recv.below else None
        for name in value.name.split("\n"):
            found = self.lookup.find(recv.ref, name)
            methods = list(found.functions if not found.doubtful else ())
            if recv.below:
                methods += [one for one in self.lookup.overrides(recv.ref, name) if self._runs(caller, one.cls)]
            for ref in methods:
                flags = ref.decl.flags
                if not flags & (bits.F_PROPERTY | bits.F_SETTER | bits.F_DELETER):
                    state.add(result, self.intern.func(ref) if flags & bits.F_STATIC else self.intern.bound(ref, recv))

    def _calling_method(self, state: UnitState, at: int) -> FuncRef | None:
        """The method on whose receiver a call is made: the classes that override it do not come there."""
        ops = state.unit.summary.ops
        op = ops[at] if 0 <= at < len(ops) else (0,)
        callee = ops[op[1]] if op[0] == Op.CALL and op[1] != NOTHING else (0,)
        if op[0] == Op.CALL and callee[0] != Op.ATTR and len(op) > 4 and op[4] != NOTHING:
            holder = ops[op[4]]  # `getattr(self, …)`
        else:
            holder = ops[callee[1]] if callee[0] == Op.ATTR and callee[1] != NOTHING else (0,)
        return state.unit.functions[holder[1]] if holder[0] == Op.RECEIVER else None

    def _runs(self, caller: FuncRef | None, cls: ClassRef | None) -> bool:
        """Whether instances of a class run a method, and not one that overrides it."""
        if caller is None or cls is None or caller.cls is None:
            return True
        return caller in self.lookup.find(cls, caller.decl.name).functions
