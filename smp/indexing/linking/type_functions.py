"""Types that are computed from others, and what the text alone says of a value (`typeof`, `ReturnType`).

Which name computes what comes from the language's table `type_functions`: `same` (the type that all arguments are), `member`
(that of a member, or of an element), `returned`, `parameters`, `awaited`, `made` (an instance of the class given).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smp.domain.source import NOTHING, Op
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import CLASS, FUNC, INST, XINST, ClassRef, FuncRef, Value, by_key

if TYPE_CHECKING:
    from smp.indexing.linking.types import Types

MAX_SAID = 5
"""Steps from a value to what makes it that are followed."""


def applied(types: Types, what: str, unit: Unit, arguments: tuple[int, ...], depth: int) -> list[Value]:
    """The instances of a computed type."""
    if not arguments or arguments[0] == NOTHING:
        return []
    if what == "member":
        return _member(types, unit, arguments, depth)
    if what in ("returned", "parameters"):
        return _of_function(types, what, unit, arguments[0])
    given = [types.instances(unit, argument, depth + 1) for argument in arguments]
    if what == "awaited":
        return [inner for value in given[0] for inner in types.awaited(value)]
    if what == "made":
        return [made for value in given[0] for made in instances_of(types, value)]
    kinds = {tuple(value.ref or value.name for value in one) for one in given}
    return list(given[0]) if len(kinds) == 1 else []


def instances_of(types: Types, value: Value) -> list[Value]:
    """What a class makes."""
    return [types.program.values.inst(value.ref, below=True)] if isinstance(value.ref, ClassRef) else []


def _member(types: Types, unit: Unit, arguments: tuple[int, ...], depth: int) -> list[Value]:
    text = ""
    if len(arguments) > 1:
        const = unit.summary.ops[arguments[1]]
        text = unit.summary.names[const[2]]
    found: list[Value] = []
    for value in types.instances(unit, arguments[0], depth + 1):
        if value.kind == XINST:
            found += types.item(value, int(text)) if text.isdigit() else [] if text else types.elements(value)
        elif value.kind == INST and isinstance(value.ref, ClassRef) and text:
            found += _declared_member(types, value, value.ref, text)
    return found


def _declared_member(types: Types, value: Value, ref: ClassRef, name: str) -> list[Value]:
    for entry in types.program.mro(ref):
        if not isinstance(entry, ClassRef):
            continue
        unit = types.program.units[entry.unit]
        for field, at in entry.decl.annotations:
            if field == name:
                return list(types.instances_for(unit, at, value, entry))
        for at in entry.members.get(name, ()):
            labels = types.program.resolve(unit, at).labels
            methods = sorted((v for v in labels if isinstance(v.ref, FuncRef)), key=by_key)
            return [types.program.values.bound(v.ref, value) for v in methods if isinstance(v.ref, FuncRef)]
    return []


def _of_function(types: Types, what: str, unit: Unit, at: int) -> list[Value]:
    op = unit.summary.ops[at]
    callee = op[2] if op[0] == Op.APPLY and len(op) > 2 else at
    values = types.program.values
    found: list[Value] = []
    for value in sorted(types.program.resolve(unit, callee).labels, key=by_key):
        if value.kind != FUNC or not isinstance(value.ref, FuncRef):
            continue
        ref, owner = value.ref, types.program.units[value.ref.unit]
        types.program.read(ref)
        if what == "returned":
            found += returned(types, ref, 0)
        else:
            given = tuple(types.instances(owner, param.annotation) for param in ref.decl.params)
            found.append(values.xinst(types.tables.tuple_type, given))
    return found


def returned(types: Types, ref: FuncRef, depth: int) -> tuple[Value, ...]:
    """What a function says that it returns: by its declaration, else by what its returns make."""
    unit = types.program.units[ref.unit]
    if ref.decl.annotation != NOTHING:
        return types.instances(unit, ref.decl.annotation)
    types.program.read(("site", ref.unit))
    return tuple(value for at in ref.decl.returns for value in said(types, unit, at, depth + 1))


def said(types: Types, unit: Unit, at: int, depth: int = 0) -> tuple[Value, ...]:
    """Instances that the text says an op to hold; nothing where the flow would have to be known."""
    if at == NOTHING or depth > MAX_SAID or at >= len(unit.summary.ops):
        return ()
    types.program.read_op(unit.index, at)
    op = unit.summary.ops[at]
    code = op[0]
    if code == Op.INSTANCE:
        return types.instances(unit, op[1])
    if code == Op.DECLARED:
        return types.instances(unit, op[2])
    if code == Op.PARAM:
        return types.instances(unit, unit.functions[op[1]].decl.params[op[2]].annotation)
    if code == Op.AWAIT:
        return tuple(inner for value in said(types, unit, op[1], depth + 1) for inner in types.awaited(value))
    if code in (Op.VAR, Op.PHI):
        parts = unit.stores.get(op[1], []) if code == Op.VAR else op[1:]
        return tuple(dict.fromkeys(value for part in parts for value in said(types, unit, part, depth + 1)))
    if code in (Op.CALL, Op.NEW):
        return _made(types, unit, op, depth)
    return ()


def _made(types: Types, unit: Unit, op: tuple[int, ...], depth: int) -> tuple[Value, ...]:
    found: list[Value] = []
    for value in sorted(types.program.resolve(unit, op[1]).labels, key=by_key):
        if value.kind == CLASS and isinstance(value.ref, ClassRef):
            found.append(types.program.values.inst(value.ref, below=value.below))
        elif value.kind == FUNC and isinstance(value.ref, FuncRef) and op[0] == Op.CALL:
            types.program.read(value.ref)
            found += returned(types, value.ref, depth + 1)
    return tuple(found)
