"""Boxes made by bubblewrap: no daemon, no image, as root or as an ordinary user.

A box is a folder (`state.py`). Each command mounts its checkout anew in a private mount namespace, runs below a
supervisor of its own (`host/`), and leaves nothing but files: a box therefore outlives the process that made it, and a
command does not.
"""

from __future__ import annotations

import functools
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec.structs import replace

from smp.adapters.sandbox_bubblewrap.checkout import (
    OBJECTS,
    Repository,
    find_repository,
    give_tree,
    make_git_dir,
    make_lower,
    prune_lowers,
)
from smp.adapters.sandbox_bubblewrap.host.order import Order
from smp.adapters.sandbox_bubblewrap.inside import copy_inside
from smp.adapters.sandbox_bubblewrap.interpreters import TRACED, Interpreter, find_interpreter
from smp.adapters.sandbox_bubblewrap.layers import INSIDE, PLACE, make_layer
from smp.adapters.sandbox_bubblewrap.limits import (
    Plan,
    Rights,
    plan_limits,
    present_rights,
    remove_groups,
    remove_orphaned_groups,
    stale_groups,
)
from smp.adapters.sandbox_bubblewrap.once import remove_tree, storage_errors
from smp.adapters.sandbox_bubblewrap.outcome import read_logs, read_outputs, to_execution
from smp.adapters.sandbox_bubblewrap.overlay import OverlayFiles
from smp.adapters.sandbox_bubblewrap.probe import probe
from smp.adapters.sandbox_bubblewrap.requirements import read_requirements
from smp.adapters.sandbox_bubblewrap.running import find_bwrap, fresh_exchange, make_order, open_ways, run_limited
from smp.adapters.sandbox_bubblewrap.state import BoxFolder
from smp.adapters.sandbox_bubblewrap.tracing import joined, missing_tracer, watched
from smp.domain.errors import SandboxFailed, SandboxNotFound
from smp.domain.ids import CommitSha, FilePath, SandboxId
from smp.domain.sandboxes import (
    ChangedFile,
    EgressPolicy,
    Execution,
    Limits,
    NetworkBlock,
    Sandbox,
    SandboxSpec,
    SandboxStatus,
    TracerName,
)
from smp.ports.call_tracer import CallTracer
from smp.ports.clock import Clock
from smp.ports.sandbox_driver import Capabilities, SandboxDriver
from smp.settings import Settings

NAME = "bubblewrap"
_LOWER_UNUSED_S = 7 * 24 * 3600.0


class BubblewrapDriver(SandboxDriver):
    """Safe to use from several threads and processes at once; one command at a time in each box."""

    def __init__(
        self, settings: Settings, clock: Clock, rights: Rights | None = None, *, tracer: CallTracer | None = None
    ) -> None:
        """`tracer`: counts calls from outside; without it `monitoring` is all there is."""
        self._settings = settings
        self._clock = clock
        self._boxes = settings.data_dir / "boxes"
        self._rights = rights or present_rights()
        self._uid = self._rights.uid
        self._tracer = tracer

    def capabilities(self) -> Capabilities:
        able = probe(self._boxes, self._rights)
        missing = missing_tracer(self._tracer, self._rights)
        if missing and self._tracer is not None:
            return replace(able, missing=(*able.missing, missing))
        if not able.available or missing:
            return able
        return replace(able, tracers=(*able.tracers, TracerName.EBPF.value))

    def spawn(self, spec: SandboxSpec, progress: Callable[[str], None] | None = None) -> Sandbox:
        folder = BoxFolder(self._boxes, spec.sandbox_id)
        if folder.exists():
            return folder.read().box
        _refuse_unsupported(spec)
        if spec.tracer is TracerName.EBPF:
            self._require_ebpf()
        find_bwrap()
        repository = self._repository
        lower = make_lower(self._boxes, repository, spec.commit_sha, owner=self._uid)
        self._layer(lower, progress or _silent)
        box = Sandbox(
            spec=spec,
            status=SandboxStatus.READY,
            driver=NAME,
            state_dir=str(folder.path),
            host=platform.node(),
            spawned_at=self._clock.now(),
        )
        with storage_errors("cannot make the box"):
            folder.path.mkdir(mode=0o755, exist_ok=True)
            with folder.held():
                if folder.exists():
                    return folder.read().box
                remove_tree(folder.layer)
                for path in (folder.layer, folder.upper, folder.work):
                    path.mkdir(mode=0o755)
                index = lower.with_name(f"{spec.commit_sha}.index")
                make_git_dir(folder.upper / ".git", repository, spec.commit_sha, index)
                if self._uid is not None:
                    give_tree(folder.upper, self._uid)
                folder.save(box)
        return box

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

    def changes(self, box: Sandbox) -> tuple[ChangedFile, ...]:
        with self._files(box) as files:
            return files.changes()

    def read(self, box: Sandbox, paths: Iterable[FilePath]) -> tuple[ChangedFile, ...]:
        with self._files(box) as files:
            return tuple(files.read(path) for path in paths)

    def write(self, box: Sandbox, files: Iterable[ChangedFile]) -> None:
        with self._files(box) as overlay:
            overlay.write(tuple(files), limit_bytes=box.spec.limits.disk_mb << 20)

    def destroy(self, box: Sandbox) -> int:
        try:
            folder = self._folder(box)
            with folder.held():
                return self._remove(folder)
        except SandboxNotFound:
            return 0

    def reap(self, keep: frozenset[str]) -> tuple[str, ...]:
        gone = []
        standing: set[str] = set()
        for path in sorted(self._boxes.glob("box_*")):
            folder = BoxFolder(self._boxes, SandboxId(path.name))
            try:
                record = folder.read()
            except SandboxNotFound:
                record = None
            if record is not None and (path.name in keep or folder.busy() or record.owner.alive()):
                standing.add(record.box.spec.commit_sha)
            elif record is not None or _older_than_an_hour(path):  # without a record, someone may be making it
                self._remove(folder)
                gone.append(folder.id)
        if self._rights.groups is not None:
            remove_orphaned_groups(self._rights.groups)
        prune_lowers(self._boxes, frozenset(standing), unused_s=_LOWER_UNUSED_S)
        return tuple(gone)

    def lower(self, commit: CommitSha) -> str:
        return str(make_lower(self._boxes, self._repository, commit, owner=self._uid))

    @functools.cached_property
    def _repository(self) -> Repository:
        return find_repository(self._settings.repo)

    @functools.cached_property
    def _interpreter(self) -> Interpreter:
        return find_interpreter(self._settings.sandbox.python, self._settings.cache_dir, _silent)

    @property
    def _inside(self) -> Path:
        return copy_inside(self._settings.cache_dir)

    def _require_ebpf(self) -> None:
        missing = missing_tracer(self._tracer, self._rights)
        if missing:
            raise SandboxFailed(missing)
        if self._interpreter.numbers() not in TRACED:
            raise SandboxFailed(
                f"the ebpf tracer knows CPython 3.12 and 3.13, the box has {self._interpreter.full}; set [sandbox] python, "
                'or tracer = "monitoring"'
            )

    def _layer(self, lower: Path, progress: Callable[[str], None]) -> tuple[Interpreter, Path]:
        if self._settings.sandbox.setup:
            raise SandboxFailed(
                "[sandbox] setup is not supported by the bubblewrap driver; name packages in [sandbox] requirements"
            )
        interpreter = self._interpreter
        wanted = read_requirements(lower, self._settings.sandbox.requirements)
        for line in wanted.left_out:
            progress(f"left out of the box's packages: {line}")
        return interpreter, make_layer(self._settings.cache_dir, interpreter, wanted.lines, progress)

    def _folder(self, box: Sandbox) -> BoxFolder:
        return BoxFolder(self._boxes, box.spec.sandbox_id)

    def _files(self, box: Sandbox) -> OverlayFiles:
        folder = self._folder(box)
        return OverlayFiles(folder, lambda: Path(self.lower(folder.read().box.spec.commit_sha)), owner=self._uid)

    def _remove(self, folder: BoxFolder) -> int:
        groups = self._rights.groups
        if groups is not None:
            for name in stale_groups(groups, f"{folder.id}-"):
                remove_groups({f"{parent}/{name}": {} for parent in groups.folders()})
        with storage_errors("cannot remove the box"):
            return remove_tree(folder.path)

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
        interpreter, layer = self._layer(lower, _silent)
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


def _older_than_an_hour(path: Path) -> bool:

    try:
        return time.time() - path.stat().st_mtime > 3600
    except OSError:
        return False


def _silent(_: str) -> None:
    return None


def _no_beat() -> None:
    return None
