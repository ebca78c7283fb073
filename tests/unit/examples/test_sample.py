"""The demo's sample: an interrupted making leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = """
import os, signal, sys
from examples.demo.sample import _run_whole
signal.signal(signal.SIGINT, signal.default_int_handler)
_run_whole(["sh", "-c", f"(echo begun; exec sleep 600) > {sys.argv[1]} & wait"], dict(os.environ))
"""


def test_an_interrupt_ends_the_command_and_what_it_started(tmp_path: Path) -> None:
    # The grandchild holds the pipe: its reader meets the end only when the grandchild is gone too.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(pipe)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with pipe.open("rb") as reader:
        assert reader.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        assert reader.read() == b""
    assert process.wait(timeout=30) != 0
