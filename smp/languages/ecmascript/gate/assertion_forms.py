"""The family's ways to assert, and names whose calls are known to have no effect."""

from __future__ import annotations

import re

EXPECT_NAMES = frozenset({"expect"})
ASSERT_NAMES = frozenset({"assert", "should", "chai", "sinonAssert"})
ASSERT_MODULES = frozenset(
    {"assert", "assert/strict", "node:assert", "node:assert/strict", "power-assert", "uvu/assert", "should",
     "assertthat", "@std/assert", "@hapi/code", "bdd-assert"}
)  # fmt: skip
"""Modules whose every function asserts about its arguments."""

CHAIN_WORDS = frozenset(
    {"not", "resolves", "rejects", "to", "be", "been", "is", "that", "which", "and", "has", "have", "with", "at", "of",
     "same", "but", "does", "still", "also", "deep", "nested", "own", "ordered", "any", "all", "itself", "eventually",
     "a", "an", "soft", "never"}
)  # fmt: skip
"""What stands between `expect(x)` and the matcher; alone it looks at nothing."""

EXPECT_QUIET = frozenset(
    {"assertions", "hasAssertions", "extend", "addSnapshotSerializer", "addEqualityTesters", "anything", "any", "closeTo",
     "arrayContaining", "objectContaining", "stringContaining", "stringMatching", "getState", "setState", "not",
     "schemaMatching", "toBeOneOf"}
)  # fmt: skip
"""Members of `expect` itself that open no expectation."""

FAILS = frozenset({"fail", "unreachable", "ifError"})
CALLBACK_NAMES = frozenset({"done", "cb", "callback", "next", "end"})
"""A test's parameter of this name ends the test: a call of it is waited for, and with an error it fails."""

CONTEXT_QUIET = frozenset(
    {"end", "plan", "test", "teardown", "tearDown", "diagnostic", "skip", "todo", "mock", "after", "before", "beforeEach",
     "afterEach", "log", "comment", "context", "pass", "timeout", "signal", "fn", "method", "getter", "setter", "timers",
     "reset", "restoreAll", "waitFor", "runOnly", "annotate", "onTestFailed", "onTestFinished", "slow", "retries"}
)  # fmt: skip
"""Members of a test's context (`t`) that assert nothing."""

LOADERS = frozenset(
    {"require", "requireActual", "requireMock", "importActual", "importMock", "proxyquire", "rewire", "esmock"}
)
"""Calls that give the module their first argument names."""

_PREFIXED = re.compile(
    r"_*(assert|expect|check|verify|ensure|must|should|compare|validate|match|equals?$|deepEqual|throws|rejects)([A-Z_]|$)"
    r"|_*(assert|expect)"
)
_QUERIES = re.compile(r"(get|find)(All)?By[A-Z]|waitForElement|toMatch|snapshot$|matchSnapshot")

HARMLESS_GLOBALS = frozenset(
    {"Math", "JSON", "Object", "Array", "String", "Number", "Boolean", "BigInt", "Symbol", "Date", "RegExp", "Error",
     "TypeError", "RangeError", "SyntaxError", "Map", "Set", "WeakMap", "WeakSet", "Promise", "Buffer", "Uint8Array",
     "Float64Array", "Int32Array", "ArrayBuffer", "DataView", "URL", "URLSearchParams", "Intl", "parseInt", "parseFloat",
     "isNaN", "isFinite", "encodeURIComponent", "decodeURIComponent", "encodeURI", "decodeURI", "structuredClone",
     "Reflect", "Proxy", "AggregateError", "TextEncoder", "TextDecoder", "path"}
)  # fmt: skip
MUTATING_STATICS = frozenset(
    {"assign", "defineProperty", "defineProperties", "setPrototypeOf", "set", "deleteProperty"}
)
HARMLESS_METHODS = frozenset(
    {"trim", "trimStart", "trimEnd", "split", "slice", "substring", "substr", "join", "map", "filter", "reduce",
     "reduceRight", "some", "every", "find", "findIndex", "findLast", "includes", "indexOf", "lastIndexOf", "startsWith",
     "endsWith", "padStart", "padEnd", "repeat", "replace", "replaceAll", "toLowerCase", "toUpperCase", "charAt",
     "charCodeAt", "codePointAt", "at", "concat", "flat", "flatMap", "keys", "values", "entries", "get", "has", "toString",
     "toFixed", "toISOString", "getTime", "getFullYear", "getMonth", "getDate", "match", "matchAll", "test", "exec",
     "localeCompare", "normalize", "valueOf", "toJSON", "toSorted", "toReversed", "with", "hasOwnProperty", "toPrecision"}
)  # fmt: skip


def is_assertion(name: str) -> bool:
    """Whether calling something of this (last) name as a statement asserts about its arguments and receiver."""
    return name in FAILS or _PREFIXED.match(name) is not None


def is_query(name: str) -> bool:
    """Whether a call of this name throws unless what it looks for is there (`getByText`, `findByRole`, `snapshot`)."""
    return _QUERIES.search(name) is not None
