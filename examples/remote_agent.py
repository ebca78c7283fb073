"""Drive one durable session from outside with nothing but a Temporal client: the loop that an agent or orchestrator runs.

Start a session that waits for edits, then give it one JSON file of edits an attempt (docs/workflows.md has the format):

    smp session run --remote --task "round half up" --scope shop/prices.py      # prints the session's id
    python -m examples.remote_agent SESSION_ID first.json second.json

An agent with a model behind it would make the next edits from `receipt["judged"]` instead of taking the next file.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle


async def main(session_id: str, attempts: list[Path]) -> int:
    """Propose each file in turn until the session has ended; 0 when it completed."""
    client = await Client.connect(os.environ.get("SMP_TEMPORAL_ADDRESS", "127.0.0.1:7233"))
    session = client.get_workflow_handle(f"session/{session_id}")
    for attempt in attempts:
        receipt = await propose(session, json.loads(attempt.read_text("utf-8")), attempt.name)
        for said in receipt["judged"]:
            print(f"  {said['phase']}: {said['verdict']}  {said['detail'].splitlines()[0] if said['detail'] else ''}")
        if receipt["phase"] != "edit":
            print(f"{receipt['status'] or receipt['phase']}: {receipt['branch'] or receipt['reason']}")
            return 0 if receipt["status"] == "completed" or receipt["phase"] == "review" else 1
    print("no attempt is left; the session is given up")
    await session.cancel()
    return 1


async def propose(session: WorkflowHandle[Any, Any], edits: list[dict[str, Any]], summary: str) -> dict[str, Any]:
    """One proposal and what each phase says about it; while the tests run this simply waits."""
    state = await session.query("state")
    number = state["next_seq"]
    print(f"proposal {number}: {summary}")
    # The id makes a repeat after a lost connection find the first one's answer.
    receipt: dict[str, Any] = await session.execute_update(
        "propose", {"seq": number, "edits": edits, "summary": summary}, id=f"proposal-{number}"
    )
    return receipt


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit("usage: python -m examples.remote_agent SESSION_ID EDITS.json …")
    code = asyncio.run(main(sys.argv[1], [Path(name) for name in sys.argv[2:]]))
    sys.stdout.flush()
    # The SDK's threads may touch the interpreter while it is torn down (seen with 1.35); there is nothing left to do.
    os._exit(code)
