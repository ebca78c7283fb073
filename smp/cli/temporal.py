"""`smp temporal start|stop|status`: Temporal's own dev server on a file in the data directory."""

from __future__ import annotations

import click

from smp.cli import devserver
from smp.cli.failures import stderr
from smp.cli.options import json_option, repository_options, say
from smp.domain.errors import Unavailable
from smp.settings import Settings


@click.group()
def temporal() -> None:
    """The workflow server that durable sessions need: found on PATH, else built once into the user's cache."""


@temporal.command()
@json_option
@repository_options
def start(settings: Settings, as_json: bool) -> None:
    """Start the server, unless one answers at the configured address already.

    It goes on after this command; its runs survive restarts. [temporal] address and ui_url choose the ports.

    \b
    Example: smp temporal start --repo ~/src/myproject
    """
    server, started = devserver.start(settings, progress)
    whose = "started" if started else "already running"
    say(as_json, server, f"Temporal {whose} at {server.address} (UI: {server.ui_url})")


@temporal.command()
@json_option
@repository_options
def stop(settings: Settings, as_json: bool) -> None:
    """Stop the server that was started for this repository; its runs stay in its file."""
    if devserver.stop(settings):
        say(as_json, {"stopped": True}, "Temporal stopped")
    elif devserver.answers(settings.temporal):
        raise Unavailable(
            f"the server at {settings.temporal.address} was not started from {str(settings.data_dir)!r}; "
            "stop it where it was started",
            backend="temporal",
        )
    else:
        say(as_json, {"stopped": False}, "no Temporal server is running for this repository")


@temporal.command()
@json_option
@repository_options
def status(settings: Settings, as_json: bool) -> None:
    """Say whether a server answers; exit code 1 when none does."""
    server = devserver.status(settings)
    if not server.answers:
        raise Unavailable(
            f"no Temporal server answers at {server.address}; start one with: smp temporal start", backend="temporal"
        )
    whose = f"started for this repository, pid {server.pid}" if server.ours else "started elsewhere"
    say(as_json, server, f"Temporal answers at {server.address} ({whose}); UI: {server.ui_url}")


def progress(line: str) -> None:
    """Progress, on stderr."""
    stderr.print(line, soft_wrap=True)


COMMANDS = (temporal,)
