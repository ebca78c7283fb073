"""Python's ways to assert, and names whose calls are known to have no effect."""

from __future__ import annotations

import builtins

RAISING = frozenset(
    {
        "raises",
        "warns",
        "deprecated_call",
        "raises_group",
        "RaisesGroup",
        "assert_raises",
        "expect_raises",
        "raises_exc",
    }
)
"""Context managers (or callers of a function) that fail unless their body raises or warns."""

_EXACT = frozenset(
    {"fail", "check", "expect", "should", "ensure", "verify", "eq_", "ok_", "ne_", "is_", "eq", "in_", "not_in", "is_true",
     "is_false", "match_lines", "fnmatch_lines", "re_match_lines", "no_fnmatch_line", "fnmatch_lines_random", "assert_match",
     "exit", "validate", "approx_equal"}
)  # fmt: skip
_PREFIXES = ("assert", "check_", "verify_", "expect_", "ensure_", "must_", "should_", "compare_", "validate_", "_assert",
             "_check", "_verify", "_test", "fail")  # fmt: skip

CAPTURES = frozenset({"capsys", "capfd", "capsysbinary", "capfdbinary", "caplog", "recwarn", "capteesys"})
"""Fixtures that see effects of everything the test runs."""

HARMLESS_BUILTINS = frozenset(dir(builtins)) - frozenset(
    {"print", "open", "input", "exec", "eval", "setattr", "delattr", "next", "__import__", "breakpoint", "exit", "quit",
     "globals", "locals", "vars", "super", "map", "filter", "iter"}
)  # fmt: skip
HARMLESS_METHODS = frozenset(
    {"strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "partition", "rpartition", "lower", "upper", "title",
     "capitalize", "casefold", "swapcase", "join", "startswith", "endswith", "replace", "format", "encode", "decode", "find",
     "rfind", "index", "count", "get", "keys", "values", "items", "zfill", "ljust", "rjust", "center", "isdigit", "isalpha",
     "isspace", "isupper", "islower", "isidentifier", "removeprefix", "removesuffix", "translate", "bit_length", "hex",
     "isoformat", "total_seconds", "copy", "union", "intersection", "difference", "issubset", "as_posix"}
)  # fmt: skip

SETUP_METHODS = ("setUpClass", "setup_class", "setUp", "setup_method", "setup")


def is_assertion(name: str) -> bool:
    """Whether calling something of this (last) name asserts about its arguments and receiver."""
    return name in _EXACT or name in RAISING or name.startswith(_PREFIXES)


def is_raising(name: str) -> bool:
    """Whether a context manager of this name asserts about what its body does."""
    return name in RAISING or name.startswith("assert")
