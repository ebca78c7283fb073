"""Operations: what people watch: the map of the code, present text, sessions with their locks, boxes and steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple
from weakref import WeakKeyDictionary

from msgspec import Meta

from smp.domain.communities import Partition
from smp.domain.errors import Invalid, NodeNotFound, Unavailable
from smp.domain.ids import FilePath, SessionId
from smp.domain.runs import queue_of
from smp.domain.sessions import Concurrency, Session, SessionMode, SessionStatus
from smp.query.heat import window_start
from smp.query.map import CodeMap, code_map
from smp.query.resolve import resolve_node
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import graph_of, may_see, rfc3339, session_to_look_at
from smp.rpc.wire import Params, Path, Result, SessionRef

if TYPE_CHECKING:  # a handler module must not load every use case to be imported
    from smp.indexing.pipeline import Indexer
    from smp.services import Services

LINES_LIMIT = 20_000
RUNS_WAIT_MS = 2_000
"""For phases of runs, which are an addition to what is known of sessions without Temporal."""
Line = Annotated[int, Meta(ge=1, le=10_000_000)]


_HOUR = len("2025-02-15T09")


class _Drawn(NamedTuple):
    """A map, and what it was drawn from; heat is that of the hour."""

    generation: int
    partition: Partition
    hour: str
    answer: MapResult


_drawn: WeakKeyDictionary[Indexer, _Drawn] = WeakKeyDictionary()
"""The last one of each repository: everybody who looks at a console asks for the same map at the same moment."""


class MapParams(Params, frozen=True, kw_only=True):
    """The whole repository."""


class MapFileResult(Result, frozen=True, kw_only=True):
    """community: of the coarse level; null where the file is in none. heat: of its hottest definition, 0 to 100."""

    path: str
    language: str | None
    role: str
    community: str | None
    lines: int
    definitions: int
    heat: int


class MapCommunityResult(Result, frozen=True, kw_only=True):
    id: str
    label: str
    member_count: int


class MapBridgeResult(Result, frozen=True, kw_only=True):
    """Edges between two communities."""

    source: str
    target: str
    edge_count: int


class MapResult(Result, frozen=True, kw_only=True):
    """What the console draws. repository: its folder's name."""

    repository: str
    files: tuple[MapFileResult, ...]
    communities: tuple[MapCommunityResult, ...]
    bridges: tuple[MapBridgeResult, ...]


@rpc_method("smp/operations/map")
def code(params: MapParams, ctx: RequestContext) -> MapResult:
    """Every file with its size, community and heat, and how the communities touch: a map to draw."""
    services = ctx.services
    graph = graph_of(ctx)
    # Communities as they are by now: the console asks after every edit, and must not wait for all of them to be made anew.
    state = services.indexer.ready_to_search()
    since = window_start(services.clock.now(), services.settings.safety.hot_window_days)
    hour = since[:_HOUR]
    known = _drawn.get(services.indexer)
    same = known is not None and known.partition is state.partition
    if known is None or not same or (known.generation, known.hour) != (state.generation, hour):
        drawn = _draw(services, code_map(graph, services.telemetry, state.partition, since=since))
        known = _drawn[services.indexer] = _Drawn(state.generation, state.partition, hour, drawn)
    return known.answer


def _draw(services: Services, found: CodeMap) -> MapResult:
    return MapResult(
        repository=services.settings.repo.name,
        files=tuple(
            MapFileResult(
                path=file.path,
                language=file.language,
                role=file.role,
                community=file.community,
                lines=file.lines,
                definitions=file.definitions,
                heat=file.heat,
            )
            for file in found.files
        ),
        communities=tuple(
            MapCommunityResult(id=one.id, label=one.label, member_count=one.member_count) for one in found.communities
        ),
        bridges=tuple(
            MapBridgeResult(source=one.source, target=one.target, edge_count=one.edge_count) for one in found.bridges
        ),
    )


class SourceParams(Params, frozen=True, kw_only=True):
    """Lines are 1-based and inclusive; the whole file where they are left out."""

    file_path: Path
    first: Line = 1
    last: Line = 10_000_000


class SourceResult(Result, frozen=True, kw_only=True):
    """Present text of the working tree, undecodable bytes replaced. truncated: there are more lines than an answer holds."""

    file_path: str
    first: int
    lines: tuple[str, ...]
    truncated: bool


@rpc_method("smp/operations/source")
def source(params: SourceParams, ctx: RequestContext) -> SourceResult:
    """Lines of a file as it is now."""
    if params.last < params.first:
        raise Invalid("last comes before first", path="last")
    path = FilePath(params.file_path)
    resolve_node(graph_of(ctx), path, path="file_path")  # only what is indexed: not what is ignored, or outside
    content = next((found.content for found in ctx.services.sources.read((path,))), None)
    if content is None:
        raise NodeNotFound(params.file_path)
    wanted = content.splitlines()[params.first - 1 : params.last]
    return SourceResult(
        file_path=params.file_path,
        first=params.first,
        lines=tuple(line.decode("utf-8", "replace") for line in wanted[:LINES_LIMIT]),
        truncated=len(wanted) > LINES_LIMIT,
    )


class SessionsParams(Params, frozen=True, kw_only=True):
    """The newest first."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class LockResult(Result, frozen=True, kw_only=True):
    file: str
    expires_at: str


class SessionResult(Result, frozen=True, kw_only=True):
    """A session as it stands. phase: of its durable run, last announced; null without one (or without Temporal)."""

    session_id: str
    agent_id: str
    task: str
    status: SessionStatus
    mode: SessionMode
    concurrency: Concurrency
    scope: tuple[str, ...]
    commit_sha: str | None
    opened_at: str
    expires_at: str
    closed_at: str | None
    sandbox_id: str | None
    audit_log_id: str
    phase: str | None
    locks: tuple[LockResult, ...]


class SessionsResult(Result, frozen=True, kw_only=True):
    """total: of all sessions that the caller may see. runs_known: Temporal answered, so that phases are told."""

    sessions: tuple[SessionResult, ...]
    total: int
    runs_known: bool


@rpc_method("smp/operations/sessions")
def sessions(params: SessionsParams, ctx: RequestContext) -> SessionsResult:
    """Sessions with their locks, boxes and phases; an agent's token sees its own."""
    store = ctx.services.session_store
    mine = [one for one in store.sessions() if may_see(ctx, one)]
    mine.sort(key=lambda one: (one.opened_at, one.id), reverse=True)
    phases = _phases(ctx)
    return SessionsResult(
        sessions=tuple(_session(one, ctx, (phases or {}).get(one.id)) for one in mine[: params.limit]),
        total=len(mine),
        runs_known=phases is not None,
    )


def _phases(ctx: RequestContext) -> dict[SessionId, str] | None:
    """Phase by session of the runs that Temporal knows; None where it does not answer."""
    try:
        runs = ctx.services.runs.sessions(queue_of(ctx.services.settings.runs_of), limit=1000, wait_ms=RUNS_WAIT_MS)
    except Unavailable:
        return None
    return {SessionId(run.workflow_id.removeprefix("session/")): run.phase for run in runs}


def _session(session: Session, ctx: RequestContext, phase: str | None) -> SessionResult:
    now = ctx.services.clock.now()
    locks = ctx.services.session_store.locks(session_id=session.id)
    return SessionResult(
        session_id=session.id,
        agent_id=session.agent_id,
        task=session.task,
        status=session.status,
        mode=session.mode,
        concurrency=session.concurrency,
        scope=session.scope,
        commit_sha=session.commit_sha,
        opened_at=rfc3339(session.opened_at),
        expires_at=rfc3339(session.expires_at),
        closed_at=None if session.closed_at is None else rfc3339(session.closed_at),
        sandbox_id=session.sandbox_id,
        audit_log_id=session.audit_id,
        phase=phase,
        locks=tuple(
            LockResult(file=lock.file, expires_at=rfc3339(lock.expires_at)) for lock in locks if lock.expires_at > now
        ),
    )


class StepsParams(Params, frozen=True, kw_only=True):
    """An open or an ended session."""

    session_id: SessionRef


class StepResult(Result, frozen=True, kw_only=True):
    """One entry of the audit. result: the verdict, where there was one."""

    seq: int
    at: str
    method: str
    target: str | None
    files: tuple[str, ...]
    result: str | None
    detail: str | None


class StepsResult(Result, frozen=True, kw_only=True):
    """In the order in which they were taken."""

    session: SessionResult
    steps: tuple[StepResult, ...]


@rpc_method("smp/operations/steps")
def steps(params: StepsParams, ctx: RequestContext) -> StepsResult:
    """What a session did, step by step, also while it is open."""
    found = session_to_look_at(ctx, params.session_id)
    phases = _phases(ctx) or {}
    return StepsResult(
        session=_session(found, ctx, phases.get(found.id)),
        steps=tuple(
            StepResult(
                seq=event.seq,
                at=rfc3339(event.at),
                method=event.method,
                target=event.target,
                files=event.files,
                result=event.result,
                detail=event.detail,
            )
            for event in ctx.services.session_store.events(found.id)
        ),
    )


METHODS = (code, source, sessions, steps)
