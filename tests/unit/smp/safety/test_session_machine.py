"""A sample of the random call sequences that `make soak` runs by the ten thousand."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.builders.session_machine import machine_in


def test_no_sequence_of_calls_breaks_a_promise(tmp_path: Path) -> None:
    run_state_machine_as_test(
        machine_in(tmp_path),
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
