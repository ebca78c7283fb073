"""Route, seed, walk, rank; with an embedder whose vectors are given by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from smp.adapters.memory import MemoryStore, MemoryVectorIndex
from smp.domain.communities import Community, Partition
from smp.domain.errors import NodeNotFound
from smp.domain.graph import NodeKind, Scores
from smp.domain.ids import NodeId
from smp.domain.queries import Located
from smp.indexing.embed import embedded_text, text_hash
from smp.ports.embedder import Embedder
from smp.ports.vector_index import Matrix
from smp.query.communities import boundaries, bridge_edges, communities_at, community_detail
from smp.query.locate import Query, Stores, locate
from smp.query.ranking import Signals, best_first, composite, fuse

GraphOf = Callable[[str], MemoryStore]
SINCE = "2026-01-01T00:00:00Z"
F, G, H, T = (NodeId(f"function:{ref}") for ref in ("a.py#f", "a.py#g", "b.py#h", "b.py#helper"))
PAY, OTHER, COARSE = NodeId("community:1/pay"), NodeId("community:1/other"), NodeId("community:0/all")


class Compass(Embedder):
    """Two dimensions: `north`, `east`, anything else in between."""

    @property
    def model(self) -> str:
        return "compass"

    @property
    def dimension(self) -> int:
        return 2

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Matrix:
        known = {"north": (1.0, 0.0), "east": (0.0, 1.0)}
        return np.array([known.get(text, (0.6, 0.8)) for text in texts], dtype=np.float32)


@pytest.fixture
def stores(graph_of: GraphOf) -> Stores:
    store = graph_of("""
        file a.py
        function a.py#f doc="Goes north." sig="f()"
        function a.py#g
        file b.py
        function b.py#h doc="Goes east."
        function b.py#helper
        variable a.py#V
        a.py DEFINES a.py#f
        a.py IMPORTS b.py
        a.py#f CALLS_STATIC b.py#h
        b.py#h CALLS_STATIC b.py#helper
        a.py#g CALLS_STATIC a.py#g
    """)
    vectors = MemoryVectorIndex()
    rows = {F: (1.0, 0.0), G: (0.8, 0.6), H: (0.0, 1.0), T: (-1.0, 0.0), NodeId("file:a.py"): (1.0, 0.0)}
    held = {node.id: node for node in store.nodes(rows)}
    hashes = tuple(text_hash(embedded_text(held[key]), Compass().model) for key in rows)
    vectors.upsert("nodes", tuple(rows), np.array(list(rows.values()), dtype=np.float32), hashes)
    vectors.upsert("centroids", (PAY, OTHER), np.array([(1, 0), (0, 1)], dtype=np.float32), ("x", "x"))
    store.put_scores({F: Scores(pagerank=0.1), H: Scores(pagerank=0.4), T: Scores(pagerank=0.2)})
    return Stores(graph=store, metadata=store, telemetry=store, vectors=vectors, embedder=Compass())


PARTITION = Partition(
    communities=(
        Community(id=COARSE, level=0, label="all", member_count=4),
        Community(id=PAY, level=1, label="pay", parent=COARSE, member_count=20),
        Community(id=OTHER, level=1, label="other", parent=COARSE, member_count=20),
    ),
    members_l0=dict.fromkeys((F, G, H, T), COARSE),
    members_l1={F: PAY, G: PAY, H: OTHER, T: OTHER},
)


def ask(stores: Stores, text: str = "north", partition: Partition | None = None, **options: object) -> Located:
    query = structs.replace(Query(text=text, since=SINCE), **options)
    return locate(stores, partition or Partition(), query)


def test_seeds_are_the_nearest_of_the_kinds_asked_for(stores: Stores) -> None:
    found = ask(stores, seed_k=2, hops=0)
    assert [(node.node_id, node.is_seed, node.reachable_from) for node in found.results] == [
        (F, True, (F,)),
        (G, True, (G,)),
    ]
    assert (found.seed_count, found.total_walked) == (2, 0)


def test_a_near_file_leads_to_what_it_defines(stores: Stores) -> None:
    found = ask(stores, seed_k=2, hops=1, kinds=(NodeKind.FUNCTION,))
    assert {node.node_id: (node.is_seed, node.reachable_from) for node in found.results} == {
        F: (True, (F,)),
        H: (False, (F,)),
    }
    assert (found.seed_count, found.total_walked) == (2, 2)


def test_of_several_definitions_of_one_name_the_nearest_is_a_seed(graph_of: GraphOf, stores: Stores) -> None:
    store = graph_of("file a.py\nfunction a.py#f\nfunction a.py#f~2\nfunction a.py#g")
    vectors = MemoryVectorIndex()
    keys = tuple(f"function:a.py#{name}" for name in ("f", "f~2", "g"))
    rows = np.array([(0.8, 0.6), (1, 0), (0, 1)], dtype=np.float32)
    vectors.upsert("nodes", keys, rows, ("x", "x", "x"))
    found = ask(
        structs.replace(stores, graph=store, metadata=store, telemetry=store, vectors=vectors), seed_k=2, hops=0
    )
    assert [node.node_id for node in found.results] == ["function:a.py#f~2", "function:a.py#g"]


def test_a_candidate_without_vector_gets_one(stores: Stores) -> None:
    stores.vectors.delete("nodes", [H])
    walked = {node.node_id: node for node in ask(stores, seed_k=1, hops=1).results}[H]
    assert walked.vector_score == pytest.approx(0.6)
    assert stores.vectors.similarities("nodes", stores.embedder.embed(["north"])[0], [H])[H] == pytest.approx(0.6)


def test_walked_nodes_have_their_similarity_too(stores: Stores) -> None:
    found = ask(stores, text="east", seed_k=1, hops=1)
    walked = {node.node_id: node for node in found.results}[T]
    assert (walked.is_seed, walked.reachable_from, walked.vector_score) == (False, (H,), 0.0)
    third = ask(stores, seed_k=1, hops=1)
    assert {node.node_id: node.vector_score for node in third.results} == {F: 1.0, H: 0.0}


def test_the_score_is_the_weighted_sum(stores: Stores) -> None:
    found = ask(stores, seed_k=1, hops=2)
    assert {node.node_id: node.final_score for node in found.results} == {
        F: round(0.5 + 0.3 * 0.1 / 0.4, 4),
        H: 0.3,
        T: round(0.3 * 0.2 / 0.4, 4),
    }


def test_the_map_holds_true_edges_between_results(stores: Stores) -> None:
    found = ask(stores, partition=PARTITION, seed_k=1, hops=2, community_id=PAY)
    assert [(link.source, link.target, link.hop, link.bridge) for link in found.structural_map] == [
        (F, H, 1, "pay → other"),
        (H, T, 2, None),
    ]


def test_a_near_centroid_routes_the_search(stores: Stores) -> None:
    found = ask(stores, partition=PARTITION, seed_k=3, hops=0)
    assert found.routed_community is not None
    assert (found.routed_community.id, found.routed_community.searched_nodes) == (PAY, 2)
    assert {node.node_id for node in found.results} == {F, G}


def test_small_communities_are_no_target_of_routing(stores: Stores) -> None:
    small = tuple(structs.replace(community, member_count=19) for community in PARTITION.communities)
    partition = structs.replace(PARTITION, communities=small)
    assert ask(stores, partition=partition, seed_k=3, hops=0).routed_community is None


def test_a_query_between_communities_searches_everywhere(stores: Stores) -> None:
    stores.vectors.upsert("centroids", (PAY, OTHER), np.array([(1, 0), (-1, 0)], dtype=np.float32), ("y", "y"))
    found = ask(stores, text="anything", partition=PARTITION, seed_k=3, hops=0)
    assert (found.routed_community, found.seed_count) == (None, 3)


def test_a_forced_community_holds_all_seeds(stores: Stores) -> None:
    found = ask(stores, partition=PARTITION, seed_k=3, hops=1, community_id=OTHER)
    assert {node.node_id for node in found.results if node.is_seed} == {H, T}
    assert found.routed_community is not None
    assert found.routed_community.confidence == 0.0


def test_an_unknown_community_is_an_error(stores: Stores) -> None:
    with pytest.raises(NodeNotFound):
        ask(stores, partition=PARTITION, community_id=NodeId("community:1/none"))


def test_fusion_also_finds_what_shares_only_words(stores: Stores) -> None:
    ids = [node.node_id for node in ask(stores, text="helper", ranking="fusion", seed_k=1, hops=0).results]
    assert ids[0] == T


def test_kinds_are_a_filter(stores: Stores) -> None:
    found = ask(stores, kinds=(NodeKind.FILE,), seed_k=3)
    assert {node.node_type for node in found.results} == {NodeKind.FILE}


def test_without_vectors_nothing_is_found_and_nothing_fails(stores: Stores) -> None:
    empty = structs.replace(stores, vectors=MemoryVectorIndex())
    assert ask(empty).results == ()


@given(st.dictionaries(st.integers(0, 9), st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 100))))
def test_composite_scores_stay_between_0_and_1(rows: dict[int, tuple[float, float, int]]) -> None:
    signals = {NodeId(str(key)): Signals(vector=v, pagerank=p, heat=h) for key, (v, p, h) in rows.items()}
    assert all(0 <= score <= 1 + 1e-9 for score in composite(signals).values())


def test_fusion_prefers_what_several_orderings_agree_on() -> None:
    a, b, c = NodeId("a"), NodeId("b"), NodeId("c")
    scores = fuse([(1.0, (a, b)), (1.0, (b, c))])
    assert best_first(scores) == [b, a, c]
    assert fuse([(1.0, (a,)), (0.5, (a,))]) == {a: pytest.approx(1.0)}


def test_ties_go_by_id() -> None:
    assert best_first({NodeId("b"): 1.0, NodeId("a"): 1.0}) == ["a", "b"]


def test_a_community_lists_its_members_by_rank_and_its_bridges(stores: Stores) -> None:
    found = community_detail(stores.graph, stores.telemetry, PARTITION, OTHER, kinds=(), since=SINCE)
    assert [member.id for member in found.members] == [H, T]
    crossing = bridge_edges(stores.graph, PARTITION, OTHER)
    assert [(edge.source, edge.target, edge.to_community) for edge in crossing] == [(F, H, PAY)]
    with pytest.raises(NodeNotFound):
        bridge_edges(stores.graph, PARTITION, "community:1/none")


def test_communities_go_by_level_and_size() -> None:
    assert [community.id for community in communities_at(PARTITION, None)] == [COARSE, OTHER, PAY]
    assert [community.id for community in communities_at(PARTITION, 0)] == [COARSE]


def test_boundaries_name_the_nodes_that_couple(stores: Stores) -> None:
    from smp.domain.communities import Bridge

    touching = structs.replace(
        PARTITION, bridges=(Bridge(source=OTHER, target=PAY, edge_count=1, coupling_weight=0.5),)
    )
    (found,) = boundaries(stores.graph, touching, level=1, min_coupling=0.1)
    assert [(node.id, node.side, node.in_degree_from_peer, node.out_degree_to_peer) for node in found.bridge_nodes] == [
        (F, "pay", 0, 1),
        (H, "other", 1, 0),
    ]
    assert boundaries(stores.graph, touching, level=1, min_coupling=0.6) == ()
    assert boundaries(stores.graph, touching, level=0, min_coupling=0.0) == ()
