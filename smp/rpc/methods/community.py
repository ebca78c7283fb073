"""Community: clusters of code by its calls and imports, at two levels."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from smp.domain.errors import Invalid
from smp.domain.graph import EdgeKind, NodeKind
from smp.query.communities import boundaries, bridge_edges, communities_at, community_detail
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import given, graph_of, hot_rule, wire
from smp.rpc.wire import Params, Result, Text

Level = Annotated[Literal[0, 1], Meta(description="0 coarse, 1 fine.")]
Unit = Annotated[float, Meta(ge=0, le=1)]


class LevelOption(Params, frozen=True, kw_only=True):
    """resolution: higher gives more and smaller communities."""

    level: Level
    resolution: Annotated[float, Meta(gt=0)]
    label: str | UnsetType = UNSET


class DetectParams(Params, frozen=True, kw_only=True):
    """Defaults: calls and imports, resolution 0.5 (coarse) and 1.5 (fine), at least 5 members."""

    algorithm: Literal["louvain"] = "louvain"
    relationship_types: Annotated[tuple[EdgeKind, ...], Meta(min_length=1)] | UnsetType = UNSET
    levels: Annotated[tuple[LevelOption, ...], Meta(min_length=1)] | UnsetType = UNSET
    min_community_size: Annotated[int, Meta(ge=1)] | UnsetType = UNSET


class LevelResult(Result, frozen=True, kw_only=True):
    communities_found: int
    modularity: float


class CoarseResult(Result, frozen=True, kw_only=True):
    """fine_children: fine communities of which it holds most."""

    id: str
    label: str
    member_count: int
    fine_children: int


class FineResult(Result, frozen=True, kw_only=True):
    id: str
    parent: str
    label: str
    member_count: int


class DetectResult(Result, frozen=True, kw_only=True):
    """nodes_assigned: nodes in a community. bridge_edges: pairs of communities that touch, at both levels."""

    nodes_assigned: int
    bridge_edges: int
    levels: dict[str, LevelResult]
    coarse_communities: tuple[CoarseResult, ...]
    fine_communities: tuple[FineResult, ...]


@rpc_method("smp/community/detect")
def detect(params: DetectParams, ctx: RequestContext) -> DetectResult:
    """Find the communities anew, at two resolutions, and store them."""
    ctx.services.indexer.ensure_fresh()
    partition = ctx.services.indexer.detect_communities(
        levels=_resolutions(params.levels),
        relationship_types=given(params.relationship_types),
        min_community_size=given(params.min_community_size),
    )
    coarse, fine = communities_at(partition, 0), communities_at(partition, 1)
    children = Counter(community.parent for community in fine)
    return DetectResult(
        nodes_assigned=len(partition.members_l0.keys() | partition.members_l1.keys()),
        bridge_edges=len(partition.bridges),
        levels={
            str(level): LevelResult(communities_found=len(found), modularity=partition.modularity[level])
            for level, found in enumerate((coarse, fine))
        },
        coarse_communities=tuple(
            CoarseResult(
                id=community.id,
                label=community.label,
                member_count=community.member_count,
                fine_children=children[community.id],
            )
            for community in coarse
        ),
        fine_communities=tuple(
            FineResult(
                id=community.id,
                parent=community.parent or "",
                label=community.label,
                member_count=community.member_count,
            )
            for community in fine
        ),
    )


class ListParams(Params, frozen=True, kw_only=True):
    """Both levels where none is given."""

    level: Level | UnsetType = UNSET


class CommunityResult(Result, frozen=True, kw_only=True):
    """modularity_score: its own share. bridge_communities: those it touches."""

    id: str
    level: int
    parent_community: str | None
    label: str
    majority_path_prefix: str
    top_tags: tuple[str, ...]
    member_count: int
    file_count: int
    internal_edge_count: int
    external_edge_count: int
    modularity_score: float
    bridge_communities: tuple[str, ...]


class ListResult(Result, frozen=True, kw_only=True):
    """By level, falling size, id."""

    total: int
    communities: tuple[CommunityResult, ...]


@rpc_method("smp/community/list")
def list_communities(params: ListParams, ctx: RequestContext) -> ListResult:
    """The communities of a level, or of both."""
    ctx.services.indexer.ensure_fresh()
    found = communities_at(ctx.services.indexer.partition(), given(params.level))
    return ListResult(
        total=len(found),
        communities=tuple(
            CommunityResult(
                id=community.id,
                level=community.level,
                parent_community=community.parent,
                label=community.label,
                majority_path_prefix=community.majority_path_prefix,
                top_tags=community.top_tags,
                member_count=community.member_count,
                file_count=community.file_count,
                internal_edge_count=community.internal_edge_count,
                external_edge_count=community.external_edge_count,
                modularity_score=community.modularity_score,
                bridge_communities=community.bridge_communities,
            )
            for community in found
        ),
    )


class GetParams(Params, frozen=True, kw_only=True):
    """node_types: of the members listed. include_bridges: also the edges that cross its border."""

    community_id: Text
    node_types: tuple[NodeKind, ...] = ()
    include_bridges: bool = False


class MemberResult(Result, frozen=True, kw_only=True):
    id: str
    type: NodeKind
    name: str
    file: str | None
    pagerank: float
    heat_score: int


class BridgeEdgeResult(Result, frozen=True, kw_only=True):
    """An edge in its own direction; to_community: the other side."""

    source: str = field(name="from")
    target: str = field(name="to")
    edge_type: EdgeKind
    to_community: str
    coupling_weight: float


class GetResult(Result, frozen=True, kw_only=True):
    """member_count counts all members, also those that node_types leaves out."""

    community_id: str
    level: int
    parent_community: str | None
    label: str
    member_count: int
    members: tuple[MemberResult, ...]
    bridge_edges: tuple[BridgeEdgeResult, ...] | UnsetType = UNSET


@rpc_method("smp/community/get")
def get(params: GetParams, ctx: RequestContext) -> GetResult:
    """One community with its members, highest rank first."""
    graph = graph_of(ctx)
    partition = ctx.services.indexer.partition()
    found = community_detail(
        graph,
        ctx.services.telemetry,
        partition,
        params.community_id,
        kinds=params.node_types,
        since=hot_rule(ctx).since,
    )
    crossing = bridge_edges(graph, partition, params.community_id) if params.include_bridges else ()
    return GetResult(
        community_id=found.community.id,
        level=found.community.level,
        parent_community=found.community.parent,
        label=found.community.label,
        member_count=found.community.member_count,
        members=tuple(wire(member, MemberResult) for member in found.members),
        bridge_edges=tuple(wire(edge, BridgeEdgeResult) for edge in crossing) if params.include_bridges else UNSET,
    )


class BoundariesParams(Params, frozen=True, kw_only=True):
    """Pairs below min_coupling are left out."""

    level: Level
    min_coupling: Unit = 0.05


class BridgeNodeResult(Result, frozen=True, kw_only=True):
    """side: label of its community; degrees count edges to and from the other one."""

    id: str
    type: NodeKind
    side: str
    in_degree_from_peer: int
    out_degree_to_peer: int


class BoundaryResult(Result, frozen=True, kw_only=True):
    """coupling_weight: edges between the two over edges of the smaller, in [0, 1]."""

    from_community: str
    to_community: str
    edge_count: int
    coupling_weight: float
    bridge_nodes: tuple[BridgeNodeResult, ...]


class BoundariesResult(Result, frozen=True, kw_only=True):
    """Strongest first; each pair once."""

    level: int
    boundaries: tuple[BoundaryResult, ...]


@rpc_method("smp/community/boundaries")
def list_boundaries(params: BoundariesParams, ctx: RequestContext) -> BoundariesResult:
    """Which communities depend on one another, how strongly, and through which nodes."""
    graph = graph_of(ctx)
    found = boundaries(graph, ctx.services.indexer.partition(), level=params.level, min_coupling=params.min_coupling)
    return BoundariesResult(level=params.level, boundaries=tuple(wire(item, BoundaryResult) for item in found))


def _resolutions(levels: tuple[LevelOption, ...] | UnsetType) -> tuple[tuple[int, float], ...] | None:
    if isinstance(levels, UnsetType):
        return None
    numbers = [option.level for option in levels]
    if len(set(numbers)) != len(numbers):
        raise Invalid("a level is named twice; name each level once", path="levels")
    return tuple((option.level, option.resolution) for option in levels)


METHODS = (detect, list_communities, get, list_boundaries)
