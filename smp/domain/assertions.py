"""What the assert check knows of a target and of each test: function names in, function names out."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from smp.domain.ids import FilePath


class TargetSurface(Struct, frozen=True, kw_only=True):
    """The definitions of a target file, by qualified name.

    Attributes:
        silent: Functions that provably have no effect but their result; nothing else may excuse an unused result.
        exports: Names under which a module gives out its definitions, where they differ from their own.
    """

    path: FilePath
    functions: frozenset[str]
    classes: frozenset[str]
    silent: frozenset[str] = frozenset()
    exports: Mapping[str, str] = {}


class TestFlow(Struct, frozen=True, kw_only=True):
    """One test.

    Attributes:
        test: Qualified name in its file (`TestCart.test_total`, `cart > adds up`).
        called: Functions and classes of the target that the test's own body calls.
        asserted: Those from which a value, an error or an effect reaches an assertion.
        asserts: The test holds an assertion at all.
    """

    __test__ = False

    test: str
    line: int
    called: frozenset[str]
    asserted: frozenset[str]
    asserts: bool
