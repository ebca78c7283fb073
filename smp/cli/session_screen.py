"""A session run as people see it: the steps as they come, and one screen at the end."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from smp.domain.errors import NotFound, Unavailable
from smp.domain.runs import Phase, SessionOutcome, SessionRunState, run_page, workflow_id_of
from smp.ports.run_engine import RunEngine
from smp.settings import Settings

LOOK_SECONDS = 0.3
WAIT_MS = 400
SILENCE_SECONDS = 60.0
"""How long the server may be unreachable before the command gives up watching (the run itself goes on)."""

WORDS: dict[str, str] = {
    Phase.OPEN: "claim the session",
    Phase.SPAWN: "make a box at the commit",
    Phase.EDIT: "take the agent's edits",
    Phase.GUARD: "guard: may these files be written?",
    Phase.DRYRUN: "dry run: what would break?",
    Phase.CHECKPOINT: "checkpoint",
    Phase.WRITE: "write into the box",
    Phase.EXECUTE: "run the tests, traced",
    Phase.VERIFY: "integrity gate: do the tests notice mutants?",
    Phase.UPDATE: "update the graph",
    Phase.REVIEW: "wait for the reviewer",
    Phase.HANDOFF: "push the branch, write the pull request",
    Phase.CLOSE: "close",
    Phase.ABORTING: "undo what was done",
}
GOOD: dict[str, str] = {"completed": "green", "conflict": "yellow"}


def watch(
    engine: RunEngine, workflow_id: str, console: Console, *, tend: Callable[[], None] | None = None
) -> SessionOutcome:
    """Show a run until it ends.

    Args:
        tend: Called at every look, to keep a worker alive; what it raises ends the watching.

    Raises:
        Unavailable: The server has been silent for too long; the run goes on when it is back.
    """
    shown = _Steps(console)
    silent_since: float | None = None
    with shown:
        while True:
            if tend is not None:
                tend()
            try:
                outcome = engine.outcome_within(workflow_id, WAIT_MS)
                if outcome is not None:
                    shown.update(SessionRunState(phase=Phase.CLOSED, steps=outcome.steps, attempts=outcome.attempts))
                    return outcome
                shown.update(engine.state(workflow_id))
                silent_since = None
            except NotFound:
                raise
            except Unavailable:
                # A server or worker that was killed comes back with the run where it was.
                silent_since = silent_since or time.monotonic()
                if time.monotonic() - silent_since > SILENCE_SECONDS:
                    raise
                time.sleep(LOOK_SECONDS)


class _Steps:
    """The list of steps: redrawn on a terminal, a line each elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._printed = 0
        self._live = Live(console=console, refresh_per_second=8, transient=False) if console.is_terminal else None
        self._began = time.monotonic()

    def __enter__(self) -> None:
        if self._live is not None:
            self._live.start()

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, state: SessionRunState) -> None:
        if self._live is not None:
            self._live.update(self._drawn(state))
            return
        for step in state.steps[self._printed :]:
            self._console.print(f"  {_line(step)}", markup=False, highlight=False)
        self._printed = max(self._printed, len(state.steps))

    def _drawn(self, state: SessionRunState) -> RenderableType:
        rows: list[RenderableType] = [Text(f"  {_line(step)}") for step in state.steps]
        if state.phase in WORDS:
            rows.append(Spinner("dots", text=Text(f"{WORDS[state.phase]} …")))
        return Group(*rows)


def _line(step: str) -> str:
    phase, _, verdict = step.partition(": ")
    return f"{WORDS.get(phase, phase):<46}{verdict}"


def final_screen(
    settings: Settings, outcome: SessionOutcome, console: Console, *, more: Callable[[Table], None] | None = None
) -> None:
    """What happened, where to look, what to do next: on one screen."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    color = GOOD.get(outcome.status, "red")
    ending = f"[{color}]{outcome.status}[/{color}]" + (f" ({outcome.reason})" if outcome.reason else "")
    table.add_row("session", f"{outcome.session_id}: {ending}")
    if outcome.attempts:
        loops = ", ".join(f"{count} x {reason}" for reason, count in sorted(outcome.attempts.items()))
        table.add_row("loops back", loops)
    if outcome.files:
        table.add_row("files", Text(", ".join(outcome.files)))
    if note := outcome.notes.get(Phase.EXECUTE):
        table.add_row("tests", Text(_summary(note)))
    if note := outcome.notes.get(Phase.VERIFY):
        table.add_row("gate", Text(_summary(note)))
    if outcome.branch:
        table.add_row("branch", Text(outcome.branch))
    if outcome.status != "completed" and outcome.detail:
        table.add_row("why", Text(outcome.detail[-1500:]))
    if more is not None:
        more(table)
    console.print(Panel(table, title="session", border_style=color, expand=False))
    # Outside the frame and never wrapped, so that they can be copied.
    places = [("report", outcome.report or ""), ("Temporal", run_url(settings, outcome))]
    for name, place in places:
        if place:
            console.print(f"{name}: {place}", markup=False, soft_wrap=True)
    console.print("next:")
    for command in next_commands(settings, outcome):
        console.print(f"  {command}", markup=False, soft_wrap=True)


def run_url(settings: Settings, outcome: SessionOutcome) -> str:
    """Where the run is seen in Temporal's UI."""
    temporal = settings.temporal
    return run_page(temporal.ui_url, temporal.namespace, workflow_id_of(outcome.session_id))


def next_commands(settings: Settings, outcome: SessionOutcome) -> list[str]:
    """What a person does next."""
    # As this process was started: a virtual environment need not be on PATH.
    beside = Path(sys.executable).with_name("smp")
    smp = "smp" if shutil.which("smp") or not beside.exists() else str(beside)
    commands = []
    if outcome.branch:
        commands.append(
            f"git -C {settings.repo} fetch origin {outcome.branch} && git -C {settings.repo} show FETCH_HEAD"
        )
    if outcome.audit_id:
        commands.append(f'smp call smp/audit/get \'{{"audit_log_id": "{outcome.audit_id}"}}\' --repo {settings.repo}')
    commands.append(f"{smp} session show {outcome.session_id} --repo {settings.repo}")
    return commands


def _summary(note: str) -> str:
    """The telling lines of a note: the first, and the last that has something to say."""
    lines = [line.strip(" =") for line in note.splitlines() if line.strip(" =")]
    return lines[0] if len(lines) < 2 else f"{lines[0]}; {lines[-1]}"


def stdout() -> Console:
    """A console on standard output."""
    return Console(file=sys.stdout, highlight=False)
