"""A host is killed, or told to stop, in the middle of each step of a session. Run by `make soak`."""

from __future__ import annotations

import pytest

from tests.builders.session_rig import Rig
from tests.builders.two_hosts import STEPS, killed_during, stopped_during

pytestmark = [pytest.mark.temporal, pytest.mark.slow]


@pytest.mark.parametrize("step", STEPS)
def test_a_host_killed_during_a_step(rig: Rig, step: str) -> None:
    killed_during(rig, step)


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_told_to_stop_during_a_step(rig: Rig, step: str) -> None:
    stopped_during(rig, step)
