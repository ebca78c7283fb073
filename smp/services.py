"""The wired use cases of one repository: what a handler or an activity receives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:  # names for the checker alone: a handler module must not load every use case to be imported
    from smp.handoff.pull_request import HandoffService
    from smp.handoff.review import ReviewService
    from smp.indexing.distribution import SnapshotService
    from smp.indexing.pipeline import Indexer
    from smp.integrity.equivalents import EquivalentMutants
    from smp.integrity.verdict import IntegrityService
    from smp.ports.artifact_store import ArtifactStore
    from smp.ports.clock import Clock
    from smp.ports.embedder import Embedder
    from smp.ports.graph_store import GraphStore
    from smp.ports.metadata_store import MetadataStore
    from smp.ports.notifier import Notifier
    from smp.ports.run_engine import RunEngine
    from smp.ports.session_store import SessionStore
    from smp.ports.source_tree import SourceTree
    from smp.ports.spans import Spans
    from smp.ports.telemetry_store import TelemetryStore
    from smp.ports.token_store import TokenStore
    from smp.ports.vector_index import VectorIndex
    from smp.records.recorder import Recorder
    from smp.safety.sessions import SessionService
    from smp.sandboxes.lifecycle import SandboxService
    from smp.settings import Settings


class Services(Struct, frozen=True, kw_only=True):
    """One instance per repository and process; every member is safe to use from several threads."""

    settings: Settings
    clock: Clock
    sources: SourceTree
    graph: GraphStore
    metadata: MetadataStore
    telemetry: TelemetryStore
    vectors: VectorIndex
    embedder: Embedder
    session_store: SessionStore
    artifacts: ArtifactStore
    notifier: Notifier
    indexer: Indexer
    snapshots: SnapshotService
    sessions: SessionService
    sandboxes: SandboxService
    integrity: IntegrityService
    equivalents: EquivalentMutants
    handoff: HandoffService
    reviews: ReviewService
    tokens: TokenStore
    records: Recorder
    runs: RunEngine
    spans: Spans | None = None
