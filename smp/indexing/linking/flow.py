"""Stratum 2: the flow of values, by levels.

The unit of work is a file. Within a level each file runs to its local fixpoint; what crosses a border goes through
*shared keys* (returns, parameters, fields, elements, exported ops) whose contents are exchanged between levels only. All
rules are monotone, so a file's state after a level is a function of its summary, the hierarchy and what the keys held
before: no order of files, calls or hash seeds can show. Bounds are applied at the exchange, to whole sets.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import ClassRef, FuncRef, Value

Key = tuple[str, int, object, object]
"""(tag, index of the owning unit, subject, detail). Tags: `o` op; `r`, `y` returns and yields of a function; `p` parameter;
`f` field of a class, function or module; `e` element of a container; `a` argument of calls of what a key holds."""

Log = dict[Key, tuple[Any, ...]]
"""Per key that a file has: the level at which it got it, then pairs of a level and a value that came at it."""

Mail = dict[int, dict[Key, tuple[Value | None, ...]]]
"""Per level what a file was given after it; None: another file asks for the key."""

Watch = tuple[Any, ...] | int
"""A rule's number and its operands: fires for each new value of a node. A number alone is the call or attribute at that op, as
most are: the op says the rest."""


LOWER = "~"
"""Behind the name of a field: what classes below write into it."""
Held = Value | tuple[Value, ...] | Set[Value] | None
"""What a node holds. Nine in ten that hold anything hold one value, which stands by itself; several are a set while they
grow, and a tuple or frozen set between levels."""
Settled = tuple[Value, ...] | frozenset[Value]
SMALL = 8
"""So many values are looked through as fast as they are hashed, and a tuple of them is a fifth of a set."""

_NOTHING: Set[Value] = frozenset()


def members(held: Held) -> tuple[Value, ...]:
    """The values of what a node holds."""
    if held is None:
        return ()
    return (held,) if isinstance(held, Value) else tuple(held)


class UnitState:
    """The flow of one file: nodes are its ops, then the keys it touches."""

    __slots__ = (
        "changed",
        "clock",
        "due",
        "events",
        "fired",
        "given_up",
        "grown",
        "handed",
        "index",
        "iterated",
        "iterators",
        "keys",
        "mail",
        "node_key",
        "pending",
        "queue",
        "reads",
        "received",
        "spread_reads",
        "succ",
        "unit",
        "vals",
        "watch",
    )

    def __init__(self, unit: Unit, clock: list[int]) -> None:
        self.unit = unit
        self.clock = clock
        self.events: list[Any] = []
        """What its shared keys got, in threes: the key, the level, the value; None when the file got the key itself."""
        self.mail: Mail = {}
        self.reads: set[object] = set()
        self.spread_reads: set[tuple[Value, str, int]] = set()
        self.index = unit.index
        size = len(unit.summary.ops)
        self.vals: list[Held] = [None] * size
        self.succ: list[list[int] | int | None] = [None] * size
        """Nodes that hold what a node holds; most have one, which stands without a list."""
        self.watch: list[list[Watch] | Watch | None] = [None] * size
        self.queue: list[int] = []
        self.pending: dict[int, list[Value]] = {}
        self.keys: dict[Key, int] = {}
        self.node_key: dict[int, Key] = {}
        self.changed: set[int] = set()
        self.iterators: dict[Value, int] = {}
        self.iterated: set[tuple[Value, int]] = set()
        self.due: list[tuple[int, Value, tuple[object, ...]]] = []
        self.fired = 0
        self.handed: dict[int, int] = {}
        self.received: set[tuple[Value, Value]] = set()
        self.given_up = False
        self.grown: list[int] = []
        """Nodes that hold a set of their own."""

    def give_up(self) -> None:
        """Forgets the flow of this file, which is beyond its bound: what half of a flow says would be a guess."""
        self.given_up = True
        size = len(self.vals)
        self.vals, self.succ, self.watch = [None] * size, [None] * size, [None] * size
        self.queue, self.pending, self.due, self.changed = [], {}, [], set()
        kept = [at for at in range(0, len(self.events), 3) if self.events[at + 2] is None]
        self.events = [part for at in kept for part in self.events[at : at + 3]]

    def share(self, known: dict[Settled, Settled]) -> None:
        """From now on equal contents of nodes are one object; sets of the nodes along a path, which are large, mostly are equal."""
        for node in self.grown:
            held = self.vals[node]
            if isinstance(held, set):
                fixed: Settled = tuple(sorted(held, key=id)) if len(held) <= SMALL else frozenset(held)
                self.vals[node] = known.setdefault(fixed, fixed)
        self.grown = []

    def come_to_rest(self) -> None:
        """Lets go of what only further values would need; what the nodes hold is kept."""
        self.succ, self.watch = [], []
        self.keys, self.node_key = {}, {}
        self.pending, self.iterators, self.iterated, self.spread_reads = {}, {}, set(), set()
        self.received = set()

    def new_node(self) -> int:
        """A node that is no op."""
        self.vals.append(None)
        self.succ.append(None)
        self.watch.append(None)
        return len(self.vals) - 1

    def add(self, node: int, value: Value) -> None:
        """Puts a value into a node."""
        if self.given_up:
            return
        held = self.vals[node]
        if held is None:
            self.vals[node] = value
        elif isinstance(held, Value):
            if held is value:
                return
            self.vals[node] = {held, value}
            self.grown.append(node)
        elif value in held:
            return
        elif isinstance(held, set):
            held.add(value)
        else:
            self.vals[node] = {*held, value}
            self.grown.append(node)
        waiting = self.pending.get(node)
        if waiting is None:
            self.pending[node] = [value]
            self.queue.append(node)
        else:
            waiting.append(value)
        key = self.node_key.get(node)
        if key is not None:
            self.changed.add(node)
            self.events += (key, self.clock[0], value)

    def link(self, source: int, target: int) -> None:
        """From now on the target holds what the source holds."""
        if source == target or self.given_up:
            return
        succ = self.succ[source]
        if succ is None:
            self.succ[source] = target
        elif isinstance(succ, int):
            if succ == target:
                return
            self.succ[source] = [succ, target]
        elif target in succ:
            return
        else:
            succ.append(target)
        for value in members(self.vals[source]):
            self.add(target, value)

    def values(self, node: int) -> Set[Value]:
        """What a node holds."""
        if node < 0:
            return _NOTHING
        held = self.vals[node]
        if held is None:
            return _NOTHING
        if isinstance(held, Value):
            return frozenset((held,))
        return frozenset(held) if isinstance(held, tuple) else held


def op_key(unit: int, op: int) -> Key:
    """Key of an op."""
    return ("o", unit, op, None)


def return_key(ref: FuncRef) -> Key:
    """Key of a function's returns."""
    return ("r", ref.unit, ref, None)


def yield_key(ref: FuncRef) -> Key:
    """Key of a generator's yields."""
    return ("y", ref.unit, ref, None)


def param_key(ref: FuncRef, position: int) -> Key:
    """Key of a parameter."""
    return ("p", ref.unit, ref, position)


def field_key(owner: ClassRef | FuncRef, name: str) -> Key:
    """Key of a field."""
    return ("f", owner.unit, owner, name)


def lower_field_key(owner: ClassRef, name: str) -> Key:
    """Key of what classes below one put into a field."""
    return ("f", owner.unit, owner, name + LOWER)


def module_field_key(unit: int, name: str) -> Key:
    """Key of a name that other files write into a module."""
    return ("f", unit, "module", name)


def argument_key(many: Value, position: int) -> Key:
    """Key of what calls of whatever a key holds hand over at a position."""
    return ("a", many.site[0], many, position)


def element_key(container: Value, which: str) -> Key:
    """Key of an element: `#N` by index, `=K` by constant key, `*` stored at no known place, `all`."""
    return ("e", container.site[0], container, which)
