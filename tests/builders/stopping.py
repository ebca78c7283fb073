"""The product's worker and server, made to stop at a named point and wait there: to be killed, or to go on.

    python -m tests.builders.stopping FOLDER worker --repo R
    python -m tests.builders.stopping FOLDER serve --repo R --port P

FOLDER/point names a point: `<step>:before`, `<step>:after`, or `<step>:write<n>` inside the step's n-th transaction on the
sessions' file, before it is committed, `<step>:box<n>` after its n-th writing into a box, `<step>:record<n>` before its n-th
appending to the records, or `<step>:beat<n>` at a sign of life. Whoever reaches it replaces the file by
FOLDER/reached and waits until that is gone. FOLDER/seen lists every point that was passed, so that a table can be made of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities import heartbeat
from smp.adapters.records_directory import DirectoryRecordFiles
from smp.adapters.sandbox_bubblewrap.folder_driver import FolderDriver
from smp.adapters.sessions_sqlite.file import SqliteFile
from smp.domain.sandboxes import ChangedFile, Sandbox
from smp.ports.record_files import RecordFile
from smp.rpc.dispatcher import Dispatcher
from workers import __main__ as worker
from workers import session_worker

if TYPE_CHECKING:
    import sqlite3

PAUSE_SECONDS = 0.02
_step: ContextVar[str] = ContextVar("step", default="")


class Stops:
    """See the module. Used by both sides: the process that stops, and the test."""

    def __init__(self, folder: Path) -> None:
        self.point, self.reached, self.seen = folder / "point", folder / "reached", folder / "seen"
        self._passed: Counter[str] = Counter()

    def passing(self, point: str) -> None:
        """Stop here if that is asked for."""
        with self.seen.open("a") as file:
            file.write(point + "\n")
        try:
            if self.point.read_text() != point:
                return
            self.point.rename(self.reached)
        except FileNotFoundError:
            return  # nothing is asked for, or another thread took it
        while self.reached.exists():
            time.sleep(PAUSE_SECONDS)

    def numbered(self, kind: str) -> None:
        """Pass a point of which a step has several; nothing outside a step."""
        if step := _step.get():
            name = f"{step}:{kind}"
            self._passed[name] += 1
            self.passing(f"{name}{self._passed[name]}")

    def begin(self, step: str) -> None:
        """A step begins: its points are counted from one."""
        _step.set(step)
        for name in [name for name in self._passed if name.startswith(f"{step}:")]:
            del self._passed[name]
        self.passing(f"{step}:before")


class Stopping(Interceptor):
    """Around every activity of a worker."""

    def __init__(self, stops: Stops) -> None:
        self._stops = stops

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """See `Interceptor`."""
        return _Stopping(next, self._stops)


class _Stopping(ActivityInboundInterceptor):
    def __init__(self, following: ActivityInboundInterceptor, stops: Stops) -> None:
        super().__init__(following)
        self._stops = stops

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        step = activity.info().activity_type
        _step.set(step)
        await asyncio.to_thread(self._stops.begin, step)
        answer = await super().execute_activity(input)
        await asyncio.to_thread(self._stops.passing, f"{step}:after")
        return answer


def _stop_in_transactions(stops: Stops) -> None:
    write = SqliteFile.write

    @contextlib.contextmanager
    def stopping(self: SqliteFile) -> Iterator[sqlite3.Connection]:
        with write(self) as db:
            yield db
            stops.numbered("write")

    SqliteFile.write = stopping  # type: ignore[method-assign]


def _stop_before_records(stops: Stops) -> None:
    append = DirectoryRecordFiles.append

    def stopping(self: DirectoryRecordFiles, file: RecordFile, lines: Iterable[bytes]) -> int:
        stops.numbered("record")
        return append(self, file, lines)

    DirectoryRecordFiles.append = stopping  # type: ignore[method-assign]


def _stop_after_writing_boxes(stops: Stops) -> None:
    write = FolderDriver.write

    def stopping(self: FolderDriver, box: Sandbox, files: Iterable[ChangedFile]) -> None:
        write(self, box, files)
        stops.numbered("box")

    FolderDriver.write = stopping  # type: ignore[method-assign]


def _stop_at_beats(stops: Stops, modules: Iterable[Any]) -> None:
    alive = heartbeat.stop_if_cancelled

    def beating() -> None:
        alive()
        stops.numbered("beat")

    for module in modules:
        module.stop_if_cancelled = beating


def _stop_in_calls(stops: Stops) -> None:
    respond = Dispatcher._respond

    def stopping(self: Dispatcher, call_id: object, name: str, params: object, caller: Any) -> Any:
        stops.begin(name)
        answer = respond(self, call_id, name, params, caller)
        stops.passing(f"{name}:after")
        _step.set("")
        return answer

    Dispatcher._respond = stopping  # type: ignore[method-assign]


def main() -> None:
    """Run one of the two with the stops in it."""
    stops = Stops(Path(sys.argv[1]))
    program = sys.argv[2]
    sys.argv = [program, *sys.argv[3:]]
    _stop_in_transactions(stops)
    _stop_after_writing_boxes(stops)
    _stop_before_records(stops)
    if program == "worker":
        from activities import agent, integrity, sandboxes

        _stop_at_beats(stops, (agent, integrity, sandboxes))
        session_worker.serving = functools.partial(session_worker.serving, interceptors=[Stopping(stops)])
        worker.main()
    else:
        from smp.cli.main import main as command_line

        _stop_in_calls(stops)
        sys.argv = ["smp", program, *sys.argv[1:]]
        command_line()


if __name__ == "__main__":
    main()
