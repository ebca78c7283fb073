"""Communities: nested, labelled, deterministic, stable."""

from __future__ import annotations

import random
from typing import Any

import pytest

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.domain.communities import Partition
from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.indexing.labels import majority_prefix
from smp.indexing.partition import detect
from smp.indexing.projection import RELATIONSHIPS, project

# pay and mail of BL-043: dense inside, one call between them
CALLS = [
    ("pay/a.py#a", "pay/b.py#b"),
    ("pay/a.py#a", "pay/c.py#c"),
    ("pay/b.py#b", "pay/c.py#c"),
    ("mail/x.py#x", "mail/y.py#y"),
    ("mail/x.py#x", "mail/z.py#z"),
    ("mail/y.py#y", "mail/z.py#z"),
    ("mail/z.py#z", "pay/c.py#c"),
]


def node(name: str) -> Node:
    path, _, qualname = name.partition("#")
    kind = "function" if qualname else "file"
    return Node(
        id=mint_node_id(kind, path, qualname),
        kind=NodeKind(kind.capitalize()),
        name=qualname or path.rpartition("/")[2],
        qualname=qualname or path,
        file=FilePath(path),
    )


def example(*extra: str) -> tuple[list[Node], list[Edge]]:
    names = sorted({end for call in CALLS for end in call} | set(extra))
    files = sorted({name.partition("#")[0] for name in names} | {"pay/__init__.py", "mail/__init__.py"})
    packages = [
        Node(id=mint_node_id("package", path), kind=NodeKind.PACKAGE, name=path, qualname=path)
        for path in ("pay", "mail")
    ]
    nodes = [*map(node, files), *map(node, names), *packages]
    edges = [
        Edge(kind=EdgeKind.CALLS_STATIC, source=node(source).id, target=node(target).id) for source, target in CALLS
    ]
    edges += [
        Edge(kind=EdgeKind.DEFINES, source=node(name.partition("#")[0]).id, target=node(name).id) for name in names
    ]
    edges += [
        Edge(kind=EdgeKind.CONTAINS, source=mint_node_id("package", path.partition("/")[0]), target=node(path).id)
        for path in files
    ]
    return nodes, edges


def communities(nodes: list[Node], edges: list[Edge], **options: Any) -> Partition:
    return detect(project(nodes, edges, relationship_types=RELATIONSHIPS), IgraphAnalytics(), **options)


def test_equal_input_in_any_order_gives_equal_communities() -> None:
    nodes, edges = example()
    first = communities(nodes, edges)
    for seed in range(3):
        shuffled = random.Random(seed)
        shuffled.shuffle(nodes)
        shuffled.shuffle(edges)
        assert communities(nodes, edges) == first


def test_the_two_folders_are_two_fine_communities() -> None:
    nodes, edges = example()
    found = communities(nodes, edges).members_l1
    by_folder: dict[str, set[str]] = {}
    for one in nodes:
        if one.file:
            by_folder.setdefault(one.file.partition("/")[0], set()).add(found[one.id])
    assert {folder: len(ids) for folder, ids in by_folder.items()} == {"pay": 1, "mail": 1}
    assert by_folder["pay"] != by_folder["mail"]
    assert by_folder == {"pay": {"community:1/pay"}, "mail": {"community:1/mail"}}


def test_an_unused_function_leaves_every_old_node_where_it_was() -> None:
    before = communities(*example())
    after = communities(*example("mail/x.py#unused"))
    for level in ("members_l0", "members_l1"):
        old, new = getattr(before, level), getattr(after, level)
        assert {node_id: new[node_id] for node_id in old} == old


def test_every_member_has_both_levels_and_the_fine_one_lies_in_the_coarse_one() -> None:
    nodes, edges = example()
    found = communities(nodes, edges)
    members = {one.id for one in nodes if one.file}
    assert found.members_l0.keys() == found.members_l1.keys() == members
    parents = {one.id: one.parent for one in found.communities if one.level == 1}
    for node_id in members:
        assert parents[found.members_l1[node_id]] == found.members_l0[node_id]
    assert all(one.parent is None for one in found.communities if one.level == 0)


def test_counts_and_bridges_are_those_of_the_calls() -> None:
    found = communities(*example(), tags={node("pay/a.py#a").id: ("money", "api"), node("pay/b.py#b").id: ("money",)})
    fine = {one.label: one for one in found.communities if one.level == 1}
    assert (fine["pay"].internal_edge_count, fine["pay"].external_edge_count) == (3, 1)
    assert (fine["mail"].internal_edge_count, fine["mail"].external_edge_count) == (3, 1)
    assert (fine["pay"].member_count, fine["pay"].file_count) == (7, 4)
    assert fine["pay"].bridge_communities == (fine["mail"].id,)
    assert fine["pay"].top_tags == ("money", "api")
    (bridge,) = [one for one in found.bridges if one.source in (fine["pay"].id, fine["mail"].id)]
    assert (bridge.edge_count, bridge.coupling_weight) == (1, 0.25)


def test_modularity_is_the_sum_of_the_communities_parts_and_in_range() -> None:
    found = communities(*example())
    for level in (0, 1):
        parts = [one.modularity_score for one in found.communities if one.level == level]
        assert found.modularity[level] == pytest.approx(sum(parts))
        assert -0.5 <= found.modularity[level] <= 1


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_no_community_is_smaller_than_asked_unless_it_is_alone(size: int) -> None:
    found = communities(*example(), min_size=size)
    for level in (0, 1):
        counts = [one.member_count for one in found.communities if one.level == level]
        assert len(counts) == 1 or min(counts) >= size or level == 1
        siblings: dict[NodeId | None, list[int]] = {}
        for one in found.communities:
            if one.level == level:
                siblings.setdefault(one.parent, []).append(one.member_count)
        assert all(len(members) == 1 or min(members) >= size for members in siblings.values())


def test_nothing_has_no_communities() -> None:
    assert communities([], []) == Partition(modularity=(0.0, 0.0))


def test_nodes_without_any_edge_are_assigned_too() -> None:
    lonely = [node("README.md"), node("docs/a.md")]
    found = communities([*example()[0], *lonely], example()[1])
    assert all(one.id in found.members_l1 for one in lonely)


@pytest.mark.parametrize(
    ("paths", "prefix"),
    [
        (["src/a/x.py", "src/a/y.py", "src/b/z.py"], "src/a"),
        (["src/a/x.py", "src/b/y.py"], "src"),
        (["x.py", "src/y.py"], ""),
        ([], ""),
        (["src/x.py", "src/x/y.py", "src/x/z.py"], "src/x"),
    ],
)
def test_the_prefix_is_the_deepest_folder_with_more_than_half(paths: list[str], prefix: str) -> None:
    assert majority_prefix([node(path) for path in paths]) == prefix
