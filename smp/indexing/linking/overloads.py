"""Which of several methods of one name a call means: by the number of arguments, then by their types.

Applicability and "most specific" are those of Java and C# in essence (JLS 15.12.2, C# 12.6.4): a method fits when each argument
converts to its parameter; of those that fit the one wins whose parameters are all at least as near. An argument of unknown
type fits anything and decides nothing, so that several may remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from smp.domain.source import NOTHING, ArgKind, ClassFlag, FunctionFlag, Op
from smp.indexing.linking import bits
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.program import Program
from smp.indexing.linking.types import Types
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import BOUND, CLASS, CONT, EXT, FUNC, INST, UNKNOWN, XINST, ClassRef, FuncRef, Value

FAR, BOXED, MAYBE = 50, 20, 98
"""Distances: to the root type, to the box of a primitive, where nothing is known."""
ARRAY = "[]"
_INTERFACE = int(ClassFlag.INTERFACE)
_LAMBDA = int(FunctionFlag.LAMBDA)
_POSITIONAL = ("positional", "positional_only", "keyword_only")

_COUNTED = (("*",), ("*-1",))
"""Function types whose type arguments say how many parameters they have: each is one; the last is the result."""


def _counted(types: tuple[str, ...], target: Value) -> int:
    return len(target.args) - (1 if types == ("*-1",) else 0)


class Given(NamedTuple):
    """An argument: how it is written, and the values it may have; none: unknown."""

    kind: int
    name: str
    values: tuple[Value, ...]


class Fit(NamedTuple):
    """How a method takes arguments: the distance of each, and whether it took some as a list."""

    distances: tuple[int, ...]
    parameters: tuple[tuple[Value, ...], ...]
    listed: bool


class Overloads:
    """Judges methods against arguments."""

    def __init__(self, program: Program, lookup: Lookup, types: Types) -> None:
        self.program = program
        self.tables = program.tables
        self.lookup = lookup
        self.types = types

    # Arguments -------------------------------------------------------------------------------------------------------

    def given(self, unit: Unit, at: int) -> tuple[Given, ...]:
        """The arguments of a call, as far as the text says their types."""
        ops, names = unit.summary.ops, unit.summary.names
        op = ops[at]
        found = []
        for position in range(2, len(op), 3):
            name = names[op[position + 1]] if op[position + 1] != NOTHING else ""
            found.append(Given(op[position], name, self._of_text(unit, op[position + 2])))
        return tuple(found)

    def _of_text(self, unit: Unit, at: int) -> tuple[Value, ...]:
        op = unit.summary.ops[at] if at != NOTHING else (0,)
        code, values = op[0], self.program.values
        if code == Op.CONST:
            return (values.xinst(unit.summary.names[op[1]]),)
        if code == Op.INSTANCE:
            return self.types.instances(unit, op[1])
        if code == Op.FUNC:
            return (values.func(unit.functions[op[1]]),)
        if code == Op.PARAM:
            return self.types.instances(unit, unit.functions[op[1]].decl.params[op[2]].annotation)
        if code == Op.RECEIVER:
            cls = unit.functions[op[1]].cls
            return (values.inst(cls, below=True),) if cls is not None else ()
        return ()

    # Choice ----------------------------------------------------------------------------------------------------------

    def may(self, ref: FuncRef, arguments: Sequence[Given], *, bound: bool) -> bool:
        """Whether a call can mean a method at all. bound: called on a value."""
        return self.fit(ref, arguments, bound=bound) is not None

    def choose(self, refs: Sequence[FuncRef], arguments: Sequence[Given], *, bound: bool = True) -> list[FuncRef]:
        """The methods that a call may mean: one where it is decided, none where none takes so many arguments."""
        counted = [ref for ref in refs if self.fit(ref, arguments, bound=bound, typed=False) is not None]
        if len(counted) < 2:
            return counted
        fits = [(ref, fit) for ref in counted if (fit := self.fit(ref, arguments, bound=bound)) is not None]
        if not fits:
            return counted
        plain = [entry for entry in fits if not entry[1].listed]
        fits = plain or fits
        for ref, fit in fits:
            if all(other is ref or self._nearer(fit, against) for other, against in fits):
                return [ref]
        return [ref for ref, _ in fits]

    def _nearer(self, fit: Fit, other: Fit) -> bool:
        """Whether a method's parameters are all at least as near as another's; of equal ones the first counts."""
        for mine, theirs, own, far in zip(
            fit.distances, other.distances, fit.parameters, other.parameters, strict=False
        ):
            if own == far:
                continue
            if mine == 0 < theirs or mine < BOXED < MAYBE <= theirs:
                continue
            if mine >= MAYBE or theirs >= MAYBE:
                if not self._narrower(own, far):
                    return False
            elif mine > theirs or (mine == theirs and not self._narrower(own, far)):
                return False
        return True

    def _narrower(self, own: tuple[Value, ...], far: tuple[Value, ...]) -> bool:
        """Whether one parameter's type is below another's, so that it wins whatever the argument is, if both fit."""
        if not far and own:
            return False
        distance = min((self.distance(value, wanted) for value in own for wanted in far), default=MAYBE)
        return distance < BOXED or (distance < MAYBE and bool(own) and own[0].kind == INST)

    def fit(self, ref: FuncRef, arguments: Sequence[Given], *, bound: bool, typed: bool = True) -> Fit | None:
        """How a method takes the arguments; None if it does not."""
        params = ref.decl.params
        shift = 1 if bound and ref.decl.flags & bits.F_RECEIVER_PARAM else 0
        plain = [at for at in range(shift, len(params)) if params[at].kind in _POSITIONAL]
        rest = next((at for at, param in enumerate(params) if param.kind == "var_positional"), NOTHING)
        distances: list[int] = []
        wanted: list[tuple[Value, ...]] = []
        open_ = list(plain)
        listed = False
        for place, argument in enumerate(arguments):
            if argument.kind == ArgKind.STAR or argument.kind == ArgKind.DOUBLE_STAR:
                return Fit((), (), listed=True)
            if argument.kind == ArgKind.KEYWORD:
                at = next((at for at in open_ if params[at].name == argument.name), NOTHING)
                if at == NOTHING:
                    return None
            elif open_:
                at = open_[0]
            elif rest != NOTHING:
                at, last = rest, place == len(arguments) - 1 and place == len(plain)
                listed = not (last and self._is_array(argument))
            else:
                return None
            if at in open_:
                open_.remove(at)
            types = self._parameter(ref, at)
            if at == rest and not listed:
                distance = self._as_array(argument, types) if typed else 0
            else:
                distance = self._distance(argument, types) if typed else 0
            if distance > MAYBE:
                return None
            distances.append(distance)
            wanted.append(types)
        if any(params[at].default == NOTHING for at in open_):
            return None
        listed = listed or (rest != NOTHING and len(arguments) <= len(plain)) or bool(open_)
        return Fit(tuple(distances), tuple(wanted), listed)

    def _as_array(self, argument: Given, elements: tuple[Value, ...]) -> int:
        """An array that is handed on whole as the rest of the arguments."""
        inner = [one for value in argument.values if value.args for one in value.args[0]]
        if not inner or not elements:
            return 0
        return min(self.distance(one, element) for one in inner for element in elements)

    def _is_array(self, argument: Given) -> bool:
        return not argument.values or any(value.name == ARRAY for value in argument.values)

    def extends(self, ref: FuncRef, value: Value) -> bool:
        """Whether a function that extends a type does so for that of a value."""
        wanted = self._parameter(ref, 0)
        return not wanted or any(self.distance(value, target) <= MAYBE for target in wanted)

    def _parameter(self, ref: FuncRef, at: int) -> tuple[Value, ...]:
        return self.types.instances(self.program.units[ref.unit], ref.decl.params[at].annotation)

    def signature(self, ref: FuncRef) -> tuple[tuple[str, ...], ...]:
        """The parameter types, to be compared with those of a method that may override it; empty where any type may stand."""
        return tuple(
            tuple(value.name or (value.ref.key if value.ref is not None else "") for value in self._parameter(ref, at))
            for at in range(len(ref.decl.params))
        )

    def alternatives(self, values: Sequence[Value]) -> bool:
        """Whether functions are one under different conditions of the preprocessor: the same parameters in the same class."""
        refs = [value.ref for value in values if isinstance(value.ref, FuncRef)]
        return len({(ref.cls, self.signature(ref)) for ref in refs}) == 1

    # Conversion ------------------------------------------------------------------------------------------------------

    def _distance(self, argument: Given, wanted: tuple[Value, ...]) -> int:
        known = [value for value in argument.values if value.kind in (INST, XINST, CONT)]
        values = known or [value for value in argument.values if value.kind in (FUNC, BOUND, CLASS, EXT)]
        if not values or any(value.kind == UNKNOWN for value in argument.values):
            return MAYBE
        if not wanted:
            return FAR + 1
        # Of a conditional expression every branch must convert.
        return max(min(self.distance(value, target) for target in wanted) for value in values)

    def distance(self, value: Value, target: Value) -> int:
        """How far a conversion is: 0 for the type itself, above `MAYBE` where there is none."""
        if target.kind == XINST and target.name == self.tables.object_type:
            return FAR
        if value.kind in (FUNC, BOUND, CLASS, EXT):
            return self._function(value, target)
        if value.kind == INST and isinstance(value.ref, ClassRef):
            return self._from_class(value.ref, target)
        if target.kind == INST:
            return MAYBE if "(" in value.name or not value.name else MAYBE + 1
        if value.name == target.name:
            return self._elements(value, target)
        return self._external(value.name, target.name)

    def _elements(self, value: Value, target: Value) -> int:
        if value.name != ARRAY or not value.args or not target.args or not value.args[0] or not target.args[0]:
            return 0
        return min(self.distance(one, other) for one in value.args[0] for other in target.args[0])

    def _from_class(self, ref: ClassRef, target: Value) -> int:
        mro = self.program.mro(ref)
        if target.kind == INST and isinstance(target.ref, ClassRef):
            return min(mro.index(target.ref), FAR - 1) if target.ref in mro else MAYBE + 1
        tables = self.tables
        if target.name in mro:
            return min(mro.index(target.name), FAR - 1)
        known_bases = {*tables.ignored_bases, tables.object_type}
        outside = [entry for entry in mro if isinstance(entry, str) and entry not in known_bases]
        if target.name in tables.plain_types or not outside:
            return MAYBE + 1
        known = [self._external(entry, target.name) for entry in outside]
        return min(known)

    def _external(self, name: str, target: str) -> int:
        tables = self.tables
        if "(" in name or "(" in target:
            return MAYBE
        if name == tables.object_type:
            return MAYBE + 1  # the other way round only by a cast
        widths = tables.widenings
        if name in widths and target in widths:
            if name == "char" or target == "char":
                wide = target in widths and widths.index(target) >= widths.index("int")
                return 1 + widths.index(target) if name == "char" and wide else MAYBE + 1
            steps = widths.index(target) - widths.index(name)
            return steps if steps >= 0 else MAYBE + 1
        box = tables.boxes.get(name)
        if box is not None:
            above = self._above(box, target)
            return BOXED + above if above <= MAYBE and above != MAYBE else MAYBE + 1
        unboxed = next((primitive for primitive, cls in tables.boxes.items() if cls == name), None)
        if unboxed is not None and target in tables.boxes:
            inner = 0 if unboxed == target else self._external(unboxed, target)
            return BOXED + inner if inner <= MAYBE else MAYBE + 1
        return self._above(name, target)

    def _above(self, name: str, target: str) -> int:
        """Steps from an external type up to another; unknown where neither's bases are."""
        tables = self.tables
        level, steps = [name], 0
        seen = {name}
        while level:
            if target in level:
                return steps
            steps += 1
            level = [up for below in level for up in tables.supertypes.get(below, ()) if up not in seen]
            seen.update(level)
        if name in tables.plain_types or target in tables.plain_types:
            return MAYBE + 1
        return MAYBE if name not in tables.supertypes or target not in tables.supertypes else MAYBE + 1

    def _function(self, value: Value, target: Value) -> int:
        """A lambda or a named function where a function type is wanted."""
        name = self.tables.call_member
        if target.kind == INST and isinstance(target.ref, ClassRef):
            if not target.ref.decl.flags & _INTERFACE:
                return MAYBE + 1
            wanted = self.lookup.find(target.ref, name).functions if name else ()
            return self._same_count(value, len(wanted[0].decl.params)) if wanted else MAYBE
        types = self.tables.function_types.get(target.name) if target.kind == XINST else None
        if types is not None:
            return self._same_count(value, len(types) if types[:1] not in _COUNTED else _counted(types, target))
        if target.kind != XINST or target.name in self.tables.plain_types or target.name in self.tables.boxes:
            return MAYBE + 1
        return MAYBE

    def _same_count(self, value: Value, count: int) -> int:
        if isinstance(value.ref, FuncRef) and value.ref.decl.flags & _LAMBDA:
            return 1 if len(value.ref.decl.params) == count else MAYBE + 1
        return 1
