"""The composition root: settings → services. The only module that imports adapters."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from smp.adapters.clock_system import SystemClock
from smp.adapters.graph_sqlite import SqliteGraphStore
from smp.adapters.link_archives_sqlite import SqliteLinkArchives
from smp.adapters.repository_id import repository_id
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore
from smp.adapters.shipped_state import refuse_shipped_state
from smp.adapters.sources_git import GitSourceTree
from smp.adapters.tokens_file import FileTokenStore
from smp.domain.errors import Unavailable
from smp.indexing.pipeline import Indexer
from smp.services import Services
from smp.settings import Settings

if TYPE_CHECKING:
    from temporalio.client import Client

    from smp.adapters.neo4j import Neo4jGraphStore
    from smp.adapters.neo4j.database import Neo4jDatabase
    from smp.handoff.code_hosts import CodeHost
    from smp.handoff.pull_request import HandoffService
    from smp.handoff.review import ReviewService
    from smp.indexing.distribution import SnapshotService
    from smp.integrity.equivalents import EquivalentMutants
    from smp.integrity.verdict import IntegrityService
    from smp.ports.artifact_store import ArtifactStore
    from smp.ports.clock import Clock
    from smp.ports.embedder import Embedder
    from smp.ports.forge import Forge
    from smp.ports.graph_analytics import GraphAnalytics
    from smp.ports.keyring import Keyring
    from smp.ports.notifier import Notifier
    from smp.ports.run_engine import RunEngine
    from smp.ports.sandbox_driver import SandboxDriver
    from smp.ports.session_store import SessionStore
    from smp.ports.spans import Spans
    from smp.ports.token_store import TokenStore
    from smp.ports.vector_index import VectorIndex
    from smp.records.recorder import Recorder
    from smp.safety.sessions import SessionService
    from smp.sandboxes.lifecycle import SandboxService

T = TypeVar("T")


class _Deferred:
    """Stands for a service until it is asked for something, and then makes it, once.

    Most commands need a few of the services; numpy, ONNX Runtime, igraph and Temporal's client alone take longer to
    import than a question takes to answer.
    """

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: object = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = self._make()
        return getattr(self._made, name)


def deferred(make: Callable[[], T]) -> T:
    """What `make` makes, made when it is first used; its errors are raised there."""
    return cast("T", _Deferred(make))


def build_platform(settings: Settings) -> Services:
    """The services of one repository, on the stores that the settings name.

    Opens (and on first use creates) what lies under `settings.data_dir`, or connects to the server; starts no process.

    Raises:
        Invalid: The repository is no git repository, or carries state of its own (`refuse_shipped_state`).
        Unavailable: The data directory cannot be written, or a server that the settings name does not answer.
    """
    refuse_shipped_state(settings)
    clock = SystemClock()
    sources = GitSourceTree(settings)
    database = _database(settings) if settings.graph_in_neo4j else None
    spans = build_spans(settings)
    graph = _timed(spans, "graph", _graph(settings, database))
    embedder = deferred(lambda: _timed(spans, "embedder", _embedder(settings)))
    vectors = deferred(lambda: _timed(spans, "vectors", _vectors(settings, embedder)))
    session_store, artifacts, notifier = _session_stores(settings)
    session_store, artifacts = _timed(spans, "sessions", session_store), _timed(spans, "artifacts", artifacts)
    driver = deferred(lambda: _timed(spans, "box", _driver(settings, clock)))
    indexer = Indexer(
        settings=settings,
        clock=clock,
        sources=sources,
        graph=graph,
        metadata=graph,
        cache=graph,
        telemetry=graph,
        vectors=vectors,
        embedder=embedder,
        analytics=deferred(lambda: _analytics(settings, database)),
        notifier=notifier,
        archives=SqliteLinkArchives(settings.data_dir),
    )

    def sessions_service() -> SessionService:
        from smp.safety.sessions import SessionService

        made = SessionService(
            settings=settings,
            clock=clock,
            store=session_store,
            artifacts=artifacts,
            notifier=notifier,
            sources=sources,
            indexer=indexer,
            graph=graph,
            telemetry=graph,
            sandbox_driver=driver,
        )
        made.when_review_begins(lambda session: reviews.accept(session))
        made.when_session_ends(
            lambda session, events, written: records.session_ended(session, events, artifacts, written=written)
        )
        return made

    def review_service() -> ReviewService:
        from smp.handoff.review import ReviewService

        return ReviewService(
            clock=clock,
            driver=driver,
            artifacts=artifacts,
            session_store=session_store,
            notifier=notifier,
            open_session=sessions.open,
        )

    def snapshot_service() -> SnapshotService:
        from smp.adapters.keys_directory import DirectoryKeyring
        from smp.adapters.snapshots_directory import DirectorySnapshotStore
        from smp.indexing.distribution import SnapshotService

        return SnapshotService(
            clock=clock,
            indexer=indexer,
            cache=graph,
            graph=graph,
            metadata=graph,
            store=DirectorySnapshotStore(settings),
            keyring=DirectoryKeyring(settings),
        )

    def sandbox_service() -> SandboxService:
        from smp.adapters.registries import configured_registries
        from smp.sandboxes.lifecycle import SandboxService

        return SandboxService(
            settings=settings,
            clock=clock,
            driver=driver,
            artifacts=artifacts,
            graph=graph,
            notifier=notifier,
            sources=sources,
            registries=configured_registries,
        )

    def integrity_service() -> IntegrityService:
        from smp.adapters.mutator_native import NativeMutator
        from smp.integrity.verdict import IntegrityService

        return IntegrityService(
            settings=settings,
            clock=clock,
            driver=driver,
            artifacts=artifacts,
            graph=graph,
            metadata=graph,
            mutator=NativeMutator(),
        )

    def handoff_service() -> HandoffService:
        from smp.handoff.pull_request import HandoffService

        return HandoffService(
            settings=settings,
            clock=clock,
            forge=build_forge(settings, os.environ),
            known=records.known,
            driver=driver,
            artifacts=artifacts,
            graph=graph,
            indexer=indexer,
            session_store=session_store,
        )

    def equivalent_mutants() -> EquivalentMutants:
        from smp.integrity.equivalents import EquivalentMutants

        return EquivalentMutants(clock=clock, artifacts=artifacts, session_store=session_store)

    sessions = deferred(sessions_service)
    reviews = deferred(review_service)
    records = deferred(lambda: build_records(settings))
    tokens = FileTokenStore(settings)
    return Services(
        settings=settings,
        clock=clock,
        sources=sources,
        graph=graph,
        metadata=graph,
        telemetry=graph,
        vectors=vectors,
        embedder=embedder,
        session_store=session_store,
        artifacts=artifacts,
        notifier=notifier,
        indexer=indexer,
        snapshots=deferred(snapshot_service),
        sessions=sessions,
        sandboxes=deferred(sandbox_service),
        integrity=deferred(integrity_service),
        equivalents=deferred(equivalent_mutants),
        reviews=reviews,
        records=records,
        tokens=tokens,
        handoff=deferred(handoff_service),
        runs=deferred(lambda: _runs(settings, artifacts)),
        spans=spans,
    )


def build_spans(settings: Settings) -> Spans | None:
    """What times calls and their parts; None where no receiver is named."""
    if not settings.observability.traces:
        return None
    from smp.adapters.spans_otel import OtelSpans

    return OtelSpans(settings)


def _timed(spans: Spans | None, name: str, adapter: T) -> T:
    return adapter if spans is None else spans.timed(name, adapter)


def build_tokens(settings: Settings) -> tuple[TokenStore, Clock]:
    """The tokens of a repository, and the time; opens no store."""
    refuse_shipped_state(settings)
    return FileTokenStore(settings), SystemClock()


def build_records(settings: Settings) -> Recorder:
    """The records of a repository and the graph over them; opens no store and creates nothing until something is written."""
    from smp.adapters.records_directory import DirectoryRecordFiles
    from smp.records.recorder import Recorder

    refuse_shipped_state(settings)
    return Recorder(DirectoryRecordFiles(settings), SystemClock())


def open_keys(settings: Settings) -> Keyring:
    """The keys that sign snapshots of a repository and those that are trusted; opens nothing else."""
    from smp.adapters.keys_directory import DirectoryKeyring

    refuse_shipped_state(settings)
    return DirectoryKeyring(settings)


def forge_host(settings: Settings, environ: Mapping[str, str]) -> CodeHost:
    """Which code host the repository has, and what is missing to open pull requests there.

    Raises:
        Invalid: The settings or the secret file cannot be used.
    """
    from smp.adapters.forge_git import GitForge
    from smp.handoff.code_hosts import find_host

    return find_host(settings.forge, GitForge(settings).remote_url(), environ)


def build_forge(settings: Settings, environ: Mapping[str, str]) -> Forge:
    """The forge of the repository. A host that was guessed and has no token is used as a plain git remote.

    Raises:
        Invalid: The settings or the secret file cannot be used.
    """
    from smp.adapters.forge_git import GitForge
    from smp.handoff.code_hosts import HostKind, read_token

    host = forge_host(settings, environ)
    if host.kind is HostKind.GIT or (host.missing and not host.explicit):
        return GitForge(settings)
    token = read_token(host.kind, environ)
    if host.kind is HostKind.GITHUB:
        from smp.adapters.forge_github import GithubForge

        return GithubForge(
            host, token, GitForge(settings, user="x-access-token", token=token if host.is_remote else "")
        )
    from smp.adapters.forge_gitlab import GitlabForge

    return GitlabForge(host, token, GitForge(settings, user="oauth2", token=token if host.is_remote else ""))


async def connect_temporal(settings: Settings) -> Client:
    """A client of the configured server, for the worker.

    Raises:
        Unavailable: No server answers; the message says how to start one.
    """
    from smp.adapters.runs_temporal import connect
    from smp.adapters.temporal_observed import metrics_runtime, tracing

    return await connect(settings.temporal, interceptors=tracing(settings), runtime=metrics_runtime(settings))


def _database(settings: Settings) -> Neo4jDatabase:
    try:
        from smp.adapters.neo4j.database import Neo4jDatabase
    except ModuleNotFoundError as error:
        raise _clients_missing("neo4j") from error
    return Neo4jDatabase(settings.graph, repository_id(settings))


def _clients_missing(backend: str) -> Unavailable:
    return Unavailable("the client of this store is not installed; pip install 'smp[server]'", backend=backend)


def _graph(settings: Settings, database: Neo4jDatabase | None) -> SqliteGraphStore | Neo4jGraphStore:
    if database is None:
        return SqliteGraphStore(settings)
    from smp.adapters.neo4j import Neo4jGraphStore

    return Neo4jGraphStore(database)


def _session_stores(settings: Settings) -> tuple[SessionStore, ArtifactStore, Notifier]:
    if not settings.sessions_in_neo4j:
        return SqliteSessionStore(settings), SqliteArtifactStore(settings), SqliteNotifier(settings)
    from smp.adapters.neo4j.artifacts import Neo4jArtifactStore
    from smp.adapters.neo4j.notifications import Neo4jNotifier
    from smp.adapters.neo4j.sessions import Neo4jSessionStore

    # a connection of their own: what happens to a session is not part of a transaction on the graph, and outlives its failure
    database = _database(settings)
    return Neo4jSessionStore(database), Neo4jArtifactStore(database), Neo4jNotifier(database)


def _vectors(settings: Settings, embedder: Embedder) -> VectorIndex:
    if settings.vectors_in_weaviate:
        try:
            from smp.adapters.vectors_weaviate import WeaviateVectorIndex
        except ModuleNotFoundError as error:
            raise _clients_missing("weaviate") from error
        return WeaviateVectorIndex(settings.vectors, repository_id(settings), embedder.model)
    from smp.adapters.vectors_embedded import EmbeddedVectorIndex

    return EmbeddedVectorIndex(settings)


def _embedder(settings: Settings) -> Embedder:
    if settings.embedding.provider == "openai":
        from smp.adapters.embedder_openai import OpenAiEmbedder

        return OpenAiEmbedder(settings.embedding)
    from smp.adapters.embedder_onnx import OnnxEmbedder, shipped_model

    return OnnxEmbedder(settings.embedding.folder) if settings.embedding.provider == "onnx" else shipped_model()


def _analytics(settings: Settings, database: Neo4jDatabase | None) -> GraphAnalytics:
    if database is not None:
        from smp.adapters.neo4j.analytics import GdsAnalytics

        return GdsAnalytics(database)
    from smp.adapters.analytics_igraph import IgraphAnalytics

    return IgraphAnalytics()


def _bubblewrap(settings: Settings, clock: Clock) -> SandboxDriver:
    from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
    from smp.adapters.tracer_ebpf.tracer import EbpfTracer

    return BubblewrapDriver(settings, clock, tracer=EbpfTracer())


def _docker(settings: Settings, clock: Clock) -> SandboxDriver:
    from smp.adapters.sandbox_docker.driver import DockerDriver
    from smp.adapters.tracer_ebpf.tracer import EbpfTracer

    return DockerDriver(settings, clock, tracer=EbpfTracer())


def _microvm(settings: Settings, clock: Clock) -> SandboxDriver:
    from smp.adapters.sandbox_microvm.driver import MicrovmDriver

    return MicrovmDriver(settings, clock)


DRIVERS: dict[str, Callable[[Settings, Clock], SandboxDriver]] = {
    "bubblewrap": _bubblewrap,
    "docker": _docker,
    "microvm": _microvm,
}
"""How boxes are made, by `[sandbox] driver` (the names that `SandboxSettings.driver` takes)."""


def _driver(settings: Settings, clock: Clock) -> SandboxDriver:
    return DRIVERS[settings.sandbox.driver](settings, clock)


def _runs(settings: Settings, artifacts: ArtifactStore) -> RunEngine:
    from smp.adapters.runs_temporal import TemporalRunEngine
    from smp.adapters.temporal_observed import tracing

    return TemporalRunEngine(settings, artifacts, interceptors=lambda: tracing(settings))
