"""Recorded histories replay: a change that breaks running executions fails here.

Add a history when behaviour is added (`python tests/workflows/record_histories.py NAME`); never re-record one to make a
test green: put the change behind `workflow.patched` instead.
"""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from smp.adapters.runs_temporal import DATA_CONVERTER
from workers.sandbox import workflow_runner
from workflows import WORKFLOWS

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))
EXPECTED = {
    "completed",
    "looped",
    "budget",
    "cancelled",
    "expired",
    "conflict",
    "command",
    "unjudged",
    "remote",
    "reset",
    "reviewed",
    "host_lost",
}
SWARMS = {"swarm", "swarm_continued", "swarm_cancelled"}


def test_a_history_is_kept_for_every_way_a_session_can_end() -> None:
    assert {path.stem.removeprefix("agent_session-") for path in HISTORIES} >= EXPECTED | SWARMS | {"reap"}


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
def test_a_recorded_history_replays(path: Path) -> None:
    history = WorkflowHistory.from_json(f"session/{path.stem}", path.read_text("utf-8"))
    replayer = Replayer(workflows=list(WORKFLOWS), data_converter=DATA_CONVERTER, workflow_runner=workflow_runner())
    asyncio.run(replayer.replay_workflow(history))


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
def test_a_history_holds_no_content_of_files_beyond_the_request(path: Path) -> None:
    # Histories are kept for ever and unencrypted; the request's own edits are their only content.
    events = json.loads(path.read_text("utf-8"))["events"]
    marker = "content-that-must-not-travel"
    holders = [
        event["eventType"]
        for event in events
        if marker in _plain(event) and event["eventType"] != "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED"
    ]
    # A swarm gives each child its request, and itself those that are left when it continues as new.
    swarm = {
        "EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED",
        "EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
    }
    assert set(holders) <= {"EVENT_TYPE_ACTIVITY_TASK_SCHEDULED"} | (swarm if path.stem in SWARMS else set())
    scheduled = [
        event["activityTaskScheduledEventAttributes"]["activityType"]["name"]
        for event in events
        if event["eventType"] == "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED" and marker in _plain(event)
    ]
    assert set(scheduled) <= {"agent.edits"}


def _plain(event: object) -> str:
    """The event with its payloads decoded."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for key, member in value.items():
                if key == "data" and isinstance(member, str):
                    found.append(base64.b64decode(member).decode("utf-8", "replace"))
                else:
                    walk(member)
        elif isinstance(value, list):
            for member in value:
                walk(member)
        else:
            found.append(str(value))

    walk(event)
    return "\n".join(found)
