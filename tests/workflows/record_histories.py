"""Record the history of a session or a swarm for `histories/`: `python tests/workflows/record_histories.py NAME…`.

Refuses to overwrite: a recorded history is a promise to executions that run somewhere.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from msgspec.structs import replace  # noqa: E402

from smp.adapters.runs_temporal import connect  # noqa: E402
from smp.cli import devserver  # noqa: E402
from smp.domain.ids import AgentId, FilePath, HandoffId  # noqa: E402
from smp.domain.runs import REAP_WORKFLOW, Command, Edit, EditList, EditStep, Proposed, Remote, ReviewWord  # noqa: E402
from smp.domain.swarms import SwarmRequest, SwarmSession  # noqa: E402
from tests.builders.session_doubles import SessionDoubles  # noqa: E402
from tests.builders.session_rig import PATIENCE, Rig, server_settings  # noqa: E402

AGENT = EditList(
    steps=tuple(
        EditStep(edits=(Edit(file=FilePath("pkg/a.py"), content=f"content-that-must-not-travel {step}"),))
        for step in range(5)
    )
)


def completed(rig: Rig) -> str:
    with rig.worker():
        return _ended(rig, rig.engine.start_session(rig.request(AGENT)))


def looped(rig: Rig) -> str:
    script = {
        "session.guard": ["red_alert", "clear"],
        "session.dryrun": ["breaking", "safe"],
        "sandbox.execute": ["fail", "pass"],
        "verify.integrity": ["surviving_mutant", "passed"],
    }
    with rig.worker(script=script):
        return _ended(rig, rig.engine.start_session(rig.request(AGENT)))


def budget(rig: Rig) -> str:
    with rig.worker(script={"sandbox.execute": ["fail"]}):
        return _ended(rig, rig.engine.start_session(rig.request(AGENT)))


def cancelled(rig: Rig) -> str:
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)):
        run = rig.engine.start_session(rig.request(AGENT))
        rig.wait_for_try("sandbox.execute")
        rig.engine.cancel(run)
        return _ended(rig, run)


def expired(rig: Rig) -> str:
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)):
        return _ended(rig, rig.engine.start_session(rig.request(AGENT, ttl_seconds=2)))


def conflict(rig: Rig) -> str:
    with rig.worker(script={"handoff.pr": ["conflict"]}):
        return _ended(rig, rig.engine.start_session(rig.request(AGENT)))


def command(rig: Rig) -> str:
    with rig.worker(script={"agent.command": ["fail", "done"]}):
        return _ended(rig, rig.engine.start_session(rig.request(Command(command="./agent"))))


def unjudged(rig: Rig) -> str:
    with rig.worker():
        return _ended(rig, rig.engine.start_session(rig.request(AGENT, tests=())))


def reset(rig: Rig) -> str:
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)):
        run = rig.engine.start_session(rig.request(AGENT))
        rig.wait_for_try("sandbox.execute")
        rig.reset(run, before="session.dryrun")
        rig.hold_file.unlink()
        return _ended(rig, run)


def remote(rig: Rig) -> str:
    with rig.worker(script={"sandbox.execute": ["fail", "pass"]}):
        run = rig.engine.start_session(rig.request(Remote()))
        for seq in (1, 2):
            edit = Edit(file=FilePath("pkg/a.py"), content=f"x = {seq}\n")
            rig.engine.propose(run, Proposed(seq=seq, edits=(edit,)), timeout_ms=120_000)
            if seq == 1:
                rig.engine.touch(run)
                rig.wait_for_try("session.touch")
        return _ended(rig, run)


def reviewed(rig: Rig) -> str:
    with rig.worker():
        run = rig.engine.start_session(rig.request(AGENT, reviewer=AgentId("reviewer")))
        seen: HandoffId | None = None
        for decision in ("request_changes", "approve"):
            rig.wait_until(lambda seen=seen: rig.engine.state(run).handoff_id not in (None, seen))  # type: ignore[misc]
            seen = rig.engine.state(run).handoff_id
            assert seen is not None
            rig.engine.decide(run, ReviewWord(handoff_id=seen, decision=decision, comments="a word"))
        return _ended(rig, run)


def host_lost(rig: Rig) -> str:
    rig.hold_file.touch()
    first = rig.spawn_worker(host="A", hold=("verify.integrity",))
    run = rig.engine.start_session(rig.request(AGENT, patience=replace(PATIENCE, host=2.0, host_silent=2.0)))
    rig.wait_until(lambda: SessionDoubles(rig.options()).holding("verify.integrity"))
    first.kill()
    first.wait(30)
    rig.hold_file.unlink()
    with rig.worker(host="B"):
        return _ended(rig, run)


def _swarm(rig: Rig, tasks: int, *, continue_after: int = 200) -> SwarmRequest:
    sessions = tuple(
        SwarmSession(name=f"task-{number}", request=rig.request(AGENT, tests=())) for number in range(1, tasks + 1)
    )
    return SwarmRequest(
        swarm_id=rig.queue,
        repository="sample",
        sessions=sessions,
        limit=2,
        task_queue=rig.queue,
        continue_after=continue_after,
    )


def swarm(rig: Rig) -> str:
    with rig.worker(script={"session.guard": ["blocked", "clear"]}):
        run = rig.engine.start_swarm(_swarm(rig, 3))
        rig.engine.swarm_within(run, 120_000)
        return run


def swarm_continued(rig: Rig) -> str:
    with rig.worker():
        run = rig.engine.start_swarm(_swarm(rig, 3, continue_after=2))
        rig.engine.swarm_within(run, 120_000)
        return run


def swarm_cancelled(rig: Rig) -> str:
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)):
        run = rig.engine.start_swarm(_swarm(rig, 3))
        rig.wait_for_try("sandbox.execute")
        rig.engine.cancel(run)
        rig.engine.swarm_within(run, 120_000)
        return run


def reap(rig: Rig) -> str:
    async def run() -> str:
        client = await connect(rig.settings.temporal)
        await client.execute_workflow(REAP_WORKFLOW, rig.queue, id=rig.queue, task_queue=rig.queue)
        return rig.queue

    with rig.worker():
        return asyncio.run(run())


CASES: dict[str, Callable[[Rig], str]] = {
    case.__name__: case
    for case in (
        completed,
        looped,
        budget,
        cancelled,
        expired,
        conflict,
        command,
        unjudged,
        reset,
        remote,
        reviewed,
        host_lost,
    )
}
OTHERS: dict[str, Callable[[Rig], str]] = {
    case.__name__: case for case in (swarm, swarm_continued, swarm_cancelled, reap)
}


def _ended(rig: Rig, run: str) -> str:
    rig.engine.result(run, timeout_ms=120_000)
    return run


async def _history(rig: Rig, run: str) -> str:
    client = await connect(rig.settings.temporal)
    return without_traces((await client.get_workflow_handle(run).fetch_history()).to_json())


def without_traces(history: str) -> str:
    """A history without the stack traces of its failures, which name the folders of whoever recorded it."""
    return re.sub(r'"stackTrace": "(?:[^"\\]|\\.)*"', '"stackTrace": ""', history)


def main(names: list[str]) -> None:
    """Record the cases named; all that are missing when none is."""
    with tempfile.TemporaryDirectory() as folder:
        settings = server_settings(Path(folder))
        devserver.start(settings, print)
        try:
            for name in names or [*CASES, *OTHERS]:
                target = HERE / "histories" / f"{name if name in OTHERS else f'agent_session-{name}'}.json"
                if target.exists():
                    print(f"{target.name} exists; a recorded history is kept")
                    continue
                rig = Rig(settings, Path(folder) / f"{name}.db")
                target.write_text(asyncio.run(_history(rig, (CASES | OTHERS)[name](rig))) + "\n", "utf-8")
                print(f"recorded {target.name}")
        finally:
            devserver.stop(settings)


if __name__ == "__main__":
    main(sys.argv[1:])
