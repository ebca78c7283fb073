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


def in_fork(work, *, wall: float | None = None, cpu: int | None = None, memory_mb: int | None = None) -> dict | None:
    """The value of `work()` computed in a child; everything the child started is dead afterwards.

    Args:
        wall: Seconds on the clock. cpu: whole seconds of processor time. memory_mb: private memory on top of what the
            parent has; beyond it allocations fail. Each unbounded when None.

    Returns:
        None when the child died, `TIMED_OUT` when a limit ended it.
    """
    reader, writer = os.pipe()
    folder = tempfile.mkdtemp(prefix="smp-")
    data = None if memory_mb is None else private_bytes() + memory_mb * 1024 * 1024
    child = os.fork()
    if child == 0:
        code = 1
        try:
            enter_child(reader, folder, cpu, data)
            payload = json.dumps(work()).encode() + b"\n"
            with open(writer, "wb", closefd=False) as pipe:
                pipe.write(payload)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    try:
        return await_child(child, reader, wall, cpu)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        remove(folder)


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


def await_child(child: int, reader: int, wall: float | None, cpu: int | None) -> dict | None:
    deadline = None if wall is None else time.monotonic() + wall
    handle = os.pidfd_open(child)
    waiting, data = [reader, handle], b""
    try:
        while not data.endswith(b"\n"):
            rest = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = select.select(waiting, [], [], rest)[0]
            if not ready:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return TIMED_OUT
            if reader in ready:
                chunk = os.read(reader, 1 << 20)
                data += chunk
                if not chunk:  # the child closed it, but may be running on
                    waiting.remove(reader)
            elif handle in ready:
                break
    finally:
        os.close(handle)
    _, status, usage = os.wait4(child, 0)
    if data.endswith(b"\n"):
        return json.loads(data)
    spent = usage.ru_utime + usage.ru_stime
    limited = os.WIFSIGNALED(status) and cpu is not None and spent >= cpu - 1
    return TIMED_OUT if limited else None
