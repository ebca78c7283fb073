"""The HTTP face: who may talk to it, what it refuses, and that notifications arrive."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import Struct
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from smp.adapters.clock_system import SystemClock
from smp.domain.access import Grant
from smp.domain.errors import Unavailable
from smp.domain.ids import AgentId, FilePath
from smp.domain.notifications import ConflictDetected, Notification
from smp.ports.notifier import Notice, Notifier
from smp.rpc.context import RequestContext
from smp.rpc.http import build_app
from smp.rpc.method import rpc_method
from smp.rpc.registry import MethodRegistry
from smp.rpc.wire import Params
from smp.services import Services
from smp.settings import ServeSettings

REQUEST = {"jsonrpc": "2.0", "method": "test/echo", "params": {"text": "hi"}, "id": 1}


class EchoParams(Params, frozen=True, kw_only=True):
    text: str


class EchoResult(Struct, frozen=True, kw_only=True):
    text: str


@rpc_method("test/echo")
def echo(params: EchoParams, _: RequestContext) -> EchoResult:
    """Says it again."""
    return EchoResult(text=params.text)


class WaitParams(Params, frozen=True, kw_only=True):
    pass


WAITING, GO = threading.Event(), threading.Event()


@rpc_method("test/wait")
def wait(_: WaitParams, __: RequestContext) -> EchoResult:
    """Takes as long as the test wants."""
    WAITING.set()
    GO.wait(30)
    return EchoResult(text="done")


class ListNotifier(Notifier):
    """A feed in memory."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    def publish(self, notification: Notification) -> None:
        self.notices.append(Notice(cursor=len(self.notices) + 1, body=notification))

    def after(self, cursor: int, *, limit: int = 1000) -> tuple[Notice, ...]:
        return tuple(notice for notice in self.notices if notice.cursor > cursor)[:limit]

    def latest(self) -> int:
        return len(self.notices)


class FewTokens:
    """One token of an agent, or none."""

    def __init__(self, *tokens: str) -> None:
        self._grants = {token: Grant(id=f"tok_{token}", agent_id=AgentId(token)) for token in tokens}

    def grants(self) -> tuple[Grant, ...]:
        return tuple(self._grants.values())

    def find(self, token: str) -> Grant | None:
        return self._grants.get(token)


def _away() -> None:
    raise Unavailable("the store is away; start it", backend="a store")


def client_of(
    *, token: str = "", host: str = "127.0.0.1", notifier: Notifier | None = None, agents: tuple[str, ...] = ()
) -> TestClient:
    services = SimpleNamespace(
        indexer=SimpleNamespace(begin_answer=lambda: None),
        tokens=FewTokens(*agents),
        clock=SystemClock(),
        notifier=notifier or ListNotifier(),
        session_store=SimpleNamespace(active=_away),
        graph=SimpleNamespace(size=_away),
        settings=SimpleNamespace(token=token, serve=ServeSettings(max_body_bytes=1000)),
        spans=None,
    )
    methods = MethodRegistry([cast("Any", SimpleNamespace(METHODS=(echo, wait)))])
    return TestClient(build_app(cast("Services", services), methods, host=host), base_url="http://127.0.0.1:8420")


@pytest.fixture
def client() -> Iterator[TestClient]:
    with client_of() as opened:
        yield opened


def test_a_call_is_answered_as_json(client: TestClient) -> None:
    reply = client.post("/rpc", json=REQUEST)
    assert (reply.status_code, reply.json()["result"]) == (200, {"text": "hi"})
    assert reply.headers["content-type"] == "application/json"


def test_a_notification_has_no_body(client: TestClient) -> None:
    reply = client.post("/rpc", json={key: value for key, value in REQUEST.items() if key != "id"})
    assert (reply.status_code, reply.content) == (204, b"")


def test_a_body_over_the_limit_is_refused_with_and_without_its_length(client: TestClient) -> None:
    declared = client.post("/rpc", content=b"x" * 1001)
    streamed = client.post("/rpc", content=iter([b"x" * 600, b"x" * 600]))
    assert (declared.status_code, streamed.status_code) == (413, 413)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", ""])
def test_a_foreign_host_is_refused(client: TestClient, host: str) -> None:
    assert client.post("/rpc", json=REQUEST, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost:8420", "127.0.0.1:9", "[::1]:8420", "LOCALHOST"])
def test_loopback_by_any_of_its_names_is_accepted(client: TestClient, host: str) -> None:
    assert client.post("/rpc", json=REQUEST, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://127.0.0.1:8420", 200), ("null", 403), ("https://evil.example", 403), ("http://localhost:3000", 403)],
)
def test_only_the_own_origin_is_accepted(client: TestClient, origin: str, status: int) -> None:
    assert client.post("/rpc", json=REQUEST, headers={"Origin": origin}).status_code == status


def test_a_wildcard_bind_accepts_literal_addresses_but_no_names() -> None:
    with client_of(host="0.0.0.0", token="t") as client:
        headers = {"Authorization": "Bearer t"}
        statuses = [
            client.post("/rpc", json=REQUEST, headers=headers | {"Host": host}).status_code
            for host in ("192.0.2.7:8420", "evil.example")
        ]
    assert statuses == [200, 403]


@pytest.mark.parametrize(("sent", "status"), [(None, 401), ("Bearer wrong", 401), ("Basic t", 401), ("Bearer t", 200)])
def test_a_token_is_demanded_where_one_is_set(sent: str | None, status: int) -> None:
    with client_of(token="t") as client:
        headers = {} if sent is None else {"Authorization": sent}
        assert client.post("/rpc", json=REQUEST, headers=headers).status_code == status
        assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("server", "sent", "status"),
    [("", None, 401), ("", "coder", 200), ("", "other", 401), ("s3cret", "s3cret", 200), ("s3cret", "coder", 200)],
)
def test_once_a_token_was_issued_everybody_needs_one(server: str, sent: str | None, status: int) -> None:
    headers = {"Authorization": f"Bearer {sent}"} if sent else {}
    with client_of(token=server, agents=("coder",)) as client:
        answer = client.post("/rpc", json=REQUEST, headers=headers)
    assert answer.status_code == status


def test_metrics_count_calls_by_method_and_code(client: TestClient) -> None:
    client.post("/rpc", json=REQUEST)
    client.post("/rpc", json=REQUEST | {"method": "x" * 50})
    text = client.get("/metrics").text
    assert 'smp_rpc_calls_total{code="0",method="test/echo"} 1.0' in text
    assert 'smp_rpc_calls_total{code="-32601",method="unknown"} 1.0' in text
    assert "smp_sessions_active" not in text, "a store that is away has no figures"


def test_the_console_is_at_the_root(client: TestClient) -> None:
    reply = client.get("/")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_a_websocket_answers_and_survives_garbage(client: TestClient) -> None:
    with client.websocket_connect("/ws", headers={"Host": "127.0.0.1"}) as socket:
        socket.send_text("{not json")
        socket.send_json(REQUEST)
        answers = [socket.receive_json() for _ in range(2)]
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32700, None]


def test_notifications_reach_every_open_websocket() -> None:
    notifier = ListNotifier()
    with (
        client_of(notifier=notifier) as client,
        client.websocket_connect("/ws", headers={"Host": "127.0.0.1"}) as first,
        client.websocket_connect("/ws", headers={"Host": "127.0.0.1"}) as second,
    ):
        for socket in (first, second):  # an answer proves that the socket is registered
            socket.send_json(REQUEST)
            socket.receive_json()
        notifier.publish(ConflictDetected(file=FilePath("a.py")))
        received = [socket.receive_json() for socket in (first, second)]
    assert [message["params"]["type"] for message in received] == ["conflict_detected"] * 2
    assert {message["method"] for message in received} == {"smp/notification"}


WAIT = b'{"jsonrpc":"2.0","method":"test/wait","id":1}'


def test_a_client_that_was_away_goes_on_behind_what_it_saw() -> None:
    notifier = ListNotifier()
    for number in range(3):
        notifier.publish(ConflictDetected(file=FilePath(f"{number}.py")))
    with (
        client_of(notifier=notifier) as client,
        client.websocket_connect("/ws?after=1", headers={"Host": "127.0.0.1"}) as socket,
    ):
        seen = [socket.receive_json()["params"] for _ in range(2)]
        notifier.publish(ConflictDetected(file=FilePath("3.py")))
        seen.append(socket.receive_json()["params"])
    assert [(one["file"], one["cursor"]) for one in seen] == [("1.py", 2), ("2.py", 3), ("3.py", 4)]


def test_a_client_that_was_away_for_too_long_is_told_so() -> None:
    notifier = ListNotifier()
    for number in range(5):
        notifier.publish(ConflictDetected(file=FilePath(f"{number}.py")))
    del notifier.notices[:3]
    notifier.latest = lambda: 5  # type: ignore[method-assign]
    with (
        client_of(notifier=notifier) as client,
        client.websocket_connect("/ws?after=1", headers={"Host": "127.0.0.1"}) as socket,
    ):
        first = socket.receive_json()
        assert (first["method"], first["params"]) == ("smp/notifications/missed", {"after": 1, "oldest": 4})
        assert socket.receive_json()["params"]["cursor"] == 4


@pytest.mark.parametrize("after", ["-1", "x", "9" * 30])
def test_a_cursor_that_is_none_is_refused(after: str) -> None:
    with (
        client_of() as client,
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(f"/ws?after={after}", headers={"Host": "127.0.0.1"}) as socket,
    ):
        socket.receive_json()


@pytest.mark.parametrize(("body", "said"), [(None, b"had not arrived"), (WAIT, b"is not known")])
def test_what_a_stopping_server_gives_up_is_answered(body: bytes | None, said: bytes) -> None:
    async def scenario() -> list[dict[str, Any]]:
        WAITING.clear()
        GO.clear()
        sent: list[dict[str, Any]] = []
        reading = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if body is None or reading.is_set():
                reading.set()
                await asyncio.Event().wait()
            reading.set()
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/rpc",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        task = asyncio.ensure_future(client_of().app(scope, receive, send))
        await reading.wait()
        if body is not None:
            await asyncio.to_thread(WAITING.wait, 30)
        task.cancel()
        GO.set()
        await task
        return sent

    start, answer = asyncio.run(scenario())[:2]
    assert start["status"] == 503
    assert said in answer["body"]
