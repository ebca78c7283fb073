"""What a call of a function with declared overloads gives: the result that its arguments choose, not what any call may give.

The overloads are looked through in order, and the first that takes the arguments is meant ("Overload call evaluation", typing
specification): one that certainly takes them ends the search, one that may is kept beside. What the implementation returns passes where
the chosen overload's result says so; all that it may return would be a claim about every call. A call whose argument nothing is known
of gives nothing, as its result is one of several that nothing tells apart.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking import bits
from smp.indexing.linking.calling import Calling
from smp.indexing.linking.flow import UnitState, return_key
from smp.indexing.linking.handing import Argument
from smp.indexing.linking.kinds import passes
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import (
    CLASS,
    CONT,
    EXT,
    GEN,
    INST,
    XINST,
    ClassRef,
    FuncRef,
    Value,
)

NO, MAYBE, YES = range(3)
_DATA = frozenset({XINST, CONT, GEN})
_STRUCTURAL = frozenset(
    {
        "Iterable", "Iterator", "Sized", "Container", "Collection", "Hashable", "Reversible", "Awaitable", "Coroutine",
        "AsyncIterable", "AsyncIterator", "AsyncGenerator", "Generator", "Callable", "Buffer", "ByteString",
    }
)  # fmt: skip
"""Types of the library that a class is below by what it has, not by what it says."""
_STARS = frozenset({ArgKind.STAR, ArgKind.DOUBLE_STAR})


class Overloaded(Calling, abc.ABC):
    """Calls of functions whose results are declared by overloads."""

    OVERLOAD: int
    RETURNED: int

    def overloaded_result(
        self,
        state: UnitState,
        ref: FuncRef,
        recv: Value | None,
        arguments: tuple[Argument, ...],
        at: int,
        result: int,
    ) -> bool:
        """Gives the result of a call of a function with overloads; False for any other function.

        Args:
            at: The CALL op, NOTHING where there is none of its own.
        """
        variants = ref.variants
        if not variants or any(one.decl.flags & (bits.F_ASYNC | bits.F_GENERATOR) for one in variants):
            return False
        if any(kind in _STARS for kind, _, _ in arguments):
            return False
        said = self.overloads.given(state.unit, at) if at >= 0 else ()
        texts = [one.values for one in said] if len(said) == len(arguments) else [() for _ in arguments]
        places: list[tuple[FuncRef, tuple[int, ...], int]] = []
        for one in variants:
            positions = self._positions(one, recv, arguments)
            if positions is None:
                continue
            verdict = min(
                (
                    self._takes(one, place, value)
                    for place, values in zip(positions, texts, strict=True)
                    for value in values
                ),
                default=YES,
            )
            if verdict != NO:
                places.append((one, positions, verdict))
        open_ = next(
            (
                number
                for number in range(len(arguments))
                if not texts[number] and len({self._wanted(one, positions[number]) for one, positions, _ in places}) > 1
            ),
            NOTHING,
        )
        if open_ == NOTHING or len(places) < 2:
            self._give(state, ref, self._first(places), recv, result)
            return True
        node = arguments[open_][2]
        if node != NOTHING:
            left = tuple((one, positions[open_], verdict) for one, positions, verdict in places)
            self.watch(state, node, self.OVERLOAD, ref, left, recv, node, result)
        return True

    def on_overload(
        self,
        state: UnitState,
        value: Value,
        ref: FuncRef,
        left: tuple[tuple[FuncRef, int, int], ...],
        recv: Value | None,
        node: int,
        result: int,
    ) -> None:
        """A value reaches the argument that tells the overloads that are left apart."""
        value = self._of_library(value)
        judged = [(one, (place,), verdict, self._takes(one, place, value)) for one, place, verdict in left]
        if all(taken == MAYBE for _, _, _, taken in judged):
            return  # it tells none apart
        fitting = [(one, places, min(verdict, taken)) for one, places, verdict, taken in judged if taken != NO]
        for one in self._first(fitting):
            if self._gives_argument(one, left):
                state.add(result, value)
            else:
                self._give(state, ref, [one], recv, result)

    def on_returned(
        self, state: UnitState, value: Value, wanted: tuple[Value, ...], declared: frozenset[ClassRef], result: int
    ) -> None:
        """What the implementation returns reaches a call that has chosen an overload.

        An instance belongs to the overload that declares its nearest class. One of that very class is left out: what is declared
        stands for it, and a key carries few values.

        Args:
            declared: The classes that any overload declares.
        """
        if value.kind == INST and isinstance(value.ref, ClassRef):
            nearest = next((entry for entry in self.program.mro(value.ref) if entry in declared), None)
            if nearest is not value.ref and any(target.ref is nearest for target in wanted if nearest is not None):
                state.add(result, value)
        elif value.kind in _DATA and any(target.kind == XINST for target in wanted):
            state.add(result, value)

    # Choice ----------------------------------------------------------------------------------------------------------

    def _positions(self, one: FuncRef, recv: Value | None, arguments: tuple[Argument, ...]) -> tuple[int, ...] | None:
        """The parameter of each argument; None where the overload does not take so many."""
        params = one.decl.params
        shift = 1 if recv is not None and one.decl.flags & bits.F_RECEIVER_PARAM else 0
        plain = [at for at, param in enumerate(params) if param.kind in ("positional", "positional_only")][shift:]
        rest = next((at for at, param in enumerate(params) if param.kind == "var_positional"), NOTHING)
        named = next((at for at, param in enumerate(params) if param.kind == "var_keyword"), NOTHING)
        found: list[int] = []
        for kind, name, _ in arguments:
            if kind == ArgKind.POSITIONAL:
                place = plain.pop(0) if plain else rest
            else:
                place = next((at for at, param in enumerate(params) if param.name == name and at != rest), named)
                plain = [at for at in plain if at != place]
            if place == NOTHING:
                return None
            found.append(place)
        needed = [*plain, *(at for at, param in enumerate(params) if param.kind == "keyword_only" and at not in found)]
        return tuple(found) if all(params[at].optional for at in needed) else None

    def _first(self, fitting: Sequence[tuple[FuncRef, tuple[int, ...], int]]) -> list[FuncRef]:
        """Of overloads in order those up to the first that is certain, and those that it differs from by what is not given."""
        chosen: list[FuncRef] = []
        certain: tuple[tuple[Value, ...], ...] | None = None
        for one, positions, verdict in fitting:
            wanted = tuple(self._wanted(one, place) for place in positions)
            if certain is not None:
                if wanted == certain and positions:
                    chosen.append(one)
                continue
            chosen.append(one)
            if verdict == YES:
                certain = wanted
        return chosen

    def _wanted(self, one: FuncRef, place: int) -> tuple[Value, ...]:
        return self.types.instances(self.program.units[one.unit], one.decl.params[place].annotation)

    def _takes(self, one: FuncRef, place: int, value: Value) -> int:
        """Whether a parameter takes a value."""
        unit, annotation = self.program.units[one.unit], one.decl.params[place].annotation
        wanted = self._wanted(one, place)
        if wanted:
            return max(self._is_one(value, target) for target in wanted)
        if annotation == NOTHING:
            return YES
        if self._is_callable_type(unit, annotation):
            return {True: YES, False: NO, None: MAYBE}[passes(value, "callable", self.lookup, self.tables)]
        return YES if self._is_root(unit, annotation) else MAYBE

    def _is_one(self, value: Value, target: Value) -> int:
        if value.kind == INST and isinstance(value.ref, ClassRef):
            return self._instance_is(value, value.ref, target)
        if value.kind in (CLASS, EXT):
            return YES if value.ref is not None and value.ref is target.ref and target.kind == CLASS else MAYBE
        if value.kind not in _DATA:
            return NO if target.kind == XINST and target.name in self.tables.plain_types else MAYBE
        if target.kind == INST and isinstance(target.ref, ClassRef):
            known = value.kind != XINST or value.name in self.tables.supertypes
            return NO if known and not self._is_structural(target.ref) else MAYBE
        name = self.tables.generator_type if value.kind == GEN else value.name
        if target.kind != XINST or name not in self.tables.supertypes:
            return YES if name == target.name else MAYBE
        if not self._is_below(name, target.name):
            return MAYBE if target.name not in self.tables.supertypes else NO
        return self._holds(value, target)

    def _of_library(self, value: Value) -> Value:
        """What a call of a known external class gives, as an instance of it."""
        head, called, _ = value.name.rpartition("()") if value.kind in (EXT, XINST) else ("", "", "")
        return self.intern.xinst(head) if called and head in self.tables.supertypes else value

    def _instance_is(self, value: Value, ref: ClassRef, target: Value) -> int:
        mro = self.program.mro(ref)
        if target.kind == INST and isinstance(target.ref, ClassRef):
            if target.ref in mro:
                return YES
            lower = value.below and self.program.is_below(target.ref, ref)
            return MAYBE if lower or "" in mro or self._is_structural(target.ref) else NO
        outside = [entry for entry in mro if isinstance(entry, str) and entry not in self.tables.ignored_bases]
        if any(self._is_below(entry, target.name) for entry in outside):
            return YES
        known = all(entry in self.tables.supertypes for entry in (*outside, target.name))
        return NO if known and target.name.rpartition(".")[2] not in _STRUCTURAL else MAYBE

    def _is_structural(self, ref: ClassRef) -> bool:
        """Whether a class is a protocol, which takes whatever has its members."""
        return any(isinstance(entry, str) and entry.endswith(".Protocol") for entry in self.program.mro(ref))

    def _is_below(self, name: str, target: str) -> bool:
        """Whether an external type is another, or below it."""
        seen: set[str] = set()
        level = [name]
        while level:
            if target in level:
                return True
            seen.update(level)
            level = [up for below in level for up in self.tables.supertypes.get(below, ()) if up not in seen]
        return False

    def _holds(self, value: Value, target: Value) -> int:
        """Whether a container, which is of the right type, may hold what is wanted: as far as its own text says."""
        wanted = target.args[-1] if target.args else ()
        if not wanted:
            return YES
        if value.kind != CONT or value.site[1] < 0:
            return MAYBE
        self.program.read(("site", value.site[0]))
        unit = self.program.units[value.site[0]]
        op = unit.summary.ops[value.site[1]] if value.site[1] < len(unit.summary.ops) else (0,)
        if op[0] != Op.SEQ or len(op) < 4:
            return MAYBE
        texts = [self._text(unit, op[position + 1]) for position in range(2, len(op), 2)]
        known = [text for text in texts if text is not None]
        if any(max(self._is_one(text, one) for one in wanted) == NO for text in known):
            return NO
        return YES if len(known) == len(texts) else MAYBE

    def _text(self, unit: Unit, at: int) -> Value | None:
        """What an element is, where it is written in place."""
        op = unit.summary.ops[at] if at != NOTHING else (0,)
        return self.intern.xinst(unit.summary.names[op[1]]) if op[0] in (Op.CONST, Op.SEQ, Op.MAP) else None

    def _names_of(self, unit: Unit, annotation: int) -> set[str]:
        op = unit.summary.ops[annotation]
        base = op[1] if op[0] in (Op.APPLY, Op.ITEM) else annotation
        return {value.name for value in self.program.resolve(unit, base).labels if value.kind == EXT}

    def _is_callable_type(self, unit: Unit, annotation: int) -> bool:
        return any(name.endswith(".Callable") for name in self._names_of(unit, annotation))

    def _is_root(self, unit: Unit, annotation: int) -> bool:
        return bool(self._names_of(unit, annotation) & {"builtins.object", "typing.Any"})

    # Results ---------------------------------------------------------------------------------------------------------

    def _gives_argument(self, one: FuncRef, left: tuple[tuple[FuncRef, int, int], ...]) -> bool:
        """Whether an overload gives back what it is given: `def f(x: T) -> T`."""
        place = next(place for other, place, _ in left if other is one)
        annotation = one.decl.params[place].annotation
        if NOTHING in (annotation, one.decl.annotation):
            return False
        unit = self.program.units[one.unit]
        taken, given = self.program.resolve(unit, annotation), self.program.resolve(unit, one.decl.annotation)
        if not taken.leaves or taken.leaves != given.leaves:
            return False
        return all(self.program.units[owner].summary.ops[leaf][0] == Op.CALL for owner, leaf in taken.leaves)

    def _give(self, state: UnitState, ref: FuncRef, chosen: list[FuncRef], recv: Value | None, result: int) -> None:
        returned = self.node(state, return_key(ref))
        declared = frozenset(
            value.ref
            for one in ref.variants
            for value in self.types.instances(self.program.units[one.unit], one.decl.annotation)
            if isinstance(value.ref, ClassRef)
        )
        for one in chosen:
            unit, annotation = self.program.units[one.unit], one.decl.annotation
            if recv is not None and self.types.says_self(unit, annotation):
                self.symbolic_receiver(
                    state, recv, "new" if one.decl.flags & bits.F_CLASS_METHOD else "receiver", result
                )
                continue
            wanted = self.types.instances_for(unit, annotation, recv, one.cls)
            if not wanted:
                state.link(returned, result)
                continue
            self.watch(state, returned, self.RETURNED, wanted, declared, result)
            for value in wanted:
                state.add(result, value)
