"""Whether a call can be one of a function: what Python refuses with a TypeError is no target of a call through a value.

What a text names is believed, a call with wrong arguments may be meant to fail. Of the functions that flow brings to a call
those that cannot take its arguments were brought by mistake: two kinds of callables met in one field or parameter.
"""

from __future__ import annotations

from smp.domain.source import NOTHING, ArgKind, Op
from smp.indexing.linking import bits
from smp.indexing.linking.handing import Argument
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.types import Types
from smp.indexing.linking.values import BOUND, CLASS, FUNC, INST, ClassRef, FuncRef, Value

_PLAIN = ("positional", "positional_only")


def accepts(value: Value, arguments: tuple[Argument, ...]) -> bool:
    """Whether a function, bound or not, takes such arguments; decorated ones are believed to, for something else may stand before
    them."""
    ref = value.ref
    if value.kind not in (FUNC, BOUND) or not isinstance(ref, FuncRef) or ref.decl.flags & bits.F_DECORATED:
        return True
    receiver = value.kind == BOUND and ref.decl.flags & bits.F_RECEIVER_PARAM
    return _takes(ref, 1 if receiver else 0, arguments)


def _takes(ref: FuncRef, given: int, arguments: tuple[Argument, ...]) -> bool:
    params = ref.decl.params
    plain = [param for param in params if param.kind in _PLAIN]
    kinds = {kind for kind, _, _ in arguments}
    given += sum(1 for kind, _, _ in arguments if kind == ArgKind.POSITIONAL)
    if given > len(plain) and not any(param.kind == "var_positional" for param in params):
        return False
    open_ = {param.name for param in plain[given:] if param.kind == "positional"}
    open_ |= {param.name for param in params if param.kind == "keyword_only"}
    named = {name for kind, name, _ in arguments if kind == ArgKind.KEYWORD}
    if named - open_ and not any(param.kind == "var_keyword" for param in params):
        return False
    if ArgKind.DOUBLE_STAR in kinds:
        return True
    wanted = [] if ArgKind.STAR in kinds else plain[given:]
    wanted += [param for param in params if param.kind == "keyword_only"]
    return all(param.optional or param.injected or param.name in named for param in wanted)


def gives_awaitable(value: Value, lookup: Lookup, types: Types) -> bool:
    """Whether awaiting what a function returns can succeed, as far as its own text says: one that is not asynchronous and returns
    nothing, or a new object of a class that is not awaitable, is no target of `await f()`."""
    ref = value.ref
    if value.kind not in (FUNC, BOUND) or not isinstance(ref, FuncRef):
        return True
    if ref.decl.flags & (bits.F_DECORATED | bits.F_ASYNC) or ref.node_id is None:
        return True
    program = lookup.program
    program.read(ref)
    unit = program.units[ref.unit]
    if ref.decl.annotation != NOTHING:
        said = types.instances(unit, ref.decl.annotation)
        return not said or any(_is_awaitable(one, lookup) for one in said)
    if ref.decl.yields:
        return False
    for at in ref.decl.returns:
        op = unit.summary.ops[at] if at != NOTHING else (int(Op.CONST),)
        if op[0] == Op.CALL and op[1] != NOTHING:
            made = program.resolve(unit, op[1])
            if made.leaves or made.unknown or not made.labels or any(_is_awaitable(one, lookup) for one in made.labels):
                return True
        elif op[0] not in (Op.CONST, Op.SEQ, Op.MAP):
            return True
    return False


def _is_awaitable(value: Value, lookup: Lookup) -> bool:
    """Whether an instance, or one that a class makes, may have `__await__`."""
    if value.kind not in (INST, CLASS) or not isinstance(value.ref, ClassRef):
        return True
    found = lookup.find(value.ref, "__await__")
    return found.owner is not None or found.doubtful or bool(found.external)
