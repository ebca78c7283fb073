"""What the generated methods stand on: send parameters, decode the result, know the session that is meant."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.envelope import request_of, result_of
from smp.client.transports import AsyncTransport, Transport
from smp.rpc.access import READING
from smp.rpc.wire import Params

R = TypeVar("R")


class _Bound:
    """The session whose id goes with every call that takes one."""

    _bound: str | None = None

    def _session(self, given: str | UnsetType) -> str:
        if isinstance(given, str):
            return given
        if self._bound is None:
            raise ValueError("this call needs session_id; or make it on `with client.session(…) as session`")
        return self._bound

    def _session_if_any(self, given: str | UnsetType) -> str | UnsetType:
        if isinstance(given, str):
            return given
        return UNSET if self._bound is None else self._bound


class Caller(_Bound):
    """Calls that block."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(self, method: str, params: Params, decoder: msgspec.json.Decoder[R]) -> R:
        raw = self._transport.send(request_of(method, params), reads=method in READING)
        return result_of(raw, decoder)


class AsyncCaller(_Bound):
    """Calls that are awaited."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def _call(self, method: str, params: Params, decoder: msgspec.json.Decoder[R]) -> R:
        raw = await self._transport.send(request_of(method, params), reads=method in READING)
        return result_of(raw, decoder)
