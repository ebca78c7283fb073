"""The HTTP and WebSocket face: `POST /rpc`, `/ws`, `/healthz`, `/readyz`, `/metrics`, the console at `/`.

Requests run on worker threads; `POST /rpc`, which is nearly all of them, reaches its handler without a framework's request and
response in between. Host and Origin are checked on every path (DNS rebinding: a page of another origin must
not reach a server on loopback); where a token is set it is demanded on everything but the health probes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

import msgspec
import structlog
from anyio import to_thread
from msgspec import UnsetType
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from smp.domain.access import Grant
from smp.domain.errors import SmpError
from smp.rpc import markdown
from smp.rpc.console import console_routes
from smp.rpc.dispatcher import Bounds, Dispatcher
from smp.rpc.dispatcher import Response as RpcResponse
from smp.rpc.gate import SUBPROTOCOL, Gate, grant_of
from smp.rpc.gauges import StateCollector
from smp.rpc.notifications import begun_message, message_of, missed_message
from smp.rpc.registry import MethodRegistry
from smp.services import Services

_FEED_SECONDS = 0.05
_CURSOR_DIGITS = 19
_NOW = "now"
_BODY_SECONDS = 60.0
_WORKERS = 40
"""Calls that are handled at once; some of them take minutes (a suite in a box)."""
_JSON = b"application/json"
_NO_CONTENT = 204
_MARKDOWN = b"text/markdown; charset=utf-8"
T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_encoder = msgspec.json.Encoder()
_log = structlog.get_logger(__name__)


class Metrics:
    """Prometheus metrics of one server."""

    def __init__(self, services: Services) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(StateCollector(services))
        self._calls = Counter(
            "smp_rpc_calls", "Calls by method and error code (0 = success).", ("method", "code"), registry=self.registry
        )
        self._seconds = Histogram(
            "smp_rpc_seconds", "Duration of calls by method.", ("method",), registry=self.registry
        )
        self.sockets = Gauge("smp_websockets", "Open WebSocket connections.", registry=self.registry)
        self.sockets.set(0)
        self._known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def observe(self, method: str, seconds: float, code: int) -> None:
        """Count one call."""
        known = self._known.get((method, code))
        if known is None:
            known = self._calls.labels(method, str(code)), self._seconds.labels(method)
            self._known[method, code] = known
        known[0].inc()
        known[1].observe(seconds)

    def text(self) -> bytes:
        """The exposition format."""
        return generate_latest(self.registry)


class RpcServer:
    """The handlers of one server, and its feed of notifications."""

    def __init__(self, services: Services, methods: MethodRegistry, *, background: Callable[[], None]) -> None:
        serve = services.settings.serve
        self._services = services
        self._background = background
        self._limit = serve.max_body_bytes
        self.metrics = Metrics(services)
        self._dispatcher = Dispatcher(
            methods,
            services,
            bounds=Bounds(max_batch=serve.max_batch, max_depth=serve.max_depth),
            observe=self.metrics.observe,
            spans=services.spans,
        )
        self._workers = ThreadPoolExecutor(_WORKERS, "smp-rpc")
        self._newest = 0
        self._moved = asyncio.Condition()
        self._ready = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /rpc`."""
        headers = dict(scope["headers"])
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await self._body(headers.get(b"content-length", b""), receive)
        except _Gone:
            return await _answer(send, 400)  # nobody is left to read it
        except TimeoutError:
            return await _answer(send, 408, f"the body took more than {_BODY_SECONDS:.0f} s\n".encode())
        except asyncio.CancelledError:
            return await _answer(send, 503, b"the server stops; the request had not arrived\n")
        if body is None:
            return await _answer(send, 413, f"the body may hold {self._limit} bytes\n".encode())
        wants = _wants_markdown(headers.get(b"accept", b""))
        brief = None if wants else self._dispatcher.handle_at_once(body, caller=grant_of(scope))
        if brief is not None:
            return await _answer(send, 200, _encoder.encode(brief), _JSON)
        sent = headers.get(b"traceparent")
        parent = None if sent is None else sent.decode("latin-1")
        try:
            answer = await self._on_worker(self._answer_to, body, grant_of(scope), wants, parent)
        except asyncio.CancelledError:
            return await _answer(send, 503, b"the server stops; whether the call took effect is not known\n")
        if answer is None:
            return await _answer(send, 204)
        return await _answer(send, 200, answer[0], answer[1])

    async def _body(self, declared: bytes, receive: Receive) -> bytes | None:
        """The body; None when it is, or says that it will be, longer than it may."""
        if declared.isdigit() and int(declared) > self._limit:
            return None
        chunks = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            part = message.get("body", b"")
            more = message.get("more_body", False)
            if not more and not chunks:
                return part if len(part) <= self._limit else None
            chunks += part
            if len(chunks) > self._limit:
                return None
            if not more:
                return bytes(chunks)

    def _answer_to(
        self, body: bytes, caller: Grant | None, wants_markdown: bool, parent: str | None
    ) -> tuple[bytes, bytes] | None:
        """Body and type of the answer; None where there is none. Runs on a worker."""
        answer = self._dispatcher.handle(body, caller=caller, parent=parent)
        if answer is None:
            return None
        if wants_markdown and isinstance(answer, RpcResponse) and not isinstance(answer.result, UnsetType):
            text = markdown.render(answer.result)
            if text is not None:
                return text.encode(), _MARKDOWN
        return _encoder.encode(answer), _JSON

    def _on_worker(self, call: Callable[[*Ts], T], *arguments: *Ts) -> asyncio.Future[T]:
        """Threads of our own: handing a call to one costs 0.03 ms of CPU, by `anyio.to_thread` 0.05."""
        return asyncio.get_running_loop().run_in_executor(self._workers, call, *arguments)

    def _frame_for(self, raw: bytes, caller: Grant | None) -> str | None:
        answer = self._dispatcher.handle_bytes(raw, caller=caller)
        return None if answer is None else answer.decode()

    async def ws(self, socket: WebSocket) -> None:
        """`/ws`: requests in, answers and notifications out, each a text frame.

        `/ws?after=<cursor>` begins behind the notification with that cursor, so that a client that was away misses nothing;
        `/ws?after=now` says first at which cursor it begins.
        """
        after = socket.query_params.get("after")
        if after is not None and after != _NOW and not (after.isdecimal() and len(after) < _CURSOR_DIGITS):
            await socket.close(1008, "after: the cursor of a notification, or now")
            return
        cursor = self._newest if after in (None, _NOW) else int(after)
        await socket.accept(SUBPROTOCOL if SUBPROTOCOL in socket.scope["subprotocols"] else None)
        self.metrics.sockets.inc()
        grant = grant_of(socket.scope)
        sender = asyncio.create_task(self._push(socket, cursor, begun=after == _NOW))
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                text = message.get("text")
                raw = text.encode("utf-8", "surrogatepass") if text is not None else message.get("bytes") or b""
                brief = self._dispatcher.handle_at_once(raw, caller=grant)
                if brief is not None:
                    await socket.send_text(_encoder.encode(brief).decode())
                    continue
                answer = await self._on_worker(self._frame_for, raw, grant)
                if answer is not None:
                    await socket.send_text(answer)
        except WebSocketDisconnect:
            return
        finally:
            self.metrics.sockets.dec()
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await sender

    async def _push(self, socket: WebSocket, cursor: int, *, begun: bool) -> None:
        """Send what the feed has behind a cursor, and wait for more. Each socket reads at its own pace and loses nothing.

        Args:
            begun: Say first where this is.
        """
        if begun:
            await socket.send_text(_encoder.encode(begun_message(cursor)).decode())
        while True:
            async with self._moved:
                while self._newest <= cursor:
                    await self._moved.wait()
            notices = await to_thread.run_sync(self._services.notifier.after, cursor)
            if notices and notices[0].cursor > cursor + 1:
                await socket.send_text(_encoder.encode(missed_message(cursor, notices[0].cursor)).decode())
            for notice in notices:
                await socket.send_text(_encoder.encode(message_of(notice)).decode())
                cursor = notice.cursor

    async def feed(self, cursor: int) -> None:
        """Watch the notifier's feed and wake the sockets when it has grown, until cancelled.

        The feed is a table, since workers and other processes publish too; a poll of its newest cursor costs
        microseconds.
        """
        newest = cursor
        while True:
            async with self._moved:
                if newest > self._newest:
                    self._newest = newest
                    self._moved.notify_all()
            await asyncio.sleep(_FEED_SECONDS)
            newest = await to_thread.run_sync(self._services.notifier.latest)

    def close(self) -> None:
        """Take no further calls; those that run are not waited for."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def start(self) -> None:
        """Index what is there, then be ready."""
        await to_thread.run_sync(self._background)
        self._ready = True

    async def readyz(self, _: Request) -> Response:
        """200 once the index is built, 503 before."""
        return PlainTextResponse("ready\n") if self._ready else PlainTextResponse("indexing\n", status_code=503)

    async def healthz(self, _: Request) -> Response:
        """200 while the process answers."""
        return PlainTextResponse("ok\n")

    async def metrics_text(self, _: Request) -> Response:
        """Prometheus."""
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


class _Gone(Exception):
    """The client went away before its request was whole."""


async def _answer(send: Send, status: int, body: bytes = b"", kind: bytes = b"text/plain; charset=utf-8") -> None:
    headers = [] if status == _NO_CONTENT else [(b"content-length", b"%d" % len(body)), (b"content-type", kind)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _wants_markdown(accept: bytes) -> bool:
    if b"markdown" not in accept.lower():
        return False
    return any(part.partition(b";")[0].strip().lower() == b"text/markdown" for part in accept.split(b","))


def build_app(
    services: Services, methods: MethodRegistry, *, host: str, prepare: Callable[[], None] = lambda: None
) -> ASGIApp:
    """The ASGI application of a server.

    Args:
        host: The address it is bound to; Host headers are checked against it.
        prepare: Run on a worker thread at start-up; `/readyz` answers 503 until it returns.
    """
    server = RpcServer(services, methods, background=prepare)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        # Before the first connection, so that nothing that is published while one is open is missed.
        cursor = await to_thread.run_sync(services.notifier.latest)
        tasks = [asyncio.create_task(_logged(job)) for job in (server.start(), server.feed(cursor))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            server.close()
            if services.spans is not None:
                await to_thread.run_sync(services.spans.flush)

    app = Starlette(
        routes=[
            Route("/rpc", server, methods=["POST"]),  # answers the other methods; a POST does not come this far
            WebSocketRoute("/ws", server.ws),
            Route("/healthz", server.healthz),
            Route("/readyz", server.readyz),
            Route("/metrics", server.metrics_text),
            *console_routes(),
        ],
        lifespan=lifespan,
    )

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        straight = scope["type"] == "http" and scope["path"] == "/rpc" and scope["method"] == "POST"
        await (server if straight else app)(scope, receive, send)

    return Gate(front, bound=host, token=services.settings.token, tokens=services.tokens)


async def _logged(job: Awaitable[None]) -> None:
    try:
        await job
    except SmpError as error:
        _log.error("background job failed", error=error.message)
