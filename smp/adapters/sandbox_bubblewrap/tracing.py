"""What a tracer needs of a command, and what it gives back."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from smp.adapters.sandbox_bubblewrap.eval_probe import FILE, OFFSETS
from smp.adapters.sandbox_bubblewrap.interpreters import Interpreter
from smp.adapters.sandbox_bubblewrap.layers import INSIDE
from smp.adapters.sandbox_bubblewrap.limits import Plan, Rights, remove_groups
from smp.adapters.sandbox_bubblewrap.once import storage_errors
from smp.adapters.sandbox_bubblewrap.outcome import read_trace
from smp.adapters.sandbox_bubblewrap.state import BoxFolder
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import TracerName
from smp.domain.traces import Trace
from smp.ports.call_tracer import CallTracer, CallWatch

_SPECIALISED = (3, 13)
"""The version that calls `__init__` past the frame evaluation function once a call site is warm."""

_NODE_HOOK = f"--require {INSIDE}/node_trace/hook.cjs"

_NO_PROGRAMS = (".git", ".venv", "node_modules", "site-packages")
_MAX_PROGRAMS = 50
_MAX_PROGRAM_BYTES = 64 << 20


class Watched(Struct, frozen=True, kw_only=True):
    """variables: What turns the tracer on in the box."""

    variables: dict[str, str]
    folder: BoxFolder
    tracer: TracerName | None
    watch: CallWatch | None = None

    def trace(self, interpreter: Interpreter) -> Trace | None:
        """The calls of the command, which has ended; None when they were not asked for."""
        if self.tracer is None:
            return None
        if self.watch is None:
            return read_trace(self.folder.exchange / "trace")
        found = self.watch.trace()
        if interpreter.numbers() != _SPECIALISED:
            return found
        calls = tuple(
            replace(call, lower_bound=True) if call.callee.qualname.endswith(".__init__") else call
            for call in found.calls
        )
        return replace(found, calls=calls)


def missing_tracer(tracer: CallTracer | None, rights: Rights) -> str:
    """Why the kernel's tracer cannot be had; empty when it can."""
    if tracer is None:
        return 'this driver was made without the ebpf tracer; use [sandbox] tracer = "monitoring"'
    if rights.groups is None or not rights.groups.gate:
        return 'the ebpf tracer needs root and control groups of version 2 that take BPF; use [sandbox] tracer = "monitoring"'
    return tracer.missing()


@contextmanager
def watched(
    tracer: TracerName | None,
    plan: Plan,
    folder: BoxFolder,
    *,
    tracing: CallTracer | None,
    inside: Path,
    interpreters: tuple[str, ...],
) -> Iterator[Watched]:
    """Count while the context lasts.

    Args:
        tracer: None: count nothing.
        inside: Folder of the scripts that run in the box.
        interpreters: Files on the host that the box's interpreter consists of.

    Raises:
        SandboxFailed: The kernel's tracer cannot be had any more.
    """
    if tracer is not TracerName.EBPF:
        yield Watched(variables=tracing_variables(tracer), folder=folder, tracer=tracer)
        return
    if tracing is None or not plan.gate:
        raise SandboxFailed("the box was made with the ebpf tracer, which this process does not have; run it as root")
    with storage_errors("cannot watch the box"):
        os.makedirs(plan.gate, exist_ok=True)
    try:
        programs = built_programs(folder.upper)
        with tracing.watch(plan.gate, str(inside / FILE), OFFSETS, interpreters, programs) as watch:
            yield Watched(variables=tracing_variables(tracer), folder=folder, tracer=tracer, watch=watch)
    finally:
        remove_groups({plan.gate: {}})


def tracing_variables(tracer: TracerName | None) -> dict[str, str]:
    """What turns a tracer on in a box."""
    if tracer is None:
        return {}
    if tracer is TracerName.EBPF:
        return {"SMP_TRACE": "ebpf"}
    return {"SMP_TRACE": "/smp/trace", "NODE_OPTIONS": _NODE_HOOK}


def joined(variables: dict[str, str], chosen: dict[str, str]) -> dict[str, str]:
    """The tracer's variables; options for Node that the settings name stay in force beside its own."""
    options = " ".join(one["NODE_OPTIONS"] for one in (variables, chosen) if "NODE_OPTIONS" in one)
    return variables | ({"NODE_OPTIONS": options} if options else {})


def built_programs(upper: Path) -> tuple[str, ...]:
    """Programs that commands of the box have built so far; nothing runs in it now, and no link is followed."""
    found: list[str] = []
    for base, folders, files in os.walk(upper):
        folders[:] = sorted(name for name in folders if name not in _NO_PROGRAMS)
        for name in sorted(files):
            path = os.path.join(base, name)
            if len(found) < _MAX_PROGRAMS and _is_program(path):
                found.append(path)
    return tuple(found)


def _is_program(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as file:
        kind = os.fstat(descriptor)
        wanted = stat.S_ISREG(kind.st_mode) and kind.st_mode & 0o111 and kind.st_size <= _MAX_PROGRAM_BYTES
        return bool(wanted) and file.read(4) == b"\x7fELF"
