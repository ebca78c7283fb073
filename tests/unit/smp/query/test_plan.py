"""The order of a task, and overlapping scopes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.ids import FilePath
from smp.domain.queries import TaskPlan
from smp.query.context import HotRule
from smp.query.plan import overlap, plan

GraphOf = Callable[[str], MemoryStore]
HOT = HotRule(since="2026-01-01T00:00:00Z", min_changes=5, min_callers=5)
GRAPH = """
file money.py
file pricing.py
file cart.py
class cart.py#Cart
function cart.py#Cart.total complexity=9
file app.py
file one.py
file two.py
pricing.py IMPORTS money.py
cart.py IMPORTS pricing.py
cart.py IMPORTS money.py
app.py IMPORTS cart.py
one.py IMPORTS two.py
two.py IMPORTS one.py
"""


@pytest.fixture
def store(graph_of: GraphOf) -> MemoryStore:
    return graph_of(GRAPH)


def planned(store: MemoryStore, *files: str) -> TaskPlan:
    return plan(store, store, tuple(map(FilePath, files)), hot=HOT)


def test_what_others_import_comes_first(store: MemoryStore) -> None:
    found = planned(store, "cart.py", "pricing.py", "money.py")
    assert [step.file for step in found.execution_order] == ["money.py", "pricing.py", "cart.py"]
    cart = found.execution_order[-1]
    assert (cart.depends_on_steps, cart.dependencies_in_plan, cart.dependants_in_plan) == ((1, 2), 2, 0)
    assert (cart.risk_level, cart.blast_radius) == ("high", 1)
    assert found.external_files_at_risk == ("app.py",)


def test_the_order_does_not_depend_on_the_order_of_the_request(store: MemoryStore) -> None:
    orders = {
        tuple(step.file for step in planned(store, *files).execution_order)
        for files in permutations(("cart.py", "pricing.py", "money.py", "new.py"))
    }
    assert len(orders) == 1


def test_a_new_file_has_no_dependants(store: MemoryStore) -> None:
    (step,) = planned(store, "new.py").execution_order
    assert (step.is_new_file, step.blast_radius, step.risk_level) == (True, 0, "low")


def test_a_circle_is_a_conflict(store: MemoryStore) -> None:
    found = planned(store, "two.py", "one.py", "money.py")
    assert [cycle.files for cycle in found.inter_file_conflicts] == [("one.py", "two.py")]
    assert sorted(step.file for step in found.execution_order) == ["money.py", "one.py", "two.py"]


def test_scopes_overlap_in_files_and_their_definitions(store: MemoryStore) -> None:
    found = overlap(store, (FilePath("cart.py"), FilePath("money.py")), (FilePath("app.py"), FilePath("cart.py")))
    assert (found.files, found.nodes) == (("cart.py",), ("class:cart.py#Cart", "function:cart.py#Cart.total"))


def test_a_directory_prefix_covers_the_files_below_it(store: MemoryStore) -> None:
    assert overlap(store, (FilePath("src/"),), (FilePath("src/a.py"), FilePath("b.py"))).files == ("src/a.py",)
    assert overlap(store, (FilePath("a.py"),), (FilePath("b.py"),)).files == ()
