"""Line-delimited JSON-RPC over standard input and output: one JSON document a line, nothing but protocol out.

The protocol's output is a private duplicate of descriptor 1, taken before anything else runs; descriptor 1 itself is
then pointed at standard error, so that a stray print, of ours or of a library, cannot break the stream (BL-038).
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from smp.rpc.dispatcher import Dispatcher


def claim_stdout() -> BinaryIO:
    """A stream on the real standard output; whatever writes to descriptor 1 afterwards goes to standard error."""
    sys.stdout.flush()
    protocol = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return protocol


def serve_stdio(dispatcher: Dispatcher, lines: BinaryIO, out: BinaryIO, *, max_line_bytes: int) -> None:
    """Answer each line until end of input.

    Args:
        max_line_bytes: A longer line is refused (-32600) and read to its end.
    """
    while line := lines.readline(max_line_bytes + 1):
        if len(line) > max_line_bytes and not line.endswith(b"\n"):
            while (rest := lines.readline(max_line_bytes)) and not rest.endswith(b"\n"):
                continue
            line = b'{"jsonrpc":"2.0","method":null}'
        if not line.strip():
            continue
        answer = dispatcher.handle_bytes(line)
        if answer is not None:
            out.write(answer + b"\n")
