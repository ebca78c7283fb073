"""One JSON-RPC 2.0 request and its answer, as bytes."""

from __future__ import annotations

import itertools
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from smp.client.failures import CallFailed, Misunderstood
from smp.rpc.wire import Params

R = TypeVar("R")
_numbers = itertools.count(1)


class _Request(Struct, frozen=True, kw_only=True):
    id: int
    method: str
    params: Params
    jsonrpc: str = "2.0"


class _Error(Struct, frozen=True, kw_only=True):
    code: int
    message: str
    data: dict[str, Any] | UnsetType = UNSET


class _Answer(Struct, frozen=True, kw_only=True):
    id: int | None = None
    result: msgspec.Raw | UnsetType = UNSET
    error: _Error | UnsetType = UNSET


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Answer)


def request_of(method: str, params: Params) -> bytes:
    """The request; its id is this process's next number."""
    return _encoder.encode(_Request(id=next(_numbers), method=method, params=params))


class _Numbered(Struct, frozen=True, kw_only=True):
    id: int | None = None


def number_of(message: bytes) -> int | None:
    """The id of a request or an answer; None where there is none, as in the answer to what could not be read."""
    try:
        return msgspec.json.decode(message, type=_Numbered).id
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def result_of(raw: bytes, decoder: msgspec.json.Decoder[R]) -> R:
    """The typed result of an answer.

    Raises:
        CallFailed: The answer is an error object.
        Misunderstood: It is no answer, or its result is of another shape than this version knows.
    """
    try:
        answer = _decoder.decode(raw)
        if not isinstance(answer.error, UnsetType):
            data = {} if isinstance(answer.error.data, UnsetType) else answer.error.data
            raise CallFailed(answer.error.code, answer.error.message, data)
        if isinstance(answer.result, UnsetType):
            raise Misunderstood("an answer without result and error; is this an SMP server?")
        return decoder.decode(answer.result)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Misunderstood(f"not an answer that this client knows ({error}); compare the versions") from error
