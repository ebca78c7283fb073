"""Louvain at two resolutions, and how an earlier partition goes on after edits.

The fine level is found inside each coarse cluster, so that a fine one has exactly one parent. Louvain alone does not give
stable communities: one more call can reorder everything. So what there was goes on: known nodes stay where they were, new
ones join the cluster that they have most to do with, or make one of their own when they have most to do with one another.
A clustering from scratch takes its place only when it is clearly better; and whichever is taken, each of its clusters is the
continuation of the earlier one with which it shares most.

Everything is ordered by node id: equal graphs, with equal pasts, give equal clusters.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from smp.domain.ids import NodeId
from smp.indexing.projection import Projection, WeightedEdge, folder_of
from smp.ports.graph_analytics import GraphAnalytics

if TYPE_CHECKING:
    import numpy as np

    Integers: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
    Ends: TypeAlias = tuple[Integers, Integers, np.ndarray[tuple[int], np.dtype[np.float64]]]

SEED = 20250215
CLEARLY_BETTER = 0.02
"""Modularity by which a new clustering must beat the one that goes on: runs of Louvain differ by about as much."""
CONTINUED = 1 / 3
"""Members that a cluster shares with an earlier one, of the members of both, from which on it is its continuation."""


def clusters_from_scratch(
    projection: Projection, analytics: GraphAnalytics, *, resolutions: tuple[float, float], min_size: int
) -> tuple[list[int], list[int]]:
    """The coarse and the fine cluster of each node of the projection."""
    count, ends = len(projection.nodes), _ends(projection)
    raw = analytics.louvain(count, projection.edges, resolution=resolutions[0], seed=SEED).membership
    coarse = _merge_small(list(raw), projection, ends, within=[0] * count, min_size=min_size)
    return coarse, _refine(coarse, projection, ends, analytics, resolution=resolutions[1], min_size=min_size)


def clusters_going_on(
    projection: Projection,
    analytics: GraphAnalytics,
    known: tuple[Mapping[NodeId, NodeId], Mapping[NodeId, NodeId]],
    *,
    min_size: int,
) -> tuple[list[int], list[int]]:
    """The clusters of an earlier partition with what has come since and without what has gone.

    Args:
        projection: Without packages.
        known: Node id -> community id, coarse and fine.
    """
    anywhere, ends = [0] * len(projection.nodes), _ends(projection)
    coarse = _placed(projection, analytics, known[0], within=anywhere, min_size=min_size)
    coarse = _merge_small(coarse, projection, ends, within=anywhere, min_size=min_size)
    fine = _placed(projection, analytics, known[1], within=coarse, min_size=min_size)
    return coarse, _merge_small(fine, projection, ends, within=coarse, min_size=min_size)


def clearly_better(
    projection: Projection,
    analytics: GraphAnalytics,
    fresh: tuple[Sequence[int], Sequence[int]],
    old: tuple[Sequence[int], Sequence[int]],
    *,
    resolutions: tuple[float, float],
) -> bool:
    """Whether either level of the fresh clustering has so much more modularity, at its resolution, that it is worth a change.

    Args:
        projection: Without packages; more entries in a clustering are left out.
    """
    count = len(projection.nodes)
    gains = [
        analytics.modularity(count, projection.edges, new[:count], resolution=resolution)
        - analytics.modularity(count, projection.edges, before[:count], resolution=resolution)
        for new, before, resolution in zip(fresh, old, resolutions, strict=True)
    ]
    return max(gains) > CLEARLY_BETTER


def continued(projection: Projection, membership: Sequence[int], known: Mapping[NodeId, NodeId]) -> dict[int, NodeId]:
    """Cluster -> the community of an earlier partition that it continues; those that share most first, each at most once."""
    size = Counter(membership)
    shared: Counter[tuple[int, NodeId]] = Counter()
    for node, cluster in zip(projection.nodes, membership, strict=False):
        if node.id in known:
            shared[(cluster, known[node.id])] += 1
    before = Counter(known.values())
    likeness = {(cluster, old): both / (size[cluster] + before[old] - both) for (cluster, old), both in shared.items()}
    found: dict[int, NodeId] = {}
    taken: set[NodeId] = set()
    for cluster, old in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        if likeness[cluster, old] >= CONTINUED and cluster not in found and old not in taken:
            found[cluster] = old
            taken.add(old)
    return found


def _placed(
    projection: Projection,
    analytics: GraphAnalytics,
    known: Mapping[NodeId, NodeId],
    *,
    within: Sequence[int],
    min_size: int,
) -> list[int]:
    """Known nodes where they were; groups of new ones where most of their edges lead, by falling size.

    A community whose members lie in several regions of `within` by now falls into as many parts.
    """
    numbers: dict[tuple[int, NodeId], int] = {}
    placed = [
        numbers.setdefault((within[index], known[node.id]), len(numbers)) if node.id in known else -1
        for index, node in enumerate(projection.nodes)
    ]
    fresh = [index for index, cluster in enumerate(placed) if cluster < 0]
    if not fresh:
        return placed
    local = {index: number for number, index in enumerate(fresh)}
    between: list[WeightedEdge] = []
    outward: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for source, target, weight in projection.edges:
        if within[source] != within[target]:
            continue
        if source in local and target in local:
            between.append((local[source], local[target], weight))
        elif source in local:
            outward[source].append((target, weight))
        elif target in local:
            outward[target].append((source, weight))
    found = analytics.louvain(len(fresh), between, resolution=1.0, seed=SEED).membership
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, group in zip(fresh, found, strict=True):
        groups[within[index], group].append(index)
    inside: dict[tuple[int, int], float] = defaultdict(float)
    for one, other, weight in between:
        if found[one] == found[other]:
            inside[within[fresh[one]], found[one]] += weight
    following = len(numbers)
    for key in sorted(groups, key=lambda key: (-len(groups[key]), groups[key][0])):
        pull: dict[int, float] = defaultdict(float)
        for index in groups[key]:
            for neighbour, weight in outward[index]:
                pull[placed[neighbour]] += weight
        best = min(pull, key=lambda cluster: (-pull[cluster], cluster)) if pull else -1
        alone = best < 0 or (len(groups[key]) >= min_size and inside[key] > pull[best])
        for index in groups[key]:
            placed[index] = following if alone else best
        following += alone
    return placed


def _refine(
    coarse: Sequence[int],
    projection: Projection,
    ends: Ends,
    analytics: GraphAnalytics,
    *,
    resolution: float,
    min_size: int,
) -> list[int]:
    import numpy as np  # a process that asks nothing of vectors or communities starts without it

    groups: dict[int, list[int]] = defaultdict(list)
    for index, cluster in enumerate(coarse):
        groups[cluster].append(index)
    sources, targets, weights = ends
    region = np.asarray(coarse, dtype=np.int64)
    within = np.flatnonzero(region[sources] == region[targets])
    by_cluster = within[np.argsort(region[sources[within]], kind="stable")]
    bounds = np.searchsorted(region[sources[by_cluster]], np.arange(max(groups, default=-1) + 2))
    local = np.empty(len(coarse), dtype=np.int64)
    fine = [0] * len(coarse)
    following = 0
    for cluster in sorted(groups):
        local[groups[cluster]] = np.arange(len(groups[cluster]))
        own = by_cluster[bounds[cluster] : bounds[cluster + 1]]
        edges = list(
            zip(local[sources[own]].tolist(), local[targets[own]].tolist(), weights[own].tolist(), strict=True)
        )
        found = analytics.louvain(len(groups[cluster]), edges, resolution=resolution, seed=SEED).membership
        for index, number in zip(groups[cluster], found, strict=True):
            fine[index] = following + number
        following += max(found) + 1
    return _merge_small(fine, projection, ends, within=coarse, min_size=min_size)


def _merge_small(
    membership: list[int], projection: Projection, ends: Ends, *, within: Sequence[int], min_size: int
) -> list[int]:
    """Merge clusters of fewer than `min_size` members, smallest first, into the neighbour they share most weight with.

    Never across `within`. A small cluster without neighbours joins the one with most members in its own folder, else the
    largest; it stays when it is alone.
    """
    holding: dict[int, list[int]] = defaultdict(list)
    for index, cluster in enumerate(membership):
        holding[cluster].append(index)
    size = {c: bisect_left(indexes, projection.members) for c, indexes in holding.items()}
    small = {cluster for cluster, count in size.items() if count < min_size}
    touching = _touching(ends, membership, within, small)
    first = {cluster: indexes[0] for cluster, indexes in holding.items()}
    region = {cluster: within[index] for cluster, index in first.items()}
    folders = _Folders(projection, holding)
    together: dict[int, set[int]] = defaultdict(set)
    for cluster in holding:
        together[region[cluster]].add(cluster)
    waiting = [(size[c], first[c], c) for c in holding if size[c] < min_size]
    heapify(waiting)
    while waiting:
        was, _, chosen = heappop(waiting)
        if chosen not in holding or size[chosen] != was or len(together[region[chosen]]) == 1:
            continue
        together[region[chosen]].discard(chosen)
        others = together[region[chosen]]
        folder = folders[chosen].most_common(1)[0][0]
        near = touching.pop(chosen, {})
        into = min(
            near or others,
            key=lambda o: (-near.get(o, 0.0), -folders[o][folder], -size[o], first[o]),
        )
        for neighbour, weight in near.items():
            if neighbour in small:
                touching[neighbour].pop(chosen, None)
            if neighbour == into:
                continue
            if into in small:
                touching[into][neighbour] += weight
            if neighbour in small:
                touching[neighbour][into] += weight
        folders.join(chosen, into)
        holding[into] += holding.pop(chosen)
        first[into] = min(first[into], first.pop(chosen))
        size[into] += size.pop(chosen)
        if size[into] < min_size:
            heappush(waiting, (size[into], first[into], into))
    merged = [0] * len(membership)
    for cluster, indexes in holding.items():
        for index in indexes:
            merged[index] = cluster
    return merged


def _touching(
    ends: Ends, membership: Sequence[int], within: Sequence[int], small: Collection[int]
) -> dict[int, dict[int, float]]:
    """By small cluster what it shares with each other one of its region; the large ones choose nobody."""
    import numpy as np

    sources, targets, weights = ends
    owner, region = np.asarray(membership, dtype=np.int64), np.asarray(within, dtype=np.int64)
    few = np.zeros(len(owner) and int(owner.max()) + 1, dtype=bool)
    few[list(small)] = True
    ones, others = owner[sources], owner[targets]
    wanted = np.flatnonzero((ones != others) & (region[sources] == region[targets]) & (few[ones] | few[others]))
    touching: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for one, other, weight in zip(
        ones[wanted].tolist(), others[wanted].tolist(), weights[wanted].tolist(), strict=True
    ):
        if one in small:
            touching[one][other] += weight
        if other in small:
            touching[other][one] += weight
    return touching


def _ends(projection: Projection) -> Ends:
    """The edges in three columns."""
    import numpy as np

    sources = [source for source, _, _ in projection.edges]
    targets = [target for _, target, _ in projection.edges]
    weights = [weight for _, _, weight in projection.edges]
    return np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64), np.array(weights, dtype=np.float64)


class _Folders:
    """How many members of a cluster lie in which folder, counted for those that are asked about."""

    def __init__(self, projection: Projection, holding: Mapping[int, Sequence[int]]) -> None:
        self._nodes = projection.nodes
        self._holding = holding
        self._counted: dict[int, Counter[str]] = {}

    def __getitem__(self, cluster: int) -> Counter[str]:
        found = self._counted.get(cluster)
        if found is None:
            nodes = self._nodes
            found = self._counted[cluster] = Counter([folder_of(nodes[index]) for index in self._holding[cluster]])
        return found

    def join(self, cluster: int, into: int) -> None:
        """Before the members of one are added to those of the other."""
        if into in self._counted:
            self._counted[into] += self[cluster]
        self._counted.pop(cluster, None)
