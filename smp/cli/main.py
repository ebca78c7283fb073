"""`smp`: the root command. Each command's module is imported when it is asked for, so that a call starts quickly."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import cast

import click

from smp.cli.failures import run_reporting_failures

_MODULES = {
    "index": "index",
    "call": "call",
    "export": "export",
    "serve": "serve",
    "session": "session",
    "worker": "worker",
    "temporal": "temporal",
    "doctor": "doctor",
    "graph": "record_graph",
    "memory": "records",
    "evolve": "records",
}
"""Command → module of this package that has it among its `COMMANDS`."""


class LazyGroup(click.Group):
    """Finds its commands by name in `_MODULES`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module and take the command of that name."""
        module = _MODULES.get(cmd_name)
        if module is None:
            return None
        found = cast("Iterable[click.Command]", importlib.import_module(f"smp.cli.{module}").COMMANDS)
        return next(command for command in found if command.name == cmd_name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="smp", message="%(version)s")
def smp() -> None:
    """Structural memory, safety rail and sandboxes for coding agents.

    \b
    smp index                      build or refresh the index of the current repository
    smp call smp/locate '{"query": "where are carts priced"}'
    smp serve                      answer JSON-RPC on http://127.0.0.1:8420
    smp session run --help         let an agent make a change, durably
    """


def main() -> None:
    """Entry point of the console script."""
    run_reporting_failures(smp)
