"""PageRank of the graph, and what follows lazily from a change."""

from __future__ import annotations

from typing import Any

import pytest

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.domain.errors import Invalid
from smp.domain.graph import Edge, EdgeKind, NodeKind, Scope
from smp.domain.ids import FilePath, NodeId
from smp.indexing.pipeline import FileChange
from smp.indexing.rank import rank_nodes


def calls(source: str, target: str, kind: EdgeKind = EdgeKind.CALLS_STATIC) -> Edge:
    return Edge(kind=kind, source=NodeId(source), target=NodeId(target))


def test_what_is_relied_on_ranks_higher_and_all_ranks_sum_to_one() -> None:
    ranks = rank_nodes([NodeId(n) for n in "abc"], [calls("a", "c"), calls("b", "c")], IgraphAnalytics())
    assert sum(ranks.values()) == pytest.approx(1)
    assert ranks[NodeId("c")] > ranks[NodeId("a")] == ranks[NodeId("b")]


def test_several_edges_between_two_nodes_count_once_and_unknown_ends_not_at_all() -> None:
    ids = [NodeId(n) for n in "abc"]
    once = rank_nodes(ids, [calls("a", "b"), calls("a", "c")], IgraphAnalytics())
    twice = [calls("a", "b"), calls("a", "b", EdgeKind.USES), calls("a", "c"), calls("a", "gone"), calls("x", "a")]
    assert rank_nodes(ids, twice, IgraphAnalytics()) == once


def test_tests_and_containment_do_not_count() -> None:
    ids = [NodeId(n) for n in "ab"]
    ranks = rank_nodes(ids, [calls("a", "b", EdgeKind.TESTS), calls("a", "b", EdgeKind.DEFINES)], IgraphAnalytics())
    assert ranks[NodeId("a")] == pytest.approx(ranks[NodeId("b")])


@pytest.fixture
def two_packages(bench: Any) -> Any:
    bench.write(pay__a_py="def a:\n  b()\n  c()\n", pay__b_py="def b:\n  c()\n", pay__c_py="def c:\n")
    bench.write(mail__x_py="def x:\n  y()\n  z()\n", mail__y_py="def y:\n  z()\n", mail__z_py="def z:\n  c()\n")
    bench.indexer.refresh()
    bench.indexer.ensure_ranked()
    return bench


def test_scores_and_communities_are_stored(two_packages: Any) -> None:
    ids = [node.id for node in two_packages.store.scan(Scope(), (NodeKind.FUNCTION,))]
    scores = two_packages.store.scores(ids)
    assert scores.keys() == set(ids)
    assert max(scores, key=lambda one: scores[one].pagerank) == "function:pay/c.py#c"
    partition = two_packages.indexer.partition()
    assert scores[NodeId("function:pay/c.py#c")].community_l1 == partition.members_l1[NodeId("function:pay/c.py#c")]
    stored = [node.id for node in two_packages.store.scan(Scope(), (NodeKind.COMMUNITY,))]
    assert stored == sorted(community.id for community in partition.communities)
    members = list(two_packages.store.scan_edges(Scope(), (EdgeKind.MEMBER_OF,)))
    assert {edge.source: edge.target for edge in members} == partition.members_l1


def test_three_detections_in_different_processes_are_identical(two_packages: Any) -> None:
    """BL-043."""
    first = two_packages.indexer.detect_communities()
    _, indexer = two_packages.another_process()
    again = [two_packages.indexer.detect_communities(), indexer.detect_communities()]
    for other in again:
        assert other.members_l0 == first.members_l0
        assert other.members_l1 == first.members_l1
        assert other.modularity == first.modularity
    before = dict(first.members_l1)
    two_packages.write(mail__x_py="def x:\n  y()\n  z()\ndef unused:\n")
    two_packages.indexer.ensure_fresh()
    after = two_packages.indexer.detect_communities().members_l1
    assert {node: after[node] for node in before} == before


def test_ranks_follow_an_edit_and_nothing_is_done_twice(two_packages: Any) -> None:
    two_packages.indexer.update([FileChange(path=FilePath("pay/d.py"), content=b"def d:\n  c()\n")])
    assert two_packages.store.scores([NodeId("function:pay/d.py#d")]) == {}
    two_packages.indexer.ensure_ranked()
    assert two_packages.store.scores([NodeId("function:pay/d.py#d")])
    made = two_packages.indexer.partition().communities[0].detected_at
    two_packages.indexer.ensure_ranked()
    assert two_packages.indexer.partition().communities[0].detected_at == made


def test_communities_below_the_size_are_merged_and_wrong_sizes_refused(two_packages: Any) -> None:
    found = two_packages.indexer.detect_communities(min_community_size=100)
    assert len(found.communities) == 2
    with pytest.raises(Invalid):
        two_packages.indexer.detect_communities(min_community_size=0)
    with pytest.raises(Invalid):
        two_packages.indexer.detect_communities(levels=((2, 1.0),))
