"""One JSON document a line, nothing but protocol on standard output."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import cast

from smp.rpc.dispatcher import Dispatcher
from smp.rpc.stdio import serve_stdio


class Recorder:
    """Stands for a dispatcher: answers with the length of the line."""

    def handle_bytes(self, raw: bytes) -> bytes | None:
        return None if raw.startswith(b"quiet") else str(len(raw.rstrip(b"\n"))).encode()


def answers(text: bytes, limit: int = 100) -> list[bytes]:
    out = io.BytesIO()
    serve_stdio(cast("Dispatcher", Recorder()), io.BytesIO(text), out, max_line_bytes=limit)
    return out.getvalue().splitlines()


def test_each_line_is_answered_and_blank_ones_are_not() -> None:
    assert answers(b"abc\n\nquiet\nde") == [b"3", b"2"]


def test_a_line_over_the_limit_is_refused_whole() -> None:
    refused = len(b'{"jsonrpc":"2.0","method":null}')
    assert answers(b"x" * 500 + b"\nab\n", limit=100) == [str(refused).encode(), b"2"]


def test_stray_prints_never_reach_the_protocol() -> None:
    script = (
        "from smp.rpc.stdio import claim_stdout\n"
        "import os, sys\n"
        "out = claim_stdout()\n"
        "print('noise'); os.write(1, b'more noise\\n'); os.system('echo child noise')\n"
        "out.write(b'{\"ok\": true}\\n')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"ok": True}
    assert all(word in done.stderr for word in ("noise", "more noise", "child noise"))
