"""Dry runs: what breaks, what does not, and that nothing is written."""

from __future__ import annotations

import pytest

from smp.domain.errors import ScopeViolation
from smp.domain.ids import FilePath, NodeId
from smp.domain.session_steps import DryrunReport, DryrunVerdict
from smp.domain.sessions import Concurrency, SessionMode
from smp.indexing.reports import FileChange
from tests.builders.session_world import World

MONEY, CART, NEW = FilePath("shop/money.py"), FilePath("shop/cart.py"), FilePath("shop/new.py")
HEADER = "def rounded(value: float) -> int:"


def rehearse(world: World, session: str, *replacements: tuple[str, str], file: FilePath = MONEY) -> DryrunReport:
    text = world.indexer.contents[file].decode()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return world.service.dryrun(session, (FileChange(path=file, content=text.encode()),))


def names(report: DryrunReport) -> tuple[list[str], list[str]]:
    return [entry.function for entry in report.broken_callers], [entry.function for entry in report.broken_tests]


def test_a_change_of_the_body_is_safe(world: World) -> None:
    report = rehearse(world, world.id(), ("int(value)", "int(value + 0.5)"))
    assert report.verdict is DryrunVerdict.SAFE
    delta = report.delta
    assert (delta.nodes_added, delta.nodes_modified, delta.nodes_removed, delta.signature_changed) == (0, 1, 0, False)
    assert (report.affected_files, report.risks, report.test_coverage_delta) == ((), (), "unchanged")


@pytest.mark.parametrize(
    "header",
    [
        "def rounded(value: float, mode: str) -> int:",
        "def rounded(value: float, *, mode: str) -> int:",
        "def rounded() -> int:",
        "def rounded(amount: float) -> int:",
        "def rounded(value: float) -> str:",
        "def rounding(value: float) -> int:",
    ],
)
def test_callers_and_tests_outside_the_change_break(world: World, header: str) -> None:
    report = rehearse(world, world.id(), (HEADER, header))
    assert report.verdict is DryrunVerdict.BREAKING
    assert names(report) == (["total"], ["test_rounded"])
    assert report.affected_files == (CART, "tests/test_money.py")
    assert report.delta.signature_changed or report.delta.nodes_removed


@pytest.mark.parametrize(
    "header",
    [
        "def rounded(value: float, mode: str = 'up') -> int:",
        "def rounded(value: float, *, mode: str = 'up') -> int:",
        "def rounded(value: float):",
    ],
)
def test_what_still_fits_every_call_is_safe(world: World, header: str) -> None:
    report = rehearse(world, world.id(), (HEADER, header))
    assert (report.verdict, report.delta.signature_changed) == (DryrunVerdict.SAFE, True)


def test_a_changed_return_type_names_both(world: World) -> None:
    (entry,) = rehearse(world, world.id(), (HEADER, "def rounded(value: float) -> str:")).broken_callers
    assert (entry.expected_return_type, entry.actual_return_type) == ("int", "str")


def test_removing_what_nobody_uses_is_safe_and_said(world: World) -> None:
    report = rehearse(world, world.id(), ("\n\ndef spare() -> int:\n    return 1\n", ""))
    assert (report.verdict, report.delta.nodes_removed) == (DryrunVerdict.SAFE, 1)
    assert [risk.code for risk in report.risks] == ["SYMBOL_REMOVED"]


def test_an_import_of_a_removed_name_breaks_although_nobody_calls_it(world: World) -> None:
    world.indexer.update((FileChange(path=NEW, content=b"from shop.money import spare\n"),))
    report = rehearse(world, world.id(), ("\n\ndef spare() -> int:\n    return 1\n", ""))
    assert report.verdict is DryrunVerdict.BREAKING
    (entry,) = report.broken_callers
    assert (entry.function, entry.file, entry.because) == (NEW, NEW, "imports spare, which is removed")


def test_a_file_that_no_longer_parses_is_breaking(world: World) -> None:
    report = rehearse(world, world.id(), ("value: float)", "value: float"))
    assert report.verdict is DryrunVerdict.BREAKING
    assert report.risks[0].code == "SYNTAX_ERROR"
    assert (report.risks[0].file, report.risks[0].line) == (MONEY, 1)


def test_a_file_that_was_damaged_before_does_not_make_every_change_breaking(world: World) -> None:
    session = world.id()
    world.service.update(session, (FileChange(path=NEW, content=b"def (\n"),))
    report = world.service.dryrun(session, (FileChange(path=NEW, content=b"def (\n# a comment\n"),))
    assert report.verdict is DryrunVerdict.SAFE


def test_a_new_file_is_safe(world: World) -> None:
    report = world.service.dryrun(world.id(), (FileChange(path=NEW, content=b"def fresh():\n    pass\n"),))
    assert (report.verdict, report.delta.nodes_added) == (DryrunVerdict.SAFE, 1)


def test_deleting_a_file_breaks_who_uses_it(world: World) -> None:
    report = world.service.dryrun(world.id(), (FileChange(path=MONEY, change_type="deleted"),))
    assert report.verdict is DryrunVerdict.BREAKING
    assert names(report) == (["total"], ["test_rounded"])


def test_callers_changed_in_the_same_proposal_are_part_of_it(world: World) -> None:
    money = world.indexer.contents[MONEY].replace(HEADER.encode(), b"def rounded(value: float, mode: str) -> int:")
    cart = world.indexer.contents[CART].replace(b"rounded(2.5)", b"rounded(2.5, 'up')")
    report = world.service.dryrun(
        world.id(), (FileChange(path=MONEY, content=money), FileChange(path=CART, content=cart))
    )
    assert names(report) == ([], ["test_rounded"])


def test_a_caller_that_was_edited_and_still_names_what_is_gone_is_broken(world: World) -> None:
    money = world.indexer.contents[MONEY].replace(b"def rounded(", b"def rounding(")
    cart = world.indexer.contents[CART].replace(b"rounded(2.5)", b"rounded(3.5)")
    report = world.service.dryrun(
        world.id(), (FileChange(path=MONEY, content=money), FileChange(path=CART, content=cart))
    )
    assert names(report) == (["total"], ["test_rounded"])


@pytest.mark.parametrize("concurrency", [Concurrency.MVCC, Concurrency.EXCLUSIVE])
def test_callers_fixed_earlier_in_the_session_do_not_break(world: World, concurrency: Concurrency) -> None:
    session = world.id("shop/", "tests/", concurrency=concurrency)
    world.clock.forward(1)
    cart = world.indexer.contents[CART].replace(b"rounded(2.5)", b"rounded(2.5, 'up')")
    test = world.indexer.contents[FilePath("tests/test_money.py")].replace(b"rounded(1.5)", b"rounded(1.5, 'up')")
    world.service.update(session, (FileChange(path=CART, content=cart),))
    report = rehearse(world, session, (HEADER, "def rounded(value: float, mode: str) -> int:"))
    assert names(report) == ([], ["test_rounded"])
    world.service.update(session, (FileChange(path=FilePath("tests/test_money.py"), content=test),))
    assert (
        rehearse(world, session, (HEADER, "def rounded(value: float, mode: str) -> int:")).verdict is DryrunVerdict.SAFE
    )


def test_a_caller_in_the_same_file_that_was_not_adapted_breaks(world: World) -> None:
    path = FilePath("shop/new.py")
    world.indexer.update((FileChange(path=path, content=b"def a(x):\n    pass\n\n\ndef b():\n    a(1)\n"),))
    session = world.id()
    assert names(rehearse(world, session, ("def a(x)", "def a(x, y)"), file=path)) == (["b"], [])
    assert names(rehearse(world, session, ("def a(x)", "def a(x, y)"), ("a(1)", "a(1, 2)"), file=path)) == ([], [])


def test_module_level_calls_are_named_by_their_file(world: World) -> None:
    world.indexer.update((FileChange(path=NEW, content=b"from shop.money import spare\n\nspare()\n"),))
    (entry,) = rehearse(world, world.id(), ("def spare()", "def spare(x)")).broken_callers
    assert (entry.function, entry.file) == (NEW, NEW)


def test_the_number_of_tested_functions_that_would_go_is_said(world: World) -> None:
    report = rehearse(world, world.id(), ("def rounded(", "def rounding("))
    assert report.test_coverage_delta == "-1 functions reached by tests"


def test_nothing_is_written(world: World) -> None:
    session = world.id()
    before = (
        dict(world.indexer.contents),
        (world.root / MONEY).read_bytes(),
        list(world.graph.nodes([NodeId("file:" + MONEY)])),
    )
    rehearse(world, session, (HEADER, "def other():"))
    assert before == (
        dict(world.indexer.contents),
        (world.root / MONEY).read_bytes(),
        list(world.graph.nodes([NodeId("file:" + MONEY)])),
    )
    assert world.service.overlay(session) == ()


def test_a_file_outside_the_scope_is_refused(world: World) -> None:
    with pytest.raises(ScopeViolation):
        rehearse(world, world.id(CART))
    with pytest.raises(ScopeViolation):
        rehearse(world, world.id(mode=SessionMode.READ))
