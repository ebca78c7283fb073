"""How failures are shown: one sentence on standard error, and an exit code."""

from __future__ import annotations

import os
import sys

import click
from rich.console import Console
from rich.text import Text

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
    except (click.Abort, KeyboardInterrupt):
        stderr.print("interrupted; nothing is half-written, run it again to go on")
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except SmpError as error:
        _show(error.message)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        place = f" {os.fsdecode(error.filename)!r}" if isinstance(error.filename, str | bytes) else ""
        _show(f"{error.strerror or error}{place}; check that there is room and that it may be read and written")
        _discard_output()
        sys.exit(1)


def _show(sentence: str) -> None:
    # Never as markup: the sentence quotes names from outside, and [/x] is one.
    stderr.print(Text("error: ", "red") + Text(sentence), soft_wrap=True)


def _discard_output() -> None:
    """What standard output could not take would fail again, unexplained, when the interpreter flushes it at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
