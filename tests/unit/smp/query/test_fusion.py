"""Fusion: words lead, similarity joins, the graph re-ranks, tests come behind source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from smp.adapters.memory import MemoryStore, MemoryVectorIndex
from smp.domain.communities import Partition
from smp.domain.graph import Node, NodeKind
from smp.domain.ids import FilePath, NodeId
from smp.ports.embedder import Embedder
from smp.ports.metadata_store import TextAnswer, TextQuery
from smp.ports.vector_index import Matrix
from smp.query.fusion import Matches, asks_for_tests, fused
from smp.query.locate import FUSION, Query, Stores, locate
from smp.query.ranking import telling

GraphOf = Callable[[str], MemoryStore]


def ref(name: str) -> NodeId:
    return NodeId(f"function:{name}")


class Flat(Embedder):
    """Every text has the same vector, so that words and graph decide."""

    model = "flat"
    dimension = 2

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Matrix:
        return np.array([(1.0, 0.0)] * len(texts), dtype=np.float32)


def scores(
    store: MemoryStore,
    text: Mapping[str, float],
    *,
    others: Sequence[str] = (),
    files: Mapping[str, float] | None = None,
    tests: Mapping[str, float] | None = None,
    similar: Mapping[str, float] | None = None,
) -> dict[str, float]:
    nodes: dict[NodeId, Node] = {node.id: node for node in store.nodes(ref(name) for name in (*text, *others))}
    found = fused(
        store,
        nodes,
        Matches(
            candidates={ref(name): score for name, score in text.items()},
            files={FilePath(path): score for path, score in (files or {}).items()},
            tests={NodeId(f"test:{name}"): score for name, score in (tests or {}).items()},
        ),
        similar={ref(name): score for name, score in (similar or {}).items()},
        heat={},
    )
    return {node.partition(":")[2]: score for node, score in found.items()}


GRAPH = """
    file a.py
    function a.py#lead
    function a.py#near
    function b.py#far
    function b.py#K.one
    function b.py#K.two
    file b.py
    file test_b.py role=test
    test test_b.py#test_far
    a.py#lead CALLS_STATIC a.py#near
    test_b.py#test_far TESTS b.py#far
"""


def test_words_lead_and_similarity_decides_between_equals(graph_of: GraphOf) -> None:
    store = graph_of(GRAPH)
    found = scores(
        store,
        {"b.py#far": 2.0, "b.py#K.one": 2.0, "a.py#near": 1.0},
        similar={"b.py#far": 0.8, "b.py#K.one": 0.1, "a.py#near": 0.9},
    )
    assert found["b.py#far"] > found["b.py#K.one"] > 0
    assert found["b.py#far"] > found["a.py#near"]
    assert all(0 <= score <= 1 for score in found.values())


def test_what_a_match_calls_is_lifted_above_an_equal_that_nothing_calls(graph_of: GraphOf) -> None:
    found = scores(graph_of(GRAPH), {"a.py#lead": 3.0}, others=("a.py#near", "b.py#far"))
    assert found["a.py#near"] > found["b.py#far"]


def test_a_test_that_matches_lifts_what_it_covers(graph_of: GraphOf) -> None:
    store = graph_of(GRAPH)
    found = scores(store, {"b.py#far": 1.0, "a.py#near": 1.0}, tests={"test_b.py#test_far": 2.0})
    assert found["b.py#far"] > found["a.py#near"]


def test_members_of_a_class_and_definitions_of_a_file_lift_each_other(graph_of: GraphOf) -> None:
    store = graph_of(GRAPH)
    together = scores(store, {"b.py#K.one": 1.0, "b.py#K.two": 1.0, "a.py#near": 1.0})
    assert together["b.py#K.one"] > together["a.py#near"]
    by_file = scores(store, {"b.py#far": 1.0, "a.py#near": 1.0}, files={"a.py": 1.0})
    assert by_file["a.py#near"] > by_file["b.py#far"]


def located(store: MemoryStore, text: str, **changes: object) -> list[str]:
    stores = Stores(graph=store, metadata=store, telemetry=store, vectors=MemoryVectorIndex(), embedder=Flat())
    query = Query(text=text, since="2026-01-01T00:00:00Z", ranking=FUSION, **changes)  # type: ignore[arg-type]
    results = locate(stores, Partition(), query).results
    assert [one.final_score for one in results] == sorted((one.final_score for one in results), reverse=True)
    return [result.node_id.partition(":")[2] for result in results]


SHOP = """
    file shop.py
    function shop.py#parcel doc="Wraps goods in paper."
    file tests/builders.py role=test
    function tests/builders.py#paper_parcel doc="Wraps goods in paper, goods in paper."
"""


def test_what_lies_in_test_files_comes_behind_source_unless_tests_are_asked_for(graph_of: GraphOf) -> None:
    store = graph_of(SHOP)
    assert located(store, "wraps paper parcel") == ["shop.py#parcel", "tests/builders.py#paper_parcel"]
    assert located(store, "test fixture paper parcel")[0] == "tests/builders.py#paper_parcel"


def test_a_question_asks_for_tests_by_its_words_or_its_kinds() -> None:
    assert asks_for_tests("the fixture of carts", ())
    assert asks_for_tests("carts", (NodeKind.TEST,))
    assert not asks_for_tests("latest carts", (NodeKind.FUNCTION,))


def test_words_of_a_body_find_a_function(graph_of: GraphOf) -> None:
    store = graph_of(GRAPH)
    store._bodies[ref("b.py#far")] = "gateway charge"
    assert located(store, "charge gateway", hops=0)[0] == "b.py#far"


def test_words_that_only_hold_a_question_together_are_not_looked_for() -> None:
    assert telling("Where is the HTTPHeader parsed, and by what?") == "http header parsed"
    assert telling("to be or not to be") == "not"
    assert telling("which of these is it") == "which of these is it"
    assert telling("") == ""


def test_a_fusion_asks_for_the_telling_words_alone(graph_of: GraphOf, monkeypatch: pytest.MonkeyPatch) -> None:
    store = graph_of(SHOP)
    asked: list[str] = []
    search = store.search

    def told(query: TextQuery) -> TextAnswer:
        asked.append(query.text)
        return search(query)

    monkeypatch.setattr(store, "search", told)
    assert located(store, "what is it that wraps the goods") == ["shop.py#parcel", "tests/builders.py#paper_parcel"]
    assert asked == ["wraps goods"]
