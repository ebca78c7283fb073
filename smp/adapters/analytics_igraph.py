"""PageRank and Louvain in process, by igraph."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

import igraph

from smp.ports.graph_analytics import Clustering, GraphAnalytics

_GENERATOR = threading.Lock()
"""igraph has one random number generator per process; it is ours while a clustering runs."""


class IgraphAnalytics(GraphAnalytics):
    """See the port. PRPACK spreads the rank of nodes without an exit evenly, GDS drops it; normalised, both are equal."""

    def pagerank(self, nodes: int, edges: Sequence[tuple[int, int]], *, damping: float = 0.85) -> tuple[float, ...]:
        if not nodes:
            return ()
        graph = igraph.Graph(n=nodes, edges=edges, directed=True)
        scores = graph.pagerank(damping=damping)
        total = sum(scores)
        return tuple(score / total for score in scores)

    def louvain(
        self, nodes: int, edges: Sequence[tuple[int, int, float]], *, resolution: float, seed: int
    ) -> Clustering:
        if not nodes:
            return Clustering(membership=(), modularity=0.0)
        graph = igraph.Graph(n=nodes, edges=[(source, target) for source, target, _ in edges])
        weights = [weight for _, _, weight in edges]
        with _GENERATOR:
            igraph.set_random_number_generator(random.Random(seed))  # noqa: S311
            found = graph.community_multilevel(weights=weights, resolution=resolution).membership
            igraph.set_random_number_generator(random)
        modularity = graph.modularity(found, weights=weights) if edges else 0.0
        numbers: dict[int, int] = {}
        membership = tuple([numbers.setdefault(cluster, len(numbers)) for cluster in found])
        return Clustering(membership=membership, modularity=modularity)

    def modularity(
        self,
        nodes: int,
        edges: Sequence[tuple[int, int, float]],
        membership: Sequence[int],
        *,
        resolution: float,
    ) -> float:
        if not edges:
            return 0.0
        graph = igraph.Graph(n=nodes, edges=[(source, target) for source, target, _ in edges])
        weights = [weight for _, _, weight in edges]
        return float(graph.modularity(list(membership), weights=weights, resolution=resolution))
