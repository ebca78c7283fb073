"""The bytes that a traced interpreter runs before each frame, and on which the kernel's probe sits.

Per version: a look at the beginning of the path of the frame's code, a one-byte no-operation for what may be of the
checkout, and a jump through a word of the page behind, which `smp/sandboxes/inside/eval_probe.py` fills in. Code from
elsewhere never traps, which is what makes a run through libraries affordable; whether the rest is of the checkout is for
the kernel to say. The kernel emulates a no-operation: no single step after the trap. It can do better with a five-byte
one, and would if forked children survived that (docs/adr/0006-ebpf-tracer.md).
"""

from __future__ import annotations

import struct

FILE = "eval_probe.bin"
_ENTRIES = {"312": 0, "313": 64}
_PAGE = 4096
# Arguments: rdi the thread state, rsi the frame. Offsets are those of CPython 3.12 and 3.13 on 64 bits.
_LOOK = bytes.fromhex(
    "488b06"  # mov rax, [rsi]               the frame's code
    "488b4070"  # mov rax, [rax+112]           its path, a str
    "f6402040"  # test byte [rax+32], 64       of ASCII alone?
    "741d"  # jz probe
    "8078283c"  # cmp byte [rax+40], '<'       no file
    "7418"  # je jump
    "8078282f"  # cmp byte [rax+40], '/'       relative: may be of the checkout
    "7511"  # jne probe
    "8178282f776f72"  # cmp dword [rax+40], '/wor'
    "7509"  # jne jump
    "6681782c6b2f"  # cmp word [rax+44], 'k/'
    "7501"  # jne jump
)
_NOP = b"\x90"
_JUMP = b"\xff\x25"  # jmp [rip + distance]
OFFSETS = {version: entry + len(_LOOK) for version, entry in _ENTRIES.items()}
"""Where the probe sits, by version."""


def page() -> bytes:
    """Machine code for x86-64; elsewhere nothing asks for it."""
    made = bytearray(_PAGE)
    for entry in _ENTRIES.values():
        end = entry + len(_LOOK) + len(_NOP) + len(_JUMP) + 4
        made[entry:end] = _LOOK + _NOP + _JUMP + struct.pack("<i", _PAGE + entry - end)
    return bytes(made)
