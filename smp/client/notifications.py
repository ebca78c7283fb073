"""What the server tells without being asked, over `/ws`, from a cursor on: a client that was away misses nothing.

A connection that breaks is made again from the last cursor that was handed out, for as long as it takes; what the server no longer
keeps is said as `Missed`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import Any

import anyio
import msgspec
from msgspec import Struct
from tenacity import (
    AsyncRetrying,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_never,
    wait_exponential_jitter,
)
from websockets.asyncio.client import ClientConnection as AwaitedConnection
from websockets.asyncio.client import connect as connect_awaited
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from smp.client.failures import Misunderstood, Unreachable
from smp.domain.notifications import Notification

_FRAME_LIMIT = 16 * 1024 * 1024
_BEGUN = "smp/notifications/begun"
_MISSED = "smp/notifications/missed"
_NOTIFICATION = "smp/notification"
_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
_LOST = (OSError, ConnectionClosed)


class Notice(Struct, frozen=True, kw_only=True):
    """A notification. cursor: where to go on (`after`) once this one has been dealt with."""

    cursor: int
    body: Notification


class Missed(Struct, frozen=True, kw_only=True):
    """The feed no longer reaches back to where the client was: what lay between `after` and `oldest` is gone."""

    after: int
    oldest: int

    @property
    def cursor(self) -> int:
        """Where to go on."""
        return self.oldest - 1


class Begun(Struct, frozen=True, kw_only=True):
    """Where a feed that was asked for from now on begins."""

    cursor: int


class _Frame(Struct, frozen=True, kw_only=True):
    method: str | None = None
    params: Any = None


def read_frame(raw: str | bytes) -> Notice | Missed | Begun | None:
    """What a text frame says; None for what this version does not know.

    Raises:
        Misunderstood: No JSON-RPC message.
    """
    try:
        frame = msgspec.json.decode(raw, type=_Frame)
        if frame.method == _BEGUN:
            return msgspec.convert(frame.params, Begun)
        if frame.method == _MISSED:
            return msgspec.convert(frame.params, Missed)
        if frame.method == _NOTIFICATION:
            try:
                return Notice(cursor=frame.params["cursor"], body=msgspec.convert(frame.params, Notification))
            except msgspec.ValidationError:
                return None
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise Misunderstood(f"not a notification that this client knows: {error}") from error
    return None


class Feed:
    """Where to connect, and how far one has come."""

    def __init__(self, url: str, token: str | None, after: int | None) -> None:
        self._base = url.rstrip("/").replace("http", "ws", 1) + "/ws"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._cursor = after
        self._came_in = False
        self._silent = 0

    def listen(self) -> Iterator[Notice | Missed]:
        """Notices as they come, until the iterator is closed.

        Raises:
            Unreachable: The very first connection fails, or the server refuses.
        """
        while True:
            with self._refusals():
                again = Retrying(**self._repeating())
                socket = again(self._connect)
            self._came_in = True
            heard = self._cursor
            with socket, contextlib.suppress(*_LOST):
                for raw in socket:
                    if (found := self._read(raw)) is not None:
                        yield found
            time.sleep(self._pause(heard))

    async def listen_awaited(self) -> AsyncIterator[Notice | Missed]:
        """As `listen`."""
        while True:
            with self._refusals():
                again = AsyncRetrying(**self._repeating())
                socket: AwaitedConnection = await again(self._connect_awaited)
            self._came_in = True
            heard = self._cursor
            with contextlib.suppress(*_LOST):
                async with socket:
                    async for raw in socket:
                        if (found := self._read(raw)) is not None:
                            yield found
            await anyio.sleep(self._pause(heard))

    def _pause(self, heard: int | None) -> float:
        """Seconds before a lost connection is made again: longer while a server lets us in and closes without a word."""
        self._silent = 0 if self._cursor != heard else self._silent + 1
        return 0.0 if not self._silent else min(_PAUSE_S * 2 ** min(self._silent, 16), _LONGEST_PAUSE_S)

    def _connect(self) -> ClientConnection:
        return connect(self._url(), additional_headers=self._headers, max_size=_FRAME_LIMIT)

    async def _connect_awaited(self) -> AwaitedConnection:
        return await connect_awaited(self._url(), additional_headers=self._headers, max_size=_FRAME_LIMIT)

    def _url(self) -> str:
        return f"{self._base}?after={'now' if self._cursor is None else self._cursor}"

    def _repeating(self) -> dict[str, Any]:
        """Once for a server that was never seen; for ever for one that was, which will be back."""
        return {
            "stop": stop_never if self._came_in else stop_after_attempt(1),
            "wait": wait_exponential_jitter(multiplier=_PAUSE_S, max=_LONGEST_PAUSE_S, jitter=_PAUSE_S),
            "retry": retry_if_exception(_is_passing),
            "reraise": True,
        }

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except InvalidHandshake as error:
            raise Unreachable(f"{self._base} does not let us in ({error}); is the token right?") from error
        except _LOST as error:
            raise Unreachable(f"no answer from {self._base}: {error}; is the server running?") from error

    def _read(self, raw: str | bytes) -> Notice | Missed | None:
        """What there is to hand out. Where a feed begins is noted, so that what comes while it breaks is not missed either."""
        found = read_frame(raw)
        if found is not None:
            self._cursor = found.cursor
        return None if isinstance(found, Begun) else found


def _is_passing(error: BaseException) -> bool:
    if isinstance(error, InvalidStatus):
        return error.response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
    return isinstance(error, _LOST)
