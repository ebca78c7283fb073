"""Tests of what a value is (`callable(x)`, `inspect.isclass(x)`): which values may be in each branch."""

from __future__ import annotations

from smp.indexing.linking import bits
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.values import (
    BOUND,
    CLASS,
    CONT,
    FUNC,
    GEN,
    INST,
    MODULE,
    PARTIAL,
    XBOUND,
    XINST,
    ClassRef,
    FuncRef,
    Value,
)
from smp.languages.base import Tables

_CALLED = frozenset({FUNC, BOUND, CLASS, PARTIAL, XBOUND})
_KNOWN = frozenset({FUNC, BOUND, CLASS, PARTIAL, CONT, GEN, INST, MODULE})
_KINDS = {"function": FUNC, "method": BOUND, "class": CLASS}


def passes(value: Value, test: str, lookup: Lookup, tables: Tables) -> bool | None:
    """Whether a value passes a test of `Tables.kind_tests`; None: not known."""
    if test == "callable":
        return _is_callable(value, lookup, tables)
    if test == "coroutine function":
        return _is_coroutine_function(value)
    return value.kind == _KINDS[test] if value.kind in _KNOWN else None


def _is_callable(value: Value, lookup: Lookup, tables: Tables) -> bool | None:
    if value.kind in _CALLED:
        return True
    if value.kind == INST and isinstance(value.ref, ClassRef):
        found = lookup.find(value.ref, tables.call_method)
        if found.owner is not None:
            return True
        return None if value.below or found.doubtful or found.external else False
    if value.kind == XINST and value.name in tables.plain_types:
        return False
    return False if value.kind in (CONT, GEN, MODULE) else None


def _is_coroutine_function(value: Value) -> bool | None:
    if value.kind in (FUNC, BOUND) and isinstance(value.ref, FuncRef):
        if value.ref.decl.flags & bits.F_DECORATED:
            return None
        return bool(value.ref.decl.flags & bits.F_ASYNC) and not value.ref.decl.flags & bits.F_GENERATOR
    return False if value.kind in (CLASS, INST, CONT, GEN, MODULE) else None
