"""Many probes on one file by one link (kernel 6.6): attached at once, each with a number, and gone with one descriptor.

One perf event per probe would take the kernel a tenth of a second each to take away.
"""

from __future__ import annotations

import ctypes
import os
import struct

_SYS_BPF = 321  # x86-64
_PROG_LOAD, _LINK_CREATE = 5, 28
_KPROBE = 2
_UPROBE_MULTI = 48  # enum bpf_attach_type

_libc = ctypes.CDLL(None, use_errno=True)


def load(code: bytes) -> int:
    """A program of these instructions that can be attached to many places.

    Raises:
        OSError: The kernel is older than 6.6, or refuses the program.
    """
    text = ctypes.create_string_buffer(code, len(code))
    licence = ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack(
        "=IIQQIIQII16sII",
        _KPROBE,
        len(code) // 8,
        ctypes.addressof(text),
        ctypes.addressof(licence),
        0,
        0,
        0,
        0,
        0,
        b"on_native",
        0,
        _UPROBE_MULTI,
    )
    return _bpf(_PROG_LOAD, attributes)


def attach(program: int, path: str, offsets: list[int], first: int) -> int:
    """The link of probes at these offsets, numbered from `first` on; closing it takes them away.

    Raises:
        OSError: The kernel does not take one of them.
    """
    name = ctypes.create_string_buffer(os.fsencode(path))
    places = (ctypes.c_uint64 * len(offsets))(*offsets)
    cookies = (ctypes.c_uint64 * len(offsets))(*range(first, first + len(offsets)))
    attributes = struct.pack(
        "=IIIIQQQQIII",
        program,
        0,
        _UPROBE_MULTI,
        0,
        ctypes.addressof(name),
        ctypes.addressof(places),
        0,
        ctypes.addressof(cookies),
        len(offsets),
        0,
        0,
    )
    return _bpf(_LINK_CREATE, attributes)


def _bpf(command: int, attributes: bytes) -> int:
    room = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    result = int(_libc.syscall(_SYS_BPF, command, room, 128))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"bpf command {command}: {os.strerror(error)}")
    return result
