"""What a community holds, and where two of them touch."""

from __future__ import annotations

from collections import Counter, defaultdict

from smp.domain.communities import Bridge, Community, Partition
from smp.domain.errors import NodeNotFound
from smp.domain.graph import Direction, Edge, EdgeKind, NodeKind, Scope
from smp.domain.ids import NodeId
from smp.domain.queries import Boundary, BridgeEdge, BridgeNode, CommunityDetail, CommunityMember
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.adjacency import nodes_by_id
from smp.query.heat import heat_of

CLUSTERED_EDGES = (EdgeKind.CALLS_STATIC, EdgeKind.CALLS_RUNTIME, EdgeKind.IMPORTS)
"""Edges over which communities are found, and by which they touch."""
BRIDGE_NODES = 10


def communities_at(partition: Partition, level: int | None) -> tuple[Community, ...]:
    """Communities of one level or of both, by level, falling size, id."""
    wanted = [community for community in partition.communities if level is None or community.level == level]
    return tuple(sorted(wanted, key=lambda community: (community.level, -community.member_count, community.id)))


def community_detail(
    graph: GraphStore,
    telemetry: TelemetryStore,
    partition: Partition,
    community_id: str,
    *,
    kinds: tuple[NodeKind, ...],
    since: str,
) -> CommunityDetail:
    """A community with its members.

    Args:
        kinds: Of the members listed; empty for all.
        since: RFC 3339 start of the window for heat.

    Raises:
        NodeNotFound: No community of this id.
    """
    community = _find(partition, community_id)
    ids = _members(partition, community)
    nodes = [node for node in nodes_by_id(graph, ids).values() if not kinds or node.kind in kinds]
    wanted = sorted(node.id for node in nodes)
    scores = graph.scores(wanted)
    heat = heat_of(graph, telemetry, wanted, since=since)
    members = [
        CommunityMember(
            id=node.id,
            type=node.kind,
            name=node.name,
            file=node.file,
            pagerank=scores[node.id].pagerank if node.id in scores else 0.0,
            heat_score=heat[node.id],
        )
        for node in nodes
    ]
    return CommunityDetail(
        community=community, members=tuple(sorted(members, key=lambda member: (-member.pagerank, member.id)))
    )


def bridge_edges(graph: GraphStore, partition: Partition, community_id: str) -> tuple[BridgeEdge, ...]:
    """Edges that leave a community or enter it, by the community at the far end, source, target, kind.

    Raises:
        NodeNotFound: No community of this id.
    """
    community = _find(partition, community_id)
    membership = _membership(partition, community.level)
    ids = sorted(_members(partition, community))
    weights = {frozenset((bridge.source, bridge.target)): bridge.coupling_weight for bridge in partition.bridges}
    found: list[BridgeEdge] = []
    for edge in graph.edges(ids, kinds=CLUSTERED_EDGES, direction=Direction.BOTH) if ids else ():
        inside = membership.get(edge.source) == community.id
        peer = membership.get(edge.target) if inside and edge.target is not None else membership.get(edge.source)
        if edge.target is not None and peer is not None and peer != community.id:
            found.append(
                BridgeEdge(
                    source=edge.source,
                    target=edge.target,
                    edge_type=edge.kind,
                    to_community=peer,
                    coupling_weight=weights.get(frozenset((community.id, peer)), 0.0),
                )
            )
    return tuple(sorted(set(found), key=lambda item: (item.to_community, item.source, item.target, item.edge_type)))


def boundaries(graph: GraphStore, partition: Partition, *, level: int, min_coupling: float) -> tuple[Boundary, ...]:
    """Pairs of communities that touch, strongest first, ties by ids. Reads every clustered edge once."""
    labels = {community.id: community.label for community in partition.communities if community.level == level}
    bridges = [
        bridge
        for bridge in partition.bridges
        if bridge.source in labels and bridge.target in labels and bridge.coupling_weight >= min_coupling
    ]
    if not bridges:
        return ()
    membership = _membership(partition, level)
    crossing: defaultdict[frozenset[NodeId], list[Edge]] = defaultdict(list)
    for edge in graph.scan_edges(Scope(), CLUSTERED_EDGES):
        near = membership.get(edge.source)
        far = membership.get(edge.target) if edge.target is not None else None
        if near is not None and far is not None and near != far:
            crossing[frozenset((near, far))].append(edge)
    found = [_boundary(graph, bridge, crossing, membership, labels) for bridge in bridges]
    return tuple(sorted(found, key=lambda item: (-item.coupling_weight, item.from_community, item.to_community)))


def _boundary(
    graph: GraphStore,
    bridge: Bridge,
    crossing: dict[frozenset[NodeId], list[Edge]],
    membership: dict[NodeId, NodeId],
    labels: dict[NodeId, str],
) -> Boundary:
    leaving: Counter[NodeId] = Counter()
    entering: Counter[NodeId] = Counter()
    for edge in crossing.get(frozenset((bridge.source, bridge.target)), ()):
        if edge.target is not None:
            leaving[edge.source] += 1
            entering[edge.target] += 1
    degrees = leaving + entering
    top = sorted(degrees, key=lambda node: (-degrees[node], node))[:BRIDGE_NODES]
    nodes = nodes_by_id(graph, top)
    return Boundary(
        from_community=bridge.source,
        to_community=bridge.target,
        edge_count=bridge.edge_count,
        coupling_weight=bridge.coupling_weight,
        bridge_nodes=tuple(
            BridgeNode(
                id=node,
                type=nodes[node].kind,
                side=labels[membership[node]],
                in_degree_from_peer=entering[node],
                out_degree_to_peer=leaving[node],
            )
            for node in top
            if node in nodes
        ),
    )


def _find(partition: Partition, community_id: str) -> Community:
    for community in partition.communities:
        if community.id == community_id:
            return community
    raise NodeNotFound(community_id)


def _membership(partition: Partition, level: int) -> dict[NodeId, NodeId]:
    return partition.members_l0 if level == 0 else partition.members_l1


def _members(partition: Partition, community: Community) -> frozenset[NodeId]:
    return frozenset(node for node, owner in _membership(partition, community.level).items() if owner == community.id)
