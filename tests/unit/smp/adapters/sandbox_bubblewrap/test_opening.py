"""The first message of a connection is for the name that it was let through for, or the connection ends."""

from __future__ import annotations

import ssl
import struct

import pytest

from smp.adapters.sandbox_bubblewrap.host.opening import MAX_REQUEST_BYTES, Incomplete, RefusedOpening, judge

NAME = "registry.test"
GET = b"GET /simple/ HTTP/1.1\r\nHost: registry.test\r\n"


def hello(name: str | None) -> bytes:
    """What this Python's own TLS says first."""
    context = ssl.create_default_context()
    context.check_hostname = False
    sent = ssl.MemoryBIO()
    made = context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        made.do_handshake()
    return sent.read()


def refusal(first: bytes) -> str:
    with pytest.raises(RefusedOpening) as refused:
        judge(first, NAME, 80)
    return refused.value.reason


def extended(first: bytes, kind: int, body: bytes) -> bytes:
    """A hello with one more extension."""
    message = bytearray(first[9:])
    at = 34 + 1 + message[34]
    at += 2 + int.from_bytes(message[at : at + 2], "big")
    at += 1 + message[at]
    length = int.from_bytes(message[at : at + 2], "big")
    message[at : at + 2] = struct.pack("!H", length + 4 + len(body))
    message += struct.pack("!HH", kind, len(body)) + body
    handshake = b"\x01" + len(message).to_bytes(3, "big") + message
    return first[:3] + struct.pack("!H", len(handshake)) + handshake


def test_a_hello_for_the_name_goes_through_unchanged() -> None:
    for name in (NAME, "REGISTRY.test"):
        opening = judge(hello(name), NAME, 443)
        assert (opening.forward, opening.last) == (hello(name)[:0] + opening.forward, False)


def test_every_beginning_of_a_hello_asks_for_more() -> None:
    whole = hello(NAME)
    for length in range(len(whole)):
        with pytest.raises(Incomplete):
            judge(whole[:length], NAME, 443)


def test_a_hello_in_several_records_is_read_together() -> None:
    whole = hello(NAME)
    head, body = whole[:3], whole[5:]
    pieces = b"".join(
        head + struct.pack("!H", len(body[at : at + 90])) + body[at : at + 90] for at in range(0, len(body), 90)
    )
    assert judge(pieces, NAME, 443).forward == pieces


def test_a_hello_for_another_name_or_none_is_refused() -> None:
    assert refusal(hello("other.test")) == "sni_mismatch"
    assert refusal(hello(None)) == "sni_mismatch"


def test_an_encrypted_or_a_second_server_name_is_refused() -> None:
    assert refusal(extended(hello(NAME), 0xFE0D, b"\0" * 8)) == "sni_mismatch"
    second = b"evil.test"
    listed = struct.pack("!HBH", len(second) + 3, 0, len(second)) + second
    assert refusal(extended(hello(NAME), 0, listed)) == "sni_mismatch"


@pytest.mark.parametrize("first", [b"\x16\x03\x01\x00\x00", b"\x16\x03\x01\x00\x04\x02\x00\x00\x00", b"\x80\x2e\x01"])
def test_what_is_no_hello_is_refused(first: bytes) -> None:
    assert refusal(first) == "protocol_refused"


def test_a_hello_whose_lengths_lie_is_refused() -> None:
    broken = bytearray(hello(NAME))
    broken[9 + 34] = 255  # the session's length reaches beyond the message, or into what is no list
    assert refusal(bytes(broken)) in ("protocol_refused", "sni_mismatch")


def test_a_request_is_forwarded_as_the_only_one() -> None:
    opening = judge(GET + b"Connection: keep-alive\r\nAccept: */*\r\n\r\n", NAME, 80)
    assert opening.forward == GET + b"Accept: */*\r\nConnection: close\r\n\r\n"
    assert opening.last


@pytest.mark.parametrize("host", [b"registry.test:80", b"Registry.Test", b" registry.test "])
def test_the_host_may_be_written_in_other_ways(host: bytes) -> None:
    assert judge(b"GET / HTTP/1.1\r\nHost:" + host + b"\r\n\r\n", NAME, 80).last


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n", "host_mismatch"),
        (b"GET / HTTP/1.1\r\nHost: registry.test:81\r\n\r\n", "host_mismatch"),
        (b"GET / HTTP/1.1\r\nHost: registry.test\r\nHost: other.test\r\n\r\n", "host_mismatch"),
        (b"GET / HTTP/1.1\r\n\r\n", "host_mismatch"),
        (b"GET http://other.test/ HTTP/1.1\r\nHost: registry.test\r\n\r\n", "host_mismatch"),
        (b"CONNECT registry.test:443 HTTP/1.1\r\nHost: registry.test\r\n\r\n", "protocol_refused"),
        (b"POST / HTTP/1.1\r\nHost: registry.test\r\n\r\n", "protocol_refused"),
        (GET + b"Content-Length: 3\r\n\r\n", "protocol_refused"),
        (GET + b"Transfer-Encoding: chunked\r\n\r\n", "protocol_refused"),
        (GET + b"Upgrade: h2c\r\n\r\n", "protocol_refused"),
        (GET + b"\r\nGET / HTTP/1.1\r\nHost: other.test\r\n\r\n", "protocol_refused"),
        (GET + b" folded: x\r\n\r\n", "protocol_refused"),
        (GET + b"Host : other.test\r\n\r\n", "protocol_refused"),
        (GET + b"X: 1\nHost: other.test\r\n\r\n", "protocol_refused"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "protocol_refused"),
        (b"\0\0\0\0", "protocol_refused"),
        (b"G" * (MAX_REQUEST_BYTES + 1), "protocol_refused"),
    ],
)
def test_a_request_that_could_mean_another_host_is_refused(request_: bytes, reason: str) -> None:
    assert refusal(request_) == reason
