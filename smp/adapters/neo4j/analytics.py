"""PageRank and communities by Graph Data Science, over a projection of its own that is named after the repository.

The numbers go to the server as they come from the caller, so that both profiles rank the same graph; the in-process
computation stays the reference, and the contract tests hold one against the other. A projection is dropped when it has been
used, and those that a dead client has left are dropped before the next one is made.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from smp.adapters.neo4j.database import Neo4jDatabase
from smp.domain.errors import Unavailable
from smp.ports.graph_analytics import Clustering, GraphAnalytics

ABANDONED_S = 3_600
"""Age from which on a projection is taken for one that a dead client has left."""
PAGERANK_ITERATIONS, PAGERANK_TOLERANCE = 200, 1e-9
LEVELS = 20
SETTLED = 1e-6
_ONE_THREAD = 1
"""Several threads give other communities each time."""

_PROJECT = (
    "UNWIND $rows AS row RETURN gds.graph.project($name, row[0], row[1], "
    "{{relationshipProperties: {{weight: row[2]}}}}, {{{options}}}) AS projection"
)
_ALONE = "dendrogramManager"
"""What GDS 2.13 stumbles over when its first pass of Leiden finds nothing to put together."""


class GdsAnalytics(GraphAnalytics):
    """See the port. Needs the Graph Data Science plug-in.

    Raises:
        Unavailable: The server does not answer, or has no such plug-in.
    """

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    def pagerank(self, nodes: int, edges: Sequence[tuple[int, int]], *, damping: float = 0.85) -> tuple[float, ...]:
        if not nodes:
            return ()
        with self._projection(nodes, [(source, target, 1.0) for source, target in edges]) as name:
            rows = self._ask(
                "CALL gds.pageRank.stream($name, {dampingFactor: $damping, maxIterations: $iterations, "
                "tolerance: $tolerance, concurrency: $threads}) YIELD nodeId, score RETURN nodeId, score",
                name=name,
                damping=damping,
                iterations=PAGERANK_ITERATIONS,
                tolerance=PAGERANK_TOLERANCE,
                threads=_ONE_THREAD,
            )
        scores = {int(row["nodeId"]): float(row["score"]) for row in rows}
        total = sum(scores.values())
        return tuple(scores[node] / total for node in range(nodes))

    def louvain(
        self, nodes: int, edges: Sequence[tuple[int, int, float]], *, resolution: float, seed: int
    ) -> Clustering:
        """GDS's Louvain knows no resolution; at others than 1 it is Leiden, whose gamma is one."""
        if not nodes:
            return Clustering(membership=(), modularity=0.0)
        if not edges:
            return Clustering(membership=tuple(range(nodes)), modularity=0.0)
        with self._projection(nodes, edges, undirected=True) as name:
            cluster = self._louvain(name) if resolution == 1 else self._leiden(name, resolution, seed)
        numbers: dict[int, int] = {}
        membership = tuple(numbers.setdefault(cluster.get(node, -1 - node), len(numbers)) for node in range(nodes))
        return Clustering(membership=membership, modularity=self.modularity(nodes, edges, membership, resolution=1.0))

    def _louvain(self, name: str) -> dict[int, int]:
        rows = self._ask(
            "CALL gds.louvain.stream($name, {relationshipWeightProperty: 'weight', concurrency: $threads, "
            "maxLevels: $levels, tolerance: $settled}) YIELD nodeId, communityId RETURN nodeId, communityId",
            name=name,
            threads=_ONE_THREAD,
            levels=LEVELS,
            settled=SETTLED,
        )
        return {int(row["nodeId"]): int(row["communityId"]) for row in rows}

    def _leiden(self, name: str, resolution: float, seed: int) -> dict[int, int]:
        try:
            rows = self._ask(
                "CALL gds.leiden.stream($name, {relationshipWeightProperty: 'weight', concurrency: $threads, "
                "gamma: $resolution, randomSeed: $seed, maxLevels: $levels, tolerance: $settled}) "
                "YIELD nodeId, communityId RETURN nodeId, communityId",
                name=name,
                threads=_ONE_THREAD,
                resolution=resolution,
                seed=seed,
                levels=LEVELS,
                settled=SETTLED,
            )
        except Unavailable as error:
            if _ALONE in error.message:
                return {}
            raise
        return {int(row["nodeId"]): int(row["communityId"]) for row in rows}

    def modularity(
        self,
        nodes: int,
        edges: Sequence[tuple[int, int, float]],
        membership: Sequence[int],
        *,
        resolution: float,
    ) -> float:
        total = sum(weight for _, _, weight in edges)
        if not total:
            return 0.0
        inside: dict[int, float] = {}
        ends: dict[int, float] = {}
        for source, target, weight in edges:
            one, other = membership[source], membership[target]
            ends[one] = ends.get(one, 0.0) + weight
            ends[other] = ends.get(other, 0.0) + weight
            if one == other:
                inside[one] = inside.get(one, 0.0) + weight
        expected = sum((weight / (2 * total)) ** 2 for weight in ends.values())
        return sum(inside.values()) / total - resolution * expected

    @contextmanager
    def _projection(
        self, nodes: int, edges: Sequence[tuple[int, int, float]], *, undirected: bool = False
    ) -> Iterator[str]:
        prefix = f"smp-{self._database.repository}-"
        self._ask(
            "CALL gds.graph.list() YIELD graphName, creationTime WHERE graphName STARTS WITH $prefix "
            "AND duration.inSeconds(creationTime, datetime()).seconds >= $age "
            "CALL gds.graph.drop(graphName, false) YIELD graphName AS dropped RETURN dropped",
            prefix=prefix,
            age=ABANDONED_S,
        )
        name = prefix + uuid.uuid4().hex
        joined = {end for source, target, _ in edges for end in (source, target)}
        rows: list[list[Any]] = [list(edge) for edge in edges]
        rows += [[node, None, None] for node in range(nodes) if node not in joined]
        options = "undirectedRelationshipTypes: ['*']" if undirected else ""
        try:
            self._ask(_PROJECT.format(options=options), name=name, rows=rows)
            yield name
        finally:
            self._ask("CALL gds.graph.drop($name, false) YIELD graphName RETURN graphName", name=name)

    def _ask(self, query: str, **parameters: object) -> list[Any]:
        try:
            return self._database.read(query, **parameters)
        except Unavailable as error:
            if "no procedure" in error.message or "Unknown function" in error.message:
                raise Unavailable(
                    "this Neo4j has no Graph Data Science plug-in; install it, or set SMP_GRAPH_STORE=sqlite",
                    backend="neo4j",
                ) from error
            raise
