"""What an activity raises for a domain error, and that no credential passes it (totality: tests/architecture)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from activities.errors import RETRYABLE, application_error, redacted
from smp.domain import errors
from workflows.endings import AGENT_FAULTS


def test_the_type_is_the_name_of_the_leaf() -> None:
    error = application_error(errors.SessionExpired("ses_1"))
    assert (error.type, error.non_retryable) == ("SessionExpired", True)
    assert application_error(errors.Unavailable("gone", backend="store")).non_retryable is False


def test_a_busy_code_host_is_asked_again_when_it_says_and_one_that_refuses_is_not() -> None:
    busy = application_error(errors.ForgeBusy("no requests left", retry_after_s=3600.0, status=429))
    assert (busy.type, busy.non_retryable, busy.next_retry_delay) == ("ForgeBusy", False, timedelta(hours=1))
    assert application_error(errors.ForgeBusy("unreachable")).next_retry_delay is None
    assert application_error(errors.ForgeFailed("does not accept the token (401)", status=401)).non_retryable is True


def test_what_the_workflow_calls_faults_of_the_agent_are_names_of_leaves() -> None:
    assert {kind.__name__ for kind in RETRYABLE} >= AGENT_FAULTS


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("push to https://me:hunter2hunter2@example.org/r.git failed", "hunter2hunter2"),
        ("remote said: ghp_abcdefghijklmnop0123 is not valid", "ghp_abcdefghijklmnop0123"),
        ("header Authorization: Bearer abcdefgh12345678", "abcdefgh12345678"),
        ("password: correct-horse-battery", "correct-horse-battery"),
    ],
)
def test_credentials_are_taken_out_of_messages(text: str, secret: str) -> None:
    assert secret not in redacted(text)
    assert "[redacted]" in redacted(text)


def test_ordinary_messages_pass_unchanged() -> None:
    text = "no sandbox 'box_1'; spawn one with smp/sandbox/spawn"
    assert redacted(text) == text
