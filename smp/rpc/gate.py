"""Who may talk to the server at all, and for whom they speak.

Host and Origin are checked on every path (DNS rebinding: a page of another origin must not reach a server on loopback).
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import ipaddress
from collections.abc import Mapping
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from smp.domain.access import Grant
from smp.ports.token_store import TokenStore
from smp.rpc.console import OPEN_PREFIX

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_OPEN_PATHS = frozenset({"/healthz", "/readyz", "/"})
_GRANT = "smp.grant"
SUBPROTOCOL = "smp"
"""Of `/ws`. A browser cannot send a header with a WebSocket: it offers `smp` and `smp.bearer.<token, URL-safe base64 unpadded>`."""
_BEARER = SUBPROTOCOL + ".bearer."


def grant_of(scope: Mapping[str, Any]) -> Grant | None:
    """What the token of a request allows; None for the operator."""
    grant: Grant | None = scope.get(_GRANT)
    return grant


class Gate:
    """ASGI middleware: who may talk to the server at all.

    Host must be loopback, the bound address or (on a wildcard bind) any literal address; Origin, where sent, must be
    the server's own. Where a token is set, or one was issued to an agent, `Authorization: Bearer` is demanded; what an
    agent's token allows travels with the request (`grant_of`).
    """

    def __init__(self, app: ASGIApp, *, bound: str, token: str, tokens: TokenStore) -> None:
        self._app = app
        self._names = _LOOPBACK_NAMES | {bound.strip("[]").lower()}
        self._wildcard = bound in {"0.0.0.0", "::"}  # noqa: S104 - compared with, not bound to
        self._token = token.encode()
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not self._host_known(host):
            await self._refuse(403, "foreign Host header; use the address that the server prints", scope, receive, send)
        elif origin and origin.partition("://")[2].lower() != host.lower():
            await self._refuse(403, "foreign Origin header", scope, receive, send)
        elif scope["path"] in _OPEN_PATHS or scope["path"].startswith(OPEN_PREFIX):
            await self._app(scope, receive, send)
        else:
            # Here and not on a thread: it costs a look at a file's stamp, and a read of that small file after a change.
            known, grant = self._who(headers.get(b"authorization", b"") or _offered(scope))
            if not known:
                why = "send Authorization: Bearer with the server's token, or with one that was issued to you"
                await self._refuse(401, why, scope, receive, send)
                return
            scope[_GRANT] = grant
            await self._app(scope, receive, send)

    def _host_known(self, host: str) -> bool:
        name = _hostname(host)
        if name in self._names:
            return True
        if not self._wildcard:
            return False
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(name)
            return True
        return False

    def _who(self, header: bytes) -> tuple[bool, Grant | None]:
        """Whether somebody may talk to the server, and for which agent; None is the operator."""
        scheme, _, sent = header.partition(b" ")
        token = sent.strip() if scheme.lower() == b"bearer" else b""
        if self._token and hmac.compare_digest(token, self._token):
            return True, None
        grant = self._tokens.find(token.decode("latin-1")) if token else None
        if grant is not None:
            return True, grant
        return not self._token and not self._tokens.grants(), None

    async def _refuse(self, status: int, why: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": why})
            return
        await PlainTextResponse(why + "\n", status_code=status)(scope, receive, send)


def _offered(scope: Scope) -> bytes:
    """The header that a client would have sent, had it been able to."""
    for offer in scope.get("subprotocols", ()):
        if offer.startswith(_BEARER):
            with contextlib.suppress(ValueError):
                packed = offer.removeprefix(_BEARER)
                return b"Bearer " + base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    return b""


def _hostname(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()
