"""`smp mcp`: the tools for agents that speak MCP, over stdio or streamable HTTP."""

from __future__ import annotations

import anyio
import click
import uvicorn
from mcp.server.stdio import stdio_server

from smp.cli.failures import stderr
from smp.cli.listening import bind, is_loopback
from smp.cli.options import open_indexed, repository_options
from smp.domain.errors import Invalid
from smp.rpc.connections import BoundedConnection
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.gate import Gate
from smp.rpc.mcp.server import McpServer
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.services import Services
from smp.settings import Settings

PATH = "/mcp"


@click.command()
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: address to bind.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8421, show_default=True, help="With --http: 0 takes a free port."
)
@repository_options
def mcp(settings: Settings, http: bool, host: str, port: int) -> None:
    """Give an agent the repository's tools by MCP.

    \b
    Example: smp mcp --repo ~/src/myproject
    In an agent's configuration:
      {"mcpServers": {"smp": {"command": "smp", "args": ["mcp", "--repo", "/path/to/repository"]}}}
    """
    if not http:
        anyio.run(_stdio, open_indexed(settings))
        return
    if not settings.token and not is_loopback(host):
        raise Invalid(f"{host} can be reached from other machines: set a token with SMP_TOKEN", path="host")
    listener = bind(host, port)
    services = open_indexed(settings)
    served = _server(services).server.streamable_http_app(streamable_http_path=PATH, host=host)
    shown = listener.getsockname()
    stderr.print(f"serving {settings.repo.name} on http://{shown[0]}:{shown[1]}{PATH} (Ctrl-C stops)", soft_wrap=True)
    gate = Gate(served, bound=host, token=settings.token, tokens=services.tokens)
    config = uvicorn.Config(gate, log_level="warning", loop="uvloop", http=BoundedConnection)
    with listener:
        uvicorn.Server(config).run(sockets=[listener])


def _server(services: Services) -> McpServer:
    return McpServer(services, Dispatcher(MethodRegistry(METHOD_GROUPS), services))


async def _stdio(services: Services) -> None:
    server = _server(services).server
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


COMMANDS = (mcp,)
