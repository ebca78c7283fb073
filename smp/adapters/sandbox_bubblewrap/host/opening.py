"""What a client says first on a connection, and whether it is meant for the name that it was let through for.

A relay knows the name from the address that was dialled, which is the name server's invention; what is checked here is
that the far end will be asked for the same name. TLS is not opened: the server name of its first message must be the name.
Of plain HTTP one request without a body is taken, its Host must be the name, and it is told to be the last.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_HELLO_BYTES = 64 << 10
MAX_REQUEST_BYTES = 32 << 10
_HANDSHAKE, _CLIENT_HELLO = 0x16, 1
_SERVER_NAME, _ENCRYPTED_HELLO = 0, 0xFE0D
_DROPPED = (b"connection", b"keep-alive", b"proxy-connection")
_REFUSED = (b"transfer-encoding", b"upgrade", b"expect", b"http2-settings")

SERVER_NAME_MISMATCH = "sni_mismatch"
HOST_MISMATCH = "host_mismatch"
PROTOCOL_REFUSED = "protocol_refused"


class Incomplete(Exception):
    """The first message is not all there yet."""


class RefusedOpening(Exception):
    """The connection is not for the name; `reason` goes into the report."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Opening:
    """forward: what the far end gets in place of the first message. last: nothing of the client's follows it."""

    forward: bytes
    last: bool


def judge(first: bytes, name: str, port: int) -> Opening:
    """Check the beginning of a connection.

    Args:
        first: All bytes so far.
        name: Lower case.

    Raises:
        Incomplete: Read on and ask again.
        RefusedOpening: It is for another name, or for none that can be told.
    """
    if not first:
        raise Incomplete
    if first[0] == _HANDSHAKE:
        if _server_name(_handshake(first)) != name:
            raise RefusedOpening(SERVER_NAME_MISMATCH)
        return Opening(forward=first, last=False)
    return Opening(forward=_request(first, name, port), last=True)


def _handshake(first: bytes) -> bytes:
    """The body of the first handshake message, put together from its records."""
    message, at = bytearray(), 0
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4], "big"):
        if len(message) >= 1 and message[0] != _CLIENT_HELLO:
            raise RefusedOpening(PROTOCOL_REFUSED)
        if len(first) > MAX_HELLO_BYTES:
            raise RefusedOpening(PROTOCOL_REFUSED)
        if len(first) < at + 5:
            raise Incomplete
        length = int.from_bytes(first[at + 3 : at + 5], "big")
        if first[at] != _HANDSHAKE or not length:
            raise RefusedOpening(PROTOCOL_REFUSED)
        if len(first) < at + 5 + length:
            raise Incomplete
        message += first[at + 5 : at + 5 + length]
        at += 5 + length
    return bytes(message[4 : 4 + int.from_bytes(message[1:4], "big")])


class _Reader:
    """Takes lengths and what they announce from a message."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def take(self, length: int) -> bytes:
        end = self._at + length
        if end > len(self._body):
            raise RefusedOpening(PROTOCOL_REFUSED)
        piece, self._at = self._body[self._at : end], end
        return piece

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def rest(self) -> bool:
        return self._at < len(self._body)


def _server_name(hello: bytes) -> str:
    """The one server name of a client's hello; an encrypted one could name anything (RFC 9849) and is refused."""
    reader = _Reader(hello)
    reader.take(2 + 32)
    for size in (1, 2, 1):  # session, cipher suites, compression
        reader.take(reader.number(size))
    extensions = _Reader(reader.take(reader.number(2))) if reader.rest() else _Reader(b"")
    found: list[str] = []
    while extensions.rest():
        kind, body = extensions.number(2), _Reader(extensions.take(extensions.number(2)))
        if kind == _ENCRYPTED_HELLO:
            raise RefusedOpening(SERVER_NAME_MISMATCH)
        if kind == _SERVER_NAME:
            names = _Reader(body.take(body.number(2)))
            while names.rest():
                names.take(1)
                found.append(names.take(names.number(2)).decode("latin-1").lower().rstrip("."))
    if len(found) != 1:
        raise RefusedOpening(SERVER_NAME_MISMATCH)
    return found[0]


def _request(first: bytes, name: str, port: int) -> bytes:
    end = first.find(b"\r\n\r\n")
    if end < 0:
        if len(first) > MAX_REQUEST_BYTES or not first[:1].isalpha():
            raise RefusedOpening(PROTOCOL_REFUSED)
        raise Incomplete
    line, *headers = first[:end].split(b"\r\n")
    if len(first) > end + 4 or any(mark in part for part in (line, *headers) for mark in (b"\r", b"\n", b"\0")):
        raise RefusedOpening(PROTOCOL_REFUSED)  # a body, a second request, or a line that others may read as two
    words = line.split(b" ")
    if len(words) != 3 or words[0] not in (b"GET", b"HEAD") or words[2] not in (b"HTTP/1.0", b"HTTP/1.1"):
        raise RefusedOpening(PROTOCOL_REFUSED)
    names = [name.encode(), f"{name}:{port}".encode()]
    if not words[1].startswith(b"/"):
        scheme, _, rest = words[1].lower().partition(b"://")
        if scheme != b"http" or rest.partition(b"/")[0] not in names:
            raise RefusedOpening(HOST_MISMATCH)
    kept, hosts = [line], []
    for header in headers:
        key, colon, value = header.partition(b":")
        low = key.lower()
        if not colon or not key or key != key.strip() or low in _REFUSED:
            raise RefusedOpening(PROTOCOL_REFUSED)
        if low == b"content-length" and value.strip() != b"0":
            raise RefusedOpening(PROTOCOL_REFUSED)
        if low == b"host":
            hosts.append(value.strip().lower())
        if low not in _DROPPED:
            kept.append(header)
    if len(hosts) != 1 or hosts[0] not in names:
        raise RefusedOpening(HOST_MISMATCH)
    return b"\r\n".join([*kept, b"Connection: close"]) + b"\r\n\r\n"
