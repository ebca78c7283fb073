"""The assert check's rules by language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from smp.domain.assertions import TargetSurface, TestFlow
from smp.domain.ids import FilePath
from smp.languages.python.gate.assertions import python_support, python_surface, python_test_flows


class AssertionRules(Struct, frozen=True, kw_only=True):
    """Three pure functions.

    Attributes:
        surface: (path, bytes) of a target → its functions.
        support: (path, bytes) of a test file → files that may hold its fixtures and helpers.
        flows: (bytes of the test file, surface, bytes of the support files) → a flow for each test.
    """

    surface: Callable[[FilePath, bytes], TargetSurface]
    support: Callable[[FilePath, bytes], tuple[FilePath, ...]]
    flows: Callable[[bytes, TargetSurface, Mapping[FilePath, bytes]], tuple[TestFlow, ...]]


_RULES = {
    ".py": AssertionRules(surface=python_surface, support=python_support, flows=python_test_flows),
}


def assertion_rules(path: FilePath) -> AssertionRules | None:
    """The rules for files with this ending; None when there are none."""
    return _RULES.get(PurePosixPath(path).suffix)
