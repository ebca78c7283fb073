"""`smp call`: one protocol method, in process."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec
from msgspec import UnsetType

from smp.bootstrap import build_platform
from smp.cli.options import open_indexed, repository_options
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.dispatcher import Response as RpcResponse
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.settings import Settings

WITHOUT_INDEX = frozenset({"smp/index/import"})
"""Methods that bring the index along: building one first would be the work that they save."""


def _methods(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return sorted(name for name in MethodRegistry(METHOD_GROUPS) if name.startswith(incomplete))


@click.command()
@click.argument("method", shell_complete=_methods)
@click.argument("params", default="{}")
@repository_options
def call(settings: Settings, method: str, params: str) -> None:
    """Call METHOD with PARAMS: JSON, @file, or - for standard input. Prints the result as JSON.

    A failure exits with 1 and prints the error object on standard error.

    \b
    Example: smp call smp/navigate '{"query": "src/shop/cart.py#Cart.total"}'
    """
    raw = _read(params)
    services = build_platform(settings) if method in WITHOUT_INDEX else open_indexed(settings)
    answer = Dispatcher(MethodRegistry(METHOD_GROUPS), services).handle(_request(method, raw))
    if not isinstance(answer, RpcResponse):
        raise click.UsageError("PARAMS must be one JSON object")
    if isinstance(answer.error, UnsetType):
        click.echo(msgspec.json.format(msgspec.json.encode(answer.result)).decode())
        return
    click.echo(msgspec.json.encode(answer.error).decode(), err=True)
    raise click.exceptions.Exit(1)


def _request(method: str, raw: bytes) -> bytes:
    try:
        msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Alone: the dispatcher says what is wrong at its own byte, and no tail of it becomes a part of the envelope.
        return raw
    return b'{"jsonrpc":"2.0","id":0,"method":' + msgspec.json.encode(method) + b',"params":' + raw + b"}"


def _read(params: str) -> bytes:
    if params == "-":
        return sys.stdin.buffer.read()
    if params.startswith("@"):
        path = Path(params[1:])
        if not path.is_file():
            raise click.BadParameter(f"no file {params[1:]!r}", param_hint="PARAMS")
        return path.read_bytes()
    return params.encode("utf-8", "surrogatepass")


COMMANDS = (call,)
