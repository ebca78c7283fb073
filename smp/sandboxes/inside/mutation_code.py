"""Code objects of a mutant against those in memory: are they the same, and which live functions must change.

Runs inside a box, standard library only, beside `mutation_runner.py`.
"""

from __future__ import annotations

import gc
import importlib.machinery
import os
import types
import warnings


def compile_quietly(source: bytes, path: str) -> types.CodeType | None:
    """The module's code, or None when it does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def constant_key(value: object) -> object:
    """Tells 1 from True and from 1.0, and 0.0 from -0.0, which compare equal."""
    if isinstance(value, types.CodeType):
        return code_key(value)
    if isinstance(value, tuple):
        return ("tuple", tuple(constant_key(part) for part in value))
    if isinstance(value, frozenset):
        return ("frozenset", tuple(sorted(repr(constant_key(part)) for part in value)))
    return (type(value).__name__, repr(value))


def own_key(code: types.CodeType) -> tuple:
    """All that a code object does by itself; positions in the file are left out, nested code too."""
    constants = tuple(constant_key(value) for value in code.co_consts if not isinstance(value, types.CodeType))
    return (
        code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags,
        code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_name,
        getattr(code, "co_exceptiontable", b""),
    )  # fmt: skip


def nested(code: types.CodeType) -> list[types.CodeType]:
    return [value for value in code.co_consts if isinstance(value, types.CodeType)]


def code_key(code: types.CodeType) -> tuple:
    """Equal for two modules exactly when no run can tell them apart."""
    return (own_key(code), tuple(code_key(value) for value in nested(code)))


def identity(code: types.CodeType) -> tuple:
    """Finds a compiled function again in memory, where its code may come from a cache file."""
    return (getattr(code, "co_qualname", code.co_name), code.co_firstlineno, own_key(code), len(nested(code)))


def live_functions(target: str) -> dict[tuple, list[types.FunctionType]]:
    """Functions in memory whose code comes from a file, by the identity of that code."""
    live: dict[tuple, list[types.FunctionType]] = {}
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType and os.path.realpath(thing.__code__.co_filename) == target:
            live.setdefault(identity(thing.__code__), []).append(thing)
    return live


def plan_swaps(old: types.CodeType, new: types.CodeType, live: dict) -> list | None:
    """(function, code) pairs that put a mutant into effect; None when only a fresh import can.

    A function is swapped when its own code or code nested in it changed. Changed module or class bodies have run already,
    and a changed function that nobody holds yet is made by one of those.
    """
    if own_key(old) != own_key(new) or len(nested(old)) != len(nested(new)):
        return None
    identities = [identity(code) for code in nested(old)]
    swaps: list = []
    for before, after in zip(nested(old), nested(new), strict=True):
        if code_key(before) == code_key(after):
            continue
        functions = live.get(identity(before), [])
        if identities.count(identity(before)) > 1:  # two equal lambdas on one line
            return None
        if not functions:
            deeper = plan_swaps(before, after, live)
            if deeper is None:
                return None
            swaps += deeper
            continue
        if before.co_freevars != after.co_freevars:
            return None
        swaps += [(function, after) for function in functions]
        swaps += inner_swaps(before, after, live)
    return swaps


def inner_swaps(old: types.CodeType, new: types.CodeType, live: dict) -> list:
    """Functions that an enclosing one has already made (a decorator's wrapper): they change with it."""
    swaps: list = []
    if len(nested(old)) == len(nested(new)):
        for before, after in zip(nested(old), nested(new), strict=True):
            if code_key(before) != code_key(after) and before.co_freevars == after.co_freevars:
                swaps += [(function, after) for function in live.get(identity(before), [])]
                swaps += inner_swaps(before, after, live)
    return swaps


def replace_on_import(target: str, code: types.CodeType) -> None:
    """Hand out `code` whenever the file is imported from now on in this process."""
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, fullname):
        if os.path.realpath(self.path) == target:
            return code
        return original(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code
