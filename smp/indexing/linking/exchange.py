"""What files exchange between levels, what each was sent, and the repetition of a run from those records.

A file's flow is a function of its summary, of what the program says by its text alone, and of its *mail*: the values that
it was given after each level. So a file whose mail is what it was needs no second run: its *log* (what its shared keys held
from which level on) answers for it. A file whose mail differs at some level is run again on its recorded mail up to
there, and takes part from then on. Both ways give the same states (design/linking.md section 4).
"""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

from smp.indexing.linking.flow import Key, Log, Mail, Settled, UnitState, members
from smp.indexing.linking.program import Program
from smp.indexing.linking.values import BOUND, CLASS, FUNC, INST, MANY, PARTIAL, Value

MAX_LEVELS = 12
"""Exchanges; what is still on its way then makes its node unknown (design/linking.md section 2)."""
MAX_SHARED = 32
"""Different values that a shared key carries; a key that would carry more carries *unknown* besides what it has delivered …"""
MAX_FUNCTIONS = 512
"""… but so many functions in a parameter, field or container: a registry holds hundreds, each put there by name. What a
function returns is not for each of its callers, and objects of dozens of classes in one place come through everything."""
_GATHERS = frozenset("pfe")
"""Tags of keys (`flow.Key`) in which values gather."""
_CALLED = frozenset({FUNC, BOUND, PARTIAL, MANY})


class Record:
    """What remains of a file's run."""

    def __init__(self, events: list[Any], mail: Mail) -> None:
        """events: Of its state (`flow.UnitState.events`): as a log they would need four times the room, and few are asked for."""
        self._events: list[Any] | None = events
        self._log: Log = {}
        self.mail = mail

    @property
    def log(self) -> Log:
        """What its keys held, from which level on; made at every call, until an entry was asked for."""
        return _logged(self._events) if self._events is not None else self._log

    def entry(self, key: Key) -> tuple[Any, ...] | None:
        """Of the log."""
        self._log, self._events = self.log, None
        return self._log.get(key)

    def given(self, level: int, key: Key) -> tuple[Value | None, ...]:
        """Of the mail after a level."""
        return self.mail.get(level, {}).get(key, ())


def _different(values: Collection[Value]) -> int:
    """How many values there are; instances of one class, as such or of it and those below, are one."""
    return len({value.ref if value.kind == INST else value for value in values})


def _logged(events: list[Any]) -> Log:
    found: dict[Key, list[Any]] = {}
    for at in range(0, len(events), 3):
        key, level, value = events[at : at + 3]
        if value is None:
            found[key] = [level]
        else:
            found[key] += (level, value)
    return {key: tuple(entry) for key, entry in found.items()}


class Recorded(Protocol):
    """A record, in memory or kept elsewhere."""

    @property
    def log(self) -> Log: ...
    @property
    def mail(self) -> Mail: ...
    def entry(self, key: Key) -> tuple[Any, ...] | None: ...
    def given(self, level: int, key: Key) -> tuple[Value | None, ...]: ...


class Exchange(abc.ABC):
    """Levels, shared keys and records of a program's flow."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.intern = program.values
        self.clock = [0]
        self.states: list[UnitState | None] = [None] * len(program.units)
        """Files that run; None for those whose record answers for them."""
        self.records: dict[int, Recorded] = {}
        self.holders: dict[Key, list[int] | int] = {}
        """Files that have a key; one alone, as most are, stands without a list."""
        self.fresh: set[Key] = set()
        self.due: dict[int, set[Key]] = {}
        self.hot: set[Key] = set()
        self.contents: dict[int, dict[int, frozenset[Value]]] = {}
        """By file and op what emission has asked for."""
        self._contents: dict[Settled, Settled] = {}
        """Contents of nodes of files that run, each once."""
        self._repeating = False
        """A run is repeated for what its file holds in the end, and exchanges nothing."""

    @abc.abstractmethod
    def node(self, state: UnitState, key: Key) -> int:
        """The node of a shared key in a file."""

    @abc.abstractmethod
    def start(self, state: UnitState) -> None:
        """Values and constraints that the ops of a file say by themselves."""

    @abc.abstractmethod
    def settle(self, state: UnitState) -> None:
        """The local fixpoint of one file."""

    @abc.abstractmethod
    def opened(self, state: UnitState, node: int, many: Value) -> None:
        """The node of a key in a file hears that the key holds more than is passed on."""

    # Runs ------------------------------------------------------------------------------------------------------------

    def run(self, units: Iterable[int]) -> None:
        """Local fixpoints and exchanges, until silent or bounded, of these files and of all whose mail differs for it."""
        active: list[UnitState] = []
        self.states += [None] * (len(self.program.units) - len(self.states))
        for index in units:
            self._warm(index)
            started = UnitState(self.program.units[index], self.clock)
            self.states[index] = started
            active.append(started)
        self.clock[0] = 0
        for state in active:
            self.start(state)
        for level in range(MAX_LEVELS + 1):
            self.clock[0] = level
            for state in active:
                self.settle(state)
                state.share(self._contents)
            touched = self._exchange(level, last=level == MAX_LEVELS)
            if not touched and all(later <= level for later in self.due):
                return
            running = [self.states[index] for index in sorted(touched)]
            active = [one for one in running if one is not None]
        for state in active:
            self.settle(state)

    def final_state(self, index: int) -> UnitState:
        """The state of a file after all levels, for emission."""
        self._repeating = True
        try:
            return self.replay(index)
        finally:
            self._repeating = False

    def replay(self, index: int, levels: int = MAX_LEVELS + 1) -> UnitState:
        """The state of a file after its first levels, from its recorded mail."""
        mail = self.records[index].mail
        now, fresh = self.clock[0], self.fresh
        self.fresh = set()
        self.clock[0] = 0
        state = UnitState(self.program.units[index], self.clock)
        self.start(state)
        self.settle(state)
        for level in range(levels):
            parcel = mail.get(level)
            if parcel:
                self.clock[0] = level + 1
                self._put(state, level, parcel)
                self.settle(state)
        state.changed = set()
        self.clock[0], self.fresh = now, fresh
        return state

    def finish(self) -> list[int]:
        """Keeps the records of the files that ran, in place of those before; says which ran."""
        ran = [index for index, state in enumerate(self.states) if state is not None]
        for index in ran:
            state = self.states[index]
            assert state is not None
            before = self.records.get(index)
            if before is not None:
                self._leave(index, before.log.keys() - state.keys.keys())
            self.records[index] = Record(state.events, state.mail)
            state.come_to_rest()
        return ran

    def drop(self, index: int) -> None:
        """A file is gone; what it sent will be missed."""
        self._warm(index)
        record = self.records.pop(index, None)
        if record is not None:
            self._leave(index, record.log)

    def release(self) -> None:
        """Lets go of states; records answer for them."""
        self.states = [None] * len(self.program.units)
        self.due, self.hot, self.fresh, self._contents = {}, set(), set(), {}

    def _leave(self, index: int, keys: Iterable[Key]) -> None:
        for key in keys:
            left = [other for other in self._holding(key) if other != index]
            if left:
                self.holders[key] = left
            else:
                del self.holders[key]

    def content(self, unit: int, op: int) -> frozenset[Value]:
        """What an op of any file holds in the end, for emission."""
        self.program.read(("content", unit, op))
        state = self.states[unit]
        contents = self.contents.get(unit)
        if contents is None:
            contents = self.contents[unit] = {}
        known = contents.get(op)
        if state is not None or known is None:
            if state is None:
                before = self.program.reads, self.program.asker
                state = self.final_state(unit)
                self.program.reads, self.program.asker = before
            known = contents[op] = frozenset(state.values(op))
        return known

    def _holding(self, key: Key) -> Sequence[int]:
        """The files that have a key."""
        holders = self.holders.get(key, ())
        return (holders,) if isinstance(holders, int) else holders

    # Keys of files that do not run -------------------------------------------------------------------------------------

    def _warm(self, index: int) -> None:
        """From now on the exchange follows what a file held before: it may be missed by others."""
        before = self.records.get(index)
        for key in before.log if before is not None else ():
            self.heat(key)

    def heat(self, key: Key) -> None:
        """Follows a key through the recorded levels of its holders."""
        if self._repeating or key in self.hot or not self.records:
            return
        self.hot.add(key)
        for holder in self._holding(key):
            record = self.records.get(holder)
            entry = record.entry(key) if record is not None else None
            if entry is not None:
                self.due.setdefault(entry[0], set()).add(key)
                for level in entry[1::2]:
                    self.due.setdefault(level, set()).add(key)

    def _held(self, index: int, key: Key, level: int) -> Collection[Value] | None:
        """What a key holds in a file at the end of a level; None where the file does not have it."""
        state = self.states[index]
        if state is not None:
            node = state.keys.get(key)
            if node is None:
                return None
            held = state.vals[node]
            return members(held) if held is None or isinstance(held, Value) else held
        record = self.records.get(index)
        entry = record.entry(key) if record is not None else None
        if entry is None or entry[0] > level:
            return None
        return {entry[at + 1] for at in range(1, len(entry), 2) if entry[at] <= level}

    # Levels ----------------------------------------------------------------------------------------------------------

    def _exchange(self, level: int, *, last: bool) -> set[int]:
        """Gives every holder of a key what the others have put there; returns the files that got something."""
        keys = self.fresh
        self.fresh = set()
        for state in self.states:
            if state is not None and state.changed:
                keys.update(state.node_key[node] for node in state.changed)
                state.changed = set()
        keys |= self.due.pop(level, set())
        mail: dict[int, dict[Key, tuple[Value | None, ...]]] = {}
        for key in keys:
            self._share(key, level, mail, last=last)
        if self.records:
            self._wake(level, keys, mail)
        self.clock[0] = level + 1
        for index, parcel in mail.items():
            receiver = self.states[index]
            if receiver is not None:
                self._put(receiver, level, parcel)
        return {index for index in mail if self.states[index] is not None}

    def _share(self, key: Key, level: int, mail: dict[int, dict[Key, tuple[Value | None, ...]]], *, last: bool) -> None:
        present: list[tuple[int, Collection[Value]]] = []
        together: set[Value] = set()
        asked = not last and key[0] in "oryp"
        for index in self._holding(key):
            held = self._held(index, key, level)
            if held is not None:
                present.append((index, held))
                together.update(held)
                asked = asked and index != key[1]
        if asked and present:
            mail.setdefault(key[1], {})[key] = (None,)
        if len(present) < 2 or not together:
            return
        if last or (len(together) > MAX_SHARED and _different(together) > MAX_SHARED):
            common = set(together).intersection(*(held for _, held in present))
            if common == together:
                return
            kept = common | {self.intern.unknown}
            together = kept if last or key[0] not in _GATHERS else self._gathered(key, together, kept)
        for index, held in present:
            missing = together.difference(held)
            if missing:
                mail.setdefault(index, {})[key] = tuple(missing)

    def _gathered(self, key: Key, values: set[Value], kept: set[Value]) -> set[Value]:
        """What a key in which too many values gather carries on."""
        if not self.program.tables.hands_to_many:
            return self._bounded(values, kept)
        sequence = self.program.tables.sequence_type
        if any(value.kind in _CALLED or value.name == sequence for value in values):
            return kept | {self.intern.many(key, self.program.units[key[1]].path)}
        return kept

    def _bounded(self, values: set[Value], kept: set[Value]) -> set[Value]:
        """What a key carries on of too many values: functions, classes and others, each up to its bound, and what is kept anyway."""
        functions = {value for value in values if value.kind == FUNC and not value.weak}
        classes = {value for value in values if value.kind == CLASS}
        groups = (functions, MAX_FUNCTIONS), (classes, MAX_SHARED), (values - functions - classes, MAX_SHARED)
        if all(len(group) <= most for group, most in groups):
            return values
        return kept.union(*(group for group, most in groups if len(group) <= most))

    def _wake(self, level: int, keys: set[Key], mail: dict[int, dict[Key, tuple[Value | None, ...]]]) -> None:
        """Files at rest that get other mail than they did run again from here."""
        woken: set[int] = set()
        for key in keys:
            for index in {*self._holding(key), key[1]}:
                if index in woken or self.states[index] is not None or index not in self.records:
                    continue
                before = self.records[index].given(level, key)
                if set(before) != set(mail.get(index, {}).get(key, ())):
                    woken.add(index)
        for index in list(mail):
            if self.states[index] is None and index not in woken:
                del mail[index]
        for index in sorted(woken):
            before_mail = self.records[index].mail.get(level, {})
            mail[index] = {key: given for key, given in before_mail.items() if key not in keys} | mail.get(index, {})
            self._warm(index)
            self.states[index] = self.replay(index, level)

    def _put(self, state: UnitState, level: int, parcel: dict[Key, tuple[Value | None, ...]]) -> None:
        state.mail[level] = parcel
        for key, values in parcel.items():
            node = self.node(state, key)
            for value in values:
                if value is not None:
                    state.add(node, value)
                    if value.kind == MANY and value.recipe[1] == key:
                        self.opened(state, node, value)
