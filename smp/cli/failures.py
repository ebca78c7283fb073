"""How failures are shown: one sentence on standard error, and an exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from smp.domain.errors import SmpError

if TYPE_CHECKING:
    from rich.console import Console

    stderr: Console


def __getattr__(name: str) -> Console:
    """`stderr`, made when it is first imported: a command that says nothing there starts without rich."""
    if name != "stderr":
        raise AttributeError(name)
    from rich.console import Console

    made = globals()["stderr"] = Console(stderr=True, highlight=False)
    return made


def run_reporting_failures(command: click.Command) -> None:
    """Run a command; expected failures become one sentence on stderr.

    Exit code 0; 1 for an expected failure; 2 for bad usage; 130 after Ctrl-C.
    """
    try:
        # Without standalone mode click returns the code of `Exit` instead of leaving with it.
        code = command.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except (click.Abort, KeyboardInterrupt):
        interrupted()
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


def interrupted() -> None:
    """What Ctrl-C is answered with."""
    sys.stderr.write("interrupted; nothing is half-written, run it again to go on\n")


def _show(sentence: str) -> None:
    from rich.text import Text

    from smp.cli.failures import stderr

    # Never as markup: the sentence quotes names from outside, and [/x] is one.
    stderr.print(Text("error: ", "red") + Text(sentence), soft_wrap=True)


def _discard_output() -> None:
    """What standard output could not take would fail again, unexplained, when the interpreter flushes it at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
