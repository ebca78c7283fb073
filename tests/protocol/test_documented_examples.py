"""Every example of the protocol reference works, and answers in the documented shape."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_examples_of_the_protocol_reference_answer_as_documented() -> None:
    command = [sys.executable, "infra/protocol_examples.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
