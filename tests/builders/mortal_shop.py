"""The sample shop with a worker, a server and Temporal that stop at named points, are killed there, and started again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from smp.bootstrap import build_platform
from smp.cli import devserver
from smp.domain.errors import Unavailable
from smp.domain.ids import AgentId, FilePath, SandboxId, SessionId
from smp.domain.runs import Edit, EditList, EditStep, Patience, SessionRunRequest, queue_of
from smp.safety.audit import verify
from tests.builders.session_rig import free_port
from tests.builders.shop_repository import FIXED, TESTS, Shop, open_shop
from tests.builders.stopping import Stops

ROOT = Path(__file__).resolve().parents[2]
PRICES, TEST_FILE = FilePath("shop/prices.py"), FilePath("tests/test_prices.py")
SLOW_TEST = """

def test_slowly() -> None:
    import time

    time.sleep(2.5)
    assert discounted(100, 50) == 50
"""
TRIES = 2400
ASKED = 3
T = TypeVar("T")
PAUSE_SECONDS = 0.05


class Victim(StrEnum):
    """What is killed: the worker; `smp serve` beside it; Temporal; every process that any of them has started, at once."""

    WORKER = "worker"
    SERVER = "server"
    TEMPORAL = "temporal"
    TREE = "tree"


class MortalShop:
    """See the module. One session at a time; `broken` once one has ended wrong, for what it left may mislead the next."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = contextlib.ExitStack()
        self.shop: Shop = self._open.enter_context(open_shop(folder))
        self.stops = Stops(folder)
        self.broken = False
        self._services = build_platform(self.shop.settings)
        self._services.indexer.refresh()
        self._number = 0
        self._port = free_port()
        self._worker: subprocess.Popen[str] | None = None
        self._server: subprocess.Popen[str] | None = None
        self._revive()
        undisturbed = self.begin()
        self._record = self._methods(self._outcome(undisturbed))
        self.branches = 1

    def close(self) -> None:
        """End every process."""
        for process in (self._worker, self._server):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait(30)
        self._open.close()

    @contextlib.contextmanager
    def judging(self) -> Iterator[None]:
        """Whatever is raised inside breaks the shop."""
        try:
            yield
        except BaseException:
            self.broken = True
            raise

    def begin(self, *, stop_at: str = "") -> SessionId:
        """Start a session whose change no other has proposed; with a point given, wait until it has come there and stays."""
        if stop_at:
            self.stops.point.write_text(stop_at)
        self._number += 1
        fixed = f"# {self._number}\n{FIXED}"
        # A sign of life is due every second: tests that take less give none.
        tests = f"# {self._number}\n{TESTS}{SLOW_TEST if 'beat' in stop_at else ''}"
        commit = self._services.sources.head()
        assert commit is not None
        request = SessionRunRequest(
            session_id=SessionId(self._services.clock.fresh_id("ses")),
            sandbox_id=SandboxId(self._services.clock.fresh_id("box")),
            agent_id=AgentId("tester"),
            task="a percentage is a hundredth",
            repository="shop",
            scope=(PRICES, TEST_FILE),
            commit_sha=commit,
            agent=EditList(
                steps=(EditStep(edits=(Edit(file=PRICES, content=fixed), Edit(file=TEST_FILE, content=tests))),)
            ),
            test_command="python -m pytest -q -p no:cacheprovider",
            task_queue=queue_of(self.shop.settings.runs_of),
            patience=Patience(heartbeat=5.0),
        )
        self._answered(lambda: self._services.runs.start_session(request))
        if stop_at:
            self._until(self.stops.reached.exists, f"{stop_at} was never reached")
        return request.session_id

    def kill(self, victim: Victim) -> None:
        """Send SIGKILL, wait for the end, start again."""
        assert self._worker is not None
        assert self._server is not None
        temporal = devserver.status(self.shop.settings).pid
        assert temporal is not None
        dying = {
            Victim.WORKER: [self._worker.pid],
            Victim.SERVER: [self._server.pid],
            Victim.TEMPORAL: [temporal],
            Victim.TREE: [pid for root in (self._worker.pid, self._server.pid, temporal) for pid in _tree(root)],
        }[victim]
        for pid in dying:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in (self._worker, self._server):
            if process.pid in dying:
                process.wait(30)
        self._until(lambda: not any(map(_lives, dying)), "SIGKILL takes a moment, not this long")
        if victim is Victim.SERVER:
            self.go_on()  # a transaction that is held open would keep the next server out
        self._revive()

    def go_on(self) -> None:
        """Let whoever has stopped go on, if it still lives."""
        self.stops.reached.unlink(missing_ok=True)

    def ended_well(self, session: SessionId) -> None:
        """It completed and left what an undisturbed one leaves: one branch of one commit, its record, and nothing else."""
        outcome = self._outcome(session)
        self.branches += 1
        branch = f"smp/{session}"
        assert self.shop.branches().count(branch) == 1
        assert len(self.shop.branches()) == self.branches
        self.shop.git("fetch", "--quiet", "origin", branch)
        assert self.shop.git("rev-list", "--count", "HEAD..FETCH_HEAD") == "1\n"
        assert self.shop.git("show", f"FETCH_HEAD:{PRICES}").endswith(FIXED)
        assert self._methods(outcome) == self._record
        assert self._services.session_store.locks() == ()
        assert self._services.session_store.active() == ()
        assert list((self.shop.settings.data_dir / "boxes").glob("box_*")) == []
        assert boxed(self.shop) == []
        assert self.shop.git("status", "--porcelain") == ""
        episodes = [one for one in self._services.records.records().episodes if one.session_id == session]
        assert len(episodes) == 1, "a session is remembered once"

    def _outcome(self, session: SessionId) -> SessionId:
        outcome = self._answered(lambda: self._services.runs.result(f"session/{session}", timeout_ms=240_000))
        assert (outcome.status, outcome.attempts) == ("completed", {}), outcome
        return session

    def _methods(self, session: SessionId) -> Counter[str]:
        """What its record says has happened, and how often; the record is whole."""
        events = self._services.session_store.events(session)
        assert verify(events) is None, "the chain of the audit holds"
        keys = [event.key for event in events if event.key]
        assert len(keys) == len(set(keys))
        assert (events[0].method, events[-1].method) == ("smp/session/open", "smp/session/close")
        return Counter(event.method for event in events)

    def _revive(self) -> None:
        """Start what does not live."""
        devserver.start(self.shop.settings, lambda _: None)
        repo = ["--repo", str(self.shop.repo)]
        if self._server is None or self._server.poll() is not None:
            self._server = start_stopping(
                self._folder, self.shop, "serve", *repo, "--port", str(self._port), stream="stderr", until="serving "
            )
        if self._worker is None or self._worker.poll() is not None:
            self._worker = start_stopping(self._folder, self.shop, "worker", *repo, stream="stdout", until="ready")

    def _answered(self, ask: Callable[[], T]) -> T:
        """The answer to a question to Temporal, asked again where a loaded machine takes longer than a call may."""
        for _ in range(ASKED):
            with contextlib.suppress(Unavailable):
                return ask()
        return ask()

    def _until(self, look: Callable[[], object], complaint: str) -> None:
        pause = threading.Event()
        for _ in range(TRIES):
            if look():
                return
            pause.wait(PAUSE_SECONDS)
        raise AssertionError(complaint)


def start_stopping(folder: Path, shop: Shop, *arguments: str, stream: str, until: str) -> subprocess.Popen[str]:
    """A process of the product with the stops of a folder in it, once it has said `until` on a stream; the other is logged."""
    with (folder / f"{arguments[0]}.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.builders.stopping", str(folder), *arguments],
            stdout=subprocess.PIPE if stream == "stdout" else log,
            stderr=subprocess.PIPE if stream == "stderr" else log,
            text=True,
            cwd=ROOT,
            env=shop.environment,
        )
    pipe = process.stdout if stream == "stdout" else process.stderr
    assert pipe is not None
    said = pipe.readline()
    if not said.startswith(until):
        process.kill()
        raise AssertionError(said + pipe.read())
    threading.Thread(target=pipe.read, daemon=True).start()
    return process


def boxed(shop: Shop) -> list[str]:
    """Processes that live in one of the shop's boxes."""
    found = []
    for mounts in Path("/proc").glob("[0-9]*/mountinfo"):
        with contextlib.suppress(OSError):
            if str(shop.settings.data_dir) in mounts.read_text():
                found.append(mounts.with_name("cmdline").read_text())
    return found


def _lives(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked after does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def _tree(root: int) -> list[int]:
    """A process and all below it."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
    return found
