"""Vectors fill in: what lacks one, in which order, batch by batch (docs/adr/0003-embeddings.md).

Every batch is stored as it is done, with the hash of the text it was made from, so that a killed process loses one batch
and the next goes on where it stopped. A small repository is embedded whole before the first search; a large one is
searched by words and graph at once while a thread of the server fills in its vectors.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from smp.domain.graph import Node, NodeKind, Scope
from smp.indexing.embed import AHEAD_KINDS, CENTROIDS, NODES, by_likelihood, embedded_text, text_hash
from smp.indexing.progress import Progress
from smp.indexing.records import META, load_record
from smp.ports.embedder import Embedder
from smp.ports.graph_store import GraphStore
from smp.ports.index_cache import IndexCache
from smp.ports.metadata_store import MetadataStore
from smp.ports.vector_index import VectorIndex

SMALL = 1_000
"""Repositories with at most this many nodes to embed are embedded whole when first searched."""
BATCH = 64
EMBEDDED_KEY, MODEL_KEY = "embedding", "embedding_model"


class Embedding(Struct, frozen=True, kw_only=True):
    """How far vectors have come: `embedded` of the `total` nodes that are to have one."""

    embedded: int
    total: int


class VectorRepair(Struct, frozen=True, kw_only=True):
    """What a repair did: vectors that were missing or of another text, and those of nodes that are gone."""

    made: int
    forgotten: int


class _Mark(Struct, frozen=True):
    """generation: of the graph that was embedded whole. total: nodes that were to have a vector. model: of the vectors."""

    generation: int
    total: int
    model: str = ""


class VectorFill:
    """Thread-safe; two threads that fill at once share the work."""

    def __init__(
        self,
        *,
        graph: GraphStore,
        metadata: MetadataStore,
        cache: IndexCache,
        vectors: VectorIndex,
        embedder: Embedder,
    ) -> None:
        self._graph = graph
        self._metadata = metadata
        self._cache = cache
        self._vectors = vectors
        self._embedder = embedder
        self._lock = threading.Lock()
        self._counted: tuple[int, int] | None = None

    def state(self) -> Embedding:
        """How far it has come; nodes whose text has changed since count as embedded until they are visited again."""
        mark = self._mark()
        generation = self._generation()
        if mark is not None and mark.generation == generation and mark.model == self._embedder.model:
            return Embedding(embedded=mark.total, total=mark.total)
        if self._counted is None or self._counted[0] != generation:
            self._counted = (generation, self._graph.count(AHEAD_KINDS))
        total = self._counted[1]
        return Embedding(embedded=min(self._vectors.count(NODES), total), total=total)

    def whole(self) -> bool:
        """Whether every node of the present graph has the vector of its present text."""
        mark = self._mark()
        known = mark is not None and mark.generation == self._generation() and mark.model == self._embedder.model
        # an index that is not beside the graph may have been put back from an older copy, or emptied
        return mark is not None and known and self._vectors.count(NODES) >= mark.total

    def complete(self, progress: Progress | None = None, *, stop: threading.Event | None = None) -> bool:
        """Embed what lacks its vector, the likeliest answers first; forget vectors of nodes that are gone.

        Args:
            stop: Looked at between batches.

        Returns:
            Whether it came to its end. Raises what the embedder and the vector index raise.
        """
        generation = self._generation()
        if self.whole():
            return True
        self._forget_other_models()
        nodes = list(self._graph.scan(Scope(), AHEAD_KINDS))
        present = {str(node.id) for node in nodes}
        self._vectors.delete(NODES, [key for key in self._vectors.hashes(NODES) if key not in present])
        tests = frozenset(node.file or "" for node in nodes if node.kind is NodeKind.FILE and node.role == "test")
        if not self._embed(by_likelihood(nodes, tests=tests), progress, stop):
            return False
        mark = _Mark(generation, len(nodes), self._embedder.model)
        self._cache.put_blobs(META, {EMBEDDED_KEY: msgspec.msgpack.encode(mark)})
        return True

    def repair(self, progress: Progress | None = None) -> VectorRepair:
        """Hold every vector against the graph, whatever the marks say, and make both agree."""
        nodes = list(self._graph.scan(Scope(), AHEAD_KINDS))
        present = {str(node.id) for node in nodes}
        found = VectorRepair(
            made=len(self._missing(nodes)), forgotten=sum(key not in present for key in self._vectors.hashes(NODES))
        )
        self._cache.drop_blobs(META, [EMBEDDED_KEY])
        self.complete(progress)
        return found

    def embed(self, nodes: Iterable[Node], progress: Progress | None = None) -> None:
        """See that these nodes have vectors of their present text."""
        self._forget_other_models()
        self._embed(list(nodes), progress, None)

    def _embed(self, nodes: list[Node], progress: Progress | None, stop: threading.Event | None) -> bool:
        missing = [node for node, _, _ in self._missing(nodes)]
        for start in range(0, len(missing), BATCH):
            if stop is not None and stop.is_set():
                return False
            with self._lock:
                # looked at again under the lock: another thread may have embedded these meanwhile
                batch = self._missing(missing[start : start + BATCH])
                if batch:
                    matrix = self._embedder.embed([text for _, text, _ in batch])
                    keys = tuple(str(node.id) for node, _, _ in batch)
                    self._vectors.upsert(NODES, keys, matrix, tuple(digest for _, _, digest in batch))
            if progress is not None:
                progress("embed", min(start + BATCH, len(missing)), len(missing))
        return True

    def _missing(self, nodes: Iterable[Node]) -> list[tuple[Node, str, str]]:
        """Those without the vector of their present text, with the text and its hash, in the order given."""
        wanted = list(dict.fromkeys(nodes))
        ids = [node.id for node in wanted]
        stored = self._vectors.hashes(NODES, ids)
        enrichments = self._metadata.enrichments(ids)
        found: list[tuple[Node, str, str]] = []
        for node in wanted:
            text = embedded_text(node, enrichments.get(node.id))
            digest = text_hash(text, self._embedder.model)
            if stored.get(node.id) != digest:
                found.append((node, text, digest))
        return found

    def _forget_other_models(self) -> None:
        """Vectors of two models never meet: when the setting has changed, all of the old go before the first new one."""
        mark = self._cache.blobs(META, [MODEL_KEY]).get(MODEL_KEY)
        if mark is not None and mark.decode() == self._embedder.model:
            return
        if mark is not None:
            for collection in (NODES, CENTROIDS):
                self._vectors.delete(collection, self._vectors.hashes(collection))
        self._cache.put_blobs(META, {MODEL_KEY: self._embedder.model.encode()})

    def _generation(self) -> int:
        record = load_record(self._cache)
        return record.generation if record else 0

    def _mark(self) -> _Mark | None:
        blob = self._cache.blobs(META, [EMBEDDED_KEY]).get(EMBEDDED_KEY)
        return msgspec.msgpack.decode(blob, type=_Mark) if blob is not None else None
