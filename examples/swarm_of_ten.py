"""Ten agents at once on the example shop: each writes a module of its own with its test, and all enter it in one shared file.

    python -m examples.shop DIRECTORY; cd DIRECTORY; smp temporal start; smp worker &
    python -m examples.swarm_of_ten DIRECTORY

No agent hinders another: each works in a box of its own. At the end stand ten branches, the order in which they merge, and the
one file in which they clash.
"""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from pathlib import Path

import msgspec
from temporalio.client import Client

from examples.start_session import LOOK_S, request_for
from smp.domain.runs import STATE_QUERY
from smp.domain.swarms import (
    SWARM_WORKFLOW,
    SwarmOutcome,
    SwarmRequest,
    SwarmRow,
    SwarmSession,
    SwarmState,
    swarm_workflow_id,
)

CURRENCIES = ("chf", "czk", "dkk", "eur", "gbp", "nok", "pln", "ron", "sek", "usd")
AGENT = """
cat > src/shop/{name}.py <<'END'
\"\"\"Prices in {upper}.\"\"\"

from shop.money import as_text


def in_{name}(cents: int) -> str:
    \"\"\"The amount with its currency.\"\"\"
    return f"{{as_text(cents)}} {upper}"
END
cat > tests/test_{name}.py <<'END'
\"\"\"Tests of prices in {upper}.\"\"\"

from shop.{name} import in_{name}


def test_the_currency_stands_behind_the_amount() -> None:
    assert in_{name}(1999) == "19.99 {upper}"
END
echo "- {upper}" >> CURRENCIES.md
"""


def swarm_of(repo: Path) -> SwarmRequest:
    """Ten sessions, four at a time."""
    sessions = tuple(
        SwarmSession(
            name=name,
            request=request_for(
                repo,
                f"Show prices in {name.upper()}",
                AGENT.format(name=name, upper=name.upper()),
                [f"src/shop/{name}.py", f"tests/test_{name}.py", "CURRENCIES.md"],
            ),
        )
        for name in CURRENCIES
    )
    queue = sessions[0].request.task_queue
    return SwarmRequest(
        swarm_id=f"swm_{uuid.uuid4().hex}", repository=repo.name, sessions=sessions, limit=4, task_queue=queue
    )


async def main(repo: Path) -> int:
    """0 when every session completed."""
    request = swarm_of(repo)
    client = await Client.connect(os.environ.get("SMP_TEMPORAL_ADDRESS", "127.0.0.1:7233"))
    swarm = await client.start_workflow(
        SWARM_WORKFLOW,
        msgspec.to_builtins(request),
        id=swarm_workflow_id(request.swarm_id),
        task_queue=request.task_queue,
    )
    result = asyncio.create_task(swarm.result())
    shown: dict[str, str] = {}
    while not result.done():
        await asyncio.wait({result}, timeout=LOOK_S)
        state = msgspec.convert(await swarm.query(STATE_QUERY), SwarmState)
        for row in state.rows:
            if shown.get(row.name) != row.status:
                print(f"  {row.name}: {row.status}", flush=True)
                shown[row.name] = row.status
    outcome = msgspec.convert(await result, SwarmOutcome)
    by_session: dict[str, SwarmRow] = {row.session_id: row for row in outcome.rows}
    print("merge in this order: " + ", ".join(by_session[session].name for session in outcome.merge_order))
    for conflict in outcome.conflicts:
        print(f"{conflict.file}: {len(conflict.sessions)} branches clash")
    return 0 if outcome.status in {"completed", "conflicts"} else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m examples.swarm_of_ten REPOSITORY")
    code = asyncio.run(main(Path(sys.argv[1]).resolve()))
    sys.stdout.flush()
    # As in start_session.
    os._exit(code)
