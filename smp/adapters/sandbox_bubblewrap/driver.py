"""Boxes made by bubblewrap: no daemon, no image, as root or as an ordinary user.

A box is a folder (`state.py`). Each command mounts its checkout anew in a private mount namespace, runs below a
supervisor of its own (`host/`), and leaves nothing but files: a box therefore outlives the process that made it, and a
command does not.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from smp.adapters.sandbox_bubblewrap.checkout import OBJECTS
from smp.adapters.sandbox_bubblewrap.folder_driver import FolderDriver
from smp.adapters.sandbox_bubblewrap.host.order import Order
from smp.adapters.sandbox_bubblewrap.interpreters import TRACED, Interpreter, find_interpreter
from smp.adapters.sandbox_bubblewrap.layers import INSIDE, PLACE
from smp.adapters.sandbox_bubblewrap.limits import (
    Plan,
    plan_limits,
)
from smp.adapters.sandbox_bubblewrap.outcome import read_logs, read_outputs, to_execution
from smp.adapters.sandbox_bubblewrap.probe import probe
from smp.adapters.sandbox_bubblewrap.running import find_bwrap, fresh_exchange, make_order, open_ways, run_limited
from smp.adapters.sandbox_bubblewrap.state import BoxFolder
from smp.adapters.sandbox_bubblewrap.tracing import joined, missing_tracer, watched
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import (
    EgressPolicy,
    Execution,
    Limits,
    NetworkBlock,
    Sandbox,
    SandboxSpec,
    TracerName,
)
from smp.ports.sandbox_driver import Capabilities


class BubblewrapDriver(FolderDriver):
    """Safe to use from several threads and processes at once; one command at a time in each box."""

    name = "bubblewrap"

    def capabilities(self) -> Capabilities:
        able = probe(self._boxes, self._rights)
        missing = missing_tracer(self._tracer, self._rights)
        if missing and self._tracer is not None:
            return replace(able, missing=(*able.missing, missing))
        if not able.available or missing:
            return able
        return replace(able, tracers=(*able.tracers, TracerName.EBPF.value))

    def execute(
        self,
        box: Sandbox,
        command: str,
        *,
        limits: Limits,
        heartbeat: Callable[[], None] | None = None,
        trace: bool = True,
        blocked: Callable[[NetworkBlock], None] | None = None,
    ) -> Execution:
        folder = self._folder(box)
        alive = heartbeat or _no_beat
        with folder.held(waiting=alive):
            record = folder.read().box
            lower = Path(self.lower(record.spec.commit_sha))
            fresh_exchange(folder, self._uid)
            plan = plan_limits(self._rights.groups, f"{folder.id}-{os.getpid()}", limits)
            chosen = record.spec.tracer if trace else None
            with watched(
                chosen,
                plan,
                folder,
                tracing=self._tracer,
                inside=self._inside,
                interpreters=self._interpreter.files(),
            ) as watch:
                order = self._order(
                    folder,
                    lower,
                    record.spec.egress,
                    command=command,
                    limits=limits,
                    plan=plan,
                    variables=watch.variables,
                )
                answer, oom = run_limited(order, plan, alive, blocked)
                outputs = read_outputs(folder.exchange / "out")
                found = watch.trace(self._interpreter)
            logs = read_logs(folder.logs)
        return to_execution(answer, limits, outputs=outputs, logs=logs, trace=found, oom_kills=oom)

    @functools.cached_property
    def _interpreter(self) -> Interpreter:
        return find_interpreter(self._settings.sandbox.python, self._settings.cache_dir, _silent)

    def _prepare(self, spec: SandboxSpec, progress: Callable[[str], None]) -> Interpreter | None:
        _refuse_unsupported(spec)
        if spec.tracer is TracerName.EBPF:
            self._require_ebpf()
        find_bwrap()
        return self._interpreter

    def _require_ebpf(self) -> None:
        missing = missing_tracer(self._tracer, self._rights)
        if missing:
            raise SandboxFailed(missing)
        if self._interpreter.numbers() not in TRACED:
            raise SandboxFailed(
                f"the ebpf tracer knows CPython 3.12 and 3.13, the box has {self._interpreter.full}; set [sandbox] python, "
                'or tracer = "monitoring"'
            )

    def _order(
        self,
        folder: BoxFolder,
        lower: Path,
        egress: EgressPolicy,
        *,
        command: str,
        limits: Limits,
        plan: Plan,
        variables: dict[str, str],
    ) -> Order:
        interpreter = self._interpreter
        layer = self._layer(lower, interpreter, _silent)
        binds = [(str(layer), PLACE), (str(self._inside), INSIDE)]
        if interpreter.root == "/" and not interpreter.executable.startswith("/usr/"):
            binds.append((interpreter.prefix, interpreter.prefix))
        binds += [(str(store), f"{OBJECTS}/{number}") for number, store in enumerate(self._repository.objects)]
        packages = self._settings.repo / "node_modules"
        # Where Node looks last for what the checkout lacks. A link could lead anywhere on the host.
        if packages.is_dir() and not packages.is_symlink():
            binds.append((str(packages), "/node_modules"))
        source = ["/work/src"] if (lower / "src").is_dir() else []
        chosen = self._settings.sandbox.environment
        variables = {"PYTHONPATH": ":".join([*source, "/work"])} | chosen | joined(variables, chosen)
        return make_order(
            folder,
            lower,
            command=command,
            limits=limits,
            plan=plan,
            uid=self._uid,
            root=interpreter.root,
            binds=tuple(binds),
            variables=variables,
            ways=open_ways(egress),
        )


def _refuse_unsupported(spec: SandboxSpec) -> None:
    if spec.image is not None:
        raise SandboxFailed(f"the bubblewrap driver runs no images ({spec.image!r}); leave `image` out")
    if spec.services:
        raise SandboxFailed(
            f"the bubblewrap driver starts no services ({', '.join(spec.services)}); leave `services` out"
        )


def _silent(_: str) -> None:
    return None


def _no_beat() -> None:
    return None
