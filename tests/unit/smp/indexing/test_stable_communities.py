"""Communities go on after edits: ids, labels and members stay where the graph does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.domain.communities import Partition
from smp.domain.graph import Edge, EdgeKind, Node, NodeKind, Scope
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.indexing.partition import detect, go_on
from smp.indexing.pipeline import FileChange
from smp.indexing.projection import RELATIONSHIPS, project

FOLDERS = ("bill", "mail", "auth", "site")
NAMES = ("total", "invoice", "refund", "ledger", "tax", "quote")


def function(folder: str, number: int) -> Node:
    path, name = f"src/{folder}/{NAMES[number]}.py", f"{NAMES[number]}_of_{folder}"
    return Node(
        id=mint_node_id("function", path, name), kind=NodeKind.FUNCTION, name=name, qualname=name, file=FilePath(path)
    )


def call(source: Node, target: Node) -> Edge:
    return Edge(kind=EdgeKind.CALLS_STATIC, source=source.id, target=target.id)


def town() -> tuple[list[Node], list[Edge]]:
    """Four folders whose functions call each other, in a ring of single calls."""
    groups = [[function(folder, number) for number in range(len(NAMES))] for folder in FOLDERS]
    edges = [call(one, other) for group in groups for one in group for other in group if one.id < other.id]
    edges += [call(groups[number][0], groups[number - 1][1]) for number in range(len(groups))]
    return [node for group in groups for node in group], edges


def found(nodes: list[Node], edges: list[Edge], **options: Any) -> Partition:
    return detect(project(nodes, edges, relationship_types=RELATIONSHIPS), IgraphAnalytics(), **options)


def test_what_is_detected_again_is_the_same() -> None:
    first = found(*town())
    assert found(*town(), previous=first) == first
    assert go_on(project(*town(), relationship_types=RELATIONSHIPS), IgraphAnalytics(), first) == first


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.tuples(st.integers(0, 23), st.integers(0, 23)).filter(lambda pair: pair[0] != pair[1]))
def test_one_call_more_moves_nothing(pair: tuple[int, int]) -> None:
    nodes, edges = town()
    first = found(nodes, edges)
    after = found(nodes, [*edges, call(nodes[pair[0]], nodes[pair[1]])], previous=first)
    assert (after.members_l0, after.members_l1) == (first.members_l0, first.members_l1)
    assert [one.label for one in after.communities] == [one.label for one in first.communities]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sets(st.integers(0, 23), max_size=2), st.lists(st.integers(0, 23), max_size=2))
def test_some_gone_and_some_new_nodes_leave_the_others_alone(gone: set[int], callers: list[int]) -> None:
    nodes, edges = town()
    first = found(nodes, edges)
    new = [
        Node(id=NodeId(f"function:src/new.py#n{number}"), kind=NodeKind.FUNCTION, name=f"n{number}", qualname="n",
             file=FilePath("src/new.py"))
        for number in range(len(callers))
    ]  # fmt: skip
    kept = [node for index, node in enumerate(nodes) if index not in gone]
    edges += [call(nodes[caller], node) for caller, node in zip(callers, new, strict=True)]
    graph = project([*kept, *new], edges, relationship_types=RELATIONSHIPS)
    after = go_on(graph, IgraphAnalytics(), first, min_size=2)
    for before, now in ((first.members_l0, after.members_l0), (first.members_l1, after.members_l1)):
        assert {node.id: now[node.id] for node in kept} == {node.id: before[node.id] for node in kept}
        assert now.keys() == {node.id for node in (*kept, *new)}
        for caller, node in zip(callers, new, strict=True):
            assert caller in gone or now[node.id] == before[nodes[caller].id]
    by_id = {one.id: one for one in after.communities}
    assert all(by_id[after.members_l1[node]].parent == after.members_l0[node] for node in after.members_l1)
    assert sum(one.member_count for one in after.communities if one.level == 1) == len(after.members_l1)


def test_a_group_of_new_nodes_that_has_most_to_do_with_itself_is_a_community_of_its_own() -> None:
    nodes, edges = town()
    first = found(nodes, edges)
    new = [
        Node(id=NodeId(f"function:src/ship/parcel.py#p{number}"), kind=NodeKind.FUNCTION, name=f"p{number}",
             qualname=f"p{number}", file=FilePath("src/ship/parcel.py"))
        for number in range(6)
    ]  # fmt: skip
    edges += [call(one, other) for one in new for other in new if one.id < other.id]
    edges.append(call(nodes[0], new[0]))
    after = go_on(project([*nodes, *new], edges, relationship_types=RELATIONSHIPS), IgraphAnalytics(), first)
    assert {after.members_l1[node.id] for node in new} == {NodeId("community:1/ship.parcel")}


def test_clusters_that_are_clearly_better_replace_those_of_before_and_continue_their_ids() -> None:
    nodes, edges = town()
    wrong = {
        node.id: NodeId("community:1/bill" if index % 2 else "community:1/mail") for index, node in enumerate(nodes)
    }
    coarse = dict.fromkeys(wrong, NodeId("community:0/src"))
    after = found(nodes, edges, previous=Partition(members_l0=coarse, members_l1=wrong))
    assert after.members_l1 == found(nodes, edges).members_l1
    assert found(nodes, edges, previous=after, alike=False, resolutions=(0.1, 1.5)).members_l1 == after.members_l1


def test_communities_of_one_folder_are_told_apart_by_their_words() -> None:
    nodes, edges = town()
    flat = [
        Node(id=node.id, kind=node.kind, name=node.name, qualname=node.qualname, file=FilePath(f"src/{node.name}.py"))
        for node in nodes
    ]
    labels = {one.label for one in found(flat, edges).communities if one.level == 1}
    assert labels == {f"src_{folder}" for folder in FOLDERS}


def test_labels_are_unique_even_where_words_say_nothing() -> None:
    groups = [[f"function:a/x.py#f{group}{number}" for number in range(5)] for group in range(3)]
    nodes = [
        Node(id=NodeId(one), kind=NodeKind.FUNCTION, name="f", qualname="f", file=FilePath("a/x.py"))
        for group in groups
        for one in group
    ]
    edges = [
        Edge(kind=EdgeKind.CALLS_STATIC, source=NodeId(one), target=NodeId(other))
        for group in groups
        for one in group
        for other in group
        if one < other
    ]
    labels = [one.label for one in found(nodes, edges).communities if one.level == 1]
    assert sorted(labels) == ["a.x", "a.x~2", "a.x~3"]


@pytest.fixture
def indexed(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two packages, large enough that communities go on instead of being detected after each change."""
    monkeypatch.setattr("smp.indexing.follow.REDETECT_ALWAYS", 0)
    for folder in ("pay", "mail"):
        names = [f"{folder}{number}" for number in range(8)]
        for number, name in enumerate(names):
            calls = "".join(f"  {other}()\n" for other in names[number + 1 :])
            bench.write(**{f"{folder}__{name}_py": f"def {name}:\n{calls}"})
    bench.indexer.refresh()
    bench.indexer.ensure_ranked()
    return bench


def test_a_new_function_in_a_large_repository_has_a_community_at_once(indexed: Any) -> None:
    before = indexed.indexer.partition()
    indexed.indexer.update(
        [FileChange(path=FilePath("pay/pay0.py"), content=b"def pay0:\n  pay1()\n  extra()\ndef extra:\n")]
    )
    after = indexed.indexer.partition()
    new = NodeId("function:pay/pay0.py#extra")
    assert after.members_l1[new] == before.members_l1[NodeId("function:pay/pay0.py#pay0")]
    assert {node: after.members_l1[node] for node in before.members_l1} == before.members_l1
    assert {edge.target for edge in indexed.store.scan_edges(Scope(), (EdgeKind.MEMBER_OF,)) if edge.source == new}
    counts = {one.id: one.member_count for one in after.communities}
    assert counts[after.members_l1[new]] == sum(owner == after.members_l1[new] for owner in after.members_l1.values())


def test_what_has_gone_is_no_member_any_more(indexed: Any) -> None:
    indexed.indexer.update([FileChange(path=FilePath("pay/pay7.py"), change_type="deleted")])
    assert NodeId("function:pay/pay7.py#pay7") not in indexed.indexer.partition().members_l1


def test_later_edits_keep_to_the_options_that_were_asked_for(indexed: Any) -> None:
    asked = indexed.indexer.detect_communities(min_community_size=100)
    assert len(asked.communities) == 2
    indexed.indexer.update([FileChange(path=FilePath("new/n.py"), content=b"def n:\n")])
    assert len(indexed.indexer.partition().communities) == 2
