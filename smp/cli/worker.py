"""`smp worker`: the process that does the work of durable sessions."""

from __future__ import annotations

import os

import click

from smp.cli.failures import stderr
from smp.cli.options import repository_options
from smp.cli.worker_process import worker_command
from smp.settings import Settings


@click.command()
@repository_options
def worker(settings: Settings) -> None:
    """Serve this repository's durable sessions until Ctrl-C.

    Any number may run; a killed worker's sessions go on in the next one. Needs a Temporal server (smp temporal start).
    """
    stderr.print(f"worker of {settings.repo.name} on {settings.temporal.address} (Ctrl-C stops)", soft_wrap=True)
    # Replaced, not called: the platform below knows nothing of workers, and signals reach the worker itself.
    command = worker_command(settings)
    os.execv(command[0], command)  # noqa: S606 - arguments of our own, no shell wanted


COMMANDS = (worker,)
