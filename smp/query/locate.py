"""Find code by what it does: route → seed → walk → rank → assemble (specification, seed and walk engine).

Route: the fine community whose centroid is nearest to the query, where that is near enough. Seed: the nodes nearest to
the query, within that community or in all. Walk: what lies around the seeds over calls, imports and definitions, either
way, for a caller says as much of what something is for as what it calls. Rank: see `ranking`. No generative model takes
part; the number of look-ups depends on neither hops nor results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from smp.domain.communities import Partition
from smp.domain.errors import NodeNotFound
from smp.domain.graph import Direction, EdgeKind, Node, NodeKind, Scope, Scores
from smp.domain.ids import NodeId
from smp.domain.metadata import Enrichment
from smp.domain.queries import Located, RankedNode, RoutedCommunity, StructuralLink
from smp.indexing.embed import CENTROIDS, NODES, embedded_text, text_hash
from smp.ports.embedder import Embedder
from smp.ports.graph_store import GraphStore
from smp.ports.metadata_store import TEXT_FIELDS, MetadataStore, TextQuery
from smp.ports.telemetry_store import TelemetryStore
from smp.ports.vector_index import Vector, VectorIndex
from smp.query.adjacency import nodes_by_id
from smp.query.heat import heat_of
from smp.query.ranking import COMMON_SHARE, TEXT_WEIGHTS, Signals, best_first, composite, fuse

_REPETITION = re.compile(r"~\d+$")
ROUTE_CONFIDENCE = 0.65
"""Below this the query is taken to span communities: search everywhere."""
ROUTE_MEMBERS = 20
"""Smaller communities are no target of routing: their centroid is hardly more than one node, and little would be left to
search. Asked for by name, a community of any size is searched."""
DEFAULT_KINDS = (NodeKind.CLASS, NodeKind.FUNCTION, NodeKind.INTERFACE)
WALKED_EDGES = (EdgeKind.CALLS_STATIC, EdgeKind.CALLS_RUNTIME, EdgeKind.IMPORTS, EdgeKind.DEFINES)
COMPOSITE, FUSION = "composite", "fusion"
WALK_LIMIT = 1_000
"""Nodes that a walk brings in at most, the nearest; each of them is compared with the query."""
ON_DEMAND = 32
"""Candidates that are embedded while somebody waits, at most."""

POOL = 50
"""Candidates that each ordering of a fusion brings in, at least; more when more results are asked for."""
VECTOR_WEIGHT, TEXT_WEIGHT, NEAR_WEIGHT, RANK_WEIGHT, HEAT_WEIGHT = 1.0, 1.0, 0.3, 0.15, 0.05


class Stores(Struct, frozen=True, kw_only=True):
    """Where locate reads."""

    graph: GraphStore
    metadata: MetadataStore
    telemetry: TelemetryStore
    vectors: VectorIndex
    embedder: Embedder


class Query(Struct, frozen=True, kw_only=True):
    """What is looked for.

    Attributes:
        seed_k: At most this many seeds. hops: how far the walk goes; 0 leaves the seeds alone.
        kinds: Of the results. community_id: None routes by itself.
        since: RFC 3339 start of the window for heat.
    """

    text: str
    since: str
    seed_k: int = 3
    hops: int = 2
    top_k: int = 10
    kinds: tuple[NodeKind, ...] = DEFAULT_KINDS
    community_id: NodeId | None = None
    ranking: str = COMPOSITE


class _Pool(Struct, frozen=True, kw_only=True):
    """Seeds and everything else that may be a result; hop is 0 for seeds and for what no walk reached."""

    nodes: dict[NodeId, Node]
    seeds: tuple[NodeId, ...]
    hops: dict[NodeId, int]
    reached_from: dict[NodeId, tuple[NodeId, ...]]
    orderings: tuple[tuple[float, tuple[NodeId, ...]], ...]
    walked: int


def locate(stores: Stores, partition: Partition, query: Query) -> Located:
    """Nodes that answer a description.

    Raises:
        NodeNotFound: No community of the given id.
    """
    vector: Vector = stores.embedder.embed([query.text])[0]
    routed, members = _route(stores, partition, query, vector)
    pool = _gather(stores, query, vector, members)
    signals = _signals(stores, query, vector, pool)
    scores = composite(signals) if query.ranking == COMPOSITE else _fused(pool, signals)
    kept = best_first({node: round(score, 4) for node, score in scores.items()})[: query.top_k]
    enrichments = stores.metadata.enrichments(kept)
    return Located(
        query=query.text,
        routed_community=routed,
        seed_count=len(pool.seeds),
        total_walked=pool.walked,
        results=tuple(
            _result(pool, node, signals[node], round(scores[node], 4), partition, enrichments.get(node))
            for node in kept
        ),
        structural_map=_structure(stores.graph, partition, pool, kept),
    )


def _route(
    stores: Stores, partition: Partition, query: Query, vector: Vector
) -> tuple[RoutedCommunity | None, frozenset[str] | None]:
    by_id = {community.id: community for community in partition.communities}
    if query.community_id is not None and query.community_id not in by_id:
        raise NodeNotFound(query.community_id)
    if query.community_id is not None:
        found = stores.vectors.similarities(CENTROIDS, vector, (query.community_id,))
        chosen, confidence = query.community_id, found.get(query.community_id, 0.0)
    else:
        fine = frozenset(
            str(community.id)
            for community in partition.communities
            if community.level == 1 and community.member_count >= ROUTE_MEMBERS
        )
        nearest = stores.vectors.nearest(CENTROIDS, vector, k=1, within=fine) if fine else ()
        if not nearest or nearest[0].score < ROUTE_CONFIDENCE:
            return None, None
        chosen, confidence = NodeId(nearest[0].key), nearest[0].score
    community = by_id[chosen]
    membership = partition.members_l0 if community.level == 0 else partition.members_l1
    members = frozenset(str(node) for node, owner in membership.items() if owner == chosen)
    routed = RoutedCommunity(
        id=chosen, label=community.label, confidence=_unit(confidence), searched_nodes=len(members)
    )
    return routed, members


def _gather(stores: Stores, query: Query, vector: Vector, members: frozenset[str] | None) -> _Pool:
    fused = query.ranking == FUSION
    pool_size = max(POOL, query.top_k)
    near = _nearest(stores, vector, members, k=pool_size if fused else query.seed_k, kinds=query.kinds)
    if not fused:
        near = _with_files(stores, query, vector, members, near)
    texts = _matching(stores, query, members, limit=pool_size) if fused else {}
    seeds = best_first(fuse([(VECTOR_WEIGHT, tuple(near)), (TEXT_WEIGHT, tuple(texts))]))[: query.seed_k]
    walked = (
        stores.graph.walk(
            sorted(seeds), hops=query.hops, kinds=WALKED_EDGES, direction=Direction.BOTH, limit=WALK_LIMIT
        )
        if query.hops and seeds
        else ()
    )
    reached = {step.node.id: step for step in walked if step.node.kind in query.kinds}
    met = near | texts | {node_id: step.node for node_id, step in reached.items()}
    nodes = {node_id: node for node_id, node in met.items() if node.kind in query.kinds}
    by_distance = sorted(reached, key=lambda node: (reached[node].hop, -len(reached[node].seeds), node))
    return _Pool(
        nodes=nodes,
        seeds=tuple(seeds),
        hops={node: step.hop for node, step in reached.items()},
        reached_from={node: step.seeds for node, step in reached.items()} | {seed: (seed,) for seed in seeds},
        orderings=(
            (VECTOR_WEIGHT, tuple(near)),
            (TEXT_WEIGHT, tuple(texts)),
            (NEAR_WEIGHT, (*(seed for seed in seeds if seed in nodes), *by_distance)),
        ),
        walked=len(walked),
    )


def _with_files(
    stores: Stores, query: Query, vector: Vector, members: frozenset[str] | None, near: dict[NodeId, Node]
) -> dict[NodeId, Node]:
    """Seeds of which up to half are files, where files are near: with a walk to follow, a file leads to what it defines,
    even where it is no result itself."""
    allowed = query.seed_k // 2 if query.hops and NodeKind.FILE not in query.kinds else 0
    files = _nearest(stores, vector, members, k=allowed, kinds=(NodeKind.FILE,)) if allowed else {}
    both = near | files
    similar = stores.vectors.similarities(NODES, vector, sorted(both))
    best = best_first({node: similar.get(node, -1.0) for node in both})[: query.seed_k]
    return {node: both[node] for node in best}


def _nearest(
    stores: Stores,
    vector: Vector,
    members: frozenset[str] | None,
    *,
    k: int,
    kinds: tuple[NodeKind, ...],
) -> dict[NodeId, Node]:
    """The k nearest nodes of these kinds, nearest first; of several definitions of one name only the nearest.

    The index knows neither: it is asked for more and more until enough of them fit.
    """
    asked = 4 * k
    while True:
        matches = stores.vectors.nearest(NODES, vector, k=asked, within=members)
        nodes = nodes_by_id(stores.graph, (NodeId(match.key) for match in matches))
        fitting: dict[str, Node] = {}
        for match in matches:
            node = nodes.get(NodeId(match.key))
            if node is not None and node.kind in kinds:
                fitting.setdefault(_REPETITION.sub("", node.id), node)
        if len(fitting) >= k or len(matches) < asked:
            return {node.id: node for node in list(fitting.values())[:k]}
        asked *= 4


def _matching(stores: Stores, query: Query, members: frozenset[str] | None, *, limit: int) -> dict[NodeId, Node]:
    """Nodes that share words with the query in name, signature, docstring, description or tags, best first."""
    answer = stores.metadata.search(
        TextQuery(
            text=query.text,
            match="any",
            node_types=query.kinds,
            fields=TEXT_FIELDS,
            weights=TEXT_WEIGHTS,
            common_share=COMMON_SHARE,
            counted=False,
            limit=limit,
        )
    )
    found = {match.node.id: match.node for match in answer.matches}
    known = nodes_by_id(stores.graph, found)  # a session's view may lack or change what the shared index has
    return {node: known[node] for node in found if node in known and (members is None or node in members)}


def _signals(stores: Stores, query: Query, vector: Vector, pool: _Pool) -> dict[NodeId, Signals]:
    ids = sorted(pool.nodes)
    _embed_missing(stores, [pool.nodes[node] for node in ids])
    similar = stores.vectors.similarities(NODES, vector, ids)
    ranks: Mapping[NodeId, Scores] = stores.graph.scores(ids)
    heat = heat_of(stores.graph, stores.telemetry, ids, scope=Scope(), since=query.since)
    return {
        node: Signals(
            vector=_unit(similar.get(node, 0.0)),
            pagerank=ranks[node].pagerank if node in ranks else 0.0,
            heat=heat[node],
        )
        for node in ids
    }


def _embed_missing(stores: Stores, candidates: list[Node]) -> None:
    """Vectors for candidates without the one of their present text, up to a bound: the rest comes as vectors fill in."""
    ids = [node.id for node in candidates]
    stored = stores.vectors.hashes(NODES, ids)
    enrichments = stores.metadata.enrichments(ids)
    texts = {node.id: embedded_text(node, enrichments.get(node.id)) for node in candidates}
    hashes = {key: text_hash(text, stores.embedder.model) for key, text in texts.items()}
    missing = tuple(key for key in texts if stored.get(key) != hashes[key])[:ON_DEMAND]
    if missing:
        matrix = stores.embedder.embed([texts[key] for key in missing])
        stores.vectors.upsert(NODES, missing, matrix, tuple(hashes[key] for key in missing))


def _fused(pool: _Pool, signals: Mapping[NodeId, Signals]) -> dict[NodeId, float]:
    by_rank = best_first({node: signal.pagerank for node, signal in signals.items() if signal.pagerank})
    by_heat = best_first({node: float(signal.heat) for node, signal in signals.items() if signal.heat})
    return fuse([*pool.orderings, (RANK_WEIGHT, by_rank), (HEAT_WEIGHT, by_heat)])


def _result(
    pool: _Pool, node_id: NodeId, signals: Signals, score: float, partition: Partition, enrichment: Enrichment | None
) -> RankedNode:
    node = pool.nodes[node_id]
    return RankedNode(
        node_id=node.id,
        node_type=node.kind,
        name=node.name,
        file=node.file,
        community_id=partition.members_l1.get(node.id),
        signature=node.signature,
        docstring=node.metadata.docstring or (enrichment.description if enrichment else None),
        tags=enrichment.tags if enrichment else (),
        final_score=score,
        vector_score=round(signals.vector, 6),
        pagerank=signals.pagerank,
        heat_score=signals.heat,
        is_seed=node.id in pool.seeds,
        reachable_from=pool.reached_from.get(node.id, ()),
        start_line=node.start_line,
        end_line=node.end_line,
    )


def _structure(
    graph: GraphStore, partition: Partition, pool: _Pool, kept: Iterable[NodeId]
) -> tuple[StructuralLink, ...]:
    """True edges between two different results."""
    ids = set(kept)
    labels = {community.id: community.label for community in partition.communities}
    links: list[StructuralLink] = []
    for edge in graph.edges(sorted(ids), kinds=WALKED_EDGES, direction=Direction.OUTGOING) if ids else ():
        if edge.target is None or edge.target not in ids or edge.target == edge.source:
            continue
        near, far = (partition.members_l1.get(end) for end in (edge.source, edge.target))
        crosses = near is not None and far is not None and near != far
        links.append(
            StructuralLink(
                source=edge.source,
                target=edge.target,
                edge_type=edge.kind,
                hop=max(1, pool.hops.get(edge.target, 1)),
                bridge=f"{labels.get(near, '')} → {labels.get(far, '')}" if crosses and near and far else None,
            )
        )
    return tuple(sorted(links, key=lambda link: (link.source, link.target, link.edge_type.value)))


def _unit(score: float) -> float:
    return min(1.0, max(0.0, float(score)))
