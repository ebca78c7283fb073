"""Connections that ask for nothing: there is a bound on their number and on their patience, and others are served."""

from __future__ import annotations

import contextlib
import logging
import resource
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from smp.cli.listening import bind
from smp.rpc import connections
from smp.rpc.connections import BoundedConnection, ClientFaults

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
Connect = Callable[[], socket.socket]


async def app(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def connect() -> Iterator[Connect]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=BoundedConnection, lifespan="off", log_level="critical", timeout_keep_alive=60)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    opened: list[socket.socket] = []

    def make() -> socket.socket:
        opened.append(socket.create_connection(listener.getsockname(), timeout=20))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
    server.should_exit = True
    thread.join()
    listener.close()


def answer(one: socket.socket) -> bytes:
    try:
        return one.recv(1000)
    except ConnectionResetError:
        return b""


def test_beyond_the_bound_a_connection_is_dropped_and_the_others_are_served(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "room", lambda: 2)
    first, _, third = connect(), connect(), connect()
    assert answer(third) == b""
    first.sendall(REQUEST)
    assert answer(first).startswith(b"HTTP/1.1 204")


@pytest.mark.parametrize("said", [b"", b"GET / HT", REQUEST + b"GET / HT"])
def test_a_request_that_does_not_come_ends_the_connection(
    said: bytes, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    one = connect()
    one.sendall(said)
    heard = bytearray()
    while part := answer(one):
        heard += part
    assert heard.count(b"HTTP/1.1 204") == said.count(REQUEST)


def replies(one: socket.socket) -> bytes:
    heard = bytearray()
    while part := answer(one):
        heard += part
    return bytes(heard)


HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000, id="a field without end"),
        pytest.param(b"GET /" + b"x" * 200_000, id="an address without end"),
        pytest.param(CHUNKED + b"1;" + b"x" * 200_000, id="an extension of a chunk without end"),
        pytest.param(CHUNKED + b"0\r\nX: " + b"x" * 200_000, id="a field without end behind the body"),
        pytest.param(CHUNKED + b"0\r\n" + b"X: y\r\n" * 200, id="fields without end behind the body"),
    ],
)
def test_what_has_no_end_is_cut_off(said: bytes, connect: Connect) -> None:
    one = connect()
    with contextlib.suppress(ConnectionError):
        one.sendall(said)
    assert b"HTTP/1.1 400" in replies(one) or said.startswith(CHUNKED)


@pytest.mark.parametrize("hosts", [b"", b"Host: localhost\r\nHost: evil.example\r\n"])
def test_a_request_names_one_host(hosts: bytes, connect: Connect) -> None:
    one = connect()
    one.sendall(b"GET / HTTP/1.1\r\n" + hosts + b"\r\n")
    assert replies(one).startswith(b"HTTP/1.1 400")


def test_requests_that_do_not_wait_for_answers_are_answered_in_order_up_to_a_bound(connect: Connect) -> None:
    few, many = connect(), connect()
    few.sendall(REQUEST * 3)
    heard = b""
    while heard.count(b"HTTP/1.1 204") < 3:
        heard += answer(few)
    with contextlib.suppress(ConnectionError):
        many.sendall(REQUEST * 1000)
    assert b"HTTP/1.1 400" in replies(many)


def test_the_room_leaves_files_for_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [(1024, 4096)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: limits.append(pair))
    connections.room.cache_clear()
    try:
        assert connections.room() == 4096 - connections.RESERVED_FILES
    finally:
        connections.room.cache_clear()
    assert limits[-1] == (4096, 4096)


def test_a_client_that_sends_no_utf8_is_told_of_without_a_traceback() -> None:
    def record_of(fault: Exception) -> logging.LogRecord:
        return logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "said", None, (type(fault), fault, None))

    client, ours = record_of(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")), record_of(ZeroDivisionError())
    assert (ClientFaults().filter(client), ClientFaults().filter(ours)) == (True, True)
    assert client.exc_info is None
    assert ours.exc_info is not None


def test_answers_leave_without_waiting_for_the_network() -> None:
    """asyncio sets TCP_NODELAY on connections of listeners that say they are TCP, and on no others."""
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
