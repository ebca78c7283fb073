"""Boxes: what is asked of a driver, and what came of it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from smp.domain.ids import CommitSha, ContentHash, FilePath, NodeId, SandboxId, SessionId
from smp.domain.traces import Trace


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds on a box; each is enforced by the driver, none is advisory.

    Attributes:
        memory_mb: Resident memory of the whole box. disk_mb: bytes written to the checkout and to each tmpfs.
        pids: Processes and threads. cpu_pct: share of one core, 100 = one core.
        timeout_ms: Wall time of one command. output_kb: kept of each stream, half head and half tail.
    """

    memory_mb: int = 2048
    disk_mb: int = 1024
    pids: int = 256
    cpu_pct: int = 200
    timeout_ms: int = 300_000
    output_kb: int = 256


class TracerName(StrEnum):
    EBPF = "ebpf"
    MONITORING = "monitoring"


class EgressPolicy(Struct, frozen=True, kw_only=True):
    """`name`: `deny_all` or `registry_only`; `allowed_hosts`: what the relay may dial (domain/egress.py)."""

    name: str = "deny_all"
    allowed_hosts: tuple[str, ...] = ()


class SandboxSpec(Struct, frozen=True, kw_only=True):
    """What a box is made from."""

    sandbox_id: SandboxId
    session_id: SessionId
    commit_sha: CommitSha
    limits: Limits = Limits()
    egress: EgressPolicy = EgressPolicy()
    tracer: TracerName | None = None
    image: str | None = None
    services: tuple[str, ...] = ()


class SandboxStatus(StrEnum):
    SPAWNING = "spawning"
    READY = "ready"
    DESTROYED = "destroyed"


class Sandbox(Struct, frozen=True, kw_only=True):
    """A box as recorded.

    Attributes:
        state_dir: Where the driver keeps the box on its host; opaque to everyone else.
        host: The host that has it (`sandbox@<host>` is its task queue).
        tree_hash: Merkle root of the box's change set when it was last read; empty when unchanged.
    """

    spec: SandboxSpec
    status: SandboxStatus
    driver: str
    state_dir: str
    host: str
    spawned_at: datetime
    destroyed_at: datetime | None = None


class NetworkBlock(Struct, frozen=True, kw_only=True):
    """An attempt to leave the box that was refused."""

    host: str
    port: int
    reason: str = "egress_blocked"
    address: str | None = None
    protocol: str | None = None
    process: str | None = None


class Execution(Struct, frozen=True, kw_only=True):
    """What a command did.

    Attributes:
        stdout, stderr: UTF-8 with replacement; head and tail kept when `truncated`.
        outputs: Files that the command left in the directory named by `SMP_OUT`, by name; at most 32 MB in all.
        logs: `stdout` or `stderr` whole, where it is truncated here; at most 32 MB of each.
    """

    exit_code: int
    stdout: str
    stderr: str
    duration_ms: float
    timed_out: bool = False
    truncated: bool = False
    memory_killed: bool = False
    network_blocks: tuple[NetworkBlock, ...] = ()
    trace: Trace | None = None
    outputs: dict[str, bytes] = {}
    logs: dict[str, bytes] = {}

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.timed_out:
            return "stopped at its time limit"
        return "killed at its memory limit" if self.memory_killed else f"exit code {self.exit_code}"


class ChangedFile(Struct, frozen=True, kw_only=True):
    """An entry of a box's change set against its commit; `content` is None for a deletion."""

    path: FilePath
    content: bytes | None
    mode: int = 0o644
    link: str | None = None


class RuntimeCall(Struct, frozen=True, kw_only=True):
    """A call seen in one execution, both ends resolved; `new`: no earlier execution at the commit had seen it.

    `lower_bound`: it ran at least `count` times; the tracer may have missed some.
    """

    source: NodeId
    target: NodeId
    count: int
    new: bool
    lower_bound: bool = False


class Traced(Struct, frozen=True, kw_only=True):
    """How complete a trace is; fields as in `Trace`."""

    tracer: TracerName
    processes: int
    missed_processes: int
    lost_calls: int
    failed: str = ""


class ExecutionRecord(Struct, frozen=True, kw_only=True):
    """One command as kept in the execution log (artifacts, kind `execution`).

    Attributes:
        execution: Without its trace, its outputs and its logs.
        outputs, logs: Digest of each one's blob, by name.
        calls: What the trace came to, sorted by source and target.
        unresolved_frames: Frames of the checkout that no node of the graph answers to.
        traced: None when calls were not counted.
    """

    id: str
    sandbox_id: SandboxId
    session_id: SessionId
    command: str
    started_at: datetime
    execution: Execution
    outputs: dict[str, ContentHash] = {}
    logs: dict[str, ContentHash] = {}
    calls: tuple[RuntimeCall, ...] = ()
    unresolved_frames: int = 0
    traced: Traced | None = None


class DestroyedSandbox(Struct, frozen=True, kw_only=True):
    """What destroying a box freed."""

    box: Sandbox
    bytes_freed: int
