"""The demo itself: one durable session takes a real bug of a real package from open to a pushed, verified branch.

The agent is a list of two attempts, as a careful person would work: tests that show the bug (they must fail), then the fix
(they must pass, and the integrity gate must find that they notice every mutant of it). Each attempt goes through guard, dry
run and checkpoint, and runs in a box. Running it again takes a fresh session over the same repository.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

import click
from rich.table import Table

from examples.demo import sample
from smp.cli import devserver
from smp.cli.failures import run_reporting_failures, stderr
from smp.cli.options import open_indexed
from smp.cli.session import drive, server_for
from smp.cli.session_edits import as_list, read_edits
from smp.cli.session_screen import final_screen, stdout
from smp.domain.ids import AgentId, FilePath, SandboxId, SessionId
from smp.domain.runs import EditStep, SessionOutcome, SessionRunRequest, queue_of
from smp.services import Services
from smp.settings import Settings, load_settings

HERE = Path(__file__).parent
ATTEMPTS = (
    ("1-failing-tests.diff", "tests that show the bug"),
    ("2-fix.diff", "the fix"),
)
TARGET, TESTS = FilePath("src/humanize/number.py"), FilePath("tests/test_number.py")
TASK = "ordinal() of a negative number ignores its sign: -1 is -1st, not -1th"


@click.command()
@click.option("--down", is_flag=True, help="Stop the Temporal server that an earlier demo started.")
def demo(down: bool) -> None:
    """Run the demo."""
    began = time.monotonic()
    cache = load_settings(Path()).cache_dir
    settings = load_settings(sample.prepare(cache, _say))
    if down:
        click.echo("Temporal stopped" if devserver.stop(settings) else "the demo's Temporal server is not running")
        return
    _say(f"repository: {settings.repo}")
    services = open_indexed(settings)
    request = _request(services)
    with server_for(settings, start=True):
        outcome = drive(services, request)
    _show(settings, outcome, time.monotonic() - began)
    if outcome.status != "completed" or not _proved(outcome):
        raise click.exceptions.Exit(1)


def _request(services: Services) -> SessionRunRequest:
    settings = services.settings
    commit = services.sources.head()
    assert commit is not None, "the sample has commits"
    steps = []
    for name, summary in ATTEMPTS:
        read = read_edits(HERE / name, repo=settings.repo, commit=commit)
        assert isinstance(read, EditStep)
        steps.append(EditStep(edits=read.edits, summary=summary))
    return SessionRunRequest(
        session_id=SessionId(services.clock.fresh_id("ses")),
        sandbox_id=SandboxId(services.clock.fresh_id("box")),
        agent_id=AgentId("demo"),
        task=TASK,
        title="ordinal(): the sign of a number has no say in its suffix",
        repository=sample.NAME,
        scope=(TARGET, TESTS),
        commit_sha=commit,
        agent=as_list(steps),
        test_command=sample.TEST_COMMAND,
        limits=services.sandboxes.limits(),
        ttl_seconds=settings.safety.ttl_seconds,
        task_queue=queue_of(settings.runs_of),
    )


def _proved(outcome: SessionOutcome) -> bool:
    """Whether the new tests failed in the box before the fix, and passed with it."""
    executed = [step.partition(": ")[2] for step in outcome.steps if step.startswith("execute: ")]
    return executed[:1] == ["fail"] and executed[-1:] == ["pass"]


def _show(settings: Settings, outcome: SessionOutcome, seconds: float) -> None:
    def more(table: Table) -> None:
        proof = "the new tests failed at the commit and pass with the change, both in the box"
        table.add_row("proof", proof if _proved(outcome) else "not given: see the steps above")
        table.add_row("time", f"{seconds:.0f} s")

    console = stdout()
    final_screen(settings, outcome, console, more=more)
    console.print(
        "  .venv/bin/python -m examples.demo --down   (stops the Temporal server)", markup=False, soft_wrap=True
    )


def _say(line: str) -> None:
    stderr.print(line, soft_wrap=True)


def main() -> None:
    """Run it; an expected failure is one sentence and exit code 1, a Ctrl-C is 130."""
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, signal.default_int_handler)
    run_reporting_failures(demo)
