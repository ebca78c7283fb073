"""Programs and maps of the kernel's BPF machine, by the system call itself: no compiler, no headers, no daemon.

A program here is a few dozen instructions written down with an assembler of forty lines. It costs under a millisecond to
load, and the kernel lets go of it with the control group that it is attached to. Needs CAP_BPF and CAP_NET_ADMIN.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterator

# asm/unistd.h
_SYS_BPF = {"x86_64": 321, "aarch64": 280}
# linux/bpf.h: enum bpf_cmd
_MAP_CREATE, _MAP_LOOKUP, _MAP_NEXT_KEY, _PROG_LOAD, _PROG_ATTACH = 0, 1, 4, 5, 8
_MAP_TYPE_HASH = 1
_ALLOW_MULTI = 2  # others (systemd) may have programs of their own in the same group; all must agree
_LICENSE = b"Apache-2.0\0"
_PSEUDO_MAP_FD = 1
# Helpers, by their numbers in linux/bpf.h
MAP_LOOKUP_ELEM, MAP_UPDATE_ELEM, KTIME_GET_NS, GET_CURRENT_COMM, SET_RETVAL = 1, 2, 5, 16, 187

_libc = ctypes.CDLL(None, use_errno=True)


def _bpf(command: int, attributes: bytes) -> int:
    number = _SYS_BPF.get(platform.machine())
    if number is None:
        raise OSError(0, f"the number of bpf(2) is not known for {platform.machine()}")
    room = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    result = int(_libc.syscall(number, command, room, 128))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"bpf command {command}: {os.strerror(error)}")
    return result


class Assembler:
    """Collects instructions; jumps name labels, which `code` turns into distances."""

    def __init__(self) -> None:
        self._made: list[tuple[int, int, int, int]] = []
        self._jumps: dict[int, str] = {}
        self._labels: dict[str, int] = {}

    def _add(self, code: int, to: int = 0, source: int = 0, offset: int = 0, value: int = 0) -> None:
        self._made.append((code, source << 4 | to, offset, value))

    def label(self, name: str) -> None:
        self._labels[name] = len(self._made)

    def move(self, to: int, source: int) -> None:
        self._add(0xBF, to, source)

    def set(self, to: int, value: int) -> None:
        self._add(0xB7, to, value=value)

    def add(self, to: int, value: int) -> None:
        self._add(0x07, to, value=value)

    def mask(self, to: int, value: int) -> None:
        self._add(0x57, to, value=value)

    def either(self, to: int, source: int) -> None:
        self._add(0x4F, to, source)

    def load32(self, to: int, base: int, offset: int) -> None:
        self._add(0x61, to, base, offset)

    def store32(self, base: int, offset: int, source: int) -> None:
        self._add(0x63, base, source, offset)

    def store64(self, base: int, offset: int, source: int) -> None:
        self._add(0x7B, base, source, offset)

    def store32_value(self, base: int, offset: int, value: int) -> None:
        self._add(0x62, base, 0, offset, value)

    def store64_value(self, base: int, offset: int, value: int) -> None:
        self._add(0x7A, base, 0, offset, value)

    def count_up(self, base: int, source: int) -> None:
        """Atomically add a register to the 64 bits that another one points to."""
        self._add(0xDB, base, source)

    def map(self, to: int, descriptor: int) -> None:
        self._add(0x18, to, _PSEUDO_MAP_FD, 0, descriptor)
        self._add(0)

    def call(self, helper: int) -> None:
        self._add(0x85, value=helper)

    def leave(self, value: int) -> None:
        self.set(0, value)
        self._add(0x95)

    def jump(self, label: str) -> None:
        self._jumps[len(self._made)] = label
        self._add(0x05)

    def jump_if(self, register: int, value: int, label: str) -> None:
        """When the lower 32 bits are `value`."""
        self._jumps[len(self._made)] = label
        self._add(0x16, register, value=value)

    def jump_unless(self, register: int, value: int, label: str) -> None:
        self._jumps[len(self._made)] = label
        self._add(0x56, register, value=value)

    def jump_if_null(self, register: int, label: str) -> None:
        self._jumps[len(self._made)] = label
        self._add(0x15, register)

    def code(self) -> bytes:
        out = bytearray()
        for at, (code, registers, offset, value) in enumerate(self._made):
            if at in self._jumps:
                offset = self._labels[self._jumps[at]] - at - 1
            out += struct.pack("=BBhI", code, registers, offset, value & 0xFFFFFFFF)
        return bytes(out)


def make_hash(key_size: int, value_size: int, entries: int) -> int:
    """Descriptor of an empty hash map."""
    return _bpf(_MAP_CREATE, struct.pack("=5I", _MAP_TYPE_HASH, key_size, value_size, entries, 0))


def load(code: bytes, kind: int, attach_type: int) -> int:
    """Descriptor of a program that the kernel has verified.

    Raises:
        OSError: No privilege, a kernel that is too old, or a program that it refuses.
    """
    held = ctypes.create_string_buffer(code, len(code))
    licence = ctypes.create_string_buffer(_LICENSE)
    attributes = struct.pack(
        "=2I2Q2IQ2I16s2I",
        kind,
        len(code) // 8,
        ctypes.addressof(held),
        ctypes.addressof(licence),
        0,
        0,
        0,
        0,
        0,
        b"smp_gate",
        0,
        attach_type,
    )
    return _bpf(_PROG_LOAD, attributes)


def attach(program: int, group: str, attach_type: int) -> None:
    """Attach to a control group (version 2) and all below it, for as long as its folder is there."""
    folder = os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _bpf(_PROG_ATTACH, struct.pack("=4I", folder, program, attach_type, _ALLOW_MULTI))
    finally:
        os.close(folder)


def items(table: int, key_size: int, value_size: int) -> Iterator[tuple[bytes, bytes]]:
    """All entries of a map, in no order."""
    key = ctypes.create_string_buffer(key_size)
    following = ctypes.create_string_buffer(key_size)
    value = ctypes.create_string_buffer(value_size)
    pointer = 0
    while True:
        try:
            _bpf(_MAP_NEXT_KEY, struct.pack("=IxxxxQQ", table, pointer, ctypes.addressof(following)))
            _bpf(_MAP_LOOKUP, struct.pack("=IxxxxQQ", table, ctypes.addressof(following), ctypes.addressof(value)))
        except FileNotFoundError:
            return
        yield following.raw, value.raw
        key.raw = following.raw
        pointer = ctypes.addressof(key)
