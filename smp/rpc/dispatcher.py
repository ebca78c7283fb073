"""JSON-RPC 2.0: bytes in, bytes out.

Takes one request, notification or batch, decodes each member's parameters into the struct of its method, calls the
handler and encodes what it returns. Never raises: every failure becomes an error object with a code of
decisions.md section 4; an unexpected one is logged with a reference and answered without a traceback.

Synchronous; transports call it on worker threads. Source: https://www.jsonrpc.org/specification.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from smp.domain.access import Grant
from smp.domain.errors import Json, SmpError
from smp.ports.spans import Spans
from smp.rpc.access import check_access
from smp.rpc.context import RequestContext
from smp.rpc.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    code_of,
)
from smp.rpc.method import RpcMethod, decode_params
from smp.rpc.wire import IndexStateResult, Result
from smp.services import Services

_TOO_LARGE = -32016
_UNAUTHORIZED = -32015
_NAME_LIMIT = 200
_BRIEF_BYTES = 4096
NAMED_FILES = 100
"""Dirty and stale files that an answer names; a formatter or a branch switch leaves thousands."""
_PATH = re.compile(r" - at `(?:key in )?\$?(?P<path>.*)`$")
_FIELD = re.compile(r"field `(?P<field>[^`]*)`")


class ErrorObject(Struct, frozen=True, kw_only=True):
    """The `error` member of a response."""

    code: int
    message: str
    data: dict[str, Json] | UnsetType = UNSET


class Response(Struct, frozen=True, kw_only=True):
    """A response; exactly one of result and error is set."""

    id: Any
    jsonrpc: str = "2.0"
    result: Any = UNSET
    error: ErrorObject | UnsetType = UNSET


class Bounds(Struct, frozen=True, kw_only=True):
    """max_batch: members of a batch. max_depth: nesting of arrays and objects."""

    max_batch: int = 500
    max_depth: int = 64


Observer = Callable[[str, float, int], None]
"""Called after each call with method name, seconds, and error code (0 for success)."""


class Dispatcher:
    """Answers requests with the methods of a registry."""

    def __init__(
        self,
        methods: Mapping[str, RpcMethod],
        services: Services,
        *,
        bounds: Bounds | None = None,
        observe: Observer | None = None,
        spans: Spans | None = None,
    ) -> None:
        self._methods = methods
        self._services = services
        self._bounds = bounds or Bounds()
        self._observe = observe
        self._spans = spans
        self._encoder = msgspec.json.Encoder()

    def handle_bytes(self, raw: bytes, *, caller: Grant | None = None) -> bytes | None:
        """Answer one document.

        Args:
            raw: UTF-8 JSON: a request, a notification, or a batch.
            caller: What the token of an agent allows; None for the operator.

        Returns:
            UTF-8 JSON, or None where nothing is to be answered (notifications).
        """
        answer = self.handle(raw, caller=caller)
        return None if answer is None else self._encoder.encode(answer)

    def handle(
        self, raw: bytes, *, caller: Grant | None = None, parent: str | None = None
    ) -> Response | list[Response] | None:
        """Like `handle_bytes`, without the encoding of the answer.

        Args:
            parent: The caller's `traceparent`, of which the call's span becomes a part.
        """
        try:
            document = msgspec.json.decode(raw)
        except RecursionError:
            return _failure(None, _TOO_LARGE, "the document is nested too deeply")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _failure(None, PARSE_ERROR, f"not a JSON document: {error}")
        if _depth_exceeds(document, self._bounds.max_depth):
            return _failure(None, _TOO_LARGE, f"nested deeper than {self._bounds.max_depth}; flatten the document")
        if not isinstance(document, list):
            return self._member(document, caller, parent)
        if not document:
            return _failure(None, INVALID_REQUEST, "an empty batch; send at least one request")
        if len(document) > self._bounds.max_batch:
            return _failure(None, _TOO_LARGE, f"a batch holds at most {self._bounds.max_batch} members; send several")
        answers = [answer for member in document if (answer := self._member(member, caller, parent)) is not None]
        return answers or None

    def handle_at_once(self, raw: bytes, *, caller: Grant | None = None) -> Response | None:
        """As `handle`, for a brief method while nobody indexes and nothing has changed; None for everything else, which may take
        its time or wait. So short that an event loop can call it: it neither locks nor writes, and reads what is in memory."""
        if self._spans is not None or len(raw) > _BRIEF_BYTES:
            return None
        try:
            document = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if not isinstance(document, dict) or not self._is_brief(document):
            return None
        with self._services.indexer.answering_at_once() as possible:
            return self._member(document, caller, None) if possible else None

    def _is_brief(self, document: dict[str, Any]) -> bool:
        name, params = document.get("method"), document.get("params")
        method = self._methods.get(name) if isinstance(name, str) else None
        # with a session a call is logged, which writes
        plain = isinstance(params, dict) and "session_id" not in params and not _depth_exceeds(params, 0)
        return method is not None and method.brief and plain and "id" in document

    def call(self, name: str, params: object, *, caller: Grant | None = None) -> Any:
        """Call a method in process.

        Returns:
            The handler's result struct, with the state of the index.

        Raises:
            KeyError: No such method.
            SmpError, msgspec.ValidationError: As the handler and its parameters decide.
        """
        method = self._methods[name]
        decoded = decode_params(method, params)
        check_access(name, decoded, caller, self._services)
        self._services.indexer.begin_answer()
        result = method.call(decoded, RequestContext(services=self._services, grant=caller))
        return self._dated(result) if method.dated else result

    def _member(self, member: object, caller: Grant | None, parent: str | None) -> Response | None:
        if not isinstance(member, dict):
            return _failure(None, INVALID_REQUEST, "a request is an object")
        call_id = member.get("id")
        if isinstance(call_id, bool) or not isinstance(call_id, str | int | float | None):
            return _failure(None, INVALID_REQUEST, "id must be a string, a number or null")
        name = member.get("method")
        if member.get("jsonrpc") != "2.0":
            return _failure(call_id, INVALID_REQUEST, 'jsonrpc must be "2.0"')
        if not isinstance(name, str):
            return _failure(call_id, INVALID_REQUEST, "method must be a string")
        params = member.get("params", {})
        if not isinstance(params, dict | list):
            return _failure(call_id, INVALID_REQUEST, "params must be an object")
        answer = self._answer(call_id, name, params, caller, parent)
        return answer if "id" in member else None

    def _answer(self, call_id: object, name: str, params: object, caller: Grant | None, parent: str | None) -> Response:
        started = time.perf_counter()
        if self._spans is None:
            response = self._respond(call_id, name, params, caller)
        else:
            with self._spans.span(
                name if name in self._methods else "unknown", parent=parent, **_whose(params, caller)
            ):
                response = self._respond(call_id, name, params, caller)
        if self._observe is not None:
            known = name if name in self._methods else "unknown"
            error = response.error
            self._observe(known, time.perf_counter() - started, 0 if isinstance(error, UnsetType) else error.code)
        return response

    def _respond(self, call_id: object, name: str, params: object, caller: Grant | None) -> Response:
        method = self._methods.get(name)
        if method is None:
            shown = name if len(name) <= _NAME_LIMIT else name[:_NAME_LIMIT] + "…"
            return _failure(call_id, METHOD_NOT_FOUND, f"no method {shown!r}; docs/protocol.md lists all")
        if isinstance(params, list):
            return _failure(call_id, INVALID_PARAMS, "parameters go by name, in an object", path="params")
        if method.internal:
            return _failure(call_id, _UNAUTHORIZED, f"{name} is called by the server itself only")
        try:
            result = self.call(name, params, caller=caller)
        except msgspec.ValidationError as error:
            return _failure(call_id, INVALID_PARAMS, words_of(error, method.params), path=path_of(error))
        except SmpError as error:
            return Response(
                id=call_id, error=ErrorObject(code=code_of(error), message=error.message, data=error.data() or UNSET)
            )
        except Exception:  # noqa: BLE001 - the edge of the process: a client must get an answer, the operator the cause
            reference = self._services.clock.fresh_id("err")
            import structlog  # loads a tenth of a second's worth of modules, for what should never happen

            structlog.get_logger(__name__).exception("handler failed", method=name, reference=reference)
            return _failure(call_id, INTERNAL_ERROR, f"internal error; the server's log has it under {reference}")
        return Response(id=call_id, result=result)

    def _dated(self, result: object) -> object:
        """A result with the state of the index that it was made from; without, where that cannot be told now."""
        if not isinstance(result, Result):
            return result
        try:
            now = self._services.indexer.freshness()
        except SmpError:
            return result
        state = IndexStateResult(
            commit=now.commit_sha,
            dirty=now.dirty[:NAMED_FILES],
            stale=now.stale[:NAMED_FILES],
            dirty_count=len(now.dirty),
            stale_count=len(now.stale),
        )
        return msgspec.structs.replace(result, index_state=state)


def _whose(params: object, caller: Grant | None) -> dict[str, str]:
    """Which agent and session a call is about, as its span says it."""
    named = params if isinstance(params, dict) else {}
    said = {
        "agent": caller.agent_id if caller is not None else named.get("agent_id"),
        "session": named.get("session_id"),
    }
    return {key: value[:_NAME_LIMIT] for key, value in said.items() if isinstance(value, str)}


def path_of(error: msgspec.ValidationError) -> str:
    """The parameter that a validation error is about, dotted and indexed; `params` for the whole object."""
    text = str(error)
    located = _PATH.search(text)
    path = located["path"].lstrip(".") if located else ""
    field = _FIELD.search(text)
    if field:
        path = f"{path}.{field['field']}" if path else field["field"]
    return path or "params"


def words_of(error: msgspec.ValidationError, params: type[Struct]) -> str:
    """What a validation error says; of a parameter that there is not, or not yet, also which there are."""
    text = str(error)
    if _FIELD.search(text) is None or _PATH.search(text) is not None:
        return text
    return f"{text}; the parameters are {', '.join(params.__struct_encode_fields__) or 'none'}"


def _failure(call_id: object, code: int, message: str, *, path: str | None = None) -> Response:
    data: dict[str, Json] | UnsetType = {"path": path} if path else UNSET
    return Response(id=call_id, error=ErrorObject(code=code, message=message, data=data))


def _depth_exceeds(document: object, limit: int) -> bool:
    level: list[Any] = [document]
    for _ in range(limit + 1):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
