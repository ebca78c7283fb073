"""A warm session of vitest or jest (`node_driver.mjs`), bounded for each run; started anew when a run has ended it.

Runs inside a box, standard library only, beside `node_runner.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time

from mutation_forks import TIMED_OUT

DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_driver.mjs")
START_SECONDS = 120.0
LOOK_SECONDS = 0.2
TICKS = os.sysconf("SC_CLK_TCK")


class WarmSession:
    """Runs of one test file in processes that stay."""

    def __init__(self, command: list[str], folder: str, environment: dict[str, str]) -> None:
        self.command, self.folder, self.environment = command, folder, environment
        self.process: subprocess.Popen | None = None

    def run(self, request: dict, *, wall: float, cpu: float) -> dict | None:
        """The driver's answer; None when its process died, `TIMED_OUT` when a limit ended it."""
        if self.process is None and not self.start():
            return None
        spent = self.spent()
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            self.end()
            return None
        return self.answer(wall, spent + cpu)

    def start(self) -> bool:
        reader, writer = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3>&{writer}', "sh", *self.command], cwd=self.folder, env=self.environment,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(writer,), process_group=0,
        )  # fmt: skip
        os.close(writer)
        self.reader, self.rest = reader, b""
        return self.answer(START_SECONDS, None) == {}

    def answer(self, wall: float, cpu: float | None) -> dict | None:
        deadline = time.monotonic() + wall
        while b"\n" not in self.rest:
            if select.select([self.reader], [], [], LOOK_SECONDS)[0]:
                chunk = os.read(self.reader, 1 << 20)
                if not chunk:
                    self.end()
                    return None
                self.rest += chunk
            elif time.monotonic() > deadline or (cpu is not None and self.spent() > cpu):
                self.end()
                return TIMED_OUT
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def spent(self) -> float:
        """Processor seconds of the session's processes, the ended ones among them included."""
        ticks = 0
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
                    if int(fields[2]) == self.process.pid:
                        ticks += sum(int(field) for field in fields[11:15])
        return ticks / TICKS

    def end(self) -> None:
        """Kill what is left of it. The next run starts another."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.stdin.close()
            self.process.wait()
            os.close(self.reader)
            self.process = None
