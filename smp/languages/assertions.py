"""The assert check's rules by language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from smp.domain.assertions import TargetSurface, TestFlow
from smp.domain.ids import FilePath
from smp.languages.ecmascript.gate.assertions import ecmascript_support, ecmascript_test_flows
from smp.languages.ecmascript.gate.surface import ecmascript_surface
from smp.languages.ecmascript.grammar import JAVASCRIPT_SUFFIXES, TYPESCRIPT_SUFFIXES
from smp.languages.python.gate.assertions import python_support, python_surface, python_test_flows


class AssertionRules(Struct, frozen=True, kw_only=True):
    """Four pure functions.

    Attributes:
        surface: (path, bytes) of a target → its functions.
        support: (path, bytes) of a test file → files that may hold its fixtures and helpers.
        flows: (path and bytes of the test file, surface, bytes of the support files) → a flow for each test.
        test_id: (path of the test file, name of a test in it) → the test as its runner words it.
    """

    surface: Callable[[FilePath, bytes], TargetSurface]
    support: Callable[[FilePath, bytes], tuple[FilePath, ...]]
    flows: Callable[[FilePath, bytes, TargetSurface, Mapping[FilePath, bytes]], tuple[TestFlow, ...]]
    test_id: Callable[[FilePath, str], str]


_ECMASCRIPT = AssertionRules(
    surface=ecmascript_surface,
    support=ecmascript_support,
    flows=ecmascript_test_flows,
    test_id=lambda path, test: f"{path}::{test}",
)
_RULES = {
    ".py": AssertionRules(
        surface=python_surface,
        support=python_support,
        flows=lambda path, source, surface, support: python_test_flows(source, surface, support),
        test_id=lambda path, test: f"{path}::{test.replace('.', '::')}",
    ),
} | dict.fromkeys((*JAVASCRIPT_SUFFIXES, *TYPESCRIPT_SUFFIXES), _ECMASCRIPT)


def assertion_rules(path: FilePath) -> AssertionRules | None:
    """The rules for files with this ending; None when there are none."""
    return _RULES.get(PurePosixPath(path).suffix)
