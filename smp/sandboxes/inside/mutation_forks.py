"""Work in a forked child, its value back as JSON, bounded in processor time, wall time and memory.

Every child has a folder of its own for temporary files, which goes with it: what one mutant leaves there is neither seen
by the next nor adds up to a full disk.

Runs inside a box, standard library only, beside `mutation_runner.py`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import resource
import select
import shutil
import signal
import tempfile
import time

TIMED_OUT = {"timeout": True}
_writer: int | None = None
"""In a child: where its value goes."""


class GoOn(Exception):
    """Raised in a child that shall leave the place where its parent stopped to fork, and go on from there."""


def in_fork(work, *, wall: float | None = None, cpu: int | None = None, memory_mb: int | None = None) -> dict | None:
    """The value of `work()` computed in a child; everything the child started is dead afterwards.

    Args:
        wall: Seconds on the clock. cpu: whole seconds of processor time. memory_mb: private memory on top of what the
            parent has; beyond it allocations fail. Each unbounded when None.

    Returns:
        None when the child died, `TIMED_OUT` when a limit ended it.
    """
    child = fork(wall=wall, cpu=cpu, memory_mb=memory_mb)
    if child is not None:
        return child.value()
    try:
        deliver(work())
    finally:
        os._exit(1)


def fork(*, wall: float | None, cpu: int | None, memory_mb: int | None) -> Child | None:
    """A child with these limits; None in the child itself, which ends with `deliver` wherever its run leads it."""
    global _writer
    reader, writer = os.pipe()
    folder = tempfile.mkdtemp(prefix="smp-")
    data = None if memory_mb is None else private_bytes() + memory_mb * 1024 * 1024
    process = os.fork()
    if process == 0:
        try:
            if _writer is not None:
                os.close(_writer)
            _writer = writer
            enter_child(reader, folder, cpu, data)
        except BaseException:  # noqa: BLE001 - the edge of the child: nothing of it may go on as its parent
            os._exit(1)
        return None
    os.close(writer)
    return Child(process, reader, folder, wall, cpu)


def deliver(value: dict) -> None:
    """End this child with a value: nothing that would run at an ordinary exit runs."""
    payload = memoryview(json.dumps(value).encode() + b"\n")
    while payload:
        payload = payload[os.write(_writer, payload) :]
    os._exit(0)


class Child:
    """A forked process with its limits, as its parent holds it."""

    def __init__(self, process: int, reader: int, folder: str, wall: float | None, cpu: int | None) -> None:
        self.process, self.reader, self.folder, self.wall, self.cpu = process, reader, folder, wall, cpu

    def value(self) -> dict | None:
        """Wait for its end; see `in_fork`."""
        try:
            return self.awaited()
        finally:
            os.close(self.reader)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process, signal.SIGKILL)
            remove(self.folder)

    def awaited(self) -> dict | None:
        deadline = None if self.wall is None else time.monotonic() + self.wall
        handle = os.pidfd_open(self.process)
        waiting, data = [self.reader, handle], b""
        try:
            while not data.endswith(b"\n"):
                rest = None if deadline is None else max(0.0, deadline - time.monotonic())
                ready = select.select(waiting, [], [], rest)[0]
                if not ready:
                    os.kill(self.process, signal.SIGKILL)
                    os.waitpid(self.process, 0)
                    return TIMED_OUT
                if self.reader in ready:
                    chunk = os.read(self.reader, 1 << 20)
                    data += chunk
                    if not chunk:  # the child closed it, but may be running on
                        waiting.remove(self.reader)
                elif handle in ready:
                    break
        finally:
            os.close(handle)
        _, status, usage = os.wait4(self.process, 0)
        if data.endswith(b"\n"):
            return json.loads(data)
        spent = usage.ru_utime + usage.ru_stime
        limited = os.WIFSIGNALED(status) and self.cpu is not None and spent >= self.cpu - 1
        return TIMED_OUT if limited else None


@functools.cache
def private_bytes() -> int:
    """Private memory of a parent, which its children start with; it hardly grows between two of them."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * resource.getpagesize()


def remove(folder: str) -> None:
    """Most children leave their folder empty."""
    try:
        os.rmdir(folder)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


def enter_child(reader: int, folder: str, cpu: int | None, data: int | None) -> None:
    private_bytes.cache_clear()
    os.close(reader)
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.environ["TMPDIR"] = folder
    tempfile.tempdir = None
    if cpu is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    if data is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (data, data))
