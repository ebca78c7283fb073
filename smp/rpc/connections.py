"""How many connections a server holds, and how long one may take to say what it wants.

uvicorn has no bound on either: connections that say nothing would use up the process's files, after which it can neither
accept nor open anything, and logs that without end. The bound is taken at the connection, before any request is read.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MAX_CONNECTIONS = 10_000
RESERVED_FILES = 256
"""Of the process's open files: for stores, git, boxes and the files that are being indexed."""
HEAD_SECONDS = 30.0
"""From a connection, or the first byte of a further request, to the end of the request's head."""


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


class BoundedConnection(H11Protocol):
    """A connection that is dropped at once when there are too many, and later when its request does not come."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, or drop it."""
        super().connection_made(transport)
        if len(self.connections) > room():
            transport.abort()
            return
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Read on; a further request has its time from here."""
        super().data_received(data)
        self._wait_for_request()

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
