"""The dispatcher answers JSON-RPC 2.0 to the letter, whatever comes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Annotated, Any, cast

import pytest
from msgspec import Meta, Struct

from smp.adapters.clock_system import SystemClock
from smp.domain.errors import Invalid, NodeNotFound, Planned, Unavailable
from smp.domain.ids import CommitSha, FilePath
from smp.indexing.reports import Freshness
from smp.rpc.context import RequestContext
from smp.rpc.dispatcher import NAMED_FILES, Bounds, Dispatcher
from smp.rpc.method import rpc_method
from smp.rpc.registry import MethodRegistry
from smp.rpc.wire import Params, Result
from smp.services import Services


class Item(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    size: int


class EchoParams(Params, frozen=True, kw_only=True):
    text: str
    depth: Annotated[int, Meta(ge=1, le=20)] = 1
    items: tuple[Item, ...] = ()


class BriefParams(Params, frozen=True, kw_only=True):
    text: str
    session_id: str = ""


class EchoResult(Struct, frozen=True, kw_only=True):
    text: str


@rpc_method("test/echo")
def echo(params: EchoParams, _: RequestContext) -> EchoResult:
    """Says it again."""
    return EchoResult(text=params.text)


@rpc_method("test/fail")
def fail(params: EchoParams, _: RequestContext) -> EchoResult:
    """Fails as told."""
    failures: dict[str, Exception] = {
        "node": NodeNotFound("save", candidates=("a", "b")),
        "invalid": Invalid("no", path="text"),
        "planned": Planned("test/fail"),
        "bug": ZeroDivisionError("secret detail"),
    }
    raise failures[params.text]


@rpc_method("test/internal", internal=True)
def internal(_params: EchoParams, _: RequestContext) -> EchoResult:
    """Not for clients."""
    raise AssertionError("a client reached an internal method")


class CountResult(Result, frozen=True, kw_only=True):
    count: int


@rpc_method("test/count")
def count(params: EchoParams, _: RequestContext) -> CountResult:
    """Like the handlers of the protocol: its result is one."""
    return CountResult(count=len(params.text))


GROUP = SimpleNamespace(METHODS=(echo, fail, internal, count))


@pytest.fixture
def dispatcher() -> Dispatcher:
    indexer = SimpleNamespace(begin_answer=lambda: None)
    services = cast("Services", SimpleNamespace(clock=SystemClock(), indexer=indexer))
    return Dispatcher(MethodRegistry([cast("Any", GROUP)]), services, bounds=Bounds(max_batch=5, max_depth=20))


def ask(dispatcher: Dispatcher, document: object) -> Any:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    answer = dispatcher.handle_bytes(raw)
    return None if answer is None else json.loads(answer)


def request(method: str = "test/echo", call_id: object = 1, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, "params": params, "id": call_id}


@pytest.mark.parametrize("call_id", [1, 0, -5, 2**53, 1.5, "größe", "", None])
def test_id_is_echoed(dispatcher: Dispatcher, call_id: object) -> None:
    answer = ask(dispatcher, request(call_id=call_id, text="hi"))
    assert answer == {"jsonrpc": "2.0", "id": call_id, "result": {"text": "hi"}}


def test_notification_is_executed_and_not_answered(dispatcher: Dispatcher) -> None:
    assert ask(dispatcher, {"jsonrpc": "2.0", "method": "test/echo", "params": {"text": "x"}}) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"{} {}",
        b"{'a': 1}",
        b'{"a":NaN}',
        b'{"a":1,}',
        b'{"a":"\xff"}',
        b'{"a":"\\ud800"}',
        b'{"a":"\x01"}',
        '{"a":1}'.encode("utf-16"),
    ],
)
def test_what_is_no_json_is_a_parse_error(dispatcher: Dispatcher, raw: bytes) -> None:
    answer = ask(dispatcher, raw)
    assert (answer["error"]["code"], answer["id"]) == (-32700, None)


@pytest.mark.parametrize(
    "document",
    [
        [],
        5,
        "x",
        None,
        {"method": "test/echo", "id": 1},
        {"jsonrpc": "1.0", "method": "test/echo", "id": 1},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "method": 7, "id": 1},
        {"jsonrpc": "2.0", "method": "test/echo", "id": {}},
        {"jsonrpc": "2.0", "method": "test/echo", "id": True},
        {"jsonrpc": "2.0", "method": "test/echo", "params": "x", "id": 1},
    ],
)
def test_what_is_no_request_is_invalid(dispatcher: Dispatcher, document: object) -> None:
    assert ask(dispatcher, document)["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({}, "text"),
        ({"text": 5}, "text"),
        ({"text": "x", "nope": 1}, "nope"),
        ({"text": "x", "depth": 0}, "depth"),
        ({"text": "x", "depth": True}, "depth"),
        ({"text": "x", "items": [{"size": 1}, {"size": "big"}]}, "items[1].size"),
        ({"text": "x", "items": [{"siz": 1}]}, "items[0].siz"),
    ],
)
def test_a_bad_parameter_is_named(dispatcher: Dispatcher, params: dict[str, object], path: str) -> None:
    error = ask(dispatcher, request() | {"params": params})["error"]
    assert (error["code"], error["data"]["path"]) == (-32602, path)


def test_a_number_beyond_all_bounds_is_a_bad_parameter(dispatcher: Dispatcher) -> None:
    raw = b'{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"text":"x","depth":' + b"9" * 401 + b"}}"
    assert ask(dispatcher, raw)["error"]["data"] == {"path": "depth"}


def test_positional_parameters_are_refused(dispatcher: Dispatcher) -> None:
    answer = ask(dispatcher, {"jsonrpc": "2.0", "method": "test/echo", "params": ["x"], "id": 1})
    assert answer["error"]["code"] == -32602


def test_batch_answers_each_request_and_no_notification(dispatcher: Dispatcher) -> None:
    batch = [request(call_id=1, text="a"), {"jsonrpc": "2.0", "method": "test/echo", "params": {"text": "n"}}, 5]
    assert [answer["id"] for answer in ask(dispatcher, batch)] == [1, None]


def test_batch_of_notifications_is_not_answered(dispatcher: Dispatcher) -> None:
    assert ask(dispatcher, [{"jsonrpc": "2.0", "method": "test/echo", "params": {"text": "n"}}] * 2) is None


def test_too_long_a_batch_and_too_deep_a_document_are_refused(dispatcher: Dispatcher) -> None:
    deep: object = 1
    for _ in range(30):
        deep = [deep]
    codes = [ask(dispatcher, document)["error"]["code"] for document in ([request(text="x")] * 6, deep)]
    codes.append(ask(dispatcher, b"[" * 100_000)["error"]["code"])
    assert codes == [-32016, -32016, -32016]


def test_domain_errors_carry_their_code_and_fields(dispatcher: Dispatcher) -> None:
    error = ask(dispatcher, request("test/fail", text="node"))["error"]
    assert (error["code"], error["data"]["candidates"]) == (-32001, ["a", "b"])


def test_planned_methods_say_so(dispatcher: Dispatcher) -> None:
    error = ask(dispatcher, request("test/fail", text="planned"))["error"]
    assert (error["code"], error["data"]["planned"]) == (-32601, True)


def test_a_bug_is_answered_without_its_details(dispatcher: Dispatcher) -> None:
    error = ask(dispatcher, request("test/fail", text="bug"))["error"]
    assert error["code"] == -32603
    assert "secret" not in json.dumps(error)


def test_internal_methods_are_refused_before_their_parameters_are_read(dispatcher: Dispatcher) -> None:
    assert ask(dispatcher, request("test/internal"))["error"]["code"] == -32015


def test_a_long_method_name_is_not_echoed_whole(dispatcher: Dispatcher) -> None:
    answer = dispatcher.handle_bytes(json.dumps(request("x" * 1_000_000)).encode())
    assert answer is not None
    assert len(answer) < 1_000


def test_parameters_must_forbid_unknown_fields() -> None:
    class Loose(Struct):
        text: str

    def handler(params: Loose, ctx: RequestContext) -> None: ...

    handler.__annotations__ = {"params": Loose, "ctx": RequestContext, "return": None}
    with pytest.raises(TypeError, match="forbid_unknown_fields"):
        rpc_method("test/loose")(handler)


def dated(freshness: Callable[[], Freshness]) -> Any:
    services = SimpleNamespace(
        clock=SystemClock(), indexer=SimpleNamespace(freshness=freshness, begin_answer=lambda: None)
    )
    dispatcher = Dispatcher(MethodRegistry([cast("Any", GROUP)]), cast("Services", services))
    return ask(dispatcher, request("test/count", text="hi"))["result"]


def test_every_result_says_of_which_index_it_is() -> None:
    names = tuple(FilePath(f"f{number:03}.py") for number in range(NAMED_FILES + 1))
    answer = dated(lambda: Freshness(commit_sha=CommitSha("c" * 40), dirty=names, stale=names[:1]))
    assert answer == {
        "count": 2,
        "index_state": {
            "commit": "c" * 40,
            "dirty": list(names[:NAMED_FILES]),
            "stale": ["f000.py"],
            "dirty_count": NAMED_FILES + 1,
            "stale_count": 1,
        },
    }


def test_an_answer_is_given_although_git_does_not_answer() -> None:
    def silent() -> Freshness:
        raise Unavailable("git took more than 120 s", backend="git")

    assert dated(silent) == {"count": 2}


@rpc_method("test/brief", brief=True)
def brief(params: BriefParams, _: RequestContext) -> EchoResult:
    """Takes next to no time."""
    if params.text == "gone":
        raise NodeNotFound("gone")
    return EchoResult(text=params.text)


@pytest.mark.parametrize(
    ("document", "at_once"),
    [
        (request("test/brief", text="hi"), True),
        (request("test/brief", text="gone"), True),
        (request("test/brief", wrong=1), True),
        (request("test/brief", text="hi", session_id="s1"), False),
        (request("test/brief", text={"nested": 1}), False),
        (request("test/brief", text="x" * 5000), False),
        (request("test/echo", text="hi"), False),
        (request("test/none", text="hi"), False),
        ([request("test/brief", text="hi")], False),
        ({"jsonrpc": "2.0", "method": "test/brief", "params": {"text": "hi"}}, False),
        ({"jsonrpc": "2.0", "method": "test/brief", "params": ["hi"], "id": 1}, False),
        ({"jsonrpc": "2.0", "method": ["test/brief"], "params": {}, "id": 1}, False),
        (b"{", False),
        (5, False),
    ],
)
@pytest.mark.parametrize("possible", [True, False])
def test_brief_methods_are_answered_at_once_where_that_is_possible(
    document: object, at_once: bool, possible: bool
) -> None:
    indexer = SimpleNamespace(begin_answer=lambda: None, answering_at_once=lambda: nullcontext(possible))
    services = cast("Services", SimpleNamespace(clock=SystemClock(), indexer=indexer))
    dispatcher = Dispatcher(MethodRegistry([cast("Any", SimpleNamespace(METHODS=(echo, brief)))]), services)
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    answer = dispatcher.handle_at_once(raw)
    if at_once and possible:
        assert answer == dispatcher.handle(raw)
    else:
        assert answer is None
