"""Hours of a run in milliseconds: recorded histories replayed with the time between their events, and with code, changed.

A replay runs the workflow itself against a clock that is the history's. What it then decides is compared with what is
recorded, so that a session of an hour that would expire early, late or not at all fails here (docs/adr/0007-time-in-tests.md).
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, WorkflowRunner

from smp.adapters.runs_temporal import DATA_CONVERTER
from smp.domain.runs import SESSION_WORKFLOW, SessionOutcome, SessionRunRequest, Verdict
from workers.sandbox import workflow_runner
from workflows import WORKFLOWS
from workflows.agent_session import AgentSessionWorkflow

HISTORIES = Path(__file__).parent / "histories"
RECORDED_TTL, HOUR = 2, 3600
FIRED = "EVENT_TYPE_TIMER_FIRED"


def recorded(name: str) -> dict[str, Any]:
    history: dict[str, Any] = json.loads((HISTORIES / f"agent_session-{name}.json").read_text("utf-8"))
    return history


def living(history: dict[str, Any], seconds: int) -> dict[str, Any]:
    """The history of a session that was given so long to live."""
    payload = history["events"][0]["workflowExecutionStartedEventAttributes"]["input"]["payloads"][0]
    request = json.loads(base64.b64decode(payload["data"]))
    assert request["ttl_seconds"] == RECORDED_TTL
    payload["data"] = base64.b64encode(json.dumps(request | {"ttl_seconds": seconds}).encode()).decode()
    return history


def later(history: dict[str, Any], seconds: int) -> dict[str, Any]:
    """The history with that much more time before its first timer fires."""
    events = history["events"]
    first = next(number for number, event in enumerate(events) if event["eventType"] == FIRED)
    for event in events[first:]:
        at, fraction = re.fullmatch(r"(.+?)(\.\d+)?Z", event["eventTime"]).groups()  # type: ignore[union-attr]
        event["eventTime"] = f"{(datetime.fromisoformat(at) + timedelta(seconds=seconds)).isoformat()}{fraction or ''}Z"
    return history


def replays(
    history: dict[str, Any], *, workflows: list[type] | None = None, runner: WorkflowRunner | None = None
) -> bool:
    replayer = Replayer(
        workflows=workflows or list(WORKFLOWS),
        data_converter=DATA_CONVERTER,
        workflow_runner=runner or workflow_runner(),
    )
    told = WorkflowHistory.from_json("session/x", json.dumps(history))
    result = asyncio.run(replayer.replay_workflow(told, raise_on_replay_failure=False))
    assert result.replay_failure is None or "TMPRL1100" in str(result.replay_failure), result.replay_failure
    return result.replay_failure is None


def test_a_session_of_an_hour_lives_for_an_hour_after_its_last_step_and_is_undone_then() -> None:
    # The recorded one took steps: its first timer fires too early, and a second one waits for what they added.
    assert replays(later(living(recorded("expired"), HOUR), HOUR - RECORDED_TTL))


def test_it_does_not_expire_while_it_has_time_left() -> None:
    assert not replays(living(recorded("expired"), HOUR))
    assert not replays(later(living(recorded("expired"), HOUR), HOUR - RECORDED_TTL - 60))


def test_it_expires_at_once_when_its_timer_was_heard_late() -> None:
    assert not replays(later(recorded("expired"), HOUR)), "a second timer, though the time was over"


@workflow.defn(name=SESSION_WORKFLOW)
class Careless(AgentSessionWorkflow):
    """What somebody might make of the workflow: it thinks before it guards."""

    @workflow.init
    def __init__(self, request: SessionRunRequest) -> None:
        super().__init__(request)

    async def _guard(self) -> Verdict:
        await workflow.sleep(1)
        return await super()._guard()

    @workflow.run
    async def run(self, request: SessionRunRequest) -> SessionOutcome:
        return await super().run(request)


@workflow.defn(name=SESSION_WORKFLOW)
class Patched(AgentSessionWorkflow):
    """The same behind a patch marker: runs that are under way go on without."""

    @workflow.init
    def __init__(self, request: SessionRunRequest) -> None:
        super().__init__(request)

    async def _guard(self) -> Verdict:
        if workflow.patched("2026-12-01-think"):
            await workflow.sleep(1)
        return await super()._guard()

    @workflow.run
    async def run(self, request: SessionRunRequest) -> SessionOutcome:
        return await super().run(request)


@pytest.mark.parametrize("name", ["completed", "looped", "cancelled", "remote"])
def test_a_change_of_the_steps_breaks_runs_that_are_under_way_unless_a_patch_marker_guards_it(name: str) -> None:
    runner = UnsandboxedWorkflowRunner()
    assert replays(recorded(name), workflows=[AgentSessionWorkflow], runner=runner)
    assert not replays(recorded(name), workflows=[Careless], runner=runner)
    assert replays(recorded(name), workflows=[Patched], runner=runner)
