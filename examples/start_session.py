"""Start one durable session with a Temporal client and wait for how it ends: what an orchestrator does.

    smp temporal start; smp worker &                       # once, in the repository
    python -m examples.start_session REPOSITORY "Half a cent goes up" \\
        "sed -i 's/int(cents)/int(cents + 0.5)/' src/shop/money.py" src/shop/money.py

The agent is a command that runs in the box. Everything that is sent is plain JSON; the structs only spare the typing.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import uuid
from pathlib import Path

import msgspec
from temporalio.client import Client

from smp.domain.ids import AgentId, CommitSha, FilePath, SandboxId, SessionId
from smp.domain.runs import (
    SESSION_WORKFLOW,
    STATE_QUERY,
    Command,
    SessionOutcome,
    SessionRunRequest,
    SessionRunState,
    queue_of,
    workflow_id_of,
)
from smp.settings import load_settings

LOOK_S = 0.5


def request_for(
    repo: Path, task: str, command: str, scope: list[str], *, title: str = "", issues: tuple[str, ...] = ()
) -> SessionRunRequest:
    """A session on the repository's present commit."""
    head = subprocess.run(["git", "-C", str(repo), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return SessionRunRequest(
        session_id=SessionId(f"ses_{uuid.uuid4().hex}"),
        sandbox_id=SandboxId(f"box_{uuid.uuid4().hex}"),
        agent_id=AgentId("orchestrator"),
        task=task,
        repository=repo.name,
        scope=tuple(map(FilePath, scope)),
        commit_sha=CommitSha(head.stdout.strip()),
        agent=Command(command=command),
        test_command="python -m pytest -q",
        title=title,
        issue_refs=issues,
        task_queue=queue_of(load_settings(repo).runs_of),
    )


async def run(request: SessionRunRequest) -> SessionOutcome:
    """Start the session, say each step as it is taken, and return how it ended."""
    client = await Client.connect(os.environ.get("SMP_TEMPORAL_ADDRESS", "127.0.0.1:7233"))
    session = await client.start_workflow(
        SESSION_WORKFLOW,
        msgspec.to_builtins(request),
        id=workflow_id_of(request.session_id),
        task_queue=request.task_queue,
    )
    result = asyncio.create_task(session.result())
    told = 0
    while not result.done():
        await asyncio.wait({result}, timeout=LOOK_S)
        state = msgspec.convert(await session.query(STATE_QUERY), SessionRunState)
        for step in state.steps[told:]:
            print(f"  {step}", flush=True)
        told = len(state.steps)
    return msgspec.convert(await result, SessionOutcome)


async def main(repo: Path, task: str, command: str, scope: list[str]) -> int:
    """0 when the session completed."""
    outcome = await run(request_for(repo, task, command, scope))
    print(f"{outcome.status}: {outcome.branch or outcome.detail}")
    return 0 if outcome.status == "completed" else 1


if __name__ == "__main__":
    if len(sys.argv) < 5:
        raise SystemExit('usage: python -m examples.start_session REPOSITORY "TASK" "COMMAND" SCOPE …')
    code = asyncio.run(main(Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3], sys.argv[4:]))
    sys.stdout.flush()
    # The SDK's threads may touch the interpreter while it is torn down (seen with 1.35); there is nothing left to do.
    os._exit(code)
