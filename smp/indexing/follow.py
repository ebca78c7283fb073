"""What follows from the graph as a whole, lazily: ranks, communities, vectors.

A marker in the index cache says for which generation of the graph each was made, so that any process finds them done.
"""

from __future__ import annotations

import hashlib
import threading
from datetime import UTC

import msgspec
from msgspec import Struct

from smp.domain.communities import Community, Partition
from smp.domain.errors import Invalid
from smp.domain.graph import OWNER_COMMUNITIES, Edge, EdgeKind, GraphDelta, GraphPart, Node, NodeKind, Scope, Scores
from smp.domain.ids import NodeId
from smp.domain.places import edge_order
from smp.indexing.embed import CENTROIDS, NODES
from smp.indexing.fill import SMALL, Embedding, VectorFill, VectorRepair
from smp.indexing.partition import MIN_SIZE, RESOLUTIONS, detect, go_on
from smp.indexing.progress import Progress
from smp.indexing.projection import RELATIONSHIPS, project
from smp.indexing.rank import RANKED_EDGES, RANKED_KINDS, rank_nodes
from smp.indexing.records import META, load_record
from smp.ports.clock import Clock
from smp.ports.embedder import Embedder
from smp.ports.graph_analytics import GraphAnalytics
from smp.ports.graph_store import GraphStore
from smp.ports.index_cache import IndexCache
from smp.ports.metadata_store import MetadataStore
from smp.ports.vector_index import Vector, VectorIndex

RANKED_KEY, PARTITION_KEY, OPTIONS_KEY = "ranked", "partition", "communities_options"
COMMUNITIES_KEY, DIGEST_KEY = "communities", "communities_digest"
"""The partition, large, and a digest by which a process sees that it has the present one."""
REDETECT_SHARE = 0.10
"""Communities are detected anew when this share of the nodes has come or gone (specification, community detection)."""
REDETECT_ALWAYS = 2_000
"""Below this many nodes they are detected after every change: it costs nothing."""


class _Mark(Struct, frozen=True):
    """generation: of the graph when it was made. nodes: how many it had. moved: how many have come or gone since the
    communities were detected."""

    generation: int
    nodes: int
    moved: int = 0


class _Options(Struct, frozen=True, kw_only=True):
    """How communities are detected."""

    resolutions: tuple[float, float] = RESOLUTIONS
    relationship_types: tuple[EdgeKind, ...] = RELATIONSHIPS
    min_size: int = MIN_SIZE


class SearchState(Struct, frozen=True, kw_only=True):
    """What is known beyond nodes, edges and words when a search begins; generation: of the graph, it rises with each change."""

    partition: Partition
    embedding: Embedding
    generation: int = 0


class Followers:
    """Ranks and communities are made by one thread at a time: the indexer calls `rank`, `detect` and `ready` under a lock
    of their own. `fill` and `embed` need none."""

    def __init__(
        self,
        *,
        clock: Clock,
        graph: GraphStore,
        metadata: MetadataStore,
        cache: IndexCache,
        vectors: VectorIndex,
        embedder: Embedder,
        analytics: GraphAnalytics,
    ) -> None:
        self._clock = clock
        self._graph = graph
        self._metadata = metadata
        self._cache = cache
        self._vectors = vectors
        self.fill = VectorFill(graph=graph, metadata=metadata, cache=cache, vectors=vectors, embedder=embedder)
        self._analytics = analytics
        self._partition: tuple[bytes, Partition] | None = None
        self._usable: tuple[int, bool] | None = None

    def rank(self) -> None:
        """PageRank for the present generation; communities too when the graph has changed enough."""
        generation = self._generation()
        mark = self._mark(RANKED_KEY)
        if mark is not None and mark.generation == generation:
            return
        nodes = list(self._graph.scan(Scope()))
        code = [node.id for node in nodes if node.kind in RANKED_KINDS]
        ranks = rank_nodes(code, self._graph.scan_edges(Scope(), RANKED_EDGES), self._analytics)
        present = {node.id for node in nodes if node.file is not None}
        detected = self._mark(PARTITION_KEY)
        known = self.partition()
        moved = len(present.symmetric_difference(known.members_l1)) + (detected.moved if detected else 0)
        anew = detected is None or len(present) < REDETECT_ALWAYS or moved > REDETECT_SHARE * len(present)
        self._cluster(nodes, ranks, self._options(), moved=None if anew else moved)
        self._set_mark(RANKED_KEY, _Mark(generation, len(nodes)))

    def detect(
        self,
        *,
        levels: tuple[tuple[int, float], ...] | None,
        relationship_types: tuple[EdgeKind, ...] | None,
        min_community_size: int | None,
    ) -> Partition:
        """Communities anew, whatever the graph's state; what follows later edits detects them with the same options."""
        resolutions = dict(enumerate(RESOLUTIONS)) | dict(levels or ())
        if resolutions.keys() != {0, 1} or min(resolutions.values()) <= 0:
            raise Invalid("levels are 0 and 1, with resolutions above 0", path="levels")
        if min_community_size is not None and min_community_size < 1:
            raise Invalid("a community has at least 1 member", path="min_community_size")
        nodes = list(self._graph.scan(Scope()))
        code = [node.id for node in nodes if node.kind in RANKED_KINDS]
        ranks = rank_nodes(code, self._graph.scan_edges(Scope(), RANKED_EDGES), self._analytics)
        options = _Options(
            resolutions=(resolutions[0], resolutions[1]),
            relationship_types=relationship_types or RELATIONSHIPS,
            min_size=MIN_SIZE if min_community_size is None else min_community_size,
        )
        partition = self._cluster(nodes, ranks, options, moved=None)
        self._set_mark(RANKED_KEY, _Mark(self._generation(), len(nodes)))
        return partition

    def partition(self) -> Partition:
        """What was detected last; empty before the first time."""
        digest = self._cache.blobs(META, [DIGEST_KEY]).get(DIGEST_KEY)
        if digest is None:
            return Partition()
        if self._partition is None or self._partition[0] != digest:
            blob = self._cache.blobs(META, [COMMUNITIES_KEY])[COMMUNITIES_KEY]
            self._partition = (digest, msgspec.msgpack.decode(blob, type=Partition))
        return self._partition[1]

    def embed(self, progress: Progress | None = None, *, stop: threading.Event | None = None) -> None:
        """Vectors of all that is new or has changed its text, and the centroids of what they make."""
        if not self.fill.whole() and self.fill.complete(progress, stop=stop):
            self._put_centroids(self.partition())

    def repair(self, progress: Progress | None = None) -> VectorRepair:
        """Hold every vector against the graph and make both agree, with the centroids."""
        found = self.fill.repair(progress)
        self._put_centroids(self.partition())
        return found

    def usable(self) -> bool:
        """Whether a search may begin with what there is: the graph is large, and ranks are not too far behind it."""
        generation = self._generation()
        if self._usable is None or self._usable[0] != generation:
            mark = self._mark(RANKED_KEY)
            small = self.fill.state().total <= SMALL
            far = mark is None or abs(self._graph.size().nodes - mark.nodes) > REDETECT_SHARE * mark.nodes
            self._usable = (generation, not small and not far)
        return self._usable[1]

    def catch_up(self) -> None:
        """Make what a search may not begin without: ranks and communities, and in a small repository all vectors."""
        self.rank()
        if self.fill.state().total <= SMALL:
            self.embed()
        self._usable = None

    def search_state(self) -> SearchState:
        """Communities and vectors as they are by now."""
        return SearchState(partition=self.partition(), embedding=self.fill.state(), generation=self._generation())

    def _cluster(
        self, nodes: list[Node], ranks: dict[NodeId, float], options: _Options, *, moved: int | None
    ) -> Partition:
        """Detect communities and store them with the ranks.

        Args:
            moved: How many nodes have come or gone: so few that the communities there are go on. None: too many for that.
        """
        at = self._clock.now().astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        kinds = (*options.relationship_types, EdgeKind.DEFINES, EdgeKind.CONTAINS)
        projection = project(
            nodes, self._graph.scan_edges(Scope(), kinds), relationship_types=options.relationship_types
        )
        tags = {
            node_id: one.tags for node_id, one in self._metadata.enrichments(n.id for n in nodes).items() if one.tags
        }
        known = self.partition()
        if moved is None:
            found = detect(
                projection,
                self._analytics,
                resolutions=options.resolutions,
                min_size=options.min_size,
                tags=tags,
                at=at,
                previous=known,
                alike=options == self._options(),
            )
        else:
            found = go_on(projection, self._analytics, known, min_size=options.min_size, tags=tags, at=at)
        with self._cache.transaction():
            self._graph.apply(GraphDelta(parts=(community_part(found),)))
            self._put_scores(ranks, found)
            blob = msgspec.msgpack.encode(found)
            self._cache.put_blobs(
                META,
                {
                    COMMUNITIES_KEY: blob,
                    DIGEST_KEY: hashlib.sha256(blob).digest(),
                    OPTIONS_KEY: msgspec.msgpack.encode(options),
                },
            )
            self._set_mark(PARTITION_KEY, _Mark(self._generation(), len(nodes), moved or 0))
        self._put_centroids(found, since=known)
        return found

    def _options(self) -> _Options:
        blob = self._cache.blobs(META, [OPTIONS_KEY]).get(OPTIONS_KEY)
        return msgspec.msgpack.decode(blob, type=_Options) if blob is not None else _Options()

    def _put_scores(self, ranks: dict[NodeId, float], partition: Partition) -> None:
        coarse, fine = partition.members_l0, partition.members_l1
        self._graph.put_scores(
            {
                node_id: Scores(pagerank=rank, community_l0=coarse.get(node_id), community_l1=fine.get(node_id))
                for node_id, rank in ranks.items()
            }
        )

    def _put_centroids(self, partition: Partition, *, since: Partition | None = None) -> None:
        """The mean direction of each community's embedded members; communities without any have no centroid.

        Args:
            since: Communities that have the same members as in this partition keep their centroid.
        """
        import numpy as np  # a process that asks nothing of vectors starts without it

        held = _holdings(partition)
        before = _holdings(since) if since is not None else {}
        stored = self._vectors.hashes(CENTROIDS)
        wanted = [one for one in sorted(held) if one not in stored or before.get(one) != held[one]]
        vectors = self._vectors.vectors(NODES, sorted({node for community in wanted for node in held[community]}))
        keys: list[str] = []
        rows: list[Vector] = []
        for community in wanted:
            own = [vectors[key] for key in held[community] if key in vectors]
            mean = np.mean(own, axis=0) if own else None
            if mean is not None and float(np.linalg.norm(mean)) > 0:
                keys.append(community)
                rows.append((mean / np.linalg.norm(mean)).astype(np.float32))
        kept = {*keys, *(held.keys() - set(wanted))}
        self._vectors.delete(CENTROIDS, [key for key in stored if key not in kept])
        if keys:
            self._vectors.upsert(CENTROIDS, tuple(keys), np.stack(rows), tuple("" for _ in keys))

    def _generation(self) -> int:
        record = load_record(self._cache)
        return record.generation if record else 0

    def _mark(self, key: str) -> _Mark | None:
        blob = self._cache.blobs(META, [key]).get(key)
        return msgspec.msgpack.decode(blob, type=_Mark) if blob is not None else None

    def _set_mark(self, key: str, mark: _Mark) -> None:
        self._cache.put_blobs(META, {key: msgspec.msgpack.encode(mark)})


def _holdings(partition: Partition) -> dict[NodeId, list[NodeId]]:
    """Members of each community, at both levels, in the order of the partition."""
    held: dict[NodeId, list[NodeId]] = {}
    for members in (partition.members_l0, partition.members_l1):
        for node_id, community in members.items():
            held.setdefault(community, []).append(node_id)
    return held


def community_part(partition: Partition) -> GraphPart:
    """Community nodes; MEMBER_OF from each node to its fine community, CHILD_OF to the coarse one, BRIDGES between."""
    nodes = tuple(_community_node(community) for community in partition.communities)
    edges = [
        Edge(kind=EdgeKind.MEMBER_OF, source=node_id, target=community)
        for node_id, community in partition.members_l1.items()
    ]
    edges += [
        Edge(kind=EdgeKind.CHILD_OF, source=community.id, target=community.parent)
        for community in partition.communities
        if community.parent is not None
    ]
    edges += [
        Edge(kind=EdgeKind.BRIDGES, source=bridge.source, target=bridge.target, weight=bridge.coupling_weight)
        for bridge in partition.bridges
    ]
    return GraphPart(owner=OWNER_COMMUNITIES, nodes=nodes, edges=tuple(sorted(edges, key=edge_order)))


def _community_node(community: Community) -> Node:
    return Node(id=community.id, kind=NodeKind.COMMUNITY, name=community.label, qualname=community.id)
