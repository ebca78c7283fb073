"""The client: every method of the protocol with the server's own types, sessions that close themselves, notifications that resume."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import anyio
from msgspec import UNSET, UnsetType

from smp.client.failures import CallFailed, ClientError, ErrorCode
from smp.client.in_process import InProcessTransport
from smp.client.methods import AsyncMethods, Methods
from smp.client.notifications import Feed, Missed, Notice
from smp.client.transports import (
    DEFAULT_TIMEOUT_S,
    AsyncHttpTransport,
    AsyncTransport,
    HttpTransport,
    OverThreads,
    StdioTransport,
    Transport,
)
from smp.domain.sessions import Concurrency, SessionMode
from smp.rpc.methods.safety import CloseResult, OpenResult

Ending = Literal["completed", "aborted", "rolled_back"]
_ENDED = (ErrorCode.SESSION_NOT_FOUND, ErrorCode.SESSION_EXPIRED)


class Session(Methods):
    """An open session: every call that takes a `session_id` gets this one's. Leaving the `with` block closes it: completed, or
    aborted when an exception leaves the block.
    """

    def __init__(self, transport: Transport, opened: OpenResult) -> None:
        super().__init__(transport)
        self._bound = opened.session_id
        self.opened = opened
        self.closed: CloseResult | None = None

    @property
    def id(self) -> str:
        """The session's id."""
        return self.opened.session_id

    def close(self, status: Ending = "completed") -> CloseResult:
        """End it; a second call answers what the first one did."""
        if self.closed is None:
            self.closed = self.session_close(status=status)
        return self.closed


class Client(Methods):
    """A connection to one repository's server. Usable from several threads over HTTP."""

    def __init__(self, transport: Transport, *, feed: tuple[str, str | None] | None = None) -> None:
        super().__init__(transport)
        self._feed = feed

    @classmethod
    def http(cls, url: str, *, token: str | None = None, timeout_s: float = DEFAULT_TIMEOUT_S) -> Self:
        """A server that `smp serve` runs.

        Args:
            url: Such as `http://127.0.0.1:8420`.
            token: The server's, or one that `smp token` issued to an agent.
            timeout_s: How long a call may take.
        """
        return cls(HttpTransport(url, token=token, timeout_s=timeout_s), feed=(url, token))

    @classmethod
    def stdio(cls, repo: Path, *, command: Sequence[str] = ()) -> Self:
        """A server as a child process, which ends with the client.

        Raises:
            Unreachable: It cannot be started.
        """
        return cls(StdioTransport(repo, command=command))

    @classmethod
    def local(cls, repo: Path) -> Self:
        """No server: the repository is opened in this process, and indexed first where it never was.

        Raises:
            SmpError: It cannot be opened.
        """
        return cls(InProcessTransport(repo))

    @contextlib.contextmanager
    def session(
        self,
        *,
        agent_id: str,
        task: str,
        scope: Sequence[str],
        mode: SessionMode = SessionMode.WRITE,
        concurrency: Concurrency = Concurrency.MVCC,
        commit_sha: str | UnsetType = UNSET,
        ttl_seconds: int | UnsetType = UNSET,
    ) -> Iterator[Session]:
        """Open a session for a `with` block and close it at its end, whatever happens in between."""
        opened = self.session_open(
            agent_id=agent_id,
            task=task,
            scope=tuple(scope),
            mode=mode,
            concurrency=concurrency,
            commit_sha=commit_sha,
            ttl_seconds=ttl_seconds,
        )
        session = Session(self._transport, opened)
        try:
            yield session
        except BaseException:
            # What went wrong in the block matters more than that the session had ended already, or the server.
            with contextlib.suppress(ClientError):
                session.close("aborted")
            raise
        with _ended_is_fine():
            session.close()

    def notifications(self, *, after: int | None = None) -> Iterator[Notice | Missed]:
        """What the server tells, from now on or from behind a cursor; connections that break are made again.

        Raises:
            ValueError: This client has no server that could tell anything on its own.
            Unreachable: The server cannot be reached at the start.
        """
        return Feed(*_feed_of(self._feed), after).listen()

    def close(self) -> None:
        """Let go of the connection."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncSession(AsyncMethods):
    """As `Session`, awaited."""

    def __init__(self, transport: AsyncTransport, opened: OpenResult) -> None:
        super().__init__(transport)
        self._bound = opened.session_id
        self.opened = opened
        self.closed: CloseResult | None = None

    @property
    def id(self) -> str:
        """The session's id."""
        return self.opened.session_id

    async def close(self, status: Ending = "completed") -> CloseResult:
        """End it; a second call answers what the first one did."""
        if self.closed is None:
            self.closed = await self.session_close(status=status)
        return self.closed


class AsyncClient(AsyncMethods):
    """As `Client`, awaited; several calls may be under way at once."""

    def __init__(self, transport: AsyncTransport, *, feed: tuple[str, str | None] | None = None) -> None:
        super().__init__(transport)
        self._feed = feed

    @classmethod
    def http(cls, url: str, *, token: str | None = None, timeout_s: float = DEFAULT_TIMEOUT_S) -> Self:
        """As `Client.http`."""
        return cls(AsyncHttpTransport(url, token=token, timeout_s=timeout_s), feed=(url, token))

    @classmethod
    def stdio(cls, repo: Path, *, command: Sequence[str] = ()) -> Self:
        """As `Client.stdio`."""
        return cls(OverThreads(StdioTransport(repo, command=command)))

    @classmethod
    def local(cls, repo: Path) -> Self:
        """As `Client.local`."""
        return cls(OverThreads(InProcessTransport(repo)))

    @contextlib.asynccontextmanager
    async def session(
        self,
        *,
        agent_id: str,
        task: str,
        scope: Sequence[str],
        mode: SessionMode = SessionMode.WRITE,
        concurrency: Concurrency = Concurrency.MVCC,
        commit_sha: str | UnsetType = UNSET,
        ttl_seconds: int | UnsetType = UNSET,
    ) -> AsyncIterator[AsyncSession]:
        """As `Client.session`; a task that is cancelled in the block still closes its session."""
        opened = await self.session_open(
            agent_id=agent_id,
            task=task,
            scope=tuple(scope),
            mode=mode,
            concurrency=concurrency,
            commit_sha=commit_sha,
            ttl_seconds=ttl_seconds,
        )
        session = AsyncSession(self._transport, opened)
        try:
            yield session
        except BaseException:
            with anyio.CancelScope(shield=True), contextlib.suppress(ClientError):
                await session.close("aborted")
            raise
        with _ended_is_fine():
            await session.close()

    def notifications(self, *, after: int | None = None) -> AsyncIterator[Notice | Missed]:
        """As `Client.notifications`."""
        return Feed(*_feed_of(self._feed), after).listen_awaited()

    async def close(self) -> None:
        """Let go of the connection."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _feed_of(feed: tuple[str, str | None] | None) -> tuple[str, str | None]:
    if feed is None:
        raise ValueError(
            "notifications come from a server: connect to one that `smp serve` runs, with Client.http(url)"
        )
    return feed


@contextlib.contextmanager
def _ended_is_fine() -> Iterator[None]:
    """A block that ended its session itself (a hand-over, `session_close`) has done no wrong."""
    try:
        yield
    except CallFailed as error:
        if error.code not in _ENDED:
            raise
