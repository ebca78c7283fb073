"""What people read of a swarm: why sessions failed, each conflict, and branches in merge order."""

from __future__ import annotations

import io

from rich.console import Console

from smp.cli.swarm_screen import final_swarm, progress
from smp.domain.ids import CommitSha, FilePath, SessionId
from smp.domain.swarms import SwarmConflict, SwarmOutcome, SwarmRow, SwarmState, status_of

ONE, TWO, THREE = (SessionId(f"ses_{name}") for name in ("one", "two", "three"))
BASE = CommitSha("c" * 40)


def _row(number: int, session: SessionId, status: str, **given: str) -> SwarmRow:
    return SwarmRow(number=number, name=f"task-{number}", session_id=session, base_sha=BASE, status=status, **given)  # type: ignore[arg-type]


ROWS = (
    _row(1, ONE, "completed", branch="smp/ses_one"),
    _row(2, TWO, "aborted", reason="budget_spent", detail="[red]2 failed[/red]"),
    _row(3, THREE, "completed", branch="smp/ses_three"),
)


def _printed(outcome: SwarmOutcome) -> str:
    console = Console(file=io.StringIO(), width=120)
    final_swarm(outcome, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_end_says_why_what_clashes_and_in_which_order_to_merge() -> None:
    conflict = SwarmConflict(file=FilePath("a.py"), sessions=(THREE, ONE))
    text = _printed(
        SwarmOutcome(swarm_id="swm_1", status="partial", rows=ROWS, merge_order=(THREE, ONE), conflicts=(conflict,))
    )
    assert "swarm swm_1: partial" in text
    assert "task-2: [red]2 failed[/red]" in text, "a session's words are no markup"
    assert "conflict in a.py: task-3, task-1" in text
    assert text.index("smp/ses_three   (task-3)") < text.index("smp/ses_one   (task-1)")


def test_progress_counts_what_has_ended_and_names_phases() -> None:
    console = Console(file=io.StringIO(), width=120)
    rows = (*ROWS, _row(4, SessionId("ses_four"), "running"))
    console.print(progress(SwarmState(phase="running", rows=rows), {SessionId("ses_four"): "execute"}))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "3 of 4 sessions have ended" in text
    assert "run the tests, traced" in text


def test_a_swarm_is_completed_only_when_all_is_and_everything_merges() -> None:
    done = (ROWS[0], ROWS[2])
    clash = (SwarmConflict(file=FilePath("a.py"), sessions=(ONE, THREE)),)
    assert status_of(done, ()) == "completed"
    assert status_of(done, clash) == "conflicts"
    assert status_of(ROWS, clash) == "partial"
    assert status_of((ROWS[1],), ()) == "failed"
