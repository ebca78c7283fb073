"""Communities: Louvain at two resolutions, nested, labelled by where their members lie.

The fine level is found inside each coarse community, so that a fine one has exactly one parent. Definitions are tied to
their file and files to their folder by lighter edges than calls: what nothing calls still belongs somewhere, and code that
lies together stays together when the calls do not say otherwise. Everything is ordered by node id and label: equal graphs
give equal communities, ids included.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from msgspec import Struct

from smp.domain.communities import Bridge, Community, Partition
from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import NodeId, mint_node_id
from smp.ports.graph_analytics import GraphAnalytics

RELATIONSHIPS = (EdgeKind.CALLS_STATIC, EdgeKind.CALLS_RUNTIME, EdgeKind.IMPORTS)
RESOLUTIONS = (0.5, 1.5)
"""Coarse and fine (specification, community detection)."""
MIN_SIZE = 5
DEFINES_WEIGHT = 1.0
FOLDER_WEIGHT = 0.5
SEED = 20250215
TOP_TAGS = 5

WeightedEdge = tuple[int, int, float]


class Projection(Struct, frozen=True, kw_only=True):
    """The graph that is clustered, by position in `nodes`.

    Attributes:
        nodes: Members first, then the packages that only hold them together.
        members: How many of `nodes` are members.
        edges: Undirected, weighted, each pair once. relations: only those of the relationship types, by number of edges.
    """

    nodes: tuple[Node, ...]
    members: int
    edges: tuple[WeightedEdge, ...]
    relations: dict[tuple[int, int], int]


def project(nodes: Iterable[Node], edges: Iterable[Edge], *, relationship_types: tuple[EdgeKind, ...]) -> Projection:
    """The projection of a graph: every node that lies in a file is a member."""
    everything = sorted(nodes, key=lambda node: node.id)
    members = [node for node in everything if node.file is not None]
    glue = [node for node in everything if node.kind is NodeKind.PACKAGE]
    ordered = (*members, *glue)
    position = {node.id: index for index, node in enumerate(ordered)}
    weights: dict[tuple[int, int], float] = defaultdict(float)
    relations: Counter[tuple[int, int]] = Counter()
    for edge in edges:
        source, target = position.get(edge.source), position.get(edge.target) if edge.target else None
        if source is None or target is None or source == target:
            continue
        pair = (min(source, target), max(source, target))
        if edge.kind in relationship_types:
            relations[pair] += 1
            weights[pair] += 1
        elif edge.kind is EdgeKind.DEFINES:
            weights[pair] += DEFINES_WEIGHT
        elif edge.kind is EdgeKind.CONTAINS:
            weights[pair] += FOLDER_WEIGHT
    return Projection(
        nodes=ordered,
        members=len(members),
        edges=tuple((source, target, weight) for (source, target), weight in sorted(weights.items())),
        relations=dict(sorted(relations.items())),
    )


def detect(
    projection: Projection,
    analytics: GraphAnalytics,
    *,
    resolutions: tuple[float, float] = RESOLUTIONS,
    min_size: int = MIN_SIZE,
    tags: Mapping[NodeId, tuple[str, ...]] | None = None,
    at: str = "",
) -> Partition:
    """Both levels.

    Args:
        tags: Tags of enriched members, for `top_tags`.
        at: RFC 3339 time of the detection.
    """
    count = len(projection.nodes)
    raw = analytics.louvain(count, projection.edges, resolution=resolutions[0], seed=SEED).membership
    coarse = _merge_small(list(raw), projection, within=[0] * count, min_size=min_size)
    fine = _refine(coarse, projection, analytics, resolution=resolutions[1], min_size=min_size)
    levels = (coarse[: projection.members], fine[: projection.members])
    named = [_name(projection, membership, level) for level, membership in enumerate(levels)]
    members = [
        {projection.nodes[index].id: named[level][cluster] for index, cluster in enumerate(levels[level])}
        for level in (0, 1)
    ]
    parents = {members[1][node]: members[0][node] for node in members[1]}
    communities: list[Community] = []
    bridges: list[Bridge] = []
    modularity: list[float] = []
    for level in (0, 1):
        described, crossing, score = _describe(
            projection, members[level], level, tags=tags or {}, at=at, parents=parents
        )
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


def _refine(
    coarse: Sequence[int], projection: Projection, analytics: GraphAnalytics, *, resolution: float, min_size: int
) -> list[int]:
    groups: dict[int, list[int]] = defaultdict(list)
    for index, cluster in enumerate(coarse):
        groups[cluster].append(index)
    inside: dict[int, list[WeightedEdge]] = defaultdict(list)
    for source, target, weight in projection.edges:
        if coarse[source] == coarse[target]:
            inside[coarse[source]].append((source, target, weight))
    fine = [0] * len(coarse)
    following = 0
    for cluster in sorted(groups):
        local = {index: number for number, index in enumerate(groups[cluster])}
        edges = [(local[source], local[target], weight) for source, target, weight in inside[cluster]]
        found = analytics.louvain(len(local), edges, resolution=resolution, seed=SEED).membership
        for index, number in local.items():
            fine[index] = following + found[number]
        following += max(found) + 1
    return _merge_small(fine, projection, within=coarse, min_size=min_size)


def _merge_small(membership: list[int], projection: Projection, *, within: Sequence[int], min_size: int) -> list[int]:
    """Merge clusters of fewer than `min_size` members, smallest first, into the neighbour they share most weight with.

    Never across `within`. A small cluster without neighbours joins the one with most members in its own folder, else the
    largest; it stays when it is alone.
    """
    touching: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for source, target, weight in projection.edges:
        one, other = membership[source], membership[target]
        if one != other and within[source] == within[target]:
            touching[one][other] += weight
            touching[other][one] += weight
    holding: dict[int, list[int]] = defaultdict(list)
    for index, cluster in enumerate(membership):
        holding[cluster].append(index)
    size = {c: sum(index < projection.members for index in indexes) for c, indexes in holding.items()}
    region = {cluster: within[indexes[0]] for cluster, indexes in holding.items()}
    folders = {c: Counter(_folder(projection.nodes[i]) for i in indexes) for c, indexes in holding.items()}
    together: dict[int, set[int]] = defaultdict(set)
    for cluster in holding:
        together[region[cluster]].add(cluster)
    waiting = [(size[c], indexes[0], c) for c, indexes in holding.items() if size[c] < min_size]
    heapify(waiting)
    while waiting:
        was, _, chosen = heappop(waiting)
        if chosen not in holding or size[chosen] != was or len(together[region[chosen]]) == 1:
            continue
        together[region[chosen]].discard(chosen)
        others = together[region[chosen]]
        folder = folders[chosen].most_common(1)[0][0]
        into = min(
            others,
            key=lambda o: (-touching[chosen][o], -folders[o][folder], -size[o], holding[o][0]),
        )
        for neighbour, weight in touching.pop(chosen).items():
            touching[neighbour].pop(chosen, None)
            if neighbour != into:
                touching[into][neighbour] += weight
                touching[neighbour][into] += weight
        holding[into] = sorted(holding[into] + holding.pop(chosen))
        size[into] += size.pop(chosen)
        folders[into] += folders.pop(chosen)
        if size[into] < min_size:
            heappush(waiting, (size[into], holding[into][0], into))
    merged = [0] * len(membership)
    for cluster, indexes in holding.items():
        for index in indexes:
            merged[index] = cluster
    return merged


def _folder(node: Node) -> str:
    return (node.file or node.qualname).rpartition("/")[0] if node.file else node.qualname


def _name(projection: Projection, membership: Sequence[int], level: int) -> dict[int, NodeId]:
    """Cluster → community id; where labels repeat, the one with the smallest member goes without a number."""
    first: dict[int, int] = {}
    holding: dict[int, list[Node]] = defaultdict(list)
    for index, cluster in enumerate(membership):
        first.setdefault(cluster, index)
        holding[cluster].append(projection.nodes[index])
    used: Counter[str] = Counter()
    named: dict[int, NodeId] = {}
    for cluster in sorted(first, key=lambda cluster: first[cluster]):
        label = _label(holding[cluster])
        used[label] += 1
        named[cluster] = mint_node_id("community", f"{level}/{label}" + (f"~{used[label]}" if used[label] > 1 else ""))
    return named


def _label(members: Sequence[Node]) -> str:
    """The folder that most members share; with the file, when most are in one."""
    prefix = majority_prefix(members)
    files = Counter(node.file or "" for node in members)
    file, most = min(files.items(), key=lambda item: (-item[1], item[0]))
    name = prefix.rpartition("/")[2] or "root"
    if most * 2 > len(members):
        stem = file.rpartition("/")[2].partition(".")[0]
        return f"{name}.{stem}" if stem and name != "root" else stem or name
    return name


def majority_prefix(members: Sequence[Node]) -> str:
    """The deepest folder that holds more than half of the members; empty for the top."""
    prefix = ""
    while True:
        depth = len(prefix) + 1 if prefix else 0
        below: Counter[str] = Counter()
        for node in members:
            file = node.file or ""
            if not prefix or file.startswith(prefix + "/"):
                folder, slash, _ = file[depth:].partition("/")
                if slash:
                    below[folder] += 1
        if not below:
            return prefix
        folder, most = min(below.items(), key=lambda item: (-item[1], item[0]))
        if most * 2 <= len(members):
            return prefix
        prefix = f"{prefix}/{folder}" if prefix else folder


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
    for node in projection.nodes[: projection.members]:
        holding[members[node.id]].append(node)
    inner: Counter[NodeId] = Counter()
    outer: Counter[NodeId] = Counter()
    between: Counter[tuple[NodeId, NodeId]] = Counter()
    for (source, target), number in projection.relations.items():
        one, other = members[projection.nodes[source].id], members[projection.nodes[target].id]
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
    scores = _modularity(projection, members)
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


def _modularity(projection: Projection, members: Mapping[NodeId, NodeId]) -> dict[NodeId, float]:
    """Each community's part of the modularity (resolution 1) over the weighted edges between members."""
    inside: dict[NodeId, float] = defaultdict(float)
    degree: dict[NodeId, float] = defaultdict(float)
    total = 0.0
    for source, target, weight in projection.edges:
        if source >= projection.members or target >= projection.members:
            continue
        one, other = members[projection.nodes[source].id], members[projection.nodes[target].id]
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
