"""What guest and host say to each other on the serial port.

The host sends one request: its length as four bytes, least first, and JSON. The guest sends frames: a byte that tells the
kind, the length as four bytes, the bytes. Everything that comes from a guest may have been written by whoever broke into it.
"""

from __future__ import annotations

import os
import struct

HEAD = struct.Struct("<cI")
MAX_BYTES = 1 << 18
READY, FAILED, STDOUT, STDERR, OOM_KILLS, ENTRY, PIECE, DONE = (bytes([char]) for char in b"RFoekEPD")
KINDS = frozenset((READY, FAILED, STDOUT, STDERR, OOM_KILLS, ENTRY, PIECE, DONE))


def send(descriptor: int, kind: bytes, body: bytes) -> None:
    """Write one frame whole."""
    left = memoryview(HEAD.pack(kind, len(body)) + body)
    while left:
        left = left[os.write(descriptor, left) :]


def read_exactly(descriptor: int, size: int) -> bytes:
    """So many bytes.

    Raises:
        EOFError: The other end is gone.
    """
    found = bytearray()
    while len(found) < size:
        piece = os.read(descriptor, size - len(found))
        if not piece:
            raise EOFError("the port was closed")
        found += piece
    return bytes(found)
