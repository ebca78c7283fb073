"""What every implementation of PageRank and Louvain must do."""

from __future__ import annotations

import pytest

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.ports.graph_analytics import GraphAnalytics

TWO_CLIQUES = [(a, b, 1.0) for group in (range(4), range(4, 8)) for a in group for b in group if a < b] + [(3, 4, 1.0)]


@pytest.fixture(params=[IgraphAnalytics], ids=["igraph"])
def analytics(request: pytest.FixtureRequest) -> GraphAnalytics:
    made = request.param()
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
