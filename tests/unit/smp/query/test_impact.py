"""What a change breaks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.queries import ImpactReport
from smp.query.impact import impact
from smp.query.resolve import resolve_node

GraphOf = Callable[[str], MemoryStore]

SHOP = """
package src
file src/money.py
function src/money.py#round_cents
function src/money.py#unused
file src/cart.py
class src/cart.py#Cart
function src/cart.py#Cart.total
function src/cart.py#Cart.add
file src/checkout.py
function src/checkout.py#pay
class src/checkout.py#BigCart
function src/checkout.py#BigCart.total
function src/checkout.py#show
file src/index.py
file src/app.py
file tests/test_money.py role=test
test tests/test_money.py#test_round
test tests/test_money.py#test_through_fixture
function tests/test_money.py#cart
src/cart.py IMPORTS src/money.py items=round_cents
src/index.py IMPORTS src/cart.py items=Cart
src/app.py IMPORTS src/index.py items=Cart
src/checkout.py IMPORTS src/cart.py items=Cart
tests/test_money.py IMPORTS src/money.py items=round_cents
src/cart.py#Cart.total CALLS_STATIC src/money.py#round_cents
src/checkout.py#pay CALLS_STATIC src/cart.py#Cart.total candidates=src/checkout.py#BigCart.total
src/app.py CALLS_STATIC src/money.py#round_cents
src/checkout.py#BigCart INHERITS src/cart.py#Cart
src/checkout.py#show USES src/money.py#round_cents
src/checkout.py#show REFERENCES src/cart.py#Cart
tests/test_money.py#test_round CALLS_STATIC src/money.py#round_cents
tests/test_money.py#test_round TESTS src/money.py#round_cents
tests/test_money.py#cart CALLS_STATIC src/cart.py#Cart.add
tests/test_money.py#test_through_fixture TESTS src/cart.py#Cart.add
src/cart.py#Cart.add CALLS_STATIC src/cart.py#Cart.total
"""


@pytest.fixture
def store(graph_of: GraphOf) -> MemoryStore:
    return graph_of(SHOP)


def report(store: MemoryStore, ref: str, change_type: str) -> ImpactReport:
    return impact(store, resolve_node(store, ref, path="entity"), change_type=change_type)


def places(found: ImpactReport) -> set[tuple[str, str | None, str]]:
    return {(update.file, update.function, update.reason) for update in found.required_updates}


def test_a_signature_change_reaches_callers_tests_and_those_who_pass_the_function_on(store: MemoryStore) -> None:
    found = report(store, "round_cents", "signature_change")
    assert {(item.id, item.relationship) for item in found.affected_functions} == {
        ("function:src/cart.py#Cart.total", "CALLS"),
        ("file:src/app.py", "CALLS"),
        ("function:src/checkout.py#show", "USES"),
        ("test:tests/test_money.py#test_round", "TESTS"),
    }
    assert places(found) == {
        ("src/cart.py", "Cart.total", "CALLS"),
        ("src/app.py", None, "CALLS"),
        ("src/checkout.py", "show", "USES"),
        ("tests/test_money.py", "test_round", "TESTS"),
    }
    assert found.affected_files == ("src/app.py", "src/cart.py", "src/checkout.py", "tests/test_money.py")
    assert found.severity == "high"


def test_further_callers_are_counted_not_listed(store: MemoryStore) -> None:
    found = report(store, "round_cents", "signature_change")
    assert found.transitive_functions == 3  # pay, Cart.add, the fixture


def test_nothing_affected_has_no_severity(store: MemoryStore) -> None:
    found = report(store, "unused", "delete")
    assert (found.severity, found.affected_files, found.required_updates) == ("none", (), ())


def test_a_deletion_also_reaches_import_lines_through_re_exports(store: MemoryStore) -> None:
    found = report(store, "src/cart.py#Cart", "delete")
    imports = {update.file for update in found.required_updates if update.reason == "IMPORTS"}
    assert imports == {"src/index.py", "src/app.py", "src/checkout.py"}


def test_deleting_a_class_reaches_those_who_use_its_methods(store: MemoryStore) -> None:
    ids = {item.id for item in report(store, "src/cart.py#Cart", "delete").affected_functions}
    assert {"function:src/checkout.py#pay", "class:src/checkout.py#BigCart", "function:tests/test_money.py#cart"} <= ids
    assert "function:src/cart.py#Cart.add" not in ids


def test_naming_a_type_does_not_depend_on_its_signature(store: MemoryStore) -> None:
    ids = {item.id for item in report(store, "src/cart.py#Cart", "signature_change").affected_functions}
    assert ids == {"class:src/checkout.py#BigCart"}


def test_a_test_that_arrives_through_a_fixture_is_affected_but_needs_no_edit(store: MemoryStore) -> None:
    found = report(store, "Cart.add", "signature_change")
    assert ("test:tests/test_money.py#test_through_fixture", "TESTS") in {
        (item.id, item.relationship) for item in found.affected_functions
    }
    assert places(found) == {("tests/test_money.py", "cart", "CALLS")}


def test_overriding_methods_follow_a_signature(store: MemoryStore) -> None:
    found = report(store, "src/cart.py#Cart.total", "signature_change")
    assert ("src/checkout.py", "BigCart.total", "OVERRIDES") in places(found)


def test_callers_of_an_overridden_method_may_arrive_at_the_override(store: MemoryStore) -> None:
    found = report(store, "src/checkout.py#BigCart.total", "signature_change")
    assert [(item.id, item.relationship) for item in found.affected_functions] == [
        ("function:src/checkout.py#pay", "MAY_CALL")
    ]
    assert found.required_updates == ()


def test_moving_a_file_means_updating_its_importers(store: MemoryStore) -> None:
    found = report(store, "src/cart.py", "move")
    imports = {update.file for update in found.required_updates if update.reason == "IMPORTS"}
    assert imports == {"src/checkout.py", "src/index.py"}


def test_deleting_a_package_spares_what_lies_in_it(store: MemoryStore) -> None:
    found = report(store, "src", "delete")
    assert found.affected_files == ("tests/test_money.py",)
