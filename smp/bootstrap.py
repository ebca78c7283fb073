"""The composition root: settings → services. The only module that imports adapters."""

from __future__ import annotations

from temporalio.client import Client

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.adapters.clock_system import SystemClock
from smp.adapters.embedder_minilm import MiniLmEmbedder
from smp.adapters.forge_git import GitForge
from smp.adapters.graph_sqlite import SqliteGraphStore
from smp.adapters.keys_directory import DirectoryKeyring
from smp.adapters.mutator_native import NativeMutator
from smp.adapters.records_directory import DirectoryRecordFiles
from smp.adapters.runs_temporal import TemporalRunEngine, connect
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore
from smp.adapters.snapshots_directory import DirectorySnapshotStore
from smp.adapters.sources_git import GitSourceTree
from smp.adapters.vectors_embedded import EmbeddedVectorIndex
from smp.handoff.pull_request import HandoffService
from smp.handoff.review import ReviewService
from smp.indexing.distribution import SnapshotService
from smp.indexing.pipeline import Indexer
from smp.integrity.equivalents import EquivalentMutants
from smp.integrity.verdict import IntegrityService
from smp.records.recorder import Recorder
from smp.safety.sessions import SessionService
from smp.sandboxes.lifecycle import SandboxService
from smp.services import Services
from smp.settings import Settings


def build_platform(settings: Settings) -> Services:
    """The embedded profile of one repository.

    Opens (and on first use creates) the stores under `settings.data_dir`; starts no process and no thread.

    Raises:
        Invalid: The repository is no git repository.
        Unavailable: The data directory cannot be written.
    """
    clock = SystemClock()
    sources = GitSourceTree(settings)
    graph = SqliteGraphStore(settings)
    vectors = EmbeddedVectorIndex(settings)
    embedder = MiniLmEmbedder()
    session_store = SqliteSessionStore(settings)
    artifacts = SqliteArtifactStore(settings)
    notifier = SqliteNotifier(settings)
    driver = BubblewrapDriver(settings, clock)
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
        analytics=IgraphAnalytics(),
        notifier=notifier,
    )
    sessions = SessionService(
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
    reviews = ReviewService(
        clock=clock,
        driver=driver,
        artifacts=artifacts,
        session_store=session_store,
        notifier=notifier,
        open_session=sessions.open,
    )
    sessions.when_review_begins(reviews.accept)
    records = build_records(settings)
    sessions.when_session_ends(
        lambda session, events, written: records.session_ended(session, events, artifacts, written=written)
    )
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
        snapshots=SnapshotService(
            clock=clock,
            indexer=indexer,
            cache=graph,
            graph=graph,
            metadata=graph,
            store=DirectorySnapshotStore(settings),
            keyring=DirectoryKeyring(settings),
        ),
        sessions=sessions,
        sandboxes=SandboxService(
            settings=settings,
            clock=clock,
            driver=driver,
            artifacts=artifacts,
            graph=graph,
            notifier=notifier,
            sources=sources,
        ),
        integrity=IntegrityService(
            settings=settings,
            clock=clock,
            driver=driver,
            artifacts=artifacts,
            graph=graph,
            metadata=graph,
            mutator=NativeMutator(),
        ),
        equivalents=EquivalentMutants(clock=clock, artifacts=artifacts, session_store=session_store),
        reviews=reviews,
        records=records,
        handoff=HandoffService(
            settings=settings,
            clock=clock,
            forge=GitForge(settings),
            driver=driver,
            artifacts=artifacts,
            graph=graph,
            indexer=indexer,
            session_store=session_store,
        ),
        runs=TemporalRunEngine(settings),
    )


def build_records(settings: Settings) -> Recorder:
    """The records of a repository and the graph over them; opens no store and creates nothing until something is written."""
    return Recorder(DirectoryRecordFiles(settings), SystemClock())


async def connect_temporal(settings: Settings) -> Client:
    """A client of the configured server, for the worker.

    Raises:
        Unavailable: No server answers; the message says how to start one.
    """
    return await connect(settings.temporal)
