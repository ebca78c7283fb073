"""What every graph store must do."""

from __future__ import annotations

from typing import Any

import pytest

from smp.domain.graph import DeltaCounts, Direction, EdgeKind, GraphSize, NodeKind, Scope, Scores, UnresolvedReason

CALLS = (EdgeKind.CALLS_STATIC,)


@pytest.fixture
def chain(store: Any, build: Any) -> Any:
    """a.py#a calls b.py#b calls c.py#c; each in its own file."""
    nodes = {name: build.function(f"{name}.py", name) for name in "abc"}
    files = {name: build.file(f"{name}.py") for name in "abc"}
    parts = [
        build.part("a.py", [files["a"], nodes["a"]], [build.calls(nodes["a"], nodes["b"], 3)]),
        build.part("b.py", [files["b"], nodes["b"]], [build.calls(nodes["b"], nodes["c"], 5)]),
        build.part("c.py", [files["c"], nodes["c"]]),
    ]
    store.apply(build.delta(*parts))
    return nodes


def targets(store: Any, node: Any) -> list[str]:
    return [edge.target for edge in store.edges([node.id], kinds=CALLS)]


def test_counts_say_what_changed_and_a_repeated_delta_counts_nothing(store: Any, build: Any) -> None:
    f, g = build.function("a.py", "f"), build.function("a.py", "g")
    delta = build.delta(build.part("a.py", [f, g], [build.calls(f, g)]))
    assert store.apply(delta) == DeltaCounts(nodes_added=2, relationships_updated=1)
    assert store.apply(delta) == DeltaCounts()
    changed = build.delta(build.part("a.py", [build.function("a.py", "f", complexity=2)]))
    assert store.apply(changed) == DeltaCounts(nodes_updated=1, nodes_removed=1, relationships_updated=1)


def test_replacing_a_called_file_keeps_its_callers(store: Any, build: Any, chain: Any) -> None:
    store.apply(build.delta(build.part("b.py", [build.file("b.py"), build.function("b.py", "b", end_line=9)], [])))
    assert targets(store, chain["a"]) == [chain["b"].id]
    assert targets(store, chain["b"]) == []


def test_a_removed_owner_takes_its_nodes_and_all_edges_that_touch_them(store: Any, build: Any, chain: Any) -> None:
    counts = store.apply(build.delta(removed=("b.py",)))
    assert counts == DeltaCounts(nodes_removed=2, relationships_updated=2)
    assert targets(store, chain["a"]) == []
    assert store.edges([chain["c"].id], direction=Direction.INCOMING) == ()
    assert store.find("b") == ()


def test_edges_without_a_target_are_kept_only_when_unresolved(store: Any, build: Any) -> None:
    f, ghost = build.function("a.py", "f"), build.function("x.py", "ghost")
    unresolved = build.edge(
        "CALLS_UNRESOLVED", f, None, line=2, lines=(2,), to_name="ghost", reason=UnresolvedReason.DYNAMIC
    )
    store.apply(build.delta(build.part("a.py", [f], [build.calls(f, ghost), unresolved])))
    assert store.edges([f.id]) == (unresolved,)


def test_nodes_none_replaces_edges_only(store: Any, build: Any, chain: Any) -> None:
    store.apply(build.delta(build.part("a.py", None, [build.calls(chain["a"], chain["c"], 4)])))
    assert targets(store, chain["a"]) == [chain["c"].id]
    assert [node.id for node in store.nodes([chain["a"].id])] == [chain["a"].id]


def test_every_field_of_nodes_and_edges_comes_back(store: Any, build: Any, everything: Any) -> None:
    node, edges = everything
    other = build.function("b.py", "g")
    store.apply(build.delta(build.part("a.py", [node], edges), build.part("b.py", [other])))
    assert store.nodes([node.id]) == (node,)
    assert set(store.edges([node.id])) == set(edges)


def test_size_counts_unresolved_calls_apart(store: Any, build: Any, everything: Any) -> None:
    node, edges = everything
    g = build.function("b.py", "g")
    store.apply(build.delta(build.part("a.py", [node], edges), build.part("b.py", [g])))
    store.observe_calls([build.edge("CALLS_RUNTIME", node, g, call_count=3)])
    assert store.size() == GraphSize(nodes=2, edges=3, unresolved=1)


def test_find_prefers_id_then_path_then_qualified_then_bare_name(store: Any, build: Any) -> None:
    method = build.function("pkg/a.py", "A.run")
    bare = build.function("pkg/b.py", "run")
    file, package = build.file("pkg/a.py"), build.node("Package", "pkg", None)
    store.apply(
        build.delta(
            build.part("pkg/a.py", [file, method]),
            build.part("pkg/b.py", [bare]),
            build.part("@structure", [package]),
        )
    )

    def found(name: str) -> list[str]:
        return [node.id for node in store.find(name)]

    assert found(method.id) == [method.id]
    assert found("pkg/a.py") == [file.id]
    assert found("pkg") == [package.id]
    assert found("pkg/a.py#A.run") == [method.id]
    assert found("A.run") == [method.id]
    assert found("run") == [bare.id]
    assert found("a.py") == [file.id]
    assert found("nothing") == []


def test_find_lists_all_that_a_name_may_mean(store: Any, build: Any) -> None:
    ones = [build.function(f"{name}.py", "A.run") for name in "ab"]
    store.apply(build.delta(build.part("x", ones)))
    assert [node.id for node in store.find("run")] == [node.id for node in ones]


def test_a_name_that_several_have_lists_methods_too(store: Any, build: Any) -> None:
    plain = [build.function(f"{name}.py", "save") for name in "ab"]
    method = build.function("c.py", "Store.save")
    store.apply(build.delta(build.part("x", [*plain, method])))
    assert [node.id for node in store.find("save")] == [node.id for node in (*plain, method)]


def test_scopes_hold_a_package_a_file_or_everything(store: Any, build: Any) -> None:
    nodes = [
        build.node("Repository", "demo", None),
        build.node("Package", "src", None),
        build.node("Package", "src/a", None),
        build.file("src/a/x.py"),
        build.function("src/a/x.py", "f"),
        build.file("src/ab.py"),
    ]
    store.apply(build.delta(build.part("all", nodes, [build.edge("CONTAINS", nodes[2], nodes[3])])))

    def scanned(scope: Scope, *kinds: NodeKind) -> list[str]:
        return [node.id for node in store.scan(scope, kinds)]

    assert scanned(Scope()) == sorted(node.id for node in nodes)
    assert scanned(Scope(kind="package", prefix="src/a")) == [
        "file:src/a/x.py",
        "function:src/a/x.py#f",
        "package:src/a",
    ]
    assert scanned(Scope(kind="file", prefix="src/a/x.py"), NodeKind.FUNCTION) == ["function:src/a/x.py#f"]
    assert [edge.source for edge in store.scan_edges(Scope(kind="package", prefix="src"))] == ["package:src/a"]
    assert list(store.scan_edges(Scope(kind="file", prefix="src/a/x.py"))) == []


def test_edges_are_sorted_and_filtered_by_kind_and_direction(store: Any, build: Any, chain: Any) -> None:
    uses = build.edge("USES", chain["b"], chain["a"])
    store.apply(build.delta(build.part("b.py", None, [uses, build.calls(chain["b"], chain["c"], 5)])))
    both = store.edges([chain["b"].id], direction=Direction.BOTH)
    assert [(edge.kind.value, edge.source, edge.target) for edge in both] == [
        ("CALLS_STATIC", chain["a"].id, chain["b"].id),
        ("CALLS_STATIC", chain["b"].id, chain["c"].id),
        ("USES", chain["b"].id, chain["a"].id),
    ]
    assert store.edges([chain["b"].id], kinds=(EdgeKind.USES,)) == (uses,)


def test_walk_gives_the_nearest_first_with_the_seeds_that_reach_them(store: Any, build: Any, chain: Any) -> None:
    a, b, c = (chain[name] for name in "abc")

    def walked(seeds: list[Any], hops: int, direction: Direction = Direction.OUTGOING, limit: int = 10) -> list[Any]:
        found = store.walk([s.id for s in seeds], hops=hops, kinds=CALLS, direction=direction, limit=limit)
        return [(one.node.id, one.hop, one.seeds) for one in found]

    assert walked([a], 2) == [(b.id, 1, (a.id,)), (c.id, 2, (a.id,))]
    assert walked([a], 1) == [(b.id, 1, (a.id,))]
    assert walked([a], 2, limit=1) == [(b.id, 1, (a.id,))]
    assert walked([a, b], 2) == [(c.id, 1, (a.id, b.id))]
    assert walked([c], 5, Direction.INCOMING) == [(b.id, 1, (c.id,)), (a.id, 2, (c.id,))]
    assert walked([b], 1, Direction.BOTH) == [(a.id, 1, (b.id,)), (c.id, 1, (b.id,))]
    assert walked([a], 0) == []


def test_walk_ends_in_a_cycle_and_follows_runtime_calls(store: Any, build: Any, chain: Any) -> None:
    store.observe_calls([build.edge("CALLS_RUNTIME", chain["c"], chain["a"], call_count=1)])
    found = store.walk(
        [chain["a"].id], hops=9, kinds=(EdgeKind.CALLS_STATIC, EdgeKind.CALLS_RUNTIME), direction=Direction.OUTGOING
    )
    assert [(one.node.id, one.hop) for one in found] == [(chain["b"].id, 1), (chain["c"].id, 2)]


def test_observed_calls_add_up_per_commit_and_outlive_an_update_of_their_files(
    store: Any, build: Any, chain: Any
) -> None:
    a, c = chain["a"], chain["c"]
    seen = build.edge("CALLS_RUNTIME", a, c, call_count=2, commit_sha="1" * 40, first_seen="2026-01-01T00:00:00Z")
    unknown = build.edge("CALLS_RUNTIME", a, build.function("z.py", "z"), call_count=1)
    assert store.observe_calls([seen, unknown]) == (seen,)
    later = build.edge("CALLS_RUNTIME", a, c, call_count=3, commit_sha="1" * 40, first_seen="2026-02-02T00:00:00Z")
    assert store.observe_calls([later]) == ()
    store.apply(build.delta(build.part("a.py", [build.file("a.py"), build.function("a.py", "a", lines=2)])))
    (kept,) = store.edges([a.id], kinds=(EdgeKind.CALLS_RUNTIME,))
    assert (kept.call_count, kept.first_seen) == (5, "2026-01-01T00:00:00Z")
    store.apply(build.delta(removed=("c.py",)))
    assert store.edges([a.id], kinds=(EdgeKind.CALLS_RUNTIME,)) == ()


@pytest.mark.parametrize("end", ["a", "c"])
def test_observed_calls_end_with_the_text_of_either_end(store: Any, build: Any, chain: Any, end: str) -> None:
    a, c = chain["a"], chain["c"]
    store.observe_calls([build.edge("CALLS_RUNTIME", a, c, call_count=2, commit_sha="1" * 40)])
    moved = build.function("b.py", "b", source_hash="2" * 64)
    store.apply(build.delta(build.part("b.py", [build.file("b.py"), moved])))
    assert [edge.target for edge in store.edges([a.id], kinds=(EdgeKind.CALLS_RUNTIME,))] == [c.id]
    changed = build.function(f"{end}.py", end, source_hash="3" * 64)
    counts = store.apply(build.delta(build.part(f"{end}.py", [build.file(f"{end}.py"), changed])))
    assert store.edges([a.id], kinds=(EdgeKind.CALLS_RUNTIME,)) == ()
    assert counts.relationships_updated >= 1


def test_scores_are_replaced_as_a_whole_and_go_with_their_node(store: Any, build: Any, chain: Any) -> None:
    a, b, c = (chain[name].id for name in "abc")
    store.put_scores({a: Scores(pagerank=0.5, community_l1=b), b: Scores(pagerank=0.25), c: Scores(pagerank=0.25)})
    store.put_scores({a: Scores(pagerank=0.75), b: Scores(pagerank=0.25)})
    assert store.scores([c, b, a]) == {a: Scores(pagerank=0.75), b: Scores(pagerank=0.25)}
    store.apply(build.delta(removed=("b.py",)))
    assert store.scores([a, b]) == {a: Scores(pagerank=0.75)}


def test_two_histories_of_equal_content_give_equal_answers(store: Any, build: Any, chain: Any, fresh: Any) -> None:
    """Add, change, remove and bring back; then compare with a store that only ever saw the end."""
    f = build.function("d.py", "d")
    store.apply(build.delta(build.part("d.py", [f], [build.calls(f, chain["a"])])))
    store.apply(build.delta(removed=("a.py",)))
    store.apply(build.delta(removed=("d.py",)))
    a = build.part("a.py", [build.file("a.py"), chain["a"]], [build.calls(chain["a"], chain["b"], 3)])
    store.apply(build.delta(a))
    b = build.part("b.py", [build.file("b.py"), chain["b"]], [build.calls(chain["b"], chain["c"], 5)])
    fresh.apply(build.delta(build.part("c.py", [build.file("c.py"), chain["c"]]), b))
    fresh.apply(build.delta(a))
    assert list(store.scan(Scope())) == list(fresh.scan(Scope()))
    assert list(store.scan_edges(Scope())) == list(fresh.scan_edges(Scope()))
