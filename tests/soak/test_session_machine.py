"""Ten thousand random call sequences on sessions, a fixed seed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.builders.session_machine import machine_in


@pytest.mark.slow
def test_ten_thousand_sequences_of_calls_break_no_promise(tmp_path: Path) -> None:
    run_state_machine_as_test(
        machine_in(tmp_path),
        settings=settings(
            max_examples=10_000,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
