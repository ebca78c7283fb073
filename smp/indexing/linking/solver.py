"""Runs the levels of the flow, keeps shared keys, and starts each file from its ops."""

from __future__ import annotations

from collections.abc import Callable

from smp.domain.source import NOTHING, Op
from smp.indexing.linking import bits
from smp.indexing.linking.flow import Key, UnitState
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.program import Program
from smp.indexing.linking.types import Types
from smp.indexing.linking.values import MODULE, FuncRef, Value

MAX_LEVELS = 12
"""Exchanges; what is still on its way then makes its node unknown (design/linking.md section 2)."""
MAX_SHARED = 8
"""Values that a shared key carries; a key that would carry more carries *unknown* besides what it has delivered."""


class Solver:
    """The flow of a program. Rules (`smp.indexing.linking.rules`) are added by the class that extends this."""

    def __init__(self, program: Program, lookup: Lookup, types: Types) -> None:
        self.program = program
        self.lookup = lookup
        self.types = types
        self.intern = program.values
        self.tables = program.tables
        self.states = [UnitState(unit) for unit in program.units]
        self.holders: dict[Key, list[int]] = {}
        self.fresh: set[Key] = set()
        self.rules: list[Callable[..., None]] = []
        self.stored_names: set[str] = set()
        self.patched: set[tuple[int, str]] = set()
        self.property_names: set[str] = set()
        self.given_back: set[object] = set()

    # Keys ------------------------------------------------------------------------------------------------------------

    def node(self, state: UnitState, key: Key) -> int:
        """The node of a shared key in a file; made, and filled with what this file contributes, when first asked for."""
        known = state.keys.get(key)
        if known is not None:
            return known
        tag, owner, subject, detail = key
        own = owner == state.index
        if own and tag == "o":
            assert isinstance(subject, int)
            made = subject
        elif own and tag == "p":
            assert isinstance(subject, FuncRef)
            assert isinstance(detail, int)
            found = state.params.get((subject.index, detail))
            made = state.new_node() if found is None else found
        else:
            made = state.new_node()
        state.keys[key] = made
        state.node_key[made] = key
        holders = self.holders.get(key)
        if holders is None:
            self.holders[key] = [state.index]
        else:
            holders.append(state.index)
        self.fresh.add(key)
        if own and tag in "ry":
            assert isinstance(subject, FuncRef)
            self._define_returns(state, subject, made, yields=tag == "y")
        if state.vals[made]:
            state.changed.add(made)
        return made

    def _define_returns(self, state: UnitState, ref: FuncRef, node: int, *, yields: bool) -> None:
        for at in ref.decl.yields if yields else ref.rest:
            if at != NOTHING:
                state.link(at, node)
        if not yields:
            for value in self.types.instances(state.unit, ref.decl.annotation):
                state.add(node, value)

    def watch(self, state: UnitState, node: int, rule: int, *operands: object) -> None:
        """Fires a rule for every value that the node holds or will hold."""
        watches = state.watch[node]
        entry = (rule, operands)
        if watches is None:
            state.watch[node] = [entry]
        else:
            watches.append(entry)
        held = state.vals[node]
        if held:
            waiting = state.pending.get(node)
            for value in tuple(held):
                if waiting is None or value not in waiting:
                    # Not at once: rules watch again, and a chain of them may be longer than Python's stack.
                    state.due.append((rule, value, operands))

    # Levels ----------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """To the end: local fixpoints, exchanges, until silent or bounded."""
        for state in self.states:
            self.start(state)
        active = self.states
        for level in range(MAX_LEVELS + 1):
            for state in active:
                self.settle(state)
            touched = self.exchange(last=level == MAX_LEVELS)
            if not touched:
                return
            active = [self.states[index] for index in sorted(touched)]
        for state in active:
            self.settle(state)

    def settle(self, state: UnitState) -> None:
        """The local fixpoint of one file."""
        rules = self.rules
        queue, pending, succs, watches = state.queue, state.pending, state.succ, state.watch
        add, due = state.add, state.due
        while queue or due:
            while due:
                rule, value, operands = due.pop()
                rules[rule](state, value, *operands)
            if not queue:
                break
            node = queue.pop()
            new = pending.pop(node)
            succ = succs[node]
            if succ is not None:
                for target in succ:
                    held = state.vals[target]
                    for value in new:
                        if held is None or value not in held:
                            add(target, value)
                            held = state.vals[target]
            watching = watches[node]
            if watching is not None:
                for rule, operands in tuple(watching):
                    handler = rules[rule]
                    for value in new:
                        handler(state, value, *operands)

    def exchange(self, *, last: bool) -> set[int]:
        """Gives every holder of a key what the others have put there; returns the files that got something."""
        keys = self.fresh
        self.fresh = set()
        for state in self.states:
            if state.changed:
                for node in state.changed:
                    keys.add(state.node_key[node])
                state.changed = set()
        deliveries: list[tuple[UnitState, int, Value]] = []
        asked: list[tuple[int, Key]] = []
        for key in keys:
            holders = self.holders[key]
            if key[1] not in holders and key[0] in "oryp":
                asked.append((key[1], key))
            if len(holders) < 2:
                continue
            together: set[Value] = set()
            for index in holders:
                state = self.states[index]
                held = state.vals[state.keys[key]]
                if held:
                    together |= held
            if not together:
                continue
            if last or len(together) > MAX_SHARED:
                common = set.intersection(*(self.states[i].values(self.states[i].keys[key]) for i in holders))
                if common == together:
                    continue
                together = common | {self.intern.unknown}
            for index in holders:
                state = self.states[index]
                node = state.keys[key]
                held = state.vals[node]
                deliveries += [(state, node, value) for value in together if held is None or value not in held]
        touched: set[int] = set()
        if not last:
            for index, key in asked:
                self.node(self.states[index], key)
                touched.add(index)
        for state, node, value in deliveries:
            state.add(node, value)
            touched.add(state.index)
        return touched

    # Start -----------------------------------------------------------------------------------------------------------

    def start(self, state: UnitState) -> None:
        """Values and constraints that the ops of a file say by themselves."""
        raise NotImplementedError

    def receiver_value(self, ref: FuncRef) -> Value | None:
        """What `self`, `cls` or `this` is in a method."""
        if ref.cls is None or ref.decl.flags & bits.F_STATIC:
            return None
        if ref.decl.flags & bits.F_CLASS_METHOD:
            return self.intern.cls(ref.cls, below=True)
        return self.intern.inst(ref.cls, below=True)

    def _note_descriptors(self, state: UnitState) -> None:
        """Class members that hold an instance may be descriptors: their names count as properties do."""
        ops = state.unit.summary.ops
        for cls in state.unit.summary.classes:
            for name, at in cls.members:
                if at != NOTHING and ops[at][0] in (Op.CALL, Op.DECORATED, Op.NEW):
                    self.property_names.add(name)

    def note_given_back(self) -> None:
        """Definitions that their decorators return as they are; to be asked when the flow is finished."""
        for state in self.states:
            for op in state.unit.summary.ops:
                if op[0] == Op.DECORATED:
                    returned = state.values(op[2])
                    for value in self.program.resolve(state.unit, op[1]).labels:
                        if value in returned:
                            self.given_back.add(value.ref)

    def scan_stores(self) -> None:
        """Names that are ever stored as attributes, and modules that are written into from outside."""
        for state in self.states:
            unit = state.unit
            for function in unit.summary.functions:
                if function.flags & (bits.F_PROPERTY | bits.F_SETTER | bits.F_DELETER):
                    self.property_names.add(function.name)
            self._note_descriptors(state)
            for cls in unit.summary.classes:
                if cls.flags & bits.C_DATA:
                    self.stored_names.update(name for name, _ in cls.annotations)
            for op in unit.summary.ops:
                if op[0] == Op.STORE_ATTR:
                    name = unit.summary.names[op[2]]
                    self.stored_names.add(name)
                    for value in self.program.resolve(unit, op[1]).labels:
                        target = self.program.by_path.get(value.name) if value.kind == MODULE else None
                        if target is not None:
                            self.patched.add((target.index, name))
