"""Work in a forked child, its value back as JSON, bounded in processor and wall time.

Runs inside a box, standard library only, beside `mutation_runner.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import time

TIMED_OUT = {"timeout": True}


def in_fork(work, *, wall: float | None = None, cpu: int | None = None) -> dict | None:
    """The value of `work()` computed in a child; everything the child started is dead afterwards.

    Args:
        wall: Seconds on the clock. cpu: whole seconds of processor time; both unbounded when None.

    Returns:
        None when the child died, `TIMED_OUT` when a limit ended it.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            enter_child(reader, cpu)
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


def enter_child(reader: int, cpu: int | None) -> None:
    os.close(reader)
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    if cpu is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)


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
