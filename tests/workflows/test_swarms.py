"""Swarms of sessions on a real server: every session a row, a failure among them, conflicts once, a cancel that undoes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from smp.adapters.runs_temporal import connect
from smp.domain.errors import TooLarge
from smp.domain.ids import FilePath
from smp.domain.runs import Edit, EditList, EditStep, workflow_id_of
from smp.domain.swarms import SwarmOutcome, SwarmRequest, SwarmSession, swarm_workflow_id
from tests.builders.session_doubles import SessionDoubles
from tests.builders.session_rig import Rig

pytestmark = pytest.mark.temporal


def _swarm(rig: Rig, files: Sequence[str], *, limit: int = 4, continue_after: int = 200) -> SwarmRequest:
    """One session a file; those that are named twice are written twice."""
    sessions = []
    for number, file in enumerate(files, start=1):
        edits = EditList(steps=(EditStep(edits=(Edit(file=FilePath(file), content=str(number)),)),))
        request = replace(rig.request(edits, tests=()), scope=(FilePath(file),))
        sessions.append(SwarmSession(name=f"task-{number}", request=request))
    return SwarmRequest(
        swarm_id=rig.queue,
        repository="sample",
        sessions=tuple(sessions),
        limit=limit,
        task_queue=rig.queue,
        patience=sessions[0].request.patience,
        continue_after=continue_after,
    )


def _ended(rig: Rig, run: str) -> SwarmOutcome:
    for _ in range(6):
        if outcome := rig.engine.swarm_within(run, 30_000):
            return outcome
    raise AssertionError(f"the swarm did not end: {rig.engine.swarm_state(run)}")


def _nothing_left(doubles: SessionDoubles) -> None:
    assert doubles.rows("SELECT id FROM boxes") == []
    assert doubles.rows("SELECT id FROM sessions WHERE status='active'") == []
    assert doubles.rows("SELECT name FROM branches WHERE pushes != 1") == []


def test_sessions_of_which_one_fails_are_rows_of_one_outcome_in_the_order_of_the_tasks(rig: Rig) -> None:
    request = _swarm(rig, ["a.py", "b.py", "c.py"], limit=2)
    failing = request.sessions[1].request
    sessions = list(request.sessions)
    sessions[1] = replace(sessions[1], request=replace(failing, agent=EditList(steps=())))
    request = replace(request, sessions=tuple(sessions))
    with rig.worker() as doubles:
        run = rig.engine.start_swarm(request)
        outcome = _ended(rig, run)
        assert outcome.status == "partial"
        assert [(row.number, row.name, row.status, row.reason) for row in outcome.rows] == [
            (1, "task-1", "completed", ""),
            (2, "task-2", "aborted", "agent_exhausted"),
            (3, "task-3", "completed", ""),
        ]
        # The doubles' plan has the last task first; what did not complete has nothing to merge.
        assert outcome.merge_order == (outcome.rows[2].session_id, outcome.rows[0].session_id)
        assert outcome.conflicts == ()
        assert rig.engine.swarm_state(run).rows == outcome.rows
        assert rig.engine.start_swarm(request) == run, "the same swarm again is found, not run twice"
        _nothing_left(doubles)


def test_branches_that_clash_are_one_conflict_a_file_however_many_they_are(rig: Rig) -> None:
    with rig.worker() as doubles:
        outcome = _ended(rig, rig.engine.start_swarm(_swarm(rig, ["a.py", "b.py", "a.py", "a.py"])))
        assert outcome.status == "conflicts"
        ids = [row.session_id for row in outcome.rows]
        assert [(found.file, found.sessions) for found in outcome.conflicts] == [("a.py", (ids[3], ids[2], ids[0]))]
        _nothing_left(doubles)


def test_no_more_sessions_run_at_once_than_the_limit(rig: Rig) -> None:
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)) as doubles:
        run = rig.engine.start_swarm(_swarm(rig, ["a.py", "b.py", "c.py", "d.py"], limit=2))
        rig.wait_until(lambda: doubles.names().count("sandbox.write") == 2)
        assert [row.status for row in rig.engine.swarm_state(run).rows] == ["running"] * 2 + ["waiting"] * 2
        rig.hold_file.unlink()
        assert _ended(rig, run).status == "completed"


def test_a_long_swarm_continues_as_new_and_its_outcome_has_every_session(rig: Rig) -> None:
    with rig.worker() as doubles:
        run = rig.engine.start_swarm(_swarm(rig, [f"{name}.py" for name in "abcde"], continue_after=2))
        outcome = _ended(rig, run)
        assert outcome.status == "completed"
        assert [row.number for row in outcome.rows] == [1, 2, 3, 4, 5]
        assert len(outcome.merge_order) == 5
        assert doubles.names().count("handoff.pr") == 5
        assert asyncio.run(_runs(rig, run)) == 3
        _nothing_left(doubles)


async def _runs(rig: Rig, run: str) -> int:
    """How many executions of this workflow id there were: followed from the first, each names the next."""
    client = await connect(rig.settings.temporal)
    first = (await client.get_workflow_handle(run).describe()).raw_description.workflow_execution_info
    history = await client.get_workflow_handle(run, run_id=first.first_run_id).fetch_history()
    count = 1
    while following := history.events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id:
        history = await client.get_workflow_handle(run, run_id=following).fetch_history()
        count += 1
    return count


def test_a_cancel_reaches_the_running_sessions_and_those_that_have_not_begun_never_do(rig: Rig) -> None:
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)) as doubles:
        run = rig.engine.start_swarm(_swarm(rig, ["a.py", "b.py", "c.py"], limit=2))
        rig.wait_until(lambda: doubles.names().count("sandbox.write") == 2)
        rig.engine.cancel(run)
        outcome = _ended(rig, run)
        assert outcome.status == "cancelled"
        assert [row.status for row in outcome.rows[:2]] == ["cancelled"] * 2
        assert outcome.rows[2].status in ("waiting", "cancelled")
        assert doubles.names().count("session.open") == 2
        assert doubles.names().count("session.rollback") == 2
        _nothing_left(doubles)


def test_a_swarm_that_is_terminated_has_its_sessions_cancelled_by_the_server_and_they_undo_what_they_did(
    rig: Rig,
) -> None:
    request = _swarm(rig, ["a.py", "b.py"])
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)) as doubles:
        run = rig.engine.start_swarm(request)
        rig.wait_until(lambda: doubles.names().count("sandbox.write") == 2)
        asyncio.run(_terminate(rig, run))
        for session in request.sessions:
            child = workflow_id_of(session.request.session_id)
            assert rig.engine.result(child, timeout_ms=60_000).status == "cancelled"
        outcome = _ended(rig, run)
        assert (outcome.status, [row.status for row in outcome.rows]) == ("terminated", ["running"] * 2)
        _nothing_left(doubles)


async def _terminate(rig: Rig, run: str) -> None:
    client = await connect(rig.settings.temporal)
    await client.get_workflow_handle(run).terminate("by a test")


def test_tasks_that_are_too_large_together_are_refused_before_anything_starts(rig: Rig) -> None:
    request = _swarm(rig, ["a.py", "b.py"])
    edits = EditList(steps=(EditStep(edits=(Edit(file=FilePath("a.py"), content="x" * 1_000_000),)),))
    sessions = tuple(replace(one, request=replace(one.request, agent=edits)) for one in request.sessions)
    with pytest.raises(TooLarge, match="the 2 tasks are too large for one run; split the file"):
        rig.engine.start_swarm(replace(request, sessions=sessions))


def test_a_session_that_is_to_be_abandoned_outlives_the_cancel_of_its_swarm(rig: Rig) -> None:
    request = _swarm(rig, ["a.py"])
    request = replace(request, sessions=(replace(request.sessions[0], parent_close="abandon"),))
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)) as doubles:
        run = rig.engine.start_swarm(request)
        rig.wait_for_try("sandbox.execute")
        rig.engine.cancel(run)
        assert _ended(rig, run).status == "cancelled"
        rig.hold_file.unlink()
        session = request.sessions[0].request.session_id
        assert rig.engine.result(f"session/{session}", timeout_ms=60_000).status == "completed"
        _nothing_left(doubles)


def test_twenty_sessions_on_one_file_all_end_and_the_conflict_between_them_is_reported_once(rig: Rig) -> None:
    request = _swarm(rig, ["a.py"] * 20, limit=5)
    with rig.worker() as doubles:
        run = rig.engine.start_swarm(request)
        outcome = _ended(rig, run)
        assert [row.status for row in outcome.rows] == ["completed"] * 20
        assert len(outcome.conflicts) == 1
        assert sorted(outcome.conflicts[0].sessions) == sorted(row.session_id for row in outcome.rows)
        assert len(doubles.rows("SELECT name FROM branches")) == 20
        assert doubles.names("tries").count("swarm.merge") == 1
        _nothing_left(doubles)
    found = asyncio.run(_found(rig, f'SmpSwarm="{rig.queue}"', 21))
    assert {name for name in found if name.startswith("swarm/")} == {swarm_workflow_id(rig.queue)}
    assert len(found) == 21


async def _found(rig: Rig, query: str, count: int) -> list[str]:
    """What an operator finds by the search attribute; visibility lags behind, so it is asked until it has caught up."""
    client = await connect(rig.settings.temporal)
    found: list[str] = []
    for _ in range(200):
        found = [run.id async for run in client.list_workflows(query)]
        if len(found) >= count:
            break
        await asyncio.sleep(0.05)
    return found
