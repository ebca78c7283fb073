"""How many connections a server holds, how long one may take to say what it wants, and how much of it is held unread.

uvicorn has no bound on the first two: connections that say nothing would use up the process's files, after which it can
neither accept nor open anything, and logs that without end. The bound is taken at the connection, before any request is read.
Its C parser (httptools) has none on the third either: a head that never ends would be kept until the memory is.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import resource

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MAX_CONNECTIONS = 10_000
RESERVED_FILES = 256
"""Of the process's open files: for stores, git, boxes and the files that are being indexed."""
HEAD_SECONDS = 30.0
"""From a connection, or the first byte of a further request, to the end of the request's head."""
UNREAD_BYTES = 65_536
"""Received since the parser last made something of it: of a head, a trailer, or the line before a chunk of the body."""
MAX_PIPELINED = 64
"""Requests that wait on a connection for the answer to the one before."""
TRAILER_FIELDS = 100


@functools.cache
def room() -> int:
    """Connections that this process can hold; the soft limit on open files is raised as far as that needs and may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + RESERVED_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(min(MAX_CONNECTIONS, soft - RESERVED_FILES), RESERVED_FILES // 4)


class ClientFaults(logging.Filter):
    """For uvicorn's log: that a client sent no UTF-8 is told in a line, not with the traceback of its decoding (0.30 to 0.51)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record; take the traceback out of one that is the client's fault."""
        if record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError):
            record.exc_info = record.exc_text = None
        return True


class BoundedConnection(HttpToolsProtocol):
    """A connection that is dropped at once when there are too many, and later when its request does not come."""

    _timer: asyncio.TimerHandle | None = None
    _unread = 0
    _hosts = 0
    _trailers: int | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, or drop it."""
        super().connection_made(transport)
        if len(self.connections) > room():
            transport.abort()
            return
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Read on; a further request has its time from here."""
        self._unread += len(data)
        super().data_received(data)
        if self._unread > UNREAD_BYTES and not self.transport.is_closing() and self in self.connections:
            self.send_400_response("The head of the request is too long.")
        self._wait_for_request()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._hosts, self._trailers = 0, None
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; those behind the body mean nothing to us.

        Raises:
            HttpParserError: There is no end of fields behind the body.
        """
        if self._trailers is not None:
            self._trailers += 1
            if self._trailers > TRAILER_FIELDS:
                raise httptools.HttpParserError("too many fields behind the body")
            return
        self._hosts += name.lower() == b"host"
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is read.

        Raises:
            HttpParserError: It names no host, or several; too many requests wait for the answer to the one before.
        """
        self._unread, self._trailers = 0, 0
        if self._hosts > 1 or (self._hosts == 0 and self.parser.get_http_version() == "1.1"):
            raise httptools.HttpParserError("a request names one host")
        if len(self.pipeline) >= MAX_PIPELINED:
            raise httptools.HttpParserError("too many requests at once")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body is read."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is read."""
        self._unread = 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _wait_for_request(self) -> None:
        # A connection that became a WebSocket is no longer among those of this protocol.
        waiting = self in self.connections and (self.cycle is None or self.cycle.response_complete)
        if waiting and self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._give_up, self.cycle)

    def _give_up(self, before: RequestResponseCycle | None) -> None:
        self._timer = None
        if self.cycle is before and self in self.connections:
            self.transport.close()
        else:
            self._wait_for_request()
