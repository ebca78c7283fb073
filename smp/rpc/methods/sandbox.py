"""Boxes: a copy-on-write checkout at a commit, without a way out, in which a session works and tests."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from smp.domain.errors import SmpError
from smp.domain.ids import FilePath, SessionId
from smp.domain.sandboxes import ChangedFile, Traced, TracerName
from smp.domain.sessions import Concurrency, Session
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import given, rfc3339
from smp.rpc.wire import AnyRef, Commit, Params, Result, SessionRef
from smp.sandboxes.egress import wire_allowed, wire_policy

Name = Annotated[str, Meta(min_length=1)]
Command = Annotated[str, Meta(min_length=1, pattern=r"^[^\x00]+$", description="Run by `sh -c` in the checkout.")]
TimeoutMs = Annotated[int, Meta(ge=1, le=3_600_000)]
_BYTES_PER_MB = 1 << 20


class SpawnParams(Params, frozen=True, kw_only=True):
    """A box for a session.

    `commit_sha` is the session's by default. `image` and `services` that the driver cannot honour are refused.
    `inject_ebpf`: trace calls, with the tracer that `[sandbox] tracer` names. `cow_fs_clone`: the checkout is always copy-on-write.
    """

    session_id: SessionRef
    commit_sha: Commit | UnsetType = UNSET
    image: Name | UnsetType = UNSET
    services: tuple[Name, ...] = ()
    cow_fs_clone: bool = True
    inject_ebpf: bool = True


class NetworkResult(Result, frozen=True, kw_only=True):
    """egress_policy: `none` or `registry_only`."""

    egress_policy: str
    allowed_registries: tuple[str, ...]


class SpawnResult(Result, frozen=True, kw_only=True):
    """ebpf_injected: a tracer is attached; `tracer` names it."""

    sandbox_id: str
    status: Literal["ready"]
    commit_sha: str
    services_started: tuple[str, ...]
    network: NetworkResult
    ebpf_injected: bool
    tracer: Literal["ebpf", "monitoring"] | None
    spawned_at: str


@rpc_method("smp/sandbox/spawn")
def spawn(params: SpawnParams, ctx: RequestContext) -> SpawnResult:
    """Make a box for a session: the files of a commit and what the session has pushed, no network, limits on all."""
    services = ctx.services
    session = services.sessions.require(params.session_id, method="smp/sandbox/spawn")
    box = services.sandboxes.spawn(
        session,
        commit_sha=given(params.commit_sha),
        traced=params.inject_ebpf,
        image=given(params.image),
        services=params.services,
        files=_pushed(session, ctx),
    )
    try:
        services.sessions.attach_sandbox(session.id, box.spec.sandbox_id)
    except SmpError:
        services.sandboxes.discard(box.spec.sandbox_id)
        raise
    tracer = box.spec.tracer
    return SpawnResult(
        sandbox_id=box.spec.sandbox_id,
        status="ready",
        commit_sha=box.spec.commit_sha,
        services_started=box.spec.services,
        network=NetworkResult(
            egress_policy=wire_policy(box.spec.egress), allowed_registries=wire_allowed(box.spec.egress)
        ),
        ebpf_injected=tracer is not None,
        tracer=None if tracer is None else "ebpf" if tracer is TracerName.EBPF else "monitoring",
        spawned_at=rfc3339(box.spawned_at),
    )


class ExecuteParams(Params, frozen=True, kw_only=True):
    """`timeout_ms` is the setting `[sandbox] timeout_ms` by default; `session_id` may be left out."""

    sandbox_id: AnyRef
    command: Command
    timeout_ms: TimeoutMs | UnsetType = UNSET
    session_id: SessionRef | UnsetType = UNSET


class RuntimeEdge(Result, frozen=True, kw_only=True):
    """call_count: in this execution; `lower_bound`: at least so many."""

    source: str = field(name="from")
    target: str = field(name="to")
    call_count: int
    lower_bound: bool = False


class TracedResult(Result, frozen=True, kw_only=True):
    """How complete the calls are.

    `missed_processes`: interpreters that ran without the tracer; `lost_calls`: calls that were seen and could not be kept;
    `failed`: why there is no trace, where the tracer broke.
    """

    tracer: Literal["ebpf", "monitoring"]
    processes: int
    missed_processes: int
    lost_calls: int
    failed: str


class NetworkBlockResult(Result, frozen=True, kw_only=True):
    """host: the name asked for, or the address when none was."""

    host: str
    address: str | None
    port: int
    reason: str


class ExecuteResult(Result, frozen=True, kw_only=True):
    """Of each stream head and tail are kept when `truncated`; `smp/sandbox/log` gives the whole by `execution_id`.

    Calls are those of this execution, new or not.
    """

    exit_code: int
    stdout: str
    stderr: str
    duration_ms: float
    calls_runtime_injected: tuple[RuntimeEdge, ...]
    network_blocks: tuple[NetworkBlockResult, ...]
    timed_out: bool
    truncated: bool
    traced: TracedResult | None = None
    execution_id: str | None = None


@rpc_method("smp/sandbox/execute")
def execute(params: ExecuteParams, ctx: RequestContext) -> ExecuteResult:
    """Run a shell command in a box; nothing that it started is alive afterwards, and files stay for the next one."""
    services = ctx.services
    box = services.sandboxes.get(params.sandbox_id, session_id=_owner(given(params.session_id), params.sandbox_id, ctx))
    session = services.sessions.require(box.spec.session_id, method="smp/sandbox/execute")
    services.indexer.ensure_fresh()
    services.sessions.note_command(session, box.spec.sandbox_id, params.command)
    record = services.sandboxes.execute(
        box.spec.sandbox_id,
        params.command,
        limits=services.sandboxes.limits(timeout_ms=given(params.timeout_ms)),
        graph=services.sessions.graph_for(session.id),
    )
    done = record.execution
    services.sessions.note_command(session, box.spec.sandbox_id, params.command, ended=done)
    return ExecuteResult(
        exit_code=done.exit_code,
        stdout=done.stdout,
        stderr=done.stderr,
        duration_ms=done.duration_ms,
        calls_runtime_injected=tuple(
            RuntimeEdge(source=call.source, target=call.target, call_count=call.count, lower_bound=call.lower_bound)
            for call in record.calls
        ),
        network_blocks=tuple(
            NetworkBlockResult(host=block.host, address=block.address, port=block.port, reason=block.reason)
            for block in done.network_blocks
        ),
        timed_out=done.timed_out,
        truncated=done.truncated,
        traced=_traced(record.traced),
        execution_id=record.id,
    )


class LogParams(Params, frozen=True, kw_only=True):
    """A part of what a command wrote. offset, limit: bytes."""

    session_id: SessionRef
    execution_id: AnyRef
    stream: Literal["stdout", "stderr"] = "stdout"
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=1 << 20)] = 1 << 16


class LogResult(Result, frozen=True, kw_only=True):
    """next_offset: where to go on; None at the end. text: UTF-8 with replacement; a character may be cut at its ends."""

    text: str
    offset: int
    next_offset: int | None
    total_bytes: int


@rpc_method("smp/sandbox/log")
def log(params: LogParams, ctx: RequestContext) -> LogResult:
    """Read what a command of the session wrote, whole (32 MB of each stream), also after its box is gone."""
    session = ctx.services.sessions.require(params.session_id, method="smp/sandbox/log")
    whole = ctx.services.sandboxes.log(params.execution_id, params.stream, session_id=session.id)
    end = params.offset + params.limit
    return LogResult(
        text=whole[params.offset : end].decode(errors="replace"),
        offset=params.offset,
        next_offset=end if end < len(whole) else None,
        total_bytes=len(whole),
    )


class DestroyParams(Params, frozen=True, kw_only=True):
    """A box and the session that owns it."""

    sandbox_id: AnyRef
    session_id: SessionRef


class ResourcesFreed(Result, frozen=True, kw_only=True):
    filesystem_mb: float
    services_stopped: tuple[str, ...]


class DestroyResult(Result, frozen=True, kw_only=True):
    sandbox_id: str
    status: Literal["destroyed"]
    destroyed_at: str
    resources_freed: ResourcesFreed


@rpc_method("smp/sandbox/destroy")
def destroy(params: DestroyParams, ctx: RequestContext) -> DestroyResult:
    """End a box and drop what it changed; a box of another session is unknown."""
    services = ctx.services
    session = services.sessions.require(params.session_id, method="smp/sandbox/destroy")
    gone = services.sandboxes.destroy(params.sandbox_id, session_id=session.id)
    if session.sandbox_id == gone.box.spec.sandbox_id:
        services.sessions.detach_sandbox(session.id)
    assert gone.box.destroyed_at is not None
    return DestroyResult(
        sandbox_id=gone.box.spec.sandbox_id,
        status="destroyed",
        destroyed_at=rfc3339(gone.box.destroyed_at),
        resources_freed=ResourcesFreed(
            filesystem_mb=round(gone.bytes_freed / _BYTES_PER_MB, 3), services_stopped=gone.box.spec.services
        ),
    )


def _traced(found: Traced | None) -> TracedResult | None:
    if found is None:
        return None
    return TracedResult(
        tracer="ebpf" if found.tracer is TracerName.EBPF else "monitoring",
        processes=found.processes,
        missed_processes=found.missed_processes,
        lost_calls=found.lost_calls,
        failed=found.failed,
    )


def _owner(session_id: str | None, sandbox_id: str, ctx: RequestContext) -> str | None:
    """Whose box a caller's session may run commands in: its own, or the one that it reviews."""
    stored = None if session_id is None else ctx.services.session_store.get(SessionId(session_id))
    if stored is None or stored.reviews is None or stored.sandbox_id != sandbox_id:
        return session_id
    ctx.services.sessions.require(stored.id, method="smp/sandbox/execute")
    return stored.reviews


def _pushed(session: Session, ctx: RequestContext) -> tuple[ChangedFile, ...]:
    """What an mvcc session pushed before it had a box; an exclusive one works on the working tree."""
    if session.concurrency is not Concurrency.MVCC:
        return ()
    return tuple(
        ChangedFile(path=FilePath(change.path), content=change.content)
        for change in ctx.services.sessions.overlay(session.id)
    )


METHODS = (spawn, execute, log, destroy)
