"""The chores that README and CI name do something."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("chore", ["setup", "demo", "test", "check", "bench", "soak", "up", "down", "clean", "lock"])
def test_each_chore_has_a_recipe(chore: str) -> None:
    done = subprocess.run(["make", "--dry-run", chore], cwd=ROOT, capture_output=True, text=True, check=True)
    commands = [line for line in done.stdout.splitlines() if not line.startswith("make")]
    own = [line for line in commands if chore == "setup" or not line.startswith("infra/setup.sh")]
    assert own, f"make {chore} runs nothing"
