"""`smp serve`: the RPC facade over HTTP and WebSocket, or over stdio."""

from __future__ import annotations

import contextlib
import logging
import sys
from pathlib import Path

import click
import msgspec
import uvicorn

from smp.bootstrap import build_platform
from smp.cli.failures import stderr
from smp.cli.listening import bind, is_loopback
from smp.cli.options import open_indexed, repository_options
from smp.cli.servers import announced
from smp.domain.errors import Invalid
from smp.indexing.collector import set_aside
from smp.rpc.connections import BoundedConnection, ClientFaults
from smp.rpc.dispatcher import Bounds, Dispatcher
from smp.rpc.http import build_app
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.rpc.stdio import claim_stdout, serve_stdio
from smp.safety.watch import Watcher
from smp.settings import Settings


@click.command()
@click.option("--host", default=None, help="Address to bind.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), default=None, help="Port; 0 takes a free one.  [default: 8420]")
@click.option("--stdio", is_flag=True, help="Speak line-delimited JSON-RPC on standard input and output instead.")
@click.option("--token-file", type=click.Path(path_type=Path), default=None, help="File that holds the bearer token.")
@repository_options
def serve(
    settings: Settings,
    host: str | None,
    port: int | None,
    stdio: bool,
    token_file: Path | None,
) -> None:
    """Serve a repository.

    Loopback needs no token; any other address refuses to start without one (SMP_TOKEN or --token-file).

    \b
    Example: smp serve --repo ~/src/myproject --port 8420
    """
    if stdio:
        out = claim_stdout()
        services = open_indexed(settings)
        bounds = Bounds(max_batch=settings.serve.max_batch, max_depth=settings.serve.max_depth)
        dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), services, bounds=bounds)
        with announced(settings, "stdio"):
            serve_stdio(dispatcher, sys.stdin.buffer, out, max_line_bytes=settings.serve.max_body_bytes)
        return
    settings = _with_token(settings, token_file)
    address = host or settings.serve.host
    if not settings.token and not is_loopback(address):
        raise Invalid(
            f"{address} can be reached from other machines: set a token with SMP_TOKEN or --token-file", path="host"
        )
    listener = bind(address, settings.serve.port if port is None else port)
    services = build_platform(settings)
    watching = contextlib.ExitStack()

    def prepare() -> None:
        services.indexer.refresh()
        services.sessions.expire_due()
        services.sandboxes.reap(services.sessions.boxes_in_use())
        if settings.serve.watch:
            watcher = Watcher(
                sources=services.sources,
                indexer=services.indexer,
                sessions=services.sessions,
                notifier=services.notifier,
            )
            watching.enter_context(watcher.running())
        watching.enter_context(services.indexer.keeping_up())
        set_aside()

    app = build_app(services, MethodRegistry(METHOD_GROUPS), host=address, prepare=prepare)
    shown = listener.getsockname()
    stderr.print(f"serving {settings.repo.name} on http://{shown[0]}:{shown[1]}/ (Ctrl-C stops)", soft_wrap=True)
    config = uvicorn.Config(
        app,
        log_level="warning",
        loop="uvloop",
        http=BoundedConnection,
        ws="websockets-sansio",
        timeout_graceful_shutdown=5,
    )
    logging.getLogger("uvicorn.error").addFilter(ClientFaults())
    url = f"http://{shown[0]}:{shown[1]}/"
    with watching, listener, announced(settings, url):
        uvicorn.Server(config).run(sockets=[listener])


def _with_token(settings: Settings, token_file: Path | None) -> Settings:
    if token_file is None:
        return settings
    try:
        token = token_file.read_text("utf-8").strip()
    except OSError as error:
        raise Invalid(f"cannot read the token file: {error.strerror}", path="token_file") from error
    if not token:
        raise Invalid("the token file is empty", path="token_file")
    return msgspec.structs.replace(settings, token=token)


COMMANDS = (serve,)
