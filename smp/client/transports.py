"""Ways to a server: HTTP, a child process that speaks line by line, or the same process.

Each carries one request's bytes and brings the answer's. What only reads is repeated when the connection breaks; what writes is
repeated only when it cannot have arrived.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread
import httpx
from tenacity import (
    AsyncRetrying,
    Retrying,
    retry_base,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential_jitter,
)

from smp.client.envelope import number_of
from smp.client.failures import CallFailed, ErrorCode, Misunderstood, Unreachable

DEFAULT_TIMEOUT_S = 900.0
"""A suite in a box, or the first index of a large repository, takes minutes."""
_CONNECT_TIMEOUT_S = 10.0
_STOP_S = 10.0
_ATTEMPTS = 5
_WAIT = wait_exponential_jitter(multiplier=0.1, max=2.0, jitter=0.1)
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Transport(ABC):
    """Carries requests, from several threads at once."""

    @abstractmethod
    def send(self, request: bytes, *, reads: bool) -> bytes:
        """The answer to a request.

        Args:
            request: One JSON-RPC request, UTF-8.
            reads: It changes nothing and may be sent again.

        Raises:
            Unreachable: No answer arrived.
            CallFailed: The server turned it away before reading it (no token, too large).
        """

    def close(self) -> None:  # noqa: B027 - nothing to close is a right answer
        """Let go of connections and processes."""


class AsyncTransport(ABC):
    """Carries requests, several at once."""

    @abstractmethod
    async def send(self, request: bytes, *, reads: bool) -> bytes:
        """As `Transport.send`."""

    async def close(self) -> None:  # noqa: B027
        """Let go of connections and processes."""


class HttpTransport(Transport):
    """`POST /rpc`."""

    def __init__(self, url: str, *, token: str | None = None, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        base = _url_of(url)
        self._client = httpx.Client(
            base_url=base, headers=_headers(token), timeout=_timeout(timeout_s), trust_env=_is_remote(base)
        )

    def send(self, request: bytes, *, reads: bool) -> bytes:
        repeat = Retrying(stop=stop_after_attempt(_ATTEMPTS), wait=_WAIT, retry=_may_repeat(reads), reraise=True)
        try:
            return repeat(lambda: _body_of(self._client.post("rpc", content=request)))
        except (httpx.TransportError, _Busy) as error:
            raise _unreachable(self._client.base_url, error) from error

    def close(self) -> None:
        self._client.close()


class AsyncHttpTransport(AsyncTransport):
    """`POST /rpc`, awaited."""

    def __init__(self, url: str, *, token: str | None = None, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        base = _url_of(url)
        self._client = httpx.AsyncClient(
            base_url=base, headers=_headers(token), timeout=_timeout(timeout_s), trust_env=_is_remote(base)
        )

    async def send(self, request: bytes, *, reads: bool) -> bytes:
        async def once() -> bytes:
            return _body_of(await self._client.post("rpc", content=request))

        repeat = AsyncRetrying(stop=stop_after_attempt(_ATTEMPTS), wait=_WAIT, retry=_may_repeat(reads), reraise=True)
        try:
            return await repeat(once)
        except (httpx.TransportError, _Busy) as error:
            raise _unreachable(self._client.base_url, error) from error

    async def close(self) -> None:
        await self._client.aclose()


class StdioTransport(Transport):
    """A child process that answers line by line (`smp serve --stdio`); its standard error stays ours."""

    def __init__(self, repo: Path, *, command: Sequence[str] = ()) -> None:
        """
        Args:
            command: The program and its arguments; left out: this interpreter's `smp serve --stdio`.

        Raises:
            Unreachable: The program cannot be started.
        """
        program = list(command) or [sys.executable, "-m", "smp.cli.start", "serve", "--stdio"]
        try:
            self._process = subprocess.Popen(
                [*program, "--repo", str(repo)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            raise Unreachable(f"cannot start {program[0]!r}: {error.strerror}") from error
        self._turn = threading.Lock()

    def send(self, request: bytes, *, reads: bool) -> bytes:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise AssertionError("both were asked for")
        wanted = number_of(request)
        with self._turn:
            try:
                stdin.write(request + b"\n")
                stdin.flush()
            except (OSError, ValueError) as error:
                raise Unreachable("the server's process has ended; its standard error says why") from error
            while (answer := stdout.readline()).endswith(b"\n"):
                if number_of(answer) in (wanted, None):
                    return answer
                # The answer of a call that was interrupted (Ctrl-C) while it waited: nobody is left who asked.
        raise Unreachable("the server's process ended before it answered; its standard error says why")

    def close(self) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is not None:
            with contextlib.suppress(OSError):  # it has ended, with something unread
                stdin.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:  # in the middle of a call
            self._process.kill()
            self._process.wait()
        if stdout is not None:
            stdout.close()


class OverThreads(AsyncTransport):
    """A blocking transport, awaited: each request waits on a thread of its own."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, request: bytes, *, reads: bool) -> bytes:
        return await anyio.to_thread.run_sync(lambda: self._transport.send(request, reads=reads))

    async def close(self) -> None:
        await anyio.to_thread.run_sync(self._transport.close)


class _Busy(Exception):
    """The server stops, or its index is not ready: it did not take the call."""


def _url_of(url: str) -> httpx.URL:
    found = httpx.URL(url)
    if found.scheme not in ("http", "https") or not found.host:
        raise ValueError(f"{url!r} is no address of a server; give one like http://127.0.0.1:8420")
    return found


def _headers(token: str | None) -> dict[str, str]:
    return {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})


def _timeout(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=_CONNECT_TIMEOUT_S)


def _is_remote(url: httpx.URL) -> bool:
    """Whether a proxy of the environment may stand in between; never before a server of this machine."""
    return url.host not in ("127.0.0.1", "localhost", "::1")


def _may_repeat(reads: bool) -> retry_base:
    def holds(error: BaseException) -> bool:
        return isinstance(error, _NEVER_SENT) or (reads and isinstance(error, httpx.NetworkError | _Busy))

    return retry_if_exception(holds)


def _body_of(answer: httpx.Response) -> bytes:
    if answer.status_code == httpx.codes.OK:
        return answer.content
    words = answer.text.strip()[:400]
    if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        raise _Busy(words)
    if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        raise CallFailed(ErrorCode.UNAUTHORIZED, words)
    if answer.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        raise CallFailed(ErrorCode.TOO_LARGE, words)
    raise Misunderstood(f"HTTP {answer.status_code} from {answer.url}: {words or 'no text'}; is this an SMP server?")


def _unreachable(url: httpx.URL, error: Exception) -> Unreachable:
    why = str(error) or type(error).__name__
    return Unreachable(f"no answer from {url}: {why}; is it running (smp serve), and is the address right?")
