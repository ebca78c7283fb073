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
from smp.domain.graph import Direction, EdgeKind, Node, NodeKind, Scores, Walked
from smp.domain.ids import FilePath, NodeId
from smp.domain.metadata import Enrichment
from smp.domain.queries import Located, RankedNode, RoutedCommunity, StructuralLink
from smp.indexing.embed import CENTROIDS, NODES, embedded_text, text_hash
from smp.ports.embedder import Embedder
from smp.ports.graph_store import GraphStore
from smp.ports.metadata_store import TEXT_FIELDS, MetadataStore, TextQuery
from smp.ports.telemetry_store import TelemetryStore
from smp.ports.vector_index import Vector, VectorIndex
from smp.query.adjacency import nodes_by_id
from smp.query.fusion import POOL, Matches, asks_for_tests, fused, in_test_files
from smp.query.heat import heat_of
from smp.query.ranking import POSTINGS, TEXT_WEIGHTS, Signals, best_first, composite, fuse, telling

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
TEXT_MATCHES = 4 * POOL
"""Nodes looked at by their words: tests and files among them say something about others."""
ON_DEMAND = 32
"""Candidates that are embedded while somebody waits, at most."""


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
        offset: Results left out before the first. kinds: Of the results. community_id: None routes by itself.
        since: RFC 3339 start of the window for heat.
    """

    text: str
    since: str
    seed_k: int = 3
    hops: int = 2
    top_k: int = 10
    offset: int = 0
    kinds: tuple[NodeKind, ...] = DEFAULT_KINDS
    community_id: NodeId | None = None
    ranking: str = COMPOSITE


class _Pool(Struct, frozen=True, kw_only=True):
    """Seeds and everything else that may be a result; hop is 0 for seeds and for what no walk reached."""

    nodes: dict[NodeId, Node]
    seeds: tuple[NodeId, ...]
    hops: dict[NodeId, int]
    reached_from: dict[NodeId, tuple[NodeId, ...]]
    walked: int
    matches: Matches | None = None


def locate(stores: Stores, partition: Partition, query: Query) -> Located:
    """Nodes that answer a description.

    Raises:
        NodeNotFound: No community of the given id.
    """
    vector: Vector = stores.embedder.embed([query.text])[0]
    routed, members = _route(stores, partition, query, vector)
    pool = (_gather_fused if query.ranking == FUSION else _gather)(stores, query, vector, members)
    behind = _behind(stores.graph, query, pool)
    similar = _similarities(stores, vector, pool, behind)
    signals = _signals(stores, query, pool, similar)
    kept = _ordered(stores.graph, pool, signals, similar, behind)
    scores = dict(kept)
    kept_ids = [node for node, _ in kept][query.offset :][: query.top_k]
    enrichments = stores.metadata.enrichments(kept_ids)
    return Located(
        query=query.text,
        routed_community=routed,
        seed_count=len(pool.seeds),
        total_walked=pool.walked,
        remaining=max(0, len(kept) - query.offset - len(kept_ids)),
        results=tuple(
            _result(pool, node, signals[node], scores[node], partition, enrichments.get(node)) for node in kept_ids
        ),
        structural_map=_structure(stores.graph, partition, pool, kept_ids),
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
    """The specification's candidates: the nearest, and what lies around them."""
    near = _nearest(stores, vector, members, k=query.seed_k, kinds=query.kinds)
    near = _with_files(stores, query, vector, members, near)
    walked = _walk(stores.graph, query, near)
    nodes = near | {node_id: step.node for node_id, step in walked.items()}
    return _pool(query, nodes, tuple(near), walked)


def _gather_fused(stores: Stores, query: Query, vector: Vector, members: frozenset[str] | None) -> _Pool:
    """What words and vectors bring up, and what lies around the best of both."""
    near = _nearest(stores, vector, members, k=POOL, kinds=query.kinds)
    found, matches = _matching(stores, query, members)
    by_text = best_first(dict(matches.candidates))
    seeds = best_first(fuse([(1.0, tuple(near)), (1.0, by_text)]))[: query.seed_k]
    walked = _walk(stores.graph, query, seeds)
    around = sorted(walked, key=lambda node: (walked[node].hop, -len(walked[node].seeds), node))[:POOL]
    nodes = near | found | {node: walked[node].node for node in around}
    return _pool(query, nodes, tuple(seeds), walked, matches=matches)


def _walk(graph: GraphStore, query: Query, seeds: Iterable[NodeId]) -> dict[NodeId, Walked]:
    starts = sorted(seeds)
    if not query.hops or not starts:
        return {}
    steps = graph.walk(starts, hops=query.hops, kinds=WALKED_EDGES, direction=Direction.BOTH, limit=WALK_LIMIT)
    return {step.node.id: step for step in steps}


def _pool(
    query: Query,
    nodes: Mapping[NodeId, Node],
    seeds: tuple[NodeId, ...],
    walked: Mapping[NodeId, Walked],
    *,
    matches: Matches | None = None,
) -> _Pool:
    return _Pool(
        nodes={node_id: node for node_id, node in nodes.items() if node.kind in query.kinds},
        seeds=seeds,
        hops={node: step.hop for node, step in walked.items()},
        reached_from={node: step.seeds for node, step in walked.items()} | {seed: (seed,) for seed in seeds},
        walked=len(walked),
        matches=matches,
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


def _matching(stores: Stores, query: Query, members: frozenset[str] | None) -> tuple[dict[NodeId, Node], Matches]:
    """Nodes that share words with the question, with their BM25; files and tests among them are evidence alone."""
    answer = stores.metadata.search(
        TextQuery(
            text=telling(query.text),
            match="any",
            node_types=tuple(sorted({*query.kinds, NodeKind.FILE, NodeKind.TEST})),
            fields=TEXT_FIELDS,
            weights=TEXT_WEIGHTS,
            postings=POSTINGS,
            brief=True,
            limit=TEXT_MATCHES,
        )
    )
    scores = {match.node.id: match.bm25 for match in answer.matches}
    known = nodes_by_id(stores.graph, scores)  # a session's view may lack or change what the shared index has
    wanted = [n for n in scores if n in known and known[n].kind in query.kinds and (members is None or n in members)]
    return {node: known[node] for node in wanted}, Matches(
        candidates={node: scores[node] for node in wanted},
        files={
            known[node].file or FilePath(known[node].qualname): score
            for node, score in scores.items()
            if node in known and known[node].kind is NodeKind.FILE
        },
        tests={node: score for node, score in scores.items() if node in known and known[node].kind is NodeKind.TEST},
    )


def _behind(graph: GraphStore, query: Query, pool: _Pool) -> frozenset[NodeId]:
    """Candidates of a fusion that come behind all others: what lies in test files, unless the question is about tests."""
    if pool.matches is None or asks_for_tests(query.text, query.kinds):
        return frozenset()
    return in_test_files(graph, pool.nodes.values())


def _similarities(stores: Stores, vector: Vector, pool: _Pool, behind: frozenset[NodeId]) -> dict[NodeId, float]:
    ids = sorted(pool.nodes)
    _embed_missing(stores, [pool.nodes[node] for node in ids if node not in behind])
    return {NodeId(key): score for key, score in stores.vectors.similarities(NODES, vector, ids).items()}


def _signals(stores: Stores, query: Query, pool: _Pool, similar: Mapping[NodeId, float]) -> dict[NodeId, Signals]:
    ids = sorted(pool.nodes)
    ranks: Mapping[NodeId, Scores] = stores.graph.scores(ids)
    heat = heat_of(stores.graph, stores.telemetry, ids, since=query.since)
    return {
        node: Signals(
            vector=_unit(similar.get(node, 0.0)),
            pagerank=ranks[node].pagerank if node in ranks else 0.0,
            heat=heat[node],
        )
        for node in ids
    }


def _ordered(
    graph: GraphStore,
    pool: _Pool,
    signals: Mapping[NodeId, Signals],
    similar: Mapping[NodeId, float],
    behind: frozenset[NodeId],
) -> list[tuple[NodeId, float]]:
    """Every candidate with its score, best first."""
    if pool.matches is None:
        scores = {node: round(score, 4) for node, score in composite(signals).items()}
        return [(node, scores[node]) for node in best_first(scores)]
    heat = {node: signal.heat for node, signal in signals.items()}
    found = fused(graph, pool.nodes, pool.matches, similar=similar, heat=heat)
    scores = {node: round(score, 4) for node, score in found.items()}
    # what comes behind must not have the higher score: results are ordered by it
    floor = min((scores[node] for node in scores if node not in behind), default=1.0)
    scores |= {node: round(scores[node] * floor, 4) for node in behind}
    return [(node, scores[node]) for node in sorted(scores, key=lambda one: (-scores[one], one in behind, one))]


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
