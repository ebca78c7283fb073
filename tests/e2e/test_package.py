"""What an installation holds."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_has_the_console_and_says_that_it_is_typed(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"smp/console/{path.name}" for path in (ROOT / "console").iterdir()} <= names
    assert "smp/py.typed" in names
    assert [name for name in names if name.startswith(("tests/", "infra/", "clients/"))] == []
