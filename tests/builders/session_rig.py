"""A real dev server per test session, workers that serve doubles, and requests to run: a rig and its fixtures.

Imported by the `conftest.py` of the folders that use it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest

from smp.adapters.runs_temporal import TemporalRunEngine, connect
from smp.cli import devserver
from smp.domain.errors import Unavailable
from smp.domain.ids import AgentId, CommitSha, FilePath, SandboxId, SessionId
from smp.domain.runs import Agent, Edit, EditList, EditStep, Patience, SessionRunRequest
from smp.settings import Settings, load_settings
from tests.builders.session_doubles import SessionDoubles, WorkerOptions
from workers.session_worker import serving

PATIENCE = Patience(heartbeat=2.0, retry_initial=0.05, retry_maximum=0.5, give_up=60, cleanup=60)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def server_settings(folder: Path) -> Settings:
    """Settings of an own server on free ports, its file under `folder`."""
    return load_settings(
        folder,
        environ={
            "SMP_TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}",
            "SMP_TEMPORAL_UI_URL": f"http://127.0.0.1:{free_port()}",
        },
    )


@pytest.fixture
def settings_of() -> Callable[[Path], Settings]:
    """`server_settings`, for tests that start servers themselves."""
    return server_settings


@pytest.fixture(scope="session")
def dev_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A dev server on a file, stopped by its pid at the end."""
    settings = server_settings(tmp_path_factory.mktemp("temporal"))
    devserver.start(settings, lambda line: print(line, file=sys.stderr))
    yield settings
    assert devserver.stop(settings)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Settings]:
    """A dev server that the test may kill."""
    settings = server_settings(tmp_path)
    devserver.start(settings, lambda line: print(line, file=sys.stderr))
    yield settings
    devserver.stop(settings)


class Rig:
    """A queue of its own on a server, the doubles' state behind it, and workers for it."""

    def __init__(self, settings: Settings, state: Path) -> None:
        self.settings = settings
        self.queue = f"test-{uuid.uuid4().hex[:12]}"
        self.state = state
        self.engine = TemporalRunEngine(settings)
        self.hold_file = state.with_suffix(".hold")
        self.crash_file = state.with_suffix(".crash")

    def options(self, **given: Any) -> WorkerOptions:
        """Options of a worker for this queue and state."""
        return WorkerOptions(
            address=self.settings.temporal.address,
            queue=self.queue,
            state=str(self.state),
            hold_file=str(self.hold_file),
            crash_file=str(self.crash_file),
            **given,
        )

    def request(
        self,
        agent: Agent | None = None,
        *,
        steps: int = 5,
        tests: tuple[str, ...] = ("tests/test_a.py",),
        patience: Patience = PATIENCE,
        **given: Any,
    ) -> SessionRunRequest:
        """A request that runs to completion unless the script says otherwise. tests: what is verified against them."""
        file = FilePath("pkg/a.py")
        edits = EditList(steps=tuple(EditStep(edits=(Edit(file=file, content=str(i)),)) for i in range(steps)))
        return SessionRunRequest(
            session_id=SessionId(f"ses_{uuid.uuid4().hex}"),
            agent_id=AgentId("tester"),
            task="change a",
            repository="sample",
            scope=(file,),
            commit_sha=CommitSha("c" * 40),
            agent=agent or edits,
            test_command="true",
            sandbox_id=SandboxId(f"box_{uuid.uuid4().hex}"),
            verify=tuple((file, FilePath(test)) for test in tests),
            task_queue=self.queue,
            patience=patience,
            **given,
        )

    def reset(self, run: str, *, before: str) -> None:
        """As an operator does it: back to where the workflow was about to call an activity, in a new run."""

        async def ask() -> None:
            client = await connect(self.settings.temporal)
            events = (await client.get_workflow_handle(run).fetch_history()).events
            scheduled = next(
                event.activity_task_scheduled_event_attributes
                for event in events
                if event.activity_task_scheduled_event_attributes.activity_type.name == before
            )
            await client.workflow_service.reset_workflow_execution(
                ResetWorkflowExecutionRequest(
                    namespace=client.namespace,
                    workflow_execution=WorkflowExecution(workflow_id=run),
                    reason="by a test",
                    workflow_task_finish_event_id=scheduled.workflow_task_completed_event_id,
                    request_id=uuid.uuid4().hex,
                )
            )

        asyncio.run(ask())

    @contextlib.contextmanager
    def worker(self, **options: Any) -> Iterator[SessionDoubles]:
        """A worker in this process."""
        doubles = SessionDoubles(self.options(**options))
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        queues = self.options(**options).queues

        async def build() -> contextlib.AbstractAsyncContextManager[None]:
            client = await connect(self.settings.temporal)
            context = serving(client, queues, doubles.activities())
            await context.__aenter__()
            return context

        context = asyncio.run_coroutine_threadsafe(build(), loop).result(30)
        try:
            yield doubles
        finally:
            asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result(60)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    def spawn_worker(self, **options: Any) -> subprocess.Popen[str]:
        """A worker as a process of its own, polling when this returns; the caller ends it."""
        root = Path(__file__).resolve().parents[2]
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.builders.session_doubles",
                msgspec.json.encode(self.options(**options)).decode(),
            ],
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "the worker did not come up"
        return process

    def wait_until(self, look: Callable[[], object]) -> None:
        """Until a look at the run is true, by asking again."""
        waiting = threading.Event()
        for _ in range(600):
            with contextlib.suppress(Unavailable):
                if look():
                    return
            waiting.wait(0.05)
        raise AssertionError("it never came to that")

    def wait_for_try(self, name: str) -> None:
        """Until the activity has been tried (or is held), by polling the doubles' own record."""
        doubles = SessionDoubles(self.options())
        waiting = threading.Event()
        for _ in range(600):
            if name in doubles.names("tries") or doubles.holding(name):
                return
            waiting.wait(0.05)
        raise AssertionError(f"{name} was never tried")


@pytest.fixture
def rig(dev_server: Settings, tmp_path: Path) -> Rig:
    """On the shared server."""
    return Rig(dev_server, tmp_path / "state.db")


@pytest.fixture
def own_rig(own_server: Settings, tmp_path: Path) -> Rig:
    """On a server that the test may kill."""
    return Rig(own_server, tmp_path / "state.db")


@pytest.fixture
def settled() -> Callable[[Rig, str, str], None]:
    """The invariant of every ended session, as a function of (rig, session id, status)."""

    def check(rig: Rig, session_id: str, status: str) -> None:
        doubles = SessionDoubles(rig.options())
        branches = doubles.rows(f"SELECT name, pushes FROM branches WHERE name='smp/{session_id}'")
        assert branches == ([(f"smp/{session_id}", 1)] if status == "completed" else []), "one branch, pushed once"
        assert doubles.rows("SELECT id FROM boxes") == [], "no box left"
        states = doubles.rows(f"SELECT status FROM sessions WHERE id='{session_id}'")
        assert states in ([(status,)], []), "no session left open"
        keys = [key for (key,) in doubles.rows(f"SELECT key FROM audit WHERE session='{session_id}' ORDER BY n")]
        assert len(keys) == len(set(keys)), "no audit line twice"
        counters = [int(key.split("#")[1].split(":")[0]) for key in keys]
        assert counters == sorted(counters), "the audit is in order"
        names = [name for (name,) in doubles.rows(f"SELECT name FROM audit WHERE session='{session_id}' ORDER BY n")]
        if names:
            assert names[-1] == "session.close", "close is the last line"
            assert names.count("session.close") == 1

    return check
