"""Type expressions → instances: what a declared type lets a value be."""

from __future__ import annotations

from smp.domain.source import NOTHING, Op
from smp.indexing.linking.bits import F_ASSERTS
from smp.indexing.linking.program import Program
from smp.indexing.linking.type_functions import applied
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import CLASS, EXT, INST, XINST, ClassRef, FuncRef, Value, by_key

MAX_TYPE_DEPTH = 6
"""Nesting of type arguments that is followed."""
_SILENT = frozenset(
    {
        "typing.Any", "typing.Callable", "collections.abc.Callable", "builtins.object", "typing.NoReturn", "typing.Never",
        "typing.LiteralString", "typing.Literal", "typing.Hashable", "types.FunctionType", "typing_extensions.Any",
        "builtins.function", "typing.Type", "builtins.type", "typing.TypeVar", "builtins.callable",
    }
)  # fmt: skip
"""Types that say nothing about which methods a value has."""


class Types:
    """Reads type ops of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tables = program.tables
        self.memo: dict[tuple[int, int, int], tuple[Value, ...]] = {}
        self._bound: dict[str, tuple[Value, ...]] = {}

    def instances_for(self, unit: Unit, at: int, recv: Value | None, owner: ClassRef | None) -> tuple[Value, ...]:
        """As `instances`, for a member of `owner` read through a receiver whose type arguments are known."""
        if owner is None or not owner.decl.type_params or recv is None or not isinstance(recv.ref, ClassRef):
            return self.instances(unit, at)
        return self.bound_instances(unit, at, self.arguments(recv.ref, recv.args, owner))

    def bound_instances(self, unit: Unit, at: int, bound: dict[str, tuple[Value, ...]]) -> tuple[Value, ...]:
        """As `instances`, where it is known what some type parameters stand for."""
        if not bound:
            return self.instances(unit, at)
        before, self._bound = self._bound, bound
        try:
            return tuple(sorted(dict.fromkeys(self._instances(unit, at, 0)), key=by_key)) if at != NOTHING else ()
        finally:
            self._bound = before

    def arguments(
        self, ref: ClassRef, args: tuple[tuple[Value, ...], ...], owner: ClassRef, depth: int = 0
    ) -> dict[str, tuple[Value, ...]]:
        """What the type parameters of `owner` stand for in a class with these arguments, through generic bases."""
        own = dict(zip(ref.decl.type_params, args, strict=False))
        if ref is owner:
            return {name: values for name, values in own.items() if values}
        if depth >= MAX_TYPE_DEPTH:
            return {}
        unit = self.program.units[ref.unit]
        self.program.read(("class", ref))
        for at in (*ref.decl.bases, *ref.decl.implements):
            op = unit.summary.ops[at] if at != NOTHING else (0,)
            for base in self.program.base_values(unit, at) if op[0] == Op.APPLY else []:
                if not isinstance(base, ClassRef) or not self.program.is_below(base, owner):
                    continue
                before, self._bound = self._bound, own
                try:
                    inner = tuple(tuple(self._instances(unit, part, 1)) if part != NOTHING else () for part in op[2:])
                finally:
                    self._bound = before
                return self.arguments(base, inner, owner, depth + 1)
        return {}

    def instances(self, unit: Unit, at: int, depth: int = 0) -> tuple[Value, ...]:
        """Values that a declared type stands for, sorted; none for types that say nothing."""
        if at == NOTHING or depth > MAX_TYPE_DEPTH:
            return ()
        if self._bound:
            return tuple(sorted(dict.fromkeys(self._instances(unit, at, depth)), key=by_key))
        key = (unit.index, at, depth)  # with the depth: beyond its bound the answer is another
        known = self.memo.get(key)
        if known is None:
            outer = self.program.begin()
            self.program.read_op(unit.index, at)
            known = self.memo[key] = tuple(sorted(dict.fromkeys(self._instances(unit, at, depth)), key=by_key))
            self.program.end(key, outer)
        else:
            self.program.note(key)
        return known

    def _instances(self, unit: Unit, at: int, depth: int) -> list[Value]:
        self.program.read_op(unit.index, at)
        op = unit.summary.ops[at]
        code = op[0]
        if code == Op.UNION:
            return [value for part in op[1:] for value in self.instances(unit, part, depth + 1)]
        if code == Op.APPLY:
            return self._applied(unit, op[1], op[2:], depth)
        if code == Op.ITEM:
            return self._applied(unit, op[1], self._item_arguments(unit, op), depth)
        if code == Op.BINARY:
            parts = [part for part in op[1:3] if part != NOTHING]
            return [value for part in parts for value in self.instances(unit, part, depth + 1)]
        if code == Op.CONST:
            return []
        if code == Op.UNBOUND and self._bound:
            given = self._bound.get(unit.summary.names[op[1]])
            if given is not None:
                return list(given)
        if code == Op.TYPE_PARAM:
            given = self._bound.get(unit.summary.names[op[1]]) if self._bound else None
            return list(given) if given else list(self.instances(unit, op[2], depth + 1))
        if code == Op.ALIAS_TYPE:
            return list(self.instances(unit, op[1], depth + 1))
        resolved = self.program.resolve(unit, at)
        found: list[Value] = []
        for value in resolved.labels:
            found += self._instance_of(value)
        for leaf_unit, leaf in resolved.leaves:
            if (leaf_unit, leaf) != (unit.index, at):
                found += self._of_leaf(self.program.units[leaf_unit], leaf, depth + 1)
        if (unit.index, at) in resolved.leaves and code == Op.CALL:
            found += self._of_leaf(unit, at, depth + 1)
        return found

    def _item_arguments(self, unit: Unit, op: tuple[int, ...]) -> tuple[int, ...]:
        key = op[4] if len(op) > 4 else NOTHING
        if key == NOTHING:
            return ()
        inner = unit.summary.ops[key]
        return tuple(inner[position + 1] for position in range(2, len(inner), 2)) if inner[0] == Op.SEQ else (key,)

    def _of_leaf(self, unit: Unit, at: int, depth: int) -> list[Value]:
        """A type kept in a variable: an alias, a NewType, a TypeVar with a bound."""
        op = unit.summary.ops[at]
        if op[0] in (Op.ITEM, Op.APPLY, Op.UNION, Op.ALIAS_TYPE, Op.BINARY):
            return list(self.instances(unit, at, depth))
        if op[0] != Op.CALL:
            return []
        names = {
            value.name.rpartition(".")[2] for value in self.program.resolve(unit, op[1]).labels if value.kind == EXT
        }
        found: list[Value] = []
        if "NewType" in names and len(op) >= 8:
            found += self.instances(unit, op[7], depth)
        if "TypeVar" in names:
            for position in range(2, len(op), 3):
                if op[position] == 1 and unit.summary.names[op[position + 1]] == "bound":
                    found += self.instances(unit, op[position + 2], depth)
        return found

    def _instance_of(self, value: Value, args: tuple[tuple[Value, ...], ...] = ()) -> list[Value]:
        if value.kind == CLASS and isinstance(value.ref, ClassRef):
            return [self.program.values.inst(value.ref, below=True, args=args)]
        if value.kind == EXT:
            name = value.name
            if name in self.tables.optional or name in _SILENT or name in self.tables.self_types:
                return []
            return [self.program.values.xinst(name, args)]
        return []

    def _applied(self, unit: Unit, base: int, arguments: tuple[int, ...], depth: int) -> list[Value]:
        resolved = self.program.resolve(unit, base)
        found: list[Value] = []
        for value in sorted(resolved.labels, key=by_key):
            if value.kind == EXT and value.name in self.tables.optional:
                wanted = arguments[:1] if value.name.endswith(("Annotated", "Final", "ClassVar")) else arguments
                for argument in wanted:
                    found += self.instances(unit, argument, depth + 1)
            elif value.kind == EXT and value.name in self.tables.class_types:
                for argument in arguments[:1]:
                    for inner in self.instances(unit, argument, depth + 1):
                        if inner.kind == INST and isinstance(inner.ref, ClassRef):
                            found.append(self.program.values.cls(inner.ref, below=True))
                        elif inner.kind == XINST:
                            found.append(self.program.values.ext(inner.name))
            elif value.kind == EXT and value.name in self.tables.type_functions:
                found += applied(self, self.tables.type_functions[value.name], unit, arguments, depth)
            elif not (value.kind == EXT and value.name in _SILENT):
                args = tuple(self.instances(unit, argument, depth + 1) for argument in arguments)
                found += self._instance_of(value, args)
        for leaf_unit, leaf in resolved.leaves:
            if (leaf_unit, leaf) != (unit.index, base):
                found += self._of_alias(self.program.units[leaf_unit], leaf, unit, arguments, depth + 1)
        return found

    def _of_alias(self, owner: Unit, at: int, unit: Unit, arguments: tuple[int, ...], depth: int) -> list[Value]:
        """A type kept under a name, with what its type parameters stand for here."""
        op = owner.summary.ops[at]
        names = [owner.summary.names[name] for name in op[2:]] if op[0] == Op.ALIAS_TYPE else []
        given = {name: self.instances(unit, part, depth) for name, part in zip(names, arguments, strict=False)}
        bound = {name: values for name, values in given.items() if values}
        if not names:
            return self._of_leaf(owner, at, depth)
        self.program.read_op(owner.index, at)
        before, self._bound = self._bound, bound
        try:
            return self._instances(owner, op[1], depth) if op[1] != NOTHING and depth <= MAX_TYPE_DEPTH else []
        finally:
            self._bound = before

    def predicate(self, unit: Unit, at: int, *, asserted: bool) -> tuple[Value, ...]:
        """What a true result of calling a value (asserted: any result) says of the argument."""
        found: list[Value] = []
        for value in self.program.resolve(unit, at).labels:
            if not isinstance(value.ref, FuncRef) or value.ref.decl.predicate == NOTHING:
                continue
            if bool(value.ref.decl.flags & F_ASSERTS) == asserted:
                found += self.instances(self.program.units[value.ref.unit], value.ref.decl.predicate)
        return tuple(sorted(dict.fromkeys(found), key=by_key))

    def kind_test(self, unit: Unit, at: int) -> str:
        """What calling a value says of the kind of its argument; empty: nothing (`Tables.kind_tests`)."""
        labels = self.program.resolve(unit, at).labels
        found = {self.program.tables.kind_tests.get(value.name, "") if value.kind == EXT else "" for value in labels}
        return found.pop() if len(found) == 1 else ""

    def literals(self, unit: Unit, at: int, depth: int = 0) -> frozenset[str]:
        """The texts that a type of literals allows; empty for any other type."""
        self.program.read_op(unit.index, at)
        op = unit.summary.ops[at] if at != NOTHING and depth < MAX_TYPE_DEPTH else (0,)
        if op[0] == Op.CONST:
            return frozenset({unit.summary.names[op[2]]}) if op[2] != NOTHING else frozenset()
        if op[0] == Op.ATTR:
            return frozenset({f".{unit.summary.names[op[2]]}"})
        if op[0] == Op.UNION:
            return frozenset(text for part in op[1:] for text in self.literals(unit, part, depth + 1))
        return frozenset()

    def says_self(self, unit: Unit, at: int) -> bool:
        """Whether a type is `Self`."""
        if at == NOTHING:
            return False
        labels = self.program.resolve(unit, at).labels
        return any(value.kind == EXT and value.name in self.tables.self_types for value in labels)

    def elements(self, value: Value) -> tuple[Value, ...]:
        """What iterating over an external generic instance yields."""
        if value.kind != XINST or not value.args:
            return ()
        if value.name in self.tables.pair_types and len(value.args) > 1:
            return (self.program.values.xinst(self.tables.tuple_type, value.args[:2]),)
        if value.name in self.tables.element_first:
            return value.args[0]
        return ()

    def item(self, value: Value, index: int = NOTHING) -> tuple[Value, ...]:
        """What subscripting an external generic instance gives."""
        if value.kind != XINST or not value.args:
            return ()
        if value.name.endswith(("tuple", "Tuple")) or value.name == self.tables.tuple_type:
            if 0 <= index < len(value.args):
                return value.args[index]
            return tuple(sorted({inner for arg in value.args for inner in arg}, key=by_key))
        if value.name in self.tables.element_last:
            return value.args[-1]
        if value.name in self.tables.element_first:
            return value.args[0]
        return ()

    def awaited(self, value: Value) -> tuple[Value, ...]:
        """What awaiting an external generic instance gives; itself where it is none."""
        if value.kind == XINST and value.name in self.tables.awaitables:
            return value.args[-1] if value.args else ()
        return (value,)
