"""`smp/locate`: find code by what it does."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from smp.domain.graph import EdgeKind, NodeKind
from smp.domain.ids import NodeId
from smp.query.locate import DEFAULT_KINDS, Query, Stores, locate
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.pages import CHARACTERS_PER_TOKEN, Cursor, MaxTokens, cursor_after, fitting, page_start
from smp.rpc.reading import given, graph_of, hot_rule, note_read, wire
from smp.rpc.wire import Params, QueryText, Result, SessionRef, TopK


class LocateParams(Params, frozen=True, kw_only=True):
    """A description in plain words.

    `node_types` default to classes, functions and interfaces. `community_id` forces a community; null routes by itself.
    `ranking`: `composite` is the weighted sum of similarity, rank and heat; `fusion` joins words, similarity, names, graph
    and heat.
    """

    query: QueryText
    seed_k: Annotated[int, Meta(ge=1, le=100)] = 3
    hops: Annotated[int, Meta(ge=0, le=10)] = 2
    top_k: TopK = 10
    node_types: Annotated[tuple[NodeKind, ...], Meta(min_length=1)] = DEFAULT_KINDS
    community_id: Annotated[str, Meta(min_length=1)] | None = None
    ranking: Literal["composite", "fusion"] = "composite"
    session_id: SessionRef | UnsetType = UNSET
    max_tokens: MaxTokens | UnsetType = UNSET
    cursor: Cursor | UnsetType = UNSET


class RoutedResult(Result, frozen=True, kw_only=True):
    """The community that the search for seeds was narrowed to. confidence in [0, 1]."""

    id: str
    label: str
    confidence: float
    searched_nodes: int


class RankedResult(Result, frozen=True, kw_only=True):
    """reachable_from: the seeds that reach a node; itself for a seed."""

    node_id: str
    node_type: NodeKind
    name: str
    file: str | None
    community_id: str | None
    signature: str | None
    docstring: str | None
    tags: tuple[str, ...]
    final_score: float
    vector_score: float
    pagerank: float
    heat_score: int
    is_seed: bool
    reachable_from: tuple[str, ...]
    start_line: int
    end_line: int


class StructuralLinkResult(Result, frozen=True, kw_only=True):
    """A true edge between two results; bridge names the communities it joins."""

    source: str = field(name="from")
    target: str = field(name="to")
    edge_type: EdgeKind
    hop: int
    is_bridge: bool
    bridge: str | UnsetType = UNSET


class EmbeddingResult(Result, frozen=True, kw_only=True):
    """embedded: nodes with a vector, of the total that are to have one."""

    embedded: int
    total: int


class LocateResult(Result, frozen=True, kw_only=True):
    """results by falling score; routed_community is null where all were searched. embedding: how many of the nodes have
    their vector by now; until all have, similarity finds less than words and graph do. truncated: more results follow, with
    `next_cursor`."""

    query: str
    routed_community: RoutedResult | None
    seed_count: int
    total_walked: int
    results: tuple[RankedResult, ...]
    structural_map: tuple[StructuralLinkResult, ...]
    embedding: EmbeddingResult
    truncated: bool = False
    next_cursor: str | UnsetType = UNSET


@rpc_method("smp/locate")
def locate_code(params: LocateParams, ctx: RequestContext) -> LocateResult:
    """Nodes that answer a description: route to a community, seed by similarity, walk the graph, rank."""
    services = ctx.services
    graph = graph_of(ctx, params.session_id)
    note_read(ctx, params.session_id, method="smp/locate")
    state = services.indexer.ready_to_search()
    offset = page_start(params, given(params.cursor), generation=state.generation)
    found = locate(
        Stores(
            graph=graph,
            metadata=services.metadata,
            telemetry=services.telemetry,
            vectors=services.vectors,
            embedder=services.embedder,
        ),
        state.partition,
        Query(
            text=params.query,
            since=hot_rule(ctx).since,
            seed_k=params.seed_k,
            hops=params.hops,
            top_k=params.top_k,
            offset=offset,
            kinds=params.node_types,
            community_id=NodeId(params.community_id) if params.community_id is not None else None,
            ranking=params.ranking,
        ),
    )
    results = tuple(wire(node, RankedResult) for node in found.results)
    if not isinstance(params.max_tokens, UnsetType):
        results = results[: fitting(results, params.max_tokens * CHARACTERS_PER_TOKEN)]
    shown = {result.node_id for result in results}
    more = found.remaining + len(found.results) - len(results) > 0
    return LocateResult(
        query=found.query,
        routed_community=wire(found.routed_community, RoutedResult) if found.routed_community else None,
        seed_count=found.seed_count,
        total_walked=found.total_walked,
        results=results,
        structural_map=tuple(
            StructuralLinkResult(
                source=link.source,
                target=link.target,
                edge_type=link.edge_type,
                hop=link.hop,
                is_bridge=link.bridge is not None,
                bridge=UNSET if link.bridge is None else link.bridge,
            )
            for link in found.structural_map
            if link.source in shown and link.target in shown
        ),
        embedding=wire(state.embedding, EmbeddingResult),
        truncated=more,
        next_cursor=cursor_after(params, offset + len(results), generation=state.generation) if more else UNSET,
    )


METHODS = (locate_code,)
