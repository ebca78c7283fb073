"""Enrichment, annotations, tags and search over them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.errors import DocstringExists
from smp.domain.graph import GraphDelta, GraphPart, Node, NodeKind, Owner, Scope
from smp.domain.ids import ContentHash, NodeId
from smp.domain.metadata import Enrichment, EnrichmentStatus
from smp.query import enrichment as state
from smp.query.resolve import resolve_node
from smp.query.search import search, searched_nodes

GraphOf = Callable[[str], MemoryStore]
NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.fixture
def store(graph_of: GraphOf) -> MemoryStore:
    return graph_of("""
        file src/a.py
        function src/a.py#f doc="Charge a card." hash=h1
        function src/a.py#bare hash=h2
        function src/a.py#typed returns=int hash=h3
        file lib/b.py
        function lib/b.py#g doc="Refund a card." hash=h4
    """)


def node(store: MemoryStore, ref: str) -> Node:
    return resolve_node(store, ref, path="node_id")


def test_a_fresh_node_is_not_enriched_again(store: MemoryStore) -> None:
    f = node(store, "f")
    first = state.enrich(store, [f], now=NOW, force=False)[f.id]
    again = state.enrich(store, [f], now=LATER, force=False)[f.id]
    forced = state.enrich(store, [f], now=LATER, force=True)[f.id]
    assert (first.fresh, again.fresh, forced.fresh) == (False, True, False)
    assert (again.enrichment.enriched_at, forced.enrichment.enriched_at) == (NOW, LATER)


def test_a_node_without_anything_to_extract_says_so(store: MemoryStore) -> None:
    bare = node(store, "bare")
    assert state.enrich(store, [bare], now=NOW, force=True)[bare.id].status is EnrichmentStatus.NO_METADATA


def test_a_batch_adds_up(store: MemoryStore) -> None:
    first = state.enrich_scope(store, store, Scope(), now=NOW, force=False)
    again = state.enrich_scope(store, store, Scope(), now=NOW, force=False)
    assert (first.enriched, first.skipped, first.no_metadata) == (3, 0, ("function:src/a.py#bare",))
    assert (again.enriched, again.skipped, len(again.no_metadata)) == (0, 3, 1)


def test_a_node_whose_source_moves_on_is_stale_until_enriched_again(store: MemoryStore) -> None:
    state.enrich_scope(store, store, Scope(), now=NOW, force=False)
    assert state.stale_nodes(store, store, Scope()) == ()
    g = node(store, "g")
    file = node(store, "lib/b.py")
    changed = Node(id=g.id, kind=g.kind, name="g", qualname="g", file=g.file, source_hash=ContentHash("h5"))
    store.apply(GraphDelta(parts=(GraphPart(owner=Owner("lib/b.py"), nodes=(file, changed), edges=()),)))
    (stale,) = state.stale_nodes(store, store, Scope())
    assert (stale.node_id, stale.current_hash, stale.enriched_hash, stale.last_enriched) == (g.id, "h5", "h4", NOW)
    assert state.count_enrichment(store, store, Scope()).stale == 1
    state.enrich_scope(store, store, Scope(), now=LATER, force=False)
    assert state.stale_nodes(store, store, Scope()) == ()


def test_counts_of_a_scope(store: MemoryStore) -> None:
    counts = state.count_enrichment(store, store, Scope())
    assert (counts.total_nodes, counts.has_docstring, counts.has_annotations, counts.no_metadata) == (4, 2, 1, 1)
    assert counts.coverage_pct == 75.0
    assert state.count_enrichment(store, store, Scope(kind="package", prefix="lib")).total_nodes == 1
    assert state.count_enrichment(store, store, Scope(kind="package", prefix="none")).coverage_pct == 100.0


def test_a_docstring_is_not_hidden_without_force(store: MemoryStore) -> None:
    f = node(store, "f")
    with pytest.raises(DocstringExists, match="force"):
        state.annotate(store, f, description="Other.", tags=(), force=False, now=NOW)
    after = state.annotate(store, f, description="Other.", tags=("pay",), force=True, now=NOW)
    assert (after.description, after.tags, after.manually_set, after.annotated_at) == ("Other.", ("pay",), True, NOW)


def test_annotating_keeps_what_was_there(store: MemoryStore) -> None:
    bare = node(store, "bare")
    store.put_enrichments({bare.id: Enrichment(source_hash=ContentHash("h2"), enriched_at=NOW, tags=("old",))})
    after = state.annotate(store, bare, description="Bare.", tags=("new",), force=False, now=LATER)
    assert (after.enriched_at, after.tags) == (NOW, ("new", "old"))
    assert state.count_enrichment(store, store, Scope()).no_metadata == 0


@pytest.mark.parametrize(
    ("action", "tags", "affected"),
    [("add", ("a", "b"), 3), ("remove", (), 1), ("replace", ("b",), 3)],
)
def test_tags_of_a_scope(store: MemoryStore, action: str, tags: tuple[str, ...], affected: int) -> None:
    f = NodeId("function:src/a.py#f")
    store.put_enrichments({f: Enrichment(tags=("a",))})
    wanted = ("a",) if action == "remove" else ("b",)
    scope = Scope(kind="package", prefix="src")
    assert state.tag_scope(store, store, scope, tags=wanted, action=action) == affected
    assert store.enrichments([f])[f].tags == tags
    assert NodeId("function:lib/b.py#g") not in store.enrichments(["function:lib/b.py#g"])  # type: ignore[list-item]


def test_search_finds_words_of_docstrings_descriptions_and_tags(store: MemoryStore) -> None:
    state.annotate(store, node(store, "bare"), description="Handles a quagga.", tags=("herd",), force=False, now=NOW)

    def found(text: str, match: str = "all") -> list[str]:
        answer = search(store, text, match=match, node_types=(), tags=(), scope=Scope(), limit=10)
        return sorted(match.node.name for match in answer.matches)

    assert found("card") == ["f", "g"]
    assert found("charge card") == ["f"]
    assert found("charge refund", "any") == ["f", "g"]
    assert (found("quagga"), found("herd"), found("zeppelin")) == (["bare"], ["bare"], [])


def test_search_narrows_by_kind_tag_and_scope(store: MemoryStore) -> None:
    def count(**options: object) -> int:
        wanted = {"node_types": (), "tags": (), "scope": Scope()} | options
        return search(store, "card", match="all", limit=1, **wanted).total  # type: ignore[arg-type]

    assert count() == 2
    assert count(scope=Scope(kind="file", prefix="lib/b.py")) == 1
    assert count(node_types=(NodeKind.CLASS,)) == 0
    assert count(tags=("none",)) == 0


def test_nodes_that_a_search_looks_at(store: MemoryStore) -> None:
    assert searched_nodes(store, node_types=(), scope=Scope(kind="package", prefix="src")) == 3
    assert searched_nodes(store, node_types=(NodeKind.FILE,), scope=Scope()) == 2
