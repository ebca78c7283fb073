"""A swarm as people see it: a row a session while it runs, and what to merge in which order at the end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from smp.cli.session_screen import LOOK_SECONDS, SILENCE_SECONDS, WORDS
from smp.domain.errors import NotFound, Unavailable
from smp.domain.ids import SessionId
from smp.domain.runs import workflow_id_of
from smp.domain.swarms import COMPLETED, RUNNING, WAITING, SwarmOutcome, SwarmRow, SwarmState
from smp.ports.run_engine import RunEngine

WAIT_MS = 700
COLORS: Mapping[str, str] = {COMPLETED: "green", RUNNING: "cyan", WAITING: "dim", "conflict": "yellow"}
FAILED_COLOR = "red"


def watch_swarm(
    engine: RunEngine, workflow_id: str, console: Console, *, tend: Callable[[], None] | None = None
) -> SwarmOutcome:
    """Show a swarm until it ends: a table that is redrawn on a terminal, a line for each change elsewhere.

    Args:
        tend: Called at every look, to keep a worker alive; what it raises ends the watching.

    Raises:
        Unavailable: The server has been silent for too long; the swarm goes on when it is back.
    """
    shown: dict[SessionId, str] = {}
    silent_since: float | None = None
    live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
    with live or contextlib.nullcontext():
        while True:
            if tend is not None:
                tend()
            try:
                outcome = engine.swarm_within(workflow_id, WAIT_MS)
                state = engine.swarm_state(workflow_id) if outcome is None else None
                silent_since = None
            except NotFound:
                raise
            except Unavailable:
                # A server or worker that was killed comes back with the run where it was.
                silent_since = silent_since or time.monotonic()
                if time.monotonic() - silent_since > SILENCE_SECONDS:
                    raise
                time.sleep(LOOK_SECONDS)
                continue
            rows = outcome.rows if outcome is not None else state.rows if state is not None else ()
            if live is None:
                _tell_changes(rows, shown, console)
            elif state is not None:
                live.update(progress(state, phases_of(engine, state)))
            if outcome is not None:
                return outcome


def phases_of(engine: RunEngine, state: SwarmState) -> dict[SessionId, str]:
    """What each running session is doing; one that cannot be asked is left out."""
    phases: dict[SessionId, str] = {}
    for row in state.rows:
        if row.status == RUNNING:
            with contextlib.suppress(Unavailable, NotFound):
                phases[row.session_id] = engine.state(workflow_id_of(row.session_id)).phase
    return phases


def progress(state: SwarmState, phases: Mapping[SessionId, str]) -> RenderableType:
    """The table while it runs."""
    ended = sum(row.status not in (WAITING, RUNNING) for row in state.rows)
    head = f"{ended} of {len(state.rows)} sessions have ended"
    if state.phase == "merging":
        head = "all sessions have ended; trying which branches merge"
    return Group(rows_table(state.rows, phases), Text(head))


def rows_table(rows: tuple[SwarmRow, ...], phases: Mapping[SessionId, str]) -> Table:
    """A row a session."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("#", "task", "session", "status", "loops", "what"):
        table.add_column(name, overflow="fold")
    for row in rows:
        status = Text(row.status, style=COLORS.get(row.status, FAILED_COLOR))
        phase = phases.get(row.session_id, "")
        what = WORDS.get(phase, phase) or row.branch or row.reason
        loops = str(row.attempts or "")
        table.add_row(str(row.number), Text(row.name), Text(row.session_id), status, loops, Text(what))
    return table


def final_swarm(outcome: SwarmOutcome, console: Console) -> None:
    """How it ended: every session, why some failed, what does not merge, and the order for the rest."""
    names = {row.session_id: row.name for row in outcome.rows}
    console.print(rows_table(outcome.rows, {}))
    console.print(f"swarm {outcome.swarm_id}: {outcome.status}", markup=False)
    for row in outcome.rows:
        if row.status not in (COMPLETED, WAITING, RUNNING) and row.detail:
            console.print(f"  {row.name}: {row.detail}", markup=False, soft_wrap=True)
    if outcome.detail:
        console.print(f"  {outcome.detail}", markup=False, soft_wrap=True)
    for conflict in outcome.conflicts:
        sessions = ", ".join(names.get(session, session) for session in conflict.sessions)
        console.print(f"  conflict in {conflict.file}: {sessions}", markup=False, soft_wrap=True)
    if outcome.merge_order:
        console.print("merge in this order:")
        branches = {row.session_id: row.branch for row in outcome.rows}
        for session in outcome.merge_order:
            console.print(f"  {branches.get(session)}   ({names.get(session)})", markup=False, soft_wrap=True)


def _tell_changes(rows: tuple[SwarmRow, ...], shown: dict[SessionId, str], console: Console) -> None:
    for row in rows:
        if row.status != WAITING and shown.get(row.session_id) != row.status:
            shown[row.session_id] = row.status
            why = row.branch or row.reason
            line = f"{row.name:<24}{row.session_id:<28}{row.status:<11}{why}".rstrip()
            console.print(line, markup=False, highlight=False, soft_wrap=True)
