"""Services of a repository that exists as lines of text: what read handlers need, and nothing else.

Graph, metadata and telemetry are the memory store; the index is always fresh, the clock stands still, and the one vector
of every text points the same way. Sessions: `ses_open` sees the shared graph, `ses_expired` has expired, others are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np

from smp.adapters.memory import MemoryStore, MemoryVectorIndex
from smp.adapters.records_directory import DirectoryRecordFiles
from smp.domain.communities import Bridge, Community, Partition
from smp.domain.errors import SessionExpired, SessionNotFound
from smp.domain.graph import Scope, Scores
from smp.domain.ids import AgentId, NodeId
from smp.domain.merkle import MerkleTree
from smp.domain.telemetry import NodeChange
from smp.indexing.embed import embedded_text, text_hash
from smp.indexing.fill import Embedding
from smp.indexing.follow import SearchState
from smp.indexing.merkle import build_tree
from smp.indexing.reports import Freshness
from smp.ports.clock import Clock
from smp.ports.embedder import Embedder
from smp.ports.vector_index import Matrix
from smp.records.recorder import Recorder
from smp.services import Services
from smp.settings import Settings
from tests.builders.graph_text import build_store

NOW = datetime(2026, 2, 15, 12, 0, tzinfo=UTC)
COARSE, AUTH, STORE = NodeId("community:0/shop"), NodeId("community:1/auth"), NodeId("community:1/store")


class StoppedClock(Clock):
    def now(self) -> datetime:
        return NOW

    def fresh_id(self, prefix: str) -> str:
        return f"{prefix}_0000000000000000"


class OneWay(Embedder):
    """Every text has the same vector."""

    @property
    def model(self) -> str:
        return "one-way"

    @property
    def dimension(self) -> int:
        return 2

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Matrix:
        return np.array([(1.0, 0.0)] * len(texts), dtype=np.float32)


class FreshIndex:
    """An indexer with nothing to do."""

    def __init__(self, store: MemoryStore, partition: Partition) -> None:
        self._partition = partition
        files = {
            node.file: node.source_hash for node in store.scan(Scope()) if node.file and node.qualname == node.file
        }
        self._tree = build_tree(files)

    def ensure_fresh(self) -> None: ...

    def begin_answer(self) -> None:
        """Every look of this double is the same."""

    def freshness(self) -> Freshness:
        return Freshness(commit_sha=None, dirty=(), stale=())

    def ready_to_search(self) -> SearchState:
        return SearchState(partition=self._partition, embedding=Embedding(embedded=9, total=9))

    def generation(self) -> int:
        return 0

    def partition(self) -> Partition:
        return self._partition

    def detect_communities(self, **options: object) -> Partition:
        return self._partition

    def merkle(self) -> MerkleTree:
        return self._tree


class FewSessions:
    """See the module."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def graph_for(self, session_id: str | None) -> MemoryStore:
        if session_id == "ses_expired":
            raise SessionExpired(session_id)
        if session_id not in (None, "ses_open"):
            raise SessionNotFound(str(session_id))
        return self._store

    def note_read(self, session_id: str, *, method: str, files: tuple[str, ...]) -> None:
        self.graph_for(session_id)


def read_platform(graph: str) -> Services:
    """The services over a graph in the form of `tests.builders.graph_text`; some nodes ranked, changed, clustered."""
    store = build_store(graph)
    vectors = MemoryVectorIndex()
    nodes = {node.id: node for node in store.scan(Scope()) if node.id.startswith(("function:", "class:"))}
    ids = tuple(sorted(nodes))
    angles = np.linspace(0.0, 1.0, len(ids))
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    vectors.upsert("nodes", ids, rows, tuple(text_hash(embedded_text(nodes[one]), OneWay().model) for one in ids))
    store.put_scores({node: Scores(pagerank=0.1) for node in ids})
    store.record(_changes(ids))
    partition = _partition(ids)
    missing = cast("Any", None)
    settings = Settings(repo=Path("repo"), data_dir=Path("data"), cache_dir=Path("cache"))
    return Services(
        settings=settings,
        clock=StoppedClock(),
        sources=missing,
        graph=store,
        metadata=store,
        telemetry=store,
        vectors=vectors,
        embedder=OneWay(),
        session_store=missing,
        artifacts=missing,
        notifier=missing,
        indexer=cast("Any", FreshIndex(store, partition)),
        snapshots=missing,
        sessions=cast("Any", FewSessions(store)),
        sandboxes=missing,
        integrity=missing,
        equivalents=missing,
        handoff=missing,
        reviews=missing,
        tokens=missing,
        records=Recorder(DirectoryRecordFiles(settings), StoppedClock()),
        runs=missing,
    )


def _changes(ids: tuple[NodeId, ...]) -> list[NodeChange]:
    days = (10, 11, 12, 13, 14)
    return [
        NodeChange(node_id=node, event="modified", at=f"2026-02-{day}T08:00:00.000000Z", agent=AgentId("coder"))
        for node in ids
        if node.endswith("#check")
        for day in days
    ]


def _partition(ids: tuple[NodeId, ...]) -> Partition:
    fine = {node: AUTH if ":src/auth" in node else STORE for node in ids}
    counts = {owner: sum(other == owner for other in fine.values()) for owner in (AUTH, STORE)}
    return Partition(
        communities=(
            Community(id=COARSE, level=0, label="shop", member_count=len(ids), modularity_score=0.0),
            Community(
                id=AUTH,
                level=1,
                label="auth",
                parent=COARSE,
                majority_path_prefix="src",
                member_count=counts[AUTH],
                bridge_communities=(STORE,),
            ),
            Community(id=STORE, level=1, label="store", parent=COARSE, member_count=counts[STORE]),
        ),
        bridges=(Bridge(source=AUTH, target=STORE, edge_count=3, coupling_weight=0.5),),
        modularity=(0.0, 0.25),
        members_l0=dict.fromkeys(ids, COARSE),
        members_l1=fine,
    )
