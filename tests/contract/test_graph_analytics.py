"""What every implementation of PageRank and Louvain must do."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator

import pytest

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.adapters.neo4j.analytics import GdsAnalytics
from smp.adapters.neo4j.database import Neo4jDatabase
from smp.ports.graph_analytics import GraphAnalytics
from smp.settings import GraphSettings

TWO_CLIQUES = [(a, b, 1.0) for group in (range(4), range(4, 8)) for a in group for b in group if a < b] + [(3, 4, 1.0)]


@pytest.fixture
def gds(neo4j: GraphSettings) -> Iterator[GdsAnalytics]:
    database = Neo4jDatabase(neo4j, uuid.uuid4().hex)
    yield GdsAnalytics(database)
    database.close()


@pytest.fixture(params=["igraph", "gds"])
def analytics(request: pytest.FixtureRequest) -> GraphAnalytics:
    if request.param == "igraph":
        return IgraphAnalytics()
    made = request.getfixturevalue("gds")
    assert isinstance(made, GraphAnalytics)
    return made


def gds_pagerank(nodes: int, edges: list[tuple[int, int]], damping: float) -> list[float]:
    """The formula as GDS documents it, by power iteration: rank lost at nodes without an exit is not given back."""
    out = [0] * nodes
    for source, _ in edges:
        out[source] += 1
    rank = [1 - damping] * nodes
    for _ in range(200):
        following = [1 - damping] * nodes
        for source, target in edges:
            following[target] += damping * rank[source] / out[source]
        rank = following
    return [score / sum(rank) for score in rank]


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2), (2, 0)],
        [(0, 1), (0, 2), (1, 2), (3, 2)],
        [(0, 1), (2, 1), (3, 1), (4, 0), (1, 1)],
        [],
    ],
)
def test_pagerank_is_that_of_gds_normalised(analytics: GraphAnalytics, edges: list[tuple[int, int]]) -> None:
    got = analytics.pagerank(5, edges, damping=0.85)
    assert sum(got) == pytest.approx(1.0)
    assert list(got) == pytest.approx(gds_pagerank(5, edges, 0.85), abs=1e-4)


def test_no_nodes_have_no_rank_and_no_communities(analytics: GraphAnalytics) -> None:
    assert analytics.pagerank(0, []) == ()
    assert analytics.louvain(0, [], resolution=1.0, seed=1).membership == ()


def test_cliques_are_communities_numbered_by_their_first_member(analytics: GraphAnalytics) -> None:
    found = analytics.louvain(8, TWO_CLIQUES, resolution=1.0, seed=7)
    assert found.membership == (0, 0, 0, 0, 1, 1, 1, 1)
    # 12 of 13 edges inside; each side has half of all ends: 12/13 - 2 * (13/26)^2
    assert found.modularity == pytest.approx(12 / 13 - 0.5)


def test_equal_input_and_seed_give_equal_output(analytics: GraphAnalytics) -> None:
    ring = [(n, (n + 1) % 60, 1.0) for n in range(60)]
    first = analytics.louvain(60, ring, resolution=1.0, seed=3)
    assert all(analytics.louvain(60, ring, resolution=1.0, seed=3) == first for _ in range(5))


def test_a_higher_resolution_gives_no_fewer_communities(analytics: GraphAnalytics) -> None:
    ring = [(n, (n + 1) % 60, 1.0) for n in range(60)]
    coarse = analytics.louvain(60, ring, resolution=0.3, seed=3)
    fine = analytics.louvain(60, ring, resolution=3.0, seed=3)
    assert max(fine.membership) > max(coarse.membership)


def test_weights_count(analytics: GraphAnalytics) -> None:
    path = [(0, 1, 10.0), (1, 2, 0.1), (2, 3, 10.0)]
    assert analytics.louvain(4, path, resolution=1.0, seed=1).membership == (0, 0, 1, 1)


def test_modularity_is_that_of_the_given_clusters(analytics: GraphAnalytics) -> None:
    cliques = (0, 0, 0, 0, 1, 1, 1, 1)
    assert analytics.modularity(8, TWO_CLIQUES, cliques, resolution=1.0) == pytest.approx(12 / 13 - 0.5)
    assert analytics.modularity(8, TWO_CLIQUES, cliques, resolution=2.0) == pytest.approx(12 / 13 - 1)
    assert analytics.modularity(8, TWO_CLIQUES, [0] * 8, resolution=1.0) == pytest.approx(0)
    assert analytics.modularity(3, [], (0, 1, 2), resolution=1.0) == 0


def communities(count: int, size: int, seed: int) -> list[tuple[int, int, float]]:
    """A planted partition: mostly edges inside groups of `size`, some between, with weights."""
    drawn = random.Random(seed)
    edges: dict[tuple[int, int], float] = {}
    for node in range(count):
        for _ in range(4):
            near = node - node % size + drawn.randrange(size)
            other = near if drawn.random() < 0.8 else drawn.randrange(count)
            if other != node and other < count:
                edges[min(node, other), max(node, other)] = drawn.choice([0.3, 1.0, 2.0])
    return [(source, target, weight) for (source, target), weight in sorted(edges.items())]


@pytest.mark.parametrize("resolution", [0.5, 1.0, 1.5])
def test_gds_finds_communities_as_good_as_the_reference(gds: GdsAnalytics, resolution: float) -> None:
    count, reference = 600, IgraphAnalytics()
    edges = communities(count, 20, seed=5)
    found = gds.louvain(count, edges, resolution=resolution, seed=7)
    wanted = reference.louvain(count, edges, resolution=resolution, seed=7)
    ours, theirs = (
        reference.modularity(count, edges, one.membership, resolution=resolution) for one in (found, wanted)
    )
    assert ours >= theirs - 0.02
    assert gds.modularity(count, edges, found.membership, resolution=resolution) == pytest.approx(ours)


def test_gds_ranks_as_the_reference_does(gds: GdsAnalytics) -> None:
    drawn = random.Random(11)
    edges = [(drawn.randrange(900), drawn.randrange(900)) for _ in range(2_000)]
    assert list(gds.pagerank(1_000, edges)) == pytest.approx(list(IgraphAnalytics().pagerank(1_000, edges)), abs=1e-4)


def test_projections_are_dropped_also_those_of_a_dead_client(
    gds: GdsAnalytics, neo4j: GraphSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = gds._database

    def projections() -> int:
        listed = "CALL gds.graph.list() YIELD graphName WHERE graphName STARTS WITH $prefix RETURN graphName"
        return len(database.read(listed, prefix=f"smp-{database.repository}-"))

    database.read("UNWIND [0, 1] AS n RETURN gds.graph.project($name, n, null)", name=f"smp-{database.repository}-dead")
    gds.pagerank(2, [(0, 1)])
    assert projections() == 1
    monkeypatch.setattr("smp.adapters.neo4j.analytics.ABANDONED_S", 0)
    gds.pagerank(2, [(0, 1)])
    assert projections() == 0
