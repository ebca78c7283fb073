"""From what a command left behind to an `Execution`.

The folders read here were written by the box: nothing in them is trusted. Only regular files are opened, no link is
followed, sizes are bounded, and what does not decode is left out.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from smp.adapters.sandbox_bubblewrap.once import remove_tree, storage_errors
from smp.adapters.sandbox_bubblewrap.supervision import Answer
from smp.domain.sandboxes import Execution, Limits
from smp.domain.traces import CallObservation, Frame, Trace

_MAX_OUTPUT_BYTES = 32 << 20
_MAX_TRACE_BYTES = 256 << 20
_MAX_FILES = 10_000
_MAX_DEPTH = 32
_CHECKOUT = "/work/"


class _Traced(Struct, frozen=True, kw_only=True):
    """One interpreter's file. frames: (file, qualname, first line). calls: (caller, callee, count), by index.

    lost: Calls or functions that it could not follow. thread: Another thread of a process that has a file of its own.
    """

    frames: list[tuple[str, str, int]]
    calls: list[tuple[int, int, int]]
    lost: int = 0
    thread: bool = False


def to_execution(
    answer: Answer,
    limits: Limits,
    *,
    outputs: dict[str, bytes],
    logs: dict[str, bytes],
    trace: Trace | None,
    oom_kills: int,
) -> Execution:
    """The execution as recorded; a limit that ended it is told at the end of its standard error."""
    memory = answer.killed == "memory" or oom_kills > 0
    said = {
        "timeout": f"smp: killed after {limits.timeout_ms} ms",
        "memory": f"smp: killed, more than {limits.memory_mb} MB of memory",
        "disk": f"smp: killed, more than {limits.disk_mb} MB written to disk",
    }.get(answer.killed)
    if said is None and memory:
        said = f"smp: a process was killed, the box reached {limits.memory_mb} MB of memory"
    stderr = answer.err.decode(errors="replace")
    if said:
        stderr += ("\n" if stderr and not stderr.endswith("\n") else "") + said + "\n"
    return Execution(
        exit_code=answer.exit_code,
        stdout=answer.out.decode(errors="replace"),
        stderr=stderr,
        duration_ms=answer.duration_ms,
        timed_out=answer.killed == "timeout",
        truncated=answer.truncated,
        memory_killed=memory,
        network_blocks=tuple(block.seen() for block in answer.blocks),
        trace=trace,
        outputs=outputs,
        logs=logs,
    )


def read_logs(folder: Path) -> dict[str, bytes]:
    """The whole streams that were too long to be kept otherwise; written by the supervisor, not by the box."""
    found = {}
    for name in ("stdout", "stderr"):
        if (folder / name).exists():
            with storage_errors("cannot read the log of a command"):
                found[name] = (folder / name).read_bytes()
    remove_tree(folder)
    return found


def read_outputs(folder: Path) -> dict[str, bytes]:
    """The regular files of a folder by relative path, sorted; past 32 MB in all the rest is left out."""
    found: dict[str, bytes] = {}
    room = _MAX_OUTPUT_BYTES
    for name, content in sorted(_regular_files(folder, _MAX_OUTPUT_BYTES)):
        if len(content) > room:
            break
        found[name] = content
        room -= len(content)
    return found


def read_trace(folder: Path) -> Trace:
    """The traces of all interpreters of a command, added up."""
    counts: Counter[tuple[tuple[str, str, int], tuple[str, str, int]]] = Counter()
    processes = lost = 0
    for _, content in _regular_files(folder, _MAX_TRACE_BYTES):
        try:
            traced = msgspec.json.decode(content, type=_Traced)
            edges = [(traced.frames[caller], traced.frames[callee], count) for caller, callee, count in traced.calls]
        except (msgspec.DecodeError, IndexError):
            continue  # killed while writing, or no trace of ours
        processes += not traced.thread
        lost += max(traced.lost, 0)
        for caller, callee, count in edges:
            counts[caller, callee] += max(count, 0)
    calls = tuple(
        CallObservation(caller=_frame(caller), callee=_frame(callee), count=count)
        for (caller, callee), count in sorted(counts.items())
        if count
    )
    return Trace(tracer="monitoring", calls=calls, processes=processes, lost_calls=lost)


def _frame(raw: tuple[str, str, int]) -> Frame:
    return Frame(file=raw[0].removeprefix(_CHECKOUT), qualname=raw[1], first_line=raw[2])


def _regular_files(folder: Path, limit_bytes: int) -> Iterator[tuple[str, bytes]]:
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        seen = 0
        for base, folders, files, descriptor in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            seen += len(folders)
            if base.count("/") >= _MAX_DEPTH:
                folders.clear()  # the walk holds a descriptor a level
            for name in files:
                seen += 1
                if seen > _MAX_FILES:
                    return
                content = _content(name, descriptor, limit_bytes)
                if content is not None:
                    yield os.path.normpath(os.path.join(base, name)), content
    finally:
        os.close(top)


def _content(name: str, folder: int, limit_bytes: int) -> bytes | None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        kind = os.fstat(descriptor)
        if not stat.S_ISREG(kind.st_mode) or kind.st_size > limit_bytes:
            return None
        return file.read(limit_bytes)
