"""How failures are shown: one sentence on standard error, and an exit code."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from smp.domain.errors import SmpError

stderr = Console(stderr=True, highlight=False)


def run_reporting_failures(command: click.Command) -> None:
    """Run a command; expected failures become one sentence on stderr.

    Exit code 0; 1 for an expected failure; 2 for bad usage; 130 after Ctrl-C.
    """
    try:
        # Without standalone mode click returns the code of `Exit` instead of leaving with it.
        code = command.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.Abort:
        stderr.print("interrupted; nothing is half-written, run it again to go on")
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except SmpError as error:
        stderr.print(f"[red]error:[/red] {error.message}", markup=True, soft_wrap=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
