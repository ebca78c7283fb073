"""PageRank and Louvain over a weighted graph (decisions.md section 6)."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from msgspec import Struct


class Clustering(Struct, frozen=True, kw_only=True):
    """membership[i] is the cluster of node i, clusters numbered from 0 by first member; modularity at resolution 1."""

    membership: tuple[int, ...]
    modularity: float


class GraphAnalytics(abc.ABC):
    @abc.abstractmethod
    def pagerank(self, nodes: int, edges: Sequence[tuple[int, int]], *, damping: float = 0.85) -> tuple[float, ...]:
        """PageRank as GDS defines it, L1-normalised: non-negative, sums to 1 (empty for no nodes).

        Args:
            edges: Directed, by node index; parallel edges count once each.
        """

    @abc.abstractmethod
    def louvain(
        self, nodes: int, edges: Sequence[tuple[int, int, float]], *, resolution: float, seed: int
    ) -> Clustering:
        """Communities of the undirected weighted graph. Equal input and seed give equal output."""

    @abc.abstractmethod
    def modularity(
        self,
        nodes: int,
        edges: Sequence[tuple[int, int, float]],
        membership: Sequence[int],
        *,
        resolution: float,
    ) -> float:
        """The modularity of a clustering of the undirected weighted graph; 0 without edges."""
