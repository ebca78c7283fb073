"""Communities at two levels: their clusters, names, counts and bridges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from smp.domain.communities import Bridge, Community, Partition
from smp.domain.graph import Node
from smp.domain.ids import NodeId
from smp.indexing.clustering import clearly_better, clusters_from_scratch, clusters_going_on, continued
from smp.indexing.labels import MemberWords, majority_prefix, named
from smp.indexing.projection import Projection, members_only
from smp.ports.graph_analytics import GraphAnalytics

RESOLUTIONS = (0.5, 1.5)
"""Coarse and fine (specification, community detection)."""
MIN_SIZE = 5
TOP_TAGS = 5


def detect(
    projection: Projection,
    analytics: GraphAnalytics,
    *,
    resolutions: tuple[float, float] = RESOLUTIONS,
    min_size: int = MIN_SIZE,
    tags: Mapping[NodeId, tuple[str, ...]] | None = None,
    at: str = "",
    previous: Partition | None = None,
    alike: bool = True,
) -> Partition:
    """Both levels.

    Args:
        tags: Tags of enriched members, for `top_tags`.
        at: RFC 3339 time of the detection.
        previous: What was detected before: its clusters go on unless others are clearly better, its ids in any case.
        alike: Whether it was detected with the same options; otherwise only its ids go on.
    """
    levels = clusters_from_scratch(projection, analytics, resolutions=resolutions, min_size=min_size)
    if previous is not None and previous.members_l1 and alike:
        known = (previous.members_l0, previous.members_l1)
        bare = members_only(projection)
        going_on = clusters_going_on(bare, analytics, known, min_size=min_size)
        if not clearly_better(bare, analytics, levels, going_on, resolutions=resolutions):
            levels = going_on
    return _described(projection, levels, tags=tags or {}, at=at, previous=previous)


def go_on(
    projection: Projection,
    analytics: GraphAnalytics,
    previous: Partition,
    *,
    min_size: int = MIN_SIZE,
    tags: Mapping[NodeId, tuple[str, ...]] | None = None,
    at: str = "",
) -> Partition:
    """The communities of before with what has come since and without what has gone."""
    bare = members_only(projection)
    known = (previous.members_l0, previous.members_l1)
    levels = clusters_going_on(bare, analytics, known, min_size=min_size)
    return _described(projection, levels, tags=tags or {}, at=at, previous=previous)


def _described(
    projection: Projection,
    clusters: tuple[list[int], list[int]],
    *,
    tags: Mapping[NodeId, tuple[str, ...]],
    at: str,
    previous: Partition | None,
) -> Partition:
    levels = (clusters[0][: projection.members], clusters[1][: projection.members])
    before = previous or Partition()
    words = MemberWords(projection.nodes[: projection.members])
    members: list[dict[NodeId, NodeId]] = []
    for level, (membership, known) in enumerate(zip(levels, (before.members_l0, before.members_l1), strict=True)):
        ids = named(projection, membership, level, words, continuing=continued(projection, membership, known))
        members.append({projection.nodes[index].id: ids[cluster] for index, cluster in enumerate(membership)})
    parents = {members[1][node]: members[0][node] for node in members[1]}
    communities: list[Community] = []
    bridges: list[Bridge] = []
    modularity: list[float] = []
    for level in (0, 1):
        described, crossing, score = _describe(projection, members[level], level, tags=tags, at=at, parents=parents)
        communities += described
        bridges += crossing
        modularity.append(score)
    return Partition(
        communities=tuple(communities),
        bridges=tuple(bridges),
        modularity=(modularity[0], modularity[1]),
        members_l0=members[0],
        members_l1=members[1],
    )


def _describe(
    projection: Projection,
    members: Mapping[NodeId, NodeId],
    level: int,
    *,
    tags: Mapping[NodeId, tuple[str, ...]],
    at: str,
    parents: Mapping[NodeId, NodeId],
) -> tuple[list[Community], list[Bridge], float]:
    holding: dict[NodeId, list[Node]] = defaultdict(list)
    owner = [members[node.id] for node in projection.nodes[: projection.members]]
    for node, community in zip(projection.nodes, owner, strict=False):
        holding[community].append(node)
    inner: Counter[NodeId] = Counter()
    outer: Counter[NodeId] = Counter()
    between: Counter[tuple[NodeId, NodeId]] = Counter()
    for (source, target), number in projection.relations.items():
        one, other = owner[source], owner[target]
        if one == other:
            inner[one] += number
        else:
            outer[one] += number
            outer[other] += number
            between[(min(one, other), max(one, other))] += number
    bridges = [
        Bridge(
            source=one,
            target=other,
            edge_count=number,
            coupling_weight=number / min(inner[one] + outer[one], inner[other] + outer[other]),
        )
        for (one, other), number in sorted(between.items())
    ]
    touching: dict[NodeId, list[NodeId]] = defaultdict(list)
    for one, other in sorted(between):
        touching[one].append(other)
        touching[other].append(one)
    scores = _modularity(projection, owner)
    communities = [
        Community(
            id=community,
            level=level,
            label=community.partition("/")[2],
            parent=parents.get(community) if level else None,
            majority_path_prefix=majority_prefix(nodes),
            top_tags=_top_tags(nodes, tags),
            member_count=len(nodes),
            file_count=len({node.file for node in nodes}),
            internal_edge_count=inner[community],
            external_edge_count=outer[community],
            modularity_score=scores.get(community, 0.0),
            bridge_communities=tuple(sorted(touching[community])),
            detected_at=at,
        )
        for community, nodes in sorted(holding.items())
    ]
    return communities, bridges, sum(scores.values())


def _modularity(projection: Projection, owner: Sequence[NodeId]) -> dict[NodeId, float]:
    """Each community's part of the modularity (resolution 1) over the weighted edges between members."""
    inside: dict[NodeId, float] = defaultdict(float)
    degree: dict[NodeId, float] = defaultdict(float)
    total = 0.0
    for source, target, weight in projection.edges:
        if source >= projection.members or target >= projection.members:
            continue
        one, other = owner[source], owner[target]
        total += weight
        degree[one] += weight
        degree[other] += weight
        if one == other:
            inside[one] += weight
    if not total:
        return {}
    return {
        community: inside[community] / total - (degree[community] / (2 * total)) ** 2 for community in sorted(degree)
    }


def _top_tags(nodes: Iterable[Node], tags: Mapping[NodeId, tuple[str, ...]]) -> tuple[str, ...]:
    counted = Counter(tag for node in nodes for tag in tags.get(node.id, ()))
    return tuple(sorted(counted, key=lambda tag: (-counted[tag], tag))[:TOP_TAGS])
