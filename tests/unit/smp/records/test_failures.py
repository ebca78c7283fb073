"""What failed in a session, its class, and what resolved it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from smp.domain.ids import FilePath, SandboxId, SessionId
from smp.domain.records import FailureNote
from smp.domain.sandboxes import Execution, ExecutionRecord, NetworkBlock
from smp.domain.sessions import AuditEvent
from smp.records.failures import failures_of, fingerprint, salient, trials_of

START = datetime(2026, 2, 1, 12, tzinfo=UTC)


def event(minute: int, method: str, file: str, result: str | None = None, cause: str | None = None) -> AuditEvent:
    at = START + timedelta(minutes=minute)
    return AuditEvent(
        seq=minute, at=at, method=method, target=file, files=(FilePath(file),), result=result, cause=cause
    )


def execution(minute: int, code: int, output: str = "", *blocks: NetworkBlock) -> ExecutionRecord:
    return ExecutionRecord(
        id=f"exe_{minute}",
        sandbox_id=SandboxId("sbx_1"),
        session_id=SessionId("ses_1"),
        command="pytest -q",
        started_at=START + timedelta(minutes=minute),
        execution=Execution(exit_code=code, stdout=output, stderr="", duration_ms=1.0, network_blocks=blocks),
    )


def failures(events: list[AuditEvent], executions: list[ExecutionRecord]) -> tuple[FailureNote, ...]:
    return failures_of(trials_of(events, executions, ()), events)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("E   AssertionError: 3 != 4", "E   AssertionError: 17 != 18"),
        ("KeyError: 'cart'", "KeyError: 'order'"),
        ("error at 0x7f3a91 in src/a.py", "error at 0x11 in lib/b/c.py"),
        ("FAILED tests/test_a.py::test_x", "FAILED tests/test_b.py::test_x"),
    ],
)
def test_volatile_parts_do_not_make_another_class(one: str, other: str) -> None:
    assert salient(one) == salient(other)


@pytest.mark.parametrize("other", ["TypeError: 3 != 4", "AssertionError"])
def test_another_complaint_is_another_class(other: str) -> None:
    assert salient("AssertionError: 3 != 4") != salient(other)


def test_class_tool_and_language_are_part_of_the_fingerprint() -> None:
    parts = [("a", "t", "python"), ("b", "t", "python"), ("a", "u", "python"), ("a", "t", "go")]
    assert len({fingerprint(*part, "same") for part in parts}) == 4


def test_a_command_that_fails_then_passes_after_a_change_of_the_source_was_resolved_by_it() -> None:
    events = [event(2, "smp/update", "src/cart.py")]
    (note,) = failures(events, [execution(1, 1, "…\nE   ValueError: 7\n1 passed"), execution(3, 0)])
    assert (note.class_, note.tool, note.message) == ("gate_tests", "execute", "E   ValueError: 7")
    assert (note.resolved_by, note.resolution) == ("retry", "source_change")


def test_a_command_that_passes_without_any_change_was_merely_repeated() -> None:
    (note,) = failures([], [execution(1, 1, "boom"), execution(3, 0)])
    assert (note.resolved_by, note.resolution) == ("retry", "retry")


def test_what_never_passed_was_not_resolved() -> None:
    (note,) = failures([event(2, "smp/update", "src/cart.py")], [execution(1, 1, "boom"), execution(3, 1, "boom")])
    assert (note.resolved_by, note.resolution) == (None, "")


def test_a_red_alert_that_tests_cleared_names_tests_as_the_change() -> None:
    events = [
        event(1, "smp/guard/check", "src/cart.py", "red_alert", "ZERO_COVERAGE"),
        event(2, "smp/update", "tests/test_cart.py"),
        event(3, "smp/guard/check", "src/cart.py", "clear"),
        event(4, "smp/update", "src/cart.py"),
    ]
    (note,) = failures(events, [])
    assert (note.class_, note.language, note.message) == ("guard_red_alert", "python", "ZERO_COVERAGE")
    assert (note.resolved_by, note.resolution) == ("retry", "source_and_test_change")


def test_the_same_class_in_two_files_is_one_failure_and_resolved_only_when_both_are() -> None:
    events = [
        event(1, "smp/guard/check", "src/a.py", "red_alert", "ZERO_COVERAGE"),
        event(2, "smp/guard/check", "src/b.py", "red_alert", "ZERO_COVERAGE"),
        event(3, "smp/guard/check", "src/a.py", "clear"),
    ]
    (note,) = failures(events, [])
    assert note.resolved_by is None


def test_refused_connections_and_scopes_are_failures_of_their_own() -> None:
    events = [event(1, "SCOPE_VIOLATION", "src/other.py", "refused")]
    notes = failures(events, [execution(2, 0, "", NetworkBlock(host="example.org", port=443))])
    assert [note.class_ for note in notes] == ["scope_violation", "network_blocked"]


def test_a_session_without_trouble_has_no_failures() -> None:
    assert failures([event(1, "smp/guard/check", "src/a.py", "clear")], [execution(2, 0)]) == ()
