"""The flow within a file: nodes of shared keys, watches, the local fixpoint."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from smp.domain.ids import FilePath
from smp.domain.source import NOTHING, Op
from smp.indexing.linking import bits
from smp.indexing.linking.attribute_names import AttributeNames
from smp.indexing.linking.exchange import Exchange
from smp.indexing.linking.flow import Key, UnitState, Watch, members
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.overloads import Overloads
from smp.indexing.linking.program import Program
from smp.indexing.linking.types import Types
from smp.indexing.linking.values import FuncRef, Value

MAX_FIRED = 300_000
"""Rules that may fire in one file. Code that people write stays far below; libraries bundled into one closure (jQuery and the
like) would take minutes and gigabytes. How often rules fire does not depend on their order, so neither does giving up: the
file keeps its definitions and imports, its calls are unresolved."""


class Solver(Exchange):
    """The flow of a program. Rules (`smp.indexing.linking.rules`) are added by the class that extends this."""

    def __init__(self, program: Program, lookup: Lookup, types: Types) -> None:
        super().__init__(program)
        self.lookup = lookup
        self.types = types
        self.overloads = Overloads(program, lookup, types)
        self.tables = program.tables
        self._calling: set[Value] = set()
        """Instances whose call is being followed."""
        self.rules: list[Callable[..., None]] = []
        self.attribute_names = AttributeNames()
        self.stored_names = self.attribute_names.stored
        self.property_names = self.attribute_names.properties
        self.patched = self.attribute_names.patched
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
            found = state.unit.params.get((subject.index, detail))
            made = state.new_node() if found is None else found
        else:
            made = state.new_node()
        taken = made if made in state.node_key else None  # a parameter that is asked for as an op as well
        if taken is not None:
            made = state.new_node()
        state.keys[key] = made
        state.node_key[made] = key
        state.events += (key, self.clock[0], None)
        self._hold(state, key)
        if taken is not None:
            state.link(taken, made)
            state.link(made, taken)
        else:
            for value in members(state.vals[made]):
                state.events += (key, self.clock[0], value)
        if own and tag in "ry":
            assert isinstance(subject, FuncRef)
            self._define_returns(state, subject, made, yields=tag == "y")
        if state.vals[made] is not None:
            state.changed.add(made)
        return made

    def _hold(self, state: UnitState, key: Key) -> None:
        self.fresh.add(key)
        self.heat(key)
        if self._repeating:
            return  # it holds the key already
        holders = self.holders.get(key)
        if holders is None:
            self.holders[key] = state.index
        elif isinstance(holders, int):
            if holders != state.index:
                self.holders[key] = [holders, state.index]
        elif state.index not in self.records or state.index not in holders:
            holders.append(state.index)

    def _define_returns(self, state: UnitState, ref: FuncRef, node: int, *, yields: bool) -> None:
        for at in ref.decl.yields if yields else ref.rest:
            if at != NOTHING:
                state.link(at, node)
        if not yields:
            for value in self.types.instances(state.unit, ref.decl.annotation):
                state.add(node, value)

    def watch(self, state: UnitState, node: int, rule: int, *operands: object) -> None:
        """Fires a rule for every value that the node holds or will hold."""
        self._watch(state, node, (rule, *operands))

    def watch_op(self, state: UnitState, node: int, at: int) -> None:
        """Fires the rule of a call or attribute for every value of what is called or has the attribute."""
        self._watch(state, node, at)

    def _watch(self, state: UnitState, node: int, entry: Watch) -> None:
        if state.given_up:
            return
        watches = state.watch[node]
        if watches is None:
            state.watch[node] = entry  # most are alone: a list of one would be larger than what it holds
        elif isinstance(watches, list):
            watches.append(entry)
        else:
            state.watch[node] = [watches, entry]
        held = state.vals[node]
        if held is not None:
            rule, *operands = self.op_rule(state, entry) if isinstance(entry, int) else entry
            waiting = state.pending.get(node)
            for value in members(held):
                if waiting is None or value not in waiting:
                    # Not at once: rules watch again, and a chain of them may be longer than Python's stack.
                    state.due.append((rule, value, tuple(operands)))

    @abc.abstractmethod
    def op_rule(self, state: UnitState, at: int) -> tuple[Any, ...]:
        """The rule of a call or attribute and its operands."""

    # Levels ----------------------------------------------------------------------------------------------------------

    def settle(self, state: UnitState) -> None:
        """The local fixpoint of one file."""
        self.program.ask_for(state.index, state.reads)
        rules = self.rules
        queue, pending, succs, watches = state.queue, state.pending, state.succ, state.watch
        add, due = state.add, state.due
        while queue or due:
            while due:
                rule, value, operands = due.pop()
                rules[rule](state, value, *operands)
                state.fired += 1
                if state.fired > MAX_FIRED:
                    state.give_up()
                    return
            if not queue:
                break
            node = queue.pop()
            new = pending.pop(node)
            succ = succs[node]
            if succ is not None:
                for target in (succ,) if isinstance(succ, int) else succ:
                    for value in new:
                        held = state.vals[target]
                        if held is not value and (held is None or isinstance(held, Value) or value not in held):
                            add(target, value)
            watching = watches[node]
            if watching is not None:
                for entry in tuple(watching) if isinstance(watching, list) else (watching,):
                    number, *rest = self.op_rule(state, entry) if isinstance(entry, int) else entry
                    handler = rules[number]
                    for value in new:
                        handler(state, value, *rest)
                    state.fired += len(new)
                if state.fired > MAX_FIRED:
                    state.give_up()
                    return

    # Start -----------------------------------------------------------------------------------------------------------

    def receiver_value(self, ref: FuncRef) -> Value | None:
        """What `self`, `cls` or `this` is in a method."""
        if ref.cls is None or ref.decl.flags & bits.F_STATIC:
            return None
        if ref.decl.flags & bits.F_CLASS_METHOD:
            return self.intern.cls(ref.cls, below=True)
        return self.intern.inst(ref.cls, below=True)

    def fixtures(self, path: FilePath, name: str, asking: FuncRef | None = None) -> tuple[FuncRef, ...]:
        """The fixtures that a test of this file gets under a name: the nearest file that provides one decides."""
        for candidate in self.program.fixture_files(path):
            unit = self.program.by_path.get(candidate)
            if unit is None:
                continue
            self.program.read(unit.index)
            found = [unit.functions[index] for own, index in unit.summary.own_fixtures if own == name]
            # A fixture that asks for its own name means the one further out.
            found = [ref for ref in found if ref is not asking]
            if asking is not None and asking.cls is not None:
                inner = [ref for ref in found if ref.cls in self.program.mro(asking.cls)]
                found = inner or [ref for ref in found if ref.cls is None]
            else:
                found = [ref for ref in found if ref.cls is None]
            for ref in found:
                self.program.read(ref)
            if found:
                return tuple(found)
        return ()

    def given_back_by(self, state: UnitState) -> frozenset[object]:
        """Definitions of a file that their decorators return as they are; to be asked when the flow is finished."""
        found: set[object] = set()
        for op in state.unit.summary.ops:
            if op[0] == Op.DECORATED:
                returned = state.values(op[2])
                found |= {v.ref for v in self.program.resolve(state.unit, op[1]).labels if v in returned}
        return frozenset(found)
