"""Boxes whose commands run in virtual machines: a kernel of their own between the box and the host.

A box is a folder, as it is for bubblewrap. Each command restores a stored machine, in which the same supervisor makes the
same bubblewrap box, with the same gate, name server and limits; when it has ended, the box's files come back over the serial
port, and the machine is thrown away. Nothing of a machine outlives its command.
"""

from __future__ import annotations

import functools
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.checkout import OBJECTS
from smp.adapters.sandbox_bubblewrap.folder_driver import FolderDriver
from smp.adapters.sandbox_bubblewrap.host.order import Order
from smp.adapters.sandbox_bubblewrap.interpreters import Interpreter
from smp.adapters.sandbox_bubblewrap.layers import INSIDE, PLACE
from smp.adapters.sandbox_bubblewrap.limits import ControlGroups, Plan, plan_limits
from smp.adapters.sandbox_bubblewrap.once import make_once, remove_tree, storage_errors
from smp.adapters.sandbox_bubblewrap.outcome import read_logs, read_outputs, read_trace, to_execution
from smp.adapters.sandbox_bubblewrap.running import fresh_exchange, make_order
from smp.adapters.sandbox_bubblewrap.state import BoxFolder, Owner
from smp.adapters.sandbox_bubblewrap.supervision import Answer, decode_answer, take_notices
from smp.adapters.sandbox_bubblewrap.tracing import joined, tracing_variables
from smp.adapters.sandbox_microvm.guest import Guest, find_qemu, make_guest, missing_programs
from smp.adapters.sandbox_microvm.images import make_image, pack_history
from smp.adapters.sandbox_microvm.inside import agent, frames
from smp.adapters.sandbox_microvm.machine import (
    MACHINE_UID,
    NAME,
    Machine,
    choose_accelerator,
    label_of,
    shape_for,
    store,
)
from smp.adapters.sandbox_microvm.unpack import Unpacker, decode_entry
from smp.domain.errors import SandboxFailed
from smp.domain.ids import CommitSha
from smp.domain.sandboxes import Execution, Limits, NetworkBlock, Sandbox, SandboxSpec, TracerName
from smp.ports.sandbox_driver import Capabilities

_GRACE_S = 120.0  # restoring, entering and taking the files over, on a machine that is emulated and busy
_MAX_ANSWER_BYTES = 64 << 20
_SPARE_MB = 64
_LOGS_MB = 64


class MicrovmDriver(FolderDriver):
    """Safe to use from several threads and processes at once; one command at a time in each box."""

    name = "microvm"

    def capabilities(self) -> Capabilities:
        lacking = missing_programs()
        if lacking:
            return Capabilities(driver=self.name, available=False, missing=(f"install what is missing: {lacking}",))
        try:
            accelerator = self._ready(_silent)
        except SandboxFailed as error:
            return Capabilities(driver=self.name, available=False, missing=(error.message,))
        return Capabilities(
            driver=self.name,
            available=True,
            copy_on_write=True,
            memory_limit=f"cgroup-v2, guest under {accelerator}",
            egress="ebpf",
            tracers=(TracerName.MONITORING.value,),
        )

    def spawn(self, spec: SandboxSpec, progress: Callable[[str], None] | None = None) -> Sandbox:
        box = super().spawn(spec, progress)
        self._images(Path(self.lower(spec.commit_sha)), spec.commit_sha, progress or _silent)
        return box

    def reap(self, keep: frozenset[str]) -> tuple[str, ...]:
        _end_orphans()
        gone = super().reap(keep)
        for folder in (self._boxes / "disks").glob("*"):
            if not (self._boxes / "lower" / folder.name).is_dir() and not folder.name.startswith("."):
                with storage_errors("cannot remove a disk"):
                    remove_tree(folder)
        return gone

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
            spec = folder.read().box.spec
            accelerator = self._ready(_silent)
            lower = Path(self.lower(spec.commit_sha))
            fresh_exchange(folder, self._uid)
            tracer = spec.tracer if trace else None
            plan = plan_limits(_GUEST_GROUPS, "box", limits)
            order = self._order(folder, lower, command=command, limits=limits, plan=plan, tracer=tracer)
            scratch = folder.path / "scratch.ext4"
            unpacker = Unpacker(
                folder.path / "incoming", owner=self._uid, limit_bytes=(2 * limits.disk_mb + _LOGS_MB + _SPARE_MB) << 20
            )
            try:
                remove_tree(folder.work)
                folder.work.mkdir(mode=0o755)
                make_image(scratch, folder.layer, free_mb=limits.disk_mb * 21 // 20 + _SPARE_MB)
                if os.geteuid() == 0:
                    os.chown(scratch, MACHINE_UID, MACHINE_UID)
                disks = {**self._images(lower, spec.commit_sha, _silent), "scratch": scratch}
                stored = store(self._guest, shape_for(limits, accelerator), self._settings.cache_dir, _silent)
                label = label_of(spec.sandbox_id, spec.session_id)
                with Machine(stored, label=label, disks=disks, restore=True) as machine:
                    machine.ask(_request(order, plan))
                    deadline = time.monotonic() + limits.timeout_ms / 1000 + _GRACE_S
                    answer, oom = _converse(machine, unpacker, alive, deadline, blocked)
                places = {"upper": folder.upper, "out": folder.exchange / "out", "trace": folder.exchange / "trace"}
                unpacker.take_over({**places, "logs": folder.logs})
            finally:
                unpacker.discard()
                scratch.unlink(missing_ok=True)
            outputs = read_outputs(folder.exchange / "out")
            found = read_trace(folder.exchange / "trace") if tracer is not None else None
            logs = read_logs(folder.logs)
        return to_execution(answer, limits, outputs=outputs, logs=logs, trace=found, oom_kills=oom)

    def _prepare(self, spec: SandboxSpec, progress: Callable[[str], None]) -> Interpreter | None:
        if spec.image is not None:
            raise SandboxFailed(f"the microvm driver runs no images ({spec.image!r}); leave `image` out")
        if spec.services:
            raise SandboxFailed(
                f"the microvm driver starts no services ({', '.join(spec.services)}); leave `services` out"
            )
        if spec.egress.allowed_hosts:
            raise SandboxFailed(
                'the microvm driver lets nothing out, not even to allowed names; use egress = "deny_all" without '
                "allowed_hosts, or another [sandbox] driver"
            )
        if spec.tracer is TracerName.EBPF:
            raise SandboxFailed(
                'the ebpf tracer does not see into a virtual machine; use [sandbox] tracer = "monitoring"'
            )
        self._ready(progress)
        return self._guest.python

    def _ready(self, progress: Callable[[str], None]) -> str:
        """See to the guest; returns the accelerator of this host."""
        find_qemu()
        return choose_accelerator(self._guest_with(progress), self._settings.cache_dir, progress)

    def _guest_with(self, progress: Callable[[str], None]) -> Guest:
        return make_guest(self._settings.cache_dir, progress)

    @functools.cached_property
    def _guest(self) -> Guest:
        return self._guest_with(_silent)

    def _images(self, lower: Path, commit: CommitSha, progress: Callable[[str], None]) -> dict[str, Path]:
        layer = self._layer(lower, self._guest.python, progress)
        layer_disk = make_once(
            self._settings.cache_dir / "microvm" / "layers" / layer.name, lambda to: make_image(to / "disk", layer)
        )

        def make(staging: Path) -> None:
            make_image(staging / "tree", lower)
            pack_history(staging / "store", self._repository, commit)
            make_image(staging / "objects", staging / "store")
            remove_tree(staging / "store")

        disks = make_once(self._boxes / "disks" / commit, make)
        return {"layer": layer_disk / "disk", "tree": disks / "tree", "objects": disks / "objects"}

    def _order(
        self, folder: BoxFolder, lower: Path, *, command: str, limits: Limits, plan: Plan, tracer: TracerName | None
    ) -> Order:
        binds = [(f"{agent.RUN}/layer", PLACE), ("/run/code/inside", INSIDE)]
        binds += [(f"{agent.RUN}/objects", f"{OBJECTS}/{number}") for number in range(len(self._repository.objects))]
        source = ["/work/src"] if (lower / "src").is_dir() else []
        chosen = self._settings.sandbox.environment
        variables = {"PYTHONPATH": ":".join([*source, "/work"])} | chosen | joined(tracing_variables(tracer), chosen)
        order = make_order(
            folder,
            lower,
            command=command,
            limits=limits,
            plan=plan,
            uid=self._uid if self._uid is not None else os.getuid(),
            root="/",
            binds=tuple(binds),
            variables=variables,
        )
        scratch = f"{agent.RUN}/scratch"
        return replace(
            order,
            bwrap="/usr/bin/bwrap",
            bwrap_options=("--disable-userns",),
            owner=1,
            lower=f"{agent.RUN}/tree",
            changes=scratch,
            exchange=f"{scratch}/exchange",
            logs=f"{scratch}/logs",
        )


_GUEST_GROUPS = ControlGroups(version=2, parents=(agent.GROUPS,), gate=agent.GROUPS)


def _request(order: Order, plan: Plan) -> dict[str, object]:
    return {"order": asdict(order), "groups": plan.groups, "now": time.time(), "entropy": secrets.token_hex(64)}


def _converse(
    machine: Machine,
    unpacker: Unpacker,
    beat: Callable[[], None],
    deadline: float,
    blocked: Callable[[NetworkBlock], None] | None,
) -> tuple[Answer, int]:
    said, complaint, oom = bytearray(), b"", 0
    for kind, body in machine.frames(beat, deadline):
        if kind == frames.STDOUT:
            said += body
            for block in take_notices(said):
                if blocked is not None:
                    blocked(block)
            if len(said) > _MAX_ANSWER_BYTES:
                raise SandboxFailed("the guest says more than any box may")
        elif kind == frames.STDERR:
            complaint = body
        elif kind == frames.OOM_KILLS:
            oom = int(body) if body.isdigit() else 0
        elif kind == frames.ENTRY:
            unpacker.entry(decode_entry(body))
        elif kind == frames.PIECE:
            unpacker.piece(body)
    return decode_answer(bytes(said), complaint), oom


def _end_orphans() -> None:
    """Kill machines whose owner has ended; their keepers do, so that there are none, unless one was stopped or hangs."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
            named = [one.decode(errors="replace") for one in arguments if one.startswith(f"{NAME}:".encode())]
            if named and not _owned(named[0]):
                os.kill(int(entry.name), 9)


def _owned(label: str) -> bool:
    pid, started, boot = label.split(":")[-3:]
    if not pid.isdigit() or not started.isdigit():
        return True  # one that is being stored; it ends by its own time limit
    return Owner(pid=int(pid), started=int(started), boot=boot).alive()


def _silent(_: str) -> None:
    return None


def _no_beat() -> None:
    return None
