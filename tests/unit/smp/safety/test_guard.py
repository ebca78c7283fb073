"""The guard's verdicts and what they rest on."""

from __future__ import annotations

import pytest

from smp.domain.errors import Invalid
from smp.domain.ids import FilePath
from smp.domain.sandboxes import ChangedFile
from smp.domain.session_steps import FunctionCoverage, GuardVerdict
from smp.domain.sessions import Concurrency, SessionMode
from smp.indexing.reports import FileChange
from smp.safety.guard import Intent, parse_intent
from tests.builders.session_world import World

MONEY, CART, RULES = FilePath("shop/money.py"), FilePath("shop/cart.py"), FilePath("shop/rules.py")
BRANCHY = "function:shop/rules.py#branchy"


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("modify_function:f", Intent(action="modify", kind="function", name="f")),
        (" delete_class: A.B ", Intent(action="delete", kind="class", name="A.B")),
        ("rename_function:old->new", Intent(action="rename", kind="function", name="old", new_name="new")),
        ("add_method:C.m", Intent(action="add", kind="method", name="C.m")),
        ("modify_test:cart > adds up", Intent(action="modify", kind="test", name="cart > adds up")),
    ],
)
def test_an_intended_change_names_what_and_how(text: str, intent: Intent) -> None:
    assert parse_intent(text) == intent


@pytest.mark.parametrize(
    "text", ["", "improve things", "modify_function", "modify_function: ", "break_function:f", "a\nb"]
)
def test_any_other_wording_is_invalid_and_told_the_forms(text: str) -> None:
    with pytest.raises(Invalid, match="modify_function:NAME") as refused:
        parse_intent(text)
    assert refused.value.path == "intended_change"


def test_tested_code_is_clear_with_its_numbers(world: World) -> None:
    report = world.service.check_guard(world.id(), MONEY, intended_change="modify_function:rounded")
    assert report.verdict is GuardVerdict.CLEAR
    checks = report.checks
    assert (checks.in_declared_scope, checks.locked_by_other_agent, checks.has_tests) == (True, False, True)
    assert checks.test_files == ("tests/test_money.py",)
    assert checks.function_coverage == {"rounded": FunctionCoverage(covered=True)}
    assert (checks.caller_count, checks.blast_radius, checks.is_public_api) == (2, 2, True)


def test_complex_code_that_no_test_reaches_is_a_red_alert_with_the_way_out(world: World) -> None:
    report = world.service.check_guard(world.id(), RULES, intended_change="modify_function:branchy")
    assert report.verdict is GuardVerdict.RED_ALERT
    (blocking,) = report.blocking
    assert (blocking.code, blocking.node_id, blocking.complexity, blocking.coverage_pct) == (
        "ZERO_COVERAGE",
        BRANCHY,
        10,
        0,
    )
    (way_out,) = report.unblock_conditions
    assert (way_out.code, way_out.action, way_out.target_node) == ("ZERO_COVERAGE", "add_tests", BRANCHY)
    assert way_out.min_coverage_pct == 60


def test_simple_code_needs_no_test(world: World) -> None:
    report = world.service.check_guard(world.id(), MONEY, intended_change="modify_function:spare")
    assert report.verdict is GuardVerdict.CLEAR
    assert report.checks.function_coverage == {"spare": FunctionCoverage(covered=False)}


def test_heat_is_said_beside_the_missing_coverage(world: World) -> None:
    for name in ("one", "two", "three", "four", "five"):
        content = b"from shop.rules import branchy\n\n\ndef f():\n    branchy(1)\n"
        world.indexer.update((FileChange(path=FilePath(f"shop/{name}.py"), content=content),))
    world.heat("shop/rules.py#branchy", times=5)
    report = world.service.check_guard(world.id(), RULES)
    assert [blocking.code for blocking in report.blocking] == ["ZERO_COVERAGE", "HOT_NODE"]
    assert (report.blocking[1].heat_score, report.blocking[1].caller_count) == (30, 5)
    assert [condition.code for condition in report.unblock_conditions] == ["ZERO_COVERAGE"]


@pytest.mark.parametrize(("hits", "verdict", "pct"), [(3, GuardVerdict.CLEAR, 100), (0, GuardVerdict.RED_ALERT, 0)])
def test_a_report_decides_where_it_measures(world: World, hits: int, verdict: GuardVerdict, pct: float) -> None:
    lines = "".join(f"DA:{line},{hits}\n" for line in range(2, 21))
    (world.root / "lcov.info").write_text(f"SF:shop/rules.py\nDA:1,1\n{lines}end_of_record\n")
    report = world.service.check_guard(world.id(), RULES, coverage_report="lcov.info")
    assert report.verdict is verdict
    assert report.checks.function_coverage == {"branchy": FunctionCoverage(covered=bool(hits), coverage_pct=pct)}


def test_a_report_on_other_files_leaves_it_to_the_tests(world: World) -> None:
    (world.root / "lcov.info").write_text("SF:other.py\nDA:1,1\nend_of_record\n")
    report = world.service.check_guard(world.id(), MONEY, coverage_report="lcov.info")
    assert report.checks.function_coverage["rounded"] == FunctionCoverage(covered=True)


def test_the_report_is_read_from_the_box_of_an_mvcc_session(world: World) -> None:
    session = world.id(concurrency=Concurrency.MVCC)
    box = world.box(session)
    path = FilePath("lcov.info")
    world.driver.boxes[box][path] = ChangedFile(path=path, content=b"SF:shop/rules.py\nDA:2,1\nend_of_record\n")
    report = world.service.check_guard(session, RULES, coverage_report=path)
    assert report.checks.function_coverage["branchy"].coverage_pct == 100


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "missing.info", ".git/config", "README.md"])
def test_a_report_that_cannot_be_used_is_invalid(world: World, path: str) -> None:
    with pytest.raises(Invalid) as refused:
        world.service.check_guard(world.id(), RULES, coverage_report=path)
    assert refused.value.path == "coverage_report"


def test_a_definition_that_is_not_there_is_invalid_unless_it_is_to_be_added(world: World) -> None:
    session = world.id()
    for action in ("modify", "delete", "rename"):
        with pytest.raises(Invalid, match="no definition 'nothing'"):
            world.service.check_guard(session, MONEY, intended_change=f"{action}_function:nothing")
    assert (
        world.service.check_guard(session, MONEY, intended_change="add_function:nothing").verdict is GuardVerdict.CLEAR
    )


def test_a_file_that_does_not_exist_yet_is_clear(world: World) -> None:
    report = world.service.check_guard(world.id(), "shop/new.py", intended_change="add_function:f")
    assert report.verdict is GuardVerdict.CLEAR
    assert report.checks.function_coverage == {}


def test_a_test_file_needs_no_tests_of_its_own(world: World) -> None:
    path = FilePath("tests/test_rules.py")
    body = "".join(f"    if {number}:\n        pass\n" for number in range(12))
    content = f"def helper():\n{body}\n\ndef test_x():\n{body}".encode()
    world.indexer.update((FileChange(path=path, content=content),))
    assert world.service.check_guard(world.id(path), path).verdict is GuardVerdict.CLEAR


def test_outside_the_scope_is_blocked_and_not_an_error(world: World) -> None:
    report = world.service.check_guard(world.id(MONEY), CART)
    assert report.verdict is GuardVerdict.BLOCKED
    assert report.reasons == ("File is outside declared session scope",)


def test_a_lock_of_another_session_blocks_an_exclusive_session_and_no_other(world: World) -> None:
    holder, other = world.id(agent="holder"), world.id(agent="other")
    snapshot = world.id(concurrency=Concurrency.MVCC)
    world.service.lock(holder, (MONEY,))
    report = world.service.check_guard(other, MONEY)
    assert report.reasons == (f"Locked by session {holder} (agent: holder)",)
    assert report.checks.locked_by_other_agent
    assert world.service.check_guard(holder, MONEY).verdict is GuardVerdict.CLEAR
    parallel = world.service.check_guard(snapshot, MONEY)
    assert (parallel.verdict, parallel.checks.locked_by_other_agent) == (GuardVerdict.CLEAR, True)


def test_a_read_session_is_blocked(world: World) -> None:
    assert world.service.check_guard(world.id(mode=SessionMode.READ), MONEY).verdict is GuardVerdict.BLOCKED


def test_an_mvcc_session_is_judged_by_what_it_pushed(world: World) -> None:
    session = world.id("shop/rules.py", "tests/test_rules.py", concurrency=Concurrency.MVCC)
    test = b"from shop.rules import branchy\n\n\ndef test_branchy():\n    assert branchy(1) == 1\n"
    world.service.update(session, (FileChange(path=FilePath("tests/test_rules.py"), content=test),))
    assert world.service.check_guard(session, RULES).verdict is GuardVerdict.CLEAR
    assert world.service.check_guard(world.id(), RULES).verdict is GuardVerdict.RED_ALERT


def test_the_verdict_is_in_the_audit(world: World) -> None:
    session = world.id()
    world.service.check_guard(session, RULES, intended_change="modify_function:branchy")
    event = world.store.events(session)[-1]
    assert (event.method, event.target, event.result) == ("smp/guard/check", RULES, "red_alert")
    assert event.detail == "modify_function:branchy"


def test_tests_that_are_proposed_along_count(world: World) -> None:
    session = world.id("shop/", "tests/")
    test = FileChange(
        path=FilePath("tests/test_rules.py"),
        content=b"from shop.rules import branchy\n\n\ndef test_branchy():\n    assert branchy(1) == 1\n",
    )
    intent = "modify_function:branchy"
    assert world.service.check_guard(session, RULES, intended_change=intent).verdict is GuardVerdict.RED_ALERT
    report = world.service.check_guard(session, RULES, intended_change=intent, proposed=(test,))
    assert report.verdict is GuardVerdict.CLEAR
    assert report.checks.function_coverage["branchy"].covered
