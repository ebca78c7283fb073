"""The tutorial and the how-tos, executed word for word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.builders.session_rig import free_port

ROOT = Path(__file__).resolve().parents[2]


def test_every_command_of_the_tutorial_and_the_how_tos_does_what_the_page_says(tmp_path: Path) -> None:
    port, ui_port = free_port(), free_port()
    environment = os.environ | {
        "TMPDIR": str(tmp_path),
        "SMP_TEMPORAL_ADDRESS": f"127.0.0.1:{port}",
        "SMP_TEMPORAL_UI_URL": f"http://127.0.0.1:{ui_port}",
    }
    command = [sys.executable, "infra/run_page.py", "docs/tutorial.md", "docs/howto.md"]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        stopping = [sys.executable, "-m", "smp.cli.start", "temporal", "stop", "--repo", str(tmp_path / "shop")]
        if (tmp_path / "shop").is_dir():
            subprocess.run(stopping, env=environment, capture_output=True, check=False)
