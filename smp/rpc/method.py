"""`@rpc_method` marks a handler and reads its types; nothing is registered by importing a module."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from smp.rpc.context import RequestContext

P = TypeVar("P", bound=Struct)
P_contra = TypeVar("P_contra", bound=Struct, contravariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Handler(Protocol[P_contra, R_co]):
    """A handler: synchronous, called on a worker thread."""

    def __call__(self, params: P_contra, ctx: RequestContext, /) -> R_co: ...


class RpcMethod(Struct, frozen=True, kw_only=True):
    """A protocol method.

    Attributes:
        params: Struct type of the parameters, `forbid_unknown_fields`.
        result: Type of the result, for schemas.
        internal: Clients are refused with -32015.
        planned: The handler raises `Planned`; shown as such in lists.
        dated: Its answers say of which index they are; not those that are tables of numbers alone.
        brief: It only reads, for well under a millisecond: handing it to another thread would cost as much again.
    """

    name: str
    params: type[Struct]
    result: Any
    call: Callable[[Any, RequestContext], Any]
    doc: str
    internal: bool = False
    planned: bool = False
    dated: bool = True
    brief: bool = False


def rpc_method(
    name: str, *, internal: bool = False, planned: bool = False, dated: bool = True, brief: bool = False
) -> Callable[[Callable[[P, RequestContext], R]], RpcMethod]:
    """Turn a handler `(params: Struct, ctx: RequestContext) -> Result` into an `RpcMethod`.

    The params struct must forbid unknown fields; a TypeError at import says when it does not.
    """

    def mark(handler: Callable[[P, RequestContext], R]) -> RpcMethod:
        hints = typing.get_type_hints(handler, include_extras=True)
        first = next(iter(inspect.signature(handler).parameters))
        params = hints[first]
        if not (
            isinstance(params, type) and issubclass(params, Struct) and params.__struct_config__.forbid_unknown_fields
        ):
            raise TypeError(f"{name}: parameters must be a struct with forbid_unknown_fields=True")
        return RpcMethod(
            name=name,
            params=params,
            result=hints["return"],
            call=handler,
            doc=inspect.getdoc(handler) or "",
            internal=internal,
            planned=planned,
            dated=dated,
            brief=brief,
        )

    return mark


def decode_params(method: RpcMethod, params: object) -> Struct:
    """Typed parameters of a method.

    Raises:
        msgspec.ValidationError: They do not fit.
    """
    return msgspec.convert(params, method.params)
