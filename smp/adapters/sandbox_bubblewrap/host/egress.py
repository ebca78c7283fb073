"""Answers what a box asks of the network: no connection leaves it, and each attempt is named.

The boundary is the missing network interface. This module makes the failure tell what happened: a seccomp listener
answers connect and the sending calls with ECONNREFUSED and notes the target, and a name server that asks nobody gives
each name an address of its own (198.18.0.0/15, reserved by RFC 2544), so that a refused address leads back to its name.
A program that changes the address between the check and the call gets ENETUNREACH, unreported, and no further.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct
from dataclasses import dataclass, field

from smp.adapters.sandbox_bubblewrap.host.kernel import take_descriptor

# linux/seccomp.h on 64-bit machines: _IOWR('!', 0, 80 bytes), _IOWR('!', 1, 24 bytes)
_NOTIF_RECV = 0xC0502100
_NOTIF_SEND = 0xC0182101
_NOTIF_SIZE = 80
_CONTINUE = 1
_MAX_NAMES = 10_000
_MAX_BLOCKS = 1_000
_MAX_MESSAGES = 64
RELAYS = "127.77."
"""Beginning of the addresses of allowed names in a box; only where the relay listens does one answer."""


@dataclass
class Block:
    """A refused attempt; `count` repetitions are one entry."""

    host: str | None
    address: str
    port: int
    protocol: str | None
    process: str
    count: int = 1
    reason: str = "egress_blocked"


@dataclass
class NameServer:
    """Gives each name an address that no network has; `allowed` names have theirs, where a relay listens."""

    names: dict[str, str] = field(default_factory=dict)
    allowed: dict[str, str] = field(default_factory=dict)
    by_address: dict[str, str] = field(default_factory=dict)

    def address_of(self, name: str) -> str:
        """The address of a name, the same for the life of the command."""
        known = self.allowed.get(name) or self.names.get(name)
        if known is None:
            number = min(len(self.names), _MAX_NAMES) + 1
            known = f"198.{18 + (number >> 16)}.{(number >> 8) & 255}.{number & 255}"
            if len(self.names) < _MAX_NAMES:  # past that they share an address and are not remembered
                self.names[name] = known
                self.by_address[known] = name
        return known

    def answer(self, query: bytes) -> bytes | None:
        """The reply to a DNS query: an A record, an empty answer for every other type, None for no DNS."""
        labels = []
        at = 12
        try:
            while query[at]:
                length = query[at]
                labels.append(query[at + 1 : at + 1 + length].decode("latin-1"))
                at += 1 + length
            (kind,) = struct.unpack_from("!H", query, at + 1)
        except (IndexError, struct.error):
            return None
        if at + 5 > len(query) or not labels:
            return None
        record = b""
        if kind == 1:
            address = socket.inet_aton(self.address_of(".".join(labels).lower()))
            record = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 1, 4) + address
        header = query[:2] + b"\x81\x80" + struct.pack("!HHHH", 1, 1 if record else 0, 0, 0)
        return header + query[12 : at + 5] + record

    def serve(self, server: socket.socket) -> None:
        """Answer one datagram."""
        query, sender = server.recvfrom(2048)
        reply = self.answer(query)
        if reply:
            server.sendto(reply, sender)


class Gate:
    """The listener's side of the filter.

    Args:
        listener: Descriptor of the seccomp listener.
        calls: System call numbers by name: connect, sendto, sendmsg, sendmmsg.
        ways: Addresses and ports of the relay; `RELAYS` is closed but for these.
    """

    def __init__(self, listener: int, calls: dict[str, int], ways: frozenset[tuple[str, int]] = frozenset()) -> None:
        self._listener = listener
        self._calls = {number: name for name, number in calls.items()}
        self._ways = ways
        self._blocks: dict[tuple[str, int], Block] = {}

    def blocks(self) -> list[Block]:
        """What was refused, in the order of the first attempt at each target."""
        return list(self._blocks.values())

    def decide(self) -> None:
        """Answer one notification."""
        request = bytearray(_NOTIF_SIZE)
        try:
            fcntl.ioctl(self._listener, _NOTIF_RECV, request)
        except OSError:
            return  # the caller was killed in between
        ticket, pid, _, call, _, _, *arguments = struct.unpack("=QIIiIQ6Q", request)
        try:
            target = self._target(pid, self._calls.get(call, ""), arguments)
        except OSError:
            target = None  # unreadable memory: the kernel will answer EFAULT itself
        if target is None:
            reply = struct.pack("=QqiI", ticket, 0, 0, _CONTINUE)
        else:
            self._note(pid, arguments[0], *target)
            reply = struct.pack("=QqiI", ticket, 0, -errno.ECONNREFUSED, 0)
        try:
            fcntl.ioctl(self._listener, _NOTIF_SEND, bytearray(reply))
        except OSError:
            return

    def _note(self, pid: int, descriptor: int, address: str, port: int) -> None:
        block = self._blocks.get((address, port))
        if block is not None:
            block.count += 1
            return
        if len(self._blocks) >= _MAX_BLOCKS or not port:
            return
        self._blocks[address, port] = Block(None, address, port, _protocol(pid, descriptor), _process_name(pid))

    def _target(self, pid: int, call: str, arguments: list[int]) -> tuple[str, int] | None:
        """Address and port outside the box that a call is for; None when it stays inside."""
        if call == "connect":
            return self._outside(pid, arguments[1], arguments[2])
        if call == "sendto":
            return self._outside(pid, arguments[4], arguments[5])
        if call == "sendmsg":
            return self._message_target(pid, arguments[1])
        if call == "sendmmsg":
            for index in range(min(arguments[2], _MAX_MESSAGES)):
                found = self._message_target(pid, arguments[1] + index * 64)
                if found:
                    return found
        return None

    def _message_target(self, pid: int, header: int) -> tuple[str, int] | None:
        pointer, length = struct.unpack("=QI", _memory(pid, header, 12))
        return self._outside(pid, pointer, length)

    def _outside(self, pid: int, pointer: int, length: int) -> tuple[str, int] | None:
        found = _address(pid, pointer, length)
        if found is None or found in self._ways:
            return None
        if found[0].startswith(RELAYS) and self._ways:
            return found
        # The last two mean this host.
        return None if found[0].startswith("127.") or found[0] in ("::1", "0.0.0.0", "::") else found  # noqa: S104


def _address(pid: int, pointer: int, length: int) -> tuple[str, int] | None:
    """The Internet address and port that a structure in a process names; None for another family."""
    if not pointer:
        return None
    raw = _memory(pid, pointer, min(length & 0xFFFFFFFF, 28))
    if len(raw) < 8:
        return None
    (family,) = struct.unpack_from("=H", raw)
    (port,) = struct.unpack_from("!H", raw, 2)
    if family == socket.AF_INET:
        address = socket.inet_ntop(socket.AF_INET, raw[4:8])
    elif family == socket.AF_INET6 and len(raw) >= 24:
        address = socket.inet_ntop(socket.AF_INET6, raw[8:24])
    else:
        return None  # Unix and netlink sockets end at the namespaces
    return plain_address(address), port


def plain_address(address: str) -> str:
    """A v4 address in v6 notation as the v4 address that it is."""
    return address[7:] if address.startswith("::ffff:") and "." in address else address


def _memory(pid: int, address: int, length: int) -> bytes:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(length) or b""


def _protocol(pid: int, descriptor: int) -> str | None:
    """What kind of socket a call was made on; None when the caller is no main thread or has just closed it."""
    try:
        with socket.socket(fileno=take_descriptor(pid, descriptor)) as theirs:
            return {socket.SOCK_STREAM: "tcp", socket.SOCK_DGRAM: "udp"}.get(theirs.type)
    except OSError:
        return None


def _process_name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", "rb") as comm:
            return os.fsdecode(comm.read().strip())
    except OSError:
        return "?"
