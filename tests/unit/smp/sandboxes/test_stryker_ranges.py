"""Which lines Stryker is asked to mutate, by the statements that tests reach."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import smp.sandboxes

INSIDE = Path(smp.sandboxes.__file__).parent / "inside"
Ranges = Callable[[list[int] | None, list[int], set[int], int], list[tuple[int, int]]]


@pytest.fixture
def ranges(monkeypatch: pytest.MonkeyPatch) -> Ranges:
    monkeypatch.syspath_prepend(str(INSIDE))
    found: Ranges = importlib.import_module("node_stryker").ranges
    for name in ("node_stryker", "node_commands"):
        sys.modules.pop(name, None)
    return found


@pytest.mark.parametrize(
    ("asked", "reached", "expected"),
    [
        (None, {2, 3, 7}, [(1, 9)]),
        (None, {2, 3}, [(1, 6)]),  # the head of the next function too: what is of it as a whole lies beyond
        (None, {7}, [(4, 9)]),
        (None, set(), []),
        ([3, 7], {2, 3}, [(3, 3)]),
        ([2, 3, 7], {2, 3, 7}, [(2, 3), (7, 7)]),
        ([1], {2}, [(1, 1)]),
    ],
)
def test_lines_that_tests_reach(
    ranges: Ranges, asked: list[int] | None, reached: set[int], expected: list[tuple[int, int]]
) -> None:
    # 1 head · 2 and 3 statements · 4 bracket · 5 empty · 6 head · 7 statement · 8 bracket · 9 empty
    assert ranges(asked, [2, 3, 7], reached, 9) == expected
