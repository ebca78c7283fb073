"""The HTTP and WebSocket face: `POST /rpc`, `/ws`, `/healthz`, `/readyz`, `/metrics`, the console at `/`.

Requests run on worker threads. Host and Origin are checked on every path (DNS rebinding: a page of another origin must
not reach a server on loopback); where a token is set it is demanded on everything but the health probes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from importlib.resources import files

import msgspec
import structlog
from anyio import to_thread
from msgspec import UnsetType
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from smp.domain.errors import SmpError
from smp.rpc import markdown
from smp.rpc.dispatcher import Bounds, Dispatcher
from smp.rpc.dispatcher import Response as RpcResponse
from smp.rpc.gate import Gate, grant_of
from smp.rpc.notifications import message_of, missed_message
from smp.rpc.registry import MethodRegistry
from smp.services import Services

_FEED_SECONDS = 0.05
_CURSOR_DIGITS = 19
_BODY_SECONDS = 60.0
_encoder = msgspec.json.Encoder()
_log = structlog.get_logger(__name__)


class Metrics:
    """Prometheus metrics of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter(
            "smp_rpc_calls", "Calls by method and error code (0 = success).", ("method", "code"), registry=self.registry
        )
        self._seconds = Histogram(
            "smp_rpc_seconds", "Duration of calls by method.", ("method",), registry=self.registry
        )
        self.sockets = Gauge("smp_websockets", "Open WebSocket connections.", registry=self.registry)
        self.sockets.set(0)

    def observe(self, method: str, seconds: float, code: int) -> None:
        """Count one call."""
        self._calls.labels(method, str(code)).inc()
        self._seconds.labels(method).observe(seconds)

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
        self.metrics = Metrics()
        self._dispatcher = Dispatcher(
            methods,
            services,
            bounds=Bounds(max_batch=serve.max_batch, max_depth=serve.max_depth),
            observe=self.metrics.observe,
        )
        self._newest = 0
        self._moved = asyncio.Condition()
        self._ready = False

    async def rpc(self, request: Request) -> Response:
        """`POST /rpc`."""
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await self._body(request)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is left to read it
        except TimeoutError:
            return PlainTextResponse(f"the body took more than {_BODY_SECONDS:.0f} s\n", status_code=408)
        except asyncio.CancelledError:
            return PlainTextResponse("the server stops; the request had not arrived\n", status_code=503)
        if body is None:
            return PlainTextResponse(f"the body may hold {self._limit} bytes\n", status_code=413)
        try:
            answer = await to_thread.run_sync(partial(self._dispatcher.handle, body, caller=grant_of(request.scope)))
        except asyncio.CancelledError:
            return PlainTextResponse("the server stops; whether the call took effect is not known\n", status_code=503)
        if answer is None:
            return Response(status_code=204)
        if isinstance(answer, RpcResponse) and _wants_markdown(request.headers.get("accept", "")):
            text = None if isinstance(answer.result, UnsetType) else markdown.render(answer.result)
            if text is not None:
                return Response(text, media_type="text/markdown; charset=utf-8")
        return Response(_encoder.encode(answer), media_type="application/json")

    async def _body(self, request: Request) -> bytes | None:
        declared = request.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > self._limit:
            return None
        chunks = bytearray()
        async for chunk in request.stream():
            chunks += chunk
            if len(chunks) > self._limit:
                return None
        return bytes(chunks)

    async def ws(self, socket: WebSocket) -> None:
        """`/ws`: requests in, answers and notifications out, each a text frame.

        `/ws?after=<cursor>` begins behind the notification with that cursor, so that a client that was away misses nothing.
        """
        after = socket.query_params.get("after")
        if after is not None and not (after.isdecimal() and len(after) < _CURSOR_DIGITS):
            await socket.close(1008, "after: the cursor of a notification")
            return
        await socket.accept()
        self.metrics.sockets.inc()
        grant = grant_of(socket.scope)
        sender = asyncio.create_task(self._push(socket, self._newest if after is None else int(after)))
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                text = message.get("text")
                raw = text.encode("utf-8", "surrogatepass") if text is not None else message.get("bytes") or b""
                answer = await to_thread.run_sync(partial(self._dispatcher.handle_bytes, raw, caller=grant))
                if answer is not None:
                    await socket.send_text(answer.decode())
        except WebSocketDisconnect:
            return
        finally:
            self.metrics.sockets.dec()
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await sender

    async def _push(self, socket: WebSocket, cursor: int) -> None:
        """Send what the feed has behind a cursor, and wait for more. Each socket reads at its own pace and loses nothing."""
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

    async def console(self, _: Request) -> Response:
        """The page at `/`."""
        return HTMLResponse(files("smp.rpc").joinpath("console.html").read_text("utf-8"))


def _wants_markdown(accept: str) -> bool:
    return any(part.partition(";")[0].strip().lower() == "text/markdown" for part in accept.split(","))


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

    app = Starlette(
        routes=[
            Route("/rpc", server.rpc, methods=["POST"]),
            WebSocketRoute("/ws", server.ws),
            Route("/healthz", server.healthz),
            Route("/readyz", server.readyz),
            Route("/metrics", server.metrics_text),
            Route("/", server.console),
        ],
        lifespan=lifespan,
    )
    return Gate(app, bound=host, token=services.settings.token, tokens=services.tokens)


async def _logged(job: Awaitable[None]) -> None:
    try:
        await job
    except SmpError as error:
        _log.error("background job failed", error=error.message)
