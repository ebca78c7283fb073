"""What a run leaves in the server: little, however large its edits are; and words by which an operator finds and reads it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from temporalio.client import WorkflowExecutionDescription
from temporalio.common import SearchAttributeKey

from smp.adapters.runs_temporal import TemporalRunEngine, connect
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.domain.errors import TooLarge
from smp.domain.ids import FilePath
from smp.domain.runs import MAX_PROPOSAL_BYTES, Edit, EditList, EditStep, Proposed, Remote
from smp.domain.swarms import SwarmRequest, SwarmSession
from smp.settings import Settings
from tests.builders.session_rig import Rig

pytestmark = pytest.mark.temporal
PLACE = FilePath("pkg/a.py")
LARGE = "x" * 3_000_000
WAIT_MS = 60_000


@pytest.fixture
def engine(rig: Rig, tmp_path: Path) -> TemporalRunEngine:
    """One that keeps large edits, as the product's own does."""
    settings = Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path)
    return TemporalRunEngine(rig.settings, SqliteArtifactStore(settings))


def large(*contents: str) -> EditList:
    return EditList(steps=tuple(EditStep(edits=(Edit(file=PLACE, content=content),)) for content in contents))


def history_of(rig: Rig, run: str) -> Any:
    async def fetch() -> Any:
        client = await connect(rig.settings.temporal)
        return await client.get_workflow_handle(run).fetch_history()

    return asyncio.run(fetch())


def test_edits_beyond_what_a_server_takes_travel_by_reference(rig: Rig, engine: TemporalRunEngine) -> None:
    request = rig.request(large(LARGE, LARGE + "y"))
    with pytest.raises(TooLarge):
        rig.engine.start_session(request)  # it has nowhere to keep them
    with rig.worker(script={"sandbox.execute": ["fail", "pass"]}):
        run = engine.start_session(request)
        outcome = engine.result(run, timeout_ms=WAIT_MS)
    assert (outcome.status, outcome.files, outcome.attempts) == ("completed", (PLACE,), {"fail": 1})
    assert sum(len(event.SerializeToString()) for event in history_of(rig, run).events) < MAX_PROPOSAL_BYTES


def test_a_large_proposal_is_checked_and_judged_like_a_small_one(rig: Rig, engine: TemporalRunEngine) -> None:
    request = rig.request(Remote())
    with rig.worker():
        run = engine.start_session(request)
        elsewhere = Proposed(seq=1, edits=(Edit(file=FilePath("other.py"), content=LARGE),))
        with pytest.raises(Exception, match="outside the scope"):
            engine.propose(run, elsewhere, timeout_ms=WAIT_MS)
        receipt = engine.propose(run, Proposed(seq=1, edits=large(LARGE).steps[0].edits), timeout_ms=WAIT_MS)
        assert receipt.status == "completed"
        assert engine.result(run, timeout_ms=WAIT_MS).files == (PLACE,)
    assert sum(len(event.SerializeToString()) for event in history_of(rig, run).events) < MAX_PROPOSAL_BYTES


def test_a_swarm_of_tasks_that_are_large_together_is_one_small_request(rig: Rig, engine: TemporalRunEngine) -> None:
    sessions = tuple(
        SwarmSession(name=str(number), request=rig.request(large(f"{number}" * 60_000))) for number in range(40)
    )
    request = SwarmRequest(swarm_id=rig.queue, repository="sample", sessions=sessions, limit=4, task_queue=rig.queue)
    run = engine.start_swarm(request)
    first = history_of(rig, run).events[0]
    assert len(first.SerializeToString()) < MAX_PROPOSAL_BYTES
    engine.cancel(run)


def test_a_run_is_found_by_what_it_is_and_every_step_says_what_it_does(rig: Rig) -> None:
    request = replace(rig.request(), title="round half up")
    with rig.worker():
        run = rig.engine.start_session(request)
        rig.engine.result(run, timeout_ms=WAIT_MS)

    async def look() -> tuple[WorkflowExecutionDescription, str | None, list[str]]:
        client = await connect(rig.settings.temporal)
        described = await client.get_workflow_handle(run).describe()
        query = f'SmpRepository="sample" AND SmpAgent="tester" AND SmpCommit="{request.commit_sha}" AND SmpStatus="completed"'
        for _ in range(100):  # visibility lags behind the run
            found = [one.id async for one in client.list_workflows(f'{query} AND TaskQueue="{rig.queue}"')]
            if found:
                break
            await asyncio.sleep(0.1)
        return described, await described.static_summary(), found

    described, summary, found = asyncio.run(look())
    assert found == [run]
    assert summary == "round half up"
    attributes = described.typed_search_attributes
    assert attributes[SearchAttributeKey.for_int("SmpAttempts")] == 0
    unsaid = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in history_of(rig, run).events
        if event.HasField("activity_task_scheduled_event_attributes") and not event.user_metadata.summary.data
    ]
    assert unsaid == []
    timers = [event for event in history_of(rig, run).events if event.HasField("timer_started_event_attributes")]
    assert [b"session expiry" in event.user_metadata.summary.data for event in timers] == [True] * len(timers)
    assert timers
