"""The bytes that a traced interpreter runs before each frame, and on which the kernel's probe sits.

Per version a one-byte no-operation and a jump through the word at the same offset of the page behind, which
`smp/sandboxes/inside/eval_probe.py` fills in. The kernel emulates a no-operation: no single step after the trap. It can
do better with a five-byte one, and would if forked children survived that (docs/adr/0006-ebpf-tracer.md).
"""

from __future__ import annotations

import struct

FILE = "eval_probe.bin"
OFFSETS = {"312": 0, "313": 64}
_PAGE = 4096
_NOP = b"\x90"
_JUMP = b"\xff\x25"  # jmp [rip + distance]


def page() -> bytes:
    """Machine code for x86-64; elsewhere nothing asks for it."""
    made = bytearray(_PAGE)
    for offset in OFFSETS.values():
        end = offset + len(_NOP) + len(_JUMP) + 4
        made[offset:end] = _NOP + _JUMP + struct.pack("<i", _PAGE + offset - end)
    return bytes(made)
