"""Drivers by name: what the settings take, bootstrap can make."""

from __future__ import annotations

from typing import get_args, get_type_hints

from smp.bootstrap import DRIVERS
from smp.settings import SandboxSettings


def test_every_driver_that_the_settings_name_can_be_made() -> None:
    assert set(get_args(get_type_hints(SandboxSettings)["driver"])) == set(DRIVERS)
