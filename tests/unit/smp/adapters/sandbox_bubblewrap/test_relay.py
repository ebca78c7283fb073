"""The relay dials public addresses only, unless whoever runs the platform has pinned another."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from smp.adapters.sandbox_bubblewrap.host.order import Way
from smp.adapters.sandbox_bubblewrap.host.relay import Relay, is_public

GET = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1"])
def test_addresses_of_the_public_network_may_be_dialled(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "198.18.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fd00:ec2::254", "ff02::1", "::ffff:10.0.0.1",
     "64:ff9b::a00:1", "2002:a00:1::", "2001:0:a00:1::1"],
)  # fmt: skip
def test_addresses_of_somebody_inside_may_not(address: str) -> None:
    assert not is_public(address)


class Rig:
    """A relay between a listener and a server, both on loopback."""

    def __init__(self, way: Way, addresses: list[str], *, upload_bytes: int = 1000) -> None:
        self.reports: list[str] = []
        self.asked: list[str] = []

        def resolver(host: str, port: int) -> list[str]:
            self.asked.append(f"{host}:{port}")
            return addresses

        self.listener = socket.create_server(("127.0.0.1", 0))
        relay = Relay(lambda way, reason: self.reports.append(reason), upload_bytes=upload_bytes, resolver=resolver)
        threading.Thread(target=relay.serve, args=(self.listener, way), daemon=True).start()

    def ask(self, request: bytes) -> bytes:
        with socket.create_connection(self.listener.getsockname(), timeout=20) as made:
            made.sendall(request)
            found = b""
            try:
                while piece := made.recv(64):
                    found += piece
            except ConnectionResetError:
                return b"reset"
            return found


@pytest.fixture
def server() -> Iterator[int]:
    listening = socket.create_server(("127.0.0.1", 0))

    def loop() -> None:
        while True:
            try:
                made, _ = listening.accept()
            except OSError:
                return
            with made:
                made.recv(4096)
                made.sendall(b"ALIVE")

    threading.Thread(target=loop, daemon=True).start()
    yield listening.getsockname()[1]
    listening.close()


def way(port: int, *, pinned: bool) -> Way:
    return Way(name="a.test", port=80, address="127.77.0.1", dial="far.test", dial_port=port, pinned=pinned)


def test_a_pinned_address_is_dialled_and_its_answer_comes_back(server: int) -> None:
    rig = Rig(way(server, pinned=True), ["127.0.0.1"])
    assert (rig.ask(GET), rig.reports, rig.asked) == (b"ALIVE", [], [f"far.test:{server}"])


def test_one_private_address_among_several_is_enough_to_refuse(server: int) -> None:
    rig = Rig(way(server, pinned=False), ["93.184.216.34", "127.0.0.1"])
    assert (rig.ask(GET), rig.reports) == (b"reset", ["private_address"])


def test_nothing_is_resolved_for_a_connection_that_asks_for_another_name(server: int) -> None:
    rig = Rig(way(server, pinned=True), ["127.0.0.1"])
    assert rig.ask(GET.replace(b"a.test", b"b.test")) == b"reset"
    assert (rig.reports, rig.asked) == (["host_mismatch"], [])


def test_what_goes_out_is_counted_over_all_connections(server: int) -> None:
    size = len(GET) + len(b"Connection: close\r\n")
    rig = Rig(way(server, pinned=True), ["127.0.0.1"], upload_bytes=2 * size)
    assert [rig.ask(GET) for _ in range(3)] == [b"ALIVE", b"ALIVE", b"reset"]
    assert rig.reports == ["upload_limit"]


def test_a_name_without_an_address_is_unreachable(server: int) -> None:
    rig = Rig(way(server, pinned=True), [])
    assert (rig.ask(GET), rig.reports) == (b"reset", ["unreachable"])
