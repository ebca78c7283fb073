"""The supervisor's parts that need no box: bounded streams, invented addresses."""

from __future__ import annotations

import socket
import struct

import pytest

from smp.adapters.sandbox_bubblewrap.host.egress import NameServer
from smp.adapters.sandbox_bubblewrap.host.order import Order
from smp.adapters.sandbox_bubblewrap.host.supervise import Stream


@pytest.mark.parametrize("piece", [1, 3, 7, 64, 1000])
def test_a_stream_keeps_head_and_tail(piece: int) -> None:
    text = bytes(range(256)) * 4
    stream = Stream(64)
    for start in range(0, len(text), piece):
        stream.add(text[start : start + piece])
    kept, cut = stream.kept()
    assert cut
    assert kept == text[:32] + b"\n... 960 bytes left out ...\n" + text[-32:]


def test_a_stream_within_its_bound_is_whole() -> None:
    stream = Stream(10)
    for piece in (b"abc", b"defg", b"hij"):
        stream.add(piece)
    assert stream.kept() == (b"abcdefghij", False)


def query(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return b"\x12\x34\x01\x00\x00\x01" + bytes(6) + labels + b"\0" + struct.pack("!HH", kind, 1)


def test_a_name_gets_an_address_of_its_own_and_keeps_it() -> None:
    server = NameServer()
    first = server.answer(query("API.Example.com"))
    again = server.answer(query("api.example.com"))
    other = server.answer(query("other.example.com"))
    assert first is not None
    assert again is not None
    assert other is not None
    assert first[-4:] == again[-4:] != other[-4:]
    address = socket.inet_ntoa(first[-4:])
    assert address.startswith("198.18.")
    assert server.by_address[address] == "api.example.com"


def test_other_records_are_empty_and_no_query_is_no_answer() -> None:
    server = NameServer()
    empty = server.answer(query("example.com", kind=28))
    assert empty is not None
    assert empty[6:8] == b"\0\0"
    assert server.names == {}
    for garbage in (b"", b"\0" * 12, query("example.com")[:-3], b"\xff" * 40):
        assert server.answer(garbage) is None


def test_very_many_names_share_an_address_instead_of_growing_out_of_the_range() -> None:
    server = NameServer()
    addresses = {server.address_of(f"n{number}.example") for number in range(10_050)}
    assert len(addresses) <= 10_001
    assert all(address.startswith(("198.18.", "198.19.")) for address in addresses)


def test_an_order_is_one_line_and_comes_back_equal() -> None:
    order = Order(
        bwrap="/usr/bin/bwrap", owner=1, command="echo 'a\nb'", uid=None, lower="/l", changes="/c", exchange="/e", root="/",
        timeout_ms=1, output_kb=1, disk_mb=1, binds=(("/a b,c", "/d"),), bwrap_options=("--x",), rlimits={"CORE": 0},
    )  # fmt: skip
    line = order.encode()
    assert line.count(b"\n") == 1
    assert Order.decode(line) == order
