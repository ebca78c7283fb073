"""Carries the connections of a box to the names that it may reach: a process of its own, gone with the supervisor.

The box has no interface; an allowed name has an address of 127.77.0.0/16 there, on which this process listens. It dials
from the host's side, only the name that belongs to the address, only public addresses (unless whoever runs the platform
has pinned one), only when the first message is for that name (`opening.py`), and carries a bounded number of bytes out.
It runs as the box's user and holds nothing but its listeners and a pipe for its reports.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable

from smp.adapters.sandbox_bubblewrap.host import kernel
from smp.adapters.sandbox_bubblewrap.host.opening import Incomplete, RefusedOpening, judge
from smp.adapters.sandbox_bubblewrap.host.order import Way

_MAX_CONNECTIONS = 64
_DIAL_S = 10.0
_IDLE_S = 120.0
_PIECE = 1 << 16
# Addresses that lead to a v4 address inside them: NAT64, 6to4, Teredo. What they lead to is not ours to know.
_TRANSLATED = tuple(
    ipaddress.ip_network(block) for block in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
)

PRIVATE_ADDRESS = "private_address"
UNREACHABLE = "unreachable"
UPLOAD_LIMIT = "upload_limit"
TOO_MANY = "too_many_connections"

Report = Callable[[Way, str], None]
Resolve = Callable[[str, int], list[str]]


def is_public(address: str) -> bool:
    """Whether an address belongs to the public network and to nobody's inside."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return is_public(str(parsed.ipv4_mapped))
        if any(parsed in block for block in _TRANSLATED):
            return False
    return parsed.is_global and not parsed.is_multicast


def resolve(host: str, port: int) -> list[str]:
    """All addresses of a host, by the machine's own resolver."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Relay:
    """Carries connections; each one in a thread.

    Args:
        upload_bytes: What all connections together may carry out.
    """

    def __init__(self, report: Report, *, upload_bytes: int, resolver: Resolve = resolve) -> None:
        self._report = report
        self._left = upload_bytes
        self._lock = threading.Lock()
        self._resolve = resolver
        self._places = threading.BoundedSemaphore(_MAX_CONNECTIONS)

    def serve(self, listener: socket.socket, way: Way) -> None:
        """Accept until the listener is closed."""
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            if not self._places.acquire(blocking=False):
                self._refuse(client, way, TOO_MANY)
                continue
            threading.Thread(target=self._carry, args=(client, way), daemon=True).start()

    def _carry(self, client: socket.socket, way: Way) -> None:
        try:
            with client:
                client.settimeout(_IDLE_S)
                try:
                    self._connect(client, way)
                except RefusedOpening as refused:
                    self._refuse(client, way, refused.reason)
                except OSError:
                    _reset(client)
        finally:
            self._places.release()

    def _connect(self, client: socket.socket, way: Way) -> None:
        first = b""
        while True:
            try:
                opening = judge(first, way.name, way.port)
                break
            except Incomplete:
                piece = client.recv(_PIECE)
                if not piece:
                    return
                first += piece
        with self._dial(way) as far:
            far.settimeout(_IDLE_S)
            self._charge(len(opening.forward))
            far.sendall(opening.forward)
            if not opening.last:
                threading.Thread(target=self._upload, args=(client, far, way), daemon=True).start()
            while piece := far.recv(_PIECE):
                client.sendall(piece)
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)  # also ends the other direction

    def _dial(self, way: Way) -> socket.socket:
        try:
            addresses = self._resolve(way.dial, way.dial_port)
        except (OSError, UnicodeError) as error:  # the latter: a label that no name may have
            raise RefusedOpening(UNREACHABLE) from error
        if not way.pinned and not all(is_public(address) for address in addresses):
            raise RefusedOpening(PRIVATE_ADDRESS)
        for address in addresses:
            with contextlib.suppress(OSError):
                return socket.create_connection((address, way.dial_port), timeout=_DIAL_S)
        raise RefusedOpening(UNREACHABLE)

    def _upload(self, client: socket.socket, far: socket.socket, way: Way) -> None:
        try:
            while piece := client.recv(_PIECE):
                self._charge(len(piece))
                far.sendall(piece)
            far.shutdown(socket.SHUT_WR)
        except RefusedOpening as refused:
            self._report(way, refused.reason)
            for end in (far, client):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        except OSError:
            with contextlib.suppress(OSError):
                far.shutdown(socket.SHUT_RDWR)

    def _charge(self, size: int) -> None:
        with self._lock:
            self._left -= size
            if self._left < 0:
                raise RefusedOpening(UPLOAD_LIMIT)

    def _refuse(self, client: socket.socket, way: Way, reason: str) -> None:
        self._report(way, reason)
        _reset(client)


def _reset(client: socket.socket) -> None:
    """Close so that the other end sees a refusal, no orderly end."""
    with contextlib.suppress(OSError):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


class RelayProcess:
    """The relay of one command. `reports` is readable when it has refused something.

    Args:
        listeners: One per way, made in the box's network namespace; they belong to the process from here on.
        uid: Whom to run as; None: as we do.
    """

    def __init__(
        self, listeners: list[socket.socket], ways: tuple[Way, ...], *, upload_bytes: int, uid: int | None
    ) -> None:
        self.reports, told = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _become_relay(listeners, ways, told, parent, upload_bytes=upload_bytes, uid=uid)
            finally:
                os._exit(1)
        os.close(told)
        for listener in listeners:
            listener.close()

    def stop(self) -> list[tuple[str, int, str, str]]:
        """End it; what it reported and nobody has read: name, port, address in the box, reason."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        with os.fdopen(self.reports, "rb") as pipe:
            return [tuple(json.loads(line)) for line in pipe.read().splitlines()]


def _become_relay(
    listeners: list[socket.socket], ways: tuple[Way, ...], told: int, parent: int, *, upload_bytes: int, uid: int | None
) -> None:
    kept = {told, *(listener.fileno() for listener in listeners)}
    for number in os.listdir("/proc/self/fd"):
        if int(number) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(number))
    "x".encode("idna")  # loads what resolving needs, while our own files can be read
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.die_with_parent()
    if os.getppid() != parent:
        return
    seen: set[tuple[str, int, str]] = set()
    lock = threading.Lock()

    def report(way: Way, reason: str) -> None:
        with lock:
            if (way.name, way.port, reason) not in seen:  # the pipe holds them all until the end
                seen.add((way.name, way.port, reason))
                os.write(told, json.dumps([way.name, way.port, way.address, reason]).encode() + b"\n")

    relay = Relay(report, upload_bytes=upload_bytes)
    threads = [
        threading.Thread(target=relay.serve, args=(listener, way), daemon=True)
        for listener, way in zip(listeners, ways, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
