"""`smp`: the root command. Each command's module is imported when it is asked for, so that a call starts quickly."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import cast

import click

from smp.cli.failures import run_reporting_failures

_COMMANDS = {
    "index": ("index", "Build or refresh the index of a repository."),
    "watch": ("watch", "Keep the index in step with the files until Ctrl-C."),
    "hook": ("hooks", "Let git bring commits, merges and checkouts into the index."),
    "status": ("status", "What is indexed, what has changed since, and what runs."),
    "call": ("call", "Call one method of the protocol and print its result."),
    "serve": ("serve", "Serve a repository over HTTP and WebSocket, or stdio."),
    "mcp": ("mcp", "Tools for agents that speak MCP, over stdio or HTTP."),
    "export": ("export", "The graph as JSON lines, or the index as a signed snapshot."),
    "import": ("import_", "Take over an index that another server has made."),
    "keys": ("keys", "Keys that sign snapshots, and those that are trusted."),
    "token": ("token", "Tokens that speak for one agent."),
    "session": ("session", "Durable agent sessions."),
    "swarm": ("swarm", "Many durable sessions at once, from a file of tasks."),
    "worker": ("worker", "Serve this repository's durable sessions until Ctrl-C."),
    "temporal": ("temporal", "The workflow server that durable sessions need."),
    "completion": ("completion", "Print the script that makes a shell complete smp."),
    "doctor": ("doctor", "Try everything that sessions need, and say how to mend it."),
    "audit": ("audit", "What sessions did, as JSON lines; and whether the record is whole."),
    "graph": ("record_graph", "The graph over the records of earlier sessions."),
    "memory": ("records", "What earlier sessions left: episodes and facts."),
    "evolve": ("records", "Repair rules learnt from earlier sessions, to accept or reject."),
}
"""Command → module of this package that has it among its `COMMANDS`, and what the list of commands says of it.

The sentence stands here, so that the list is shown without loading every command."""


class LazyGroup(click.Group):
    """Finds its commands by name in `_COMMANDS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module and take the command of that name."""
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        found = cast("Iterable[click.Command]", importlib.import_module(f"smp.cli.{module}").COMMANDS)
        return next(command for command in found if command.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in _COMMANDS.items()])


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
