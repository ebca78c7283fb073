"""The egress gate of a box in the kernel: every connect and send that is not for the box itself is ECONNREFUSED, and counted.

Four programs on the box's control group: connect and the sending of datagrams, IPv4 and IPv6. They run before routing, for
every thread in the group, whatever its environment is; TCP fast open and MPTCP pass the same hooks. A fifth one refuses
raw and ping sockets. They hold when everything of ours is dead, and go with the control group's folder.

The kernel counts attempts itself, per address, port and protocol, with the time and the name of the first process: a
flood of attempts costs the supervisor nothing. The boundary is still the missing interface; the gate is the verdict and
the report.
"""

from __future__ import annotations

import errno
import os
import socket
import struct

from smp.adapters.sandbox_bubblewrap.host import bpf
from smp.adapters.sandbox_bubblewrap.host.egress import RELAYS, Block, plain_address

# linux/bpf.h: enum bpf_prog_type, enum bpf_attach_type
_CGROUP_SOCK, _CGROUP_SOCK_ADDR = 9, 18
_SOCK_CREATE, _CONNECT4, _CONNECT6, _SENDMSG4, _SENDMSG6 = 2, 10, 11, 14, 15
# struct bpf_sock_addr
_IP4, _IP6, _PORT, _PROTOCOL = 4, 8, 24, 36
# struct bpf_sock
_SOCK_TYPE, _SOCK_PROTOCOL = 8, 12
# Key: family, port (network order), protocol, four words of address, nothing. Value: count, time, name of the process.
_KEY, _VALUE = struct.Struct("=III16sI"), struct.Struct("=QQ16s")
_MAX_BLOCKS = 1_000
_PROTOCOLS = {6: "tcp", 262: "tcp", 17: "udp", 136: "udp"}  # 262: IPPROTO_MPTCP
_FP, _CONTEXT = 10, 6  # the frame pointer; where the programs keep their argument


class KernelGate:
    """Attached on construction; `close` gives the descriptors back, the programs stay with the group.

    Args:
        group: Folder of a control group of version 2.
        ways: Addresses and ports of the relay; `RELAYS` is closed but for these.

    Raises:
        OSError: The kernel has no such programs (before 5.18), or we may not load them.
    """

    def __init__(self, group: str, ways: frozenset[tuple[str, int]] = frozenset()) -> None:
        self._table = bpf.make_hash(_KEY.size, _VALUE.size, _MAX_BLOCKS)
        kinds = (
            (_refuse4(self._table, ways), _CGROUP_SOCK_ADDR, (_CONNECT4, _SENDMSG4)),
            (_refuse6(self._table, ways), _CGROUP_SOCK_ADDR, (_CONNECT6, _SENDMSG6)),
            (_refuse_raw(), _CGROUP_SOCK, (_SOCK_CREATE,)),
        )
        try:
            for code, kind, attach_types in kinds:
                for attach_type in attach_types:
                    program = bpf.load(code, kind, attach_type)
                    try:
                        bpf.attach(program, group, attach_type)
                    finally:
                        os.close(program)
        except OSError:
            os.close(self._table)
            raise

    def blocks(self) -> list[Block]:
        """What was refused, in the order of the first attempt at each target."""
        found = [(_VALUE.unpack(value), key) for key, value in bpf.items(self._table, _KEY.size, _VALUE.size)]
        return [
            _block(key, count, os.fsdecode(name.split(b"\0")[0]))
            for (count, _, name), key in sorted(found, key=lambda entry: entry[0][1])
        ]

    def close(self) -> None:
        os.close(self._table)


def _block(key: bytes, count: int, process: str) -> Block:
    family, port, protocol, raw, _ = _KEY.unpack(key)
    if family == socket.AF_INET:
        address = socket.inet_ntop(socket.AF_INET, raw[:4])
    else:
        address = plain_address(socket.inet_ntop(socket.AF_INET6, raw))
    return Block(None, address, socket.ntohs(port & 0xFFFF), _PROTOCOLS.get(protocol), process, count)


def _refuse4(table: int, ways: frozenset[tuple[str, int]]) -> bytes:
    asm = bpf.Assembler()
    asm.move(_CONTEXT, 1)
    asm.load32(2, _CONTEXT, _IP4)
    asm.jump_if(2, 0, "allow")  # 0.0.0.0 means this host
    _judge_loopback(asm, 2, ways)
    asm.label("refuse")
    asm.store32_value(_FP, -32, socket.AF_INET)
    asm.store32(_FP, -20, 2)
    for offset in (-16, -12, -8):
        asm.store32_value(_FP, offset, 0)
    _refuse(asm, table)
    return asm.code()


def _refuse6(table: int, ways: frozenset[tuple[str, int]]) -> bytes:
    asm = bpf.Assembler()
    asm.move(_CONTEXT, 1)
    for number in range(4):
        asm.load32(2 + number, _CONTEXT, _IP6 + 4 * number)
        asm.store32(_FP, -20 + 4 * number, 2 + number)
    asm.store32_value(_FP, -32, socket.AF_INET6)
    asm.either(2, 3)
    asm.jump_unless(2, 0, "refuse")
    asm.jump_if(4, socket.htonl(0xFFFF), "mapped")
    asm.jump_unless(4, 0, "refuse")
    asm.jump_if(5, 0, "allow")  # :: means this host
    asm.jump_if(5, socket.htonl(1), "allow")
    asm.jump("refuse")
    asm.label("mapped")
    asm.jump_if(5, 0, "allow")
    _judge_loopback(asm, 5, ways)
    asm.label("refuse")
    _refuse(asm, table)
    return asm.code()


def _refuse(asm: bpf.Assembler, table: int) -> None:
    """The end of both: count the attempt (key at -32, value at -64 of the frame), answer ECONNREFUSED; and `allow`."""
    for offset, field in ((-28, _PORT), (-24, _PROTOCOL)):
        asm.load32(2, _CONTEXT, field)
        asm.store32(_FP, offset, 2)
    asm.store32_value(_FP, -4, 0)
    asm.map(1, table)
    asm.move(2, _FP)
    asm.add(2, -32)
    asm.call(bpf.MAP_LOOKUP_ELEM)
    asm.jump_if_null(0, "first")
    asm.set(1, 1)
    asm.count_up(0, 1)
    asm.jump("answer")
    asm.label("first")
    asm.store64_value(_FP, -64, 1)
    asm.call(bpf.KTIME_GET_NS)
    asm.store64(_FP, -56, 0)
    for offset in (-48, -40):
        asm.store64_value(_FP, offset, 0)
    asm.move(1, _FP)
    asm.add(1, -48)
    asm.set(2, 16)
    asm.call(bpf.GET_CURRENT_COMM)
    asm.map(1, table)
    for register, offset in ((2, -32), (3, -64)):
        asm.move(register, _FP)
        asm.add(register, offset)
    asm.set(4, 0)
    asm.call(bpf.MAP_UPDATE_ELEM)  # a full table loses the report, not the refusal
    asm.label("answer")
    asm.set(1, -errno.ECONNREFUSED)
    asm.call(bpf.SET_RETVAL)
    asm.leave(0)
    asm.label("allow")
    asm.leave(1)


def _refuse_raw() -> bytes:
    asm = bpf.Assembler()
    asm.move(_CONTEXT, 1)
    asm.load32(2, _CONTEXT, _SOCK_TYPE)
    asm.jump_if(2, socket.SOCK_RAW, "refuse")
    asm.load32(2, _CONTEXT, _SOCK_PROTOCOL)
    asm.jump_if(2, socket.IPPROTO_ICMP, "refuse")
    asm.jump_if(2, socket.IPPROTO_ICMPV6, "refuse")
    asm.leave(1)
    asm.label("refuse")
    asm.set(1, -errno.EPERM)
    asm.call(bpf.SET_RETVAL)
    asm.leave(0)
    return asm.code()


def _judge_loopback(asm: bpf.Assembler, address: int, ways: frozenset[tuple[str, int]]) -> None:
    """Go to `allow` for 127.0.0.0/8, but within the relays' addresses only for a way; fall through for all others."""
    asm.move(3, address)
    if ways:
        relays = bytes(int(part) for part in RELAYS.rstrip(".").split("."))
        asm.mask(3, _word(b"\xff\xff\0\0"))
        asm.jump_unless(3, _word(relays + b"\0\0"), "loopback")
        asm.load32(4, _CONTEXT, _PORT)
        for number, (wanted, port) in enumerate(sorted(ways)):
            asm.jump_unless(address, _word(socket.inet_aton(wanted)), f"not {number}")
            asm.jump_if(4, socket.htons(port), "allow")
            asm.label(f"not {number}")
        asm.jump("refuse")
    asm.label("loopback")
    asm.mask(3, _word(b"\xff\0\0\0"))
    asm.jump_if(3, _word(b"\x7f\0\0\0"), "allow")


def _word(network_order: bytes) -> int:
    """Four bytes as this machine reads them."""
    return int(struct.unpack("=I", network_order)[0])
