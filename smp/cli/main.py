"""`smp`: the root command."""

from __future__ import annotations

import click

from smp.cli import call, export, index, serve, session, temporal, worker
from smp.cli.options import run_reporting_failures


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="smp", message="%(version)s")
def smp() -> None:
    """Structural memory, safety rail and sandboxes for coding agents.

    \b
    smp index                      build or refresh the index of the current repository
    smp call smp/locate '{"query": "where are carts priced"}'
    smp serve                      answer JSON-RPC on http://127.0.0.1:8420
    smp session run --help         let an agent make a change, durably
    """


for group in (index, call, export, serve, session, worker, temporal):
    for command in group.COMMANDS:
        smp.add_command(command)


def main() -> None:
    """Entry point of the console script."""
    run_reporting_failures(smp)
