"""Vectors: of what text, of which nodes, and only when the text has changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from smp.domain.graph import Node, NodeKind, Parameter, Scope
from smp.domain.ids import FilePath, NodeId
from smp.domain.metadata import Enrichment, Metadata
from smp.indexing.embed import by_likelihood, embedded_text
from smp.indexing.pipeline import FileChange


def function(name: str, path: str = "a.py", **fields: Any) -> Node:
    return Node(
        id=NodeId(f"function:{path}#{name}"),
        kind=fields.pop("kind", NodeKind.FUNCTION),
        name=name,
        qualname=name,
        file=FilePath(path),
        **fields,
    )


def test_the_text_is_name_in_words_and_what_is_said_about_it() -> None:
    node = function("Cart.addItem", signature="addItem(self, x)", metadata=Metadata(docstring="Puts it in.\n\nMore."))
    assert embedded_text(node, Enrichment(description="Basket.")) == "cart add item\nPuts it in.\nBasket."


def test_what_is_undocumented_shows_its_parameters() -> None:
    parameters = (Parameter(name="self", receiver=True), Parameter(name="unitPrice"), Parameter(name="qty"))
    node = function("Cart.add", signature="add(self, unitPrice, qty)", parameters=parameters)
    assert embedded_text(node) == "cart add\nunit price qty"
    assert embedded_text(node, Enrichment(description="Basket.")) == "cart add\nBasket."


def test_code_comes_before_tests_documented_and_exported_before_the_rest() -> None:
    documented = Metadata(docstring="d")
    nodes = [
        function("t", "test_a.py", metadata=documented),
        function("private"),
        function("exported", exported=True),
        function("documented", metadata=documented),
    ]
    ordered = [node.name for node in by_likelihood(nodes, tests=frozenset({"test_a.py"}))]
    assert ordered == ["documented", "exported", "private", "t"]


def test_only_what_has_a_new_text_is_embedded_again(bench: Any) -> None:
    bench.write(a_py="def alpha:\n  beta()\ndef beta:\n")
    bench.indexer.refresh()
    bench.indexer.ensure_embedded()
    assert {"function:a.py#alpha", "function:a.py#beta", "file:a.py"} <= bench.vectors.hashes("nodes").keys()
    bench.embedder.embedded.clear()
    bench.indexer.ensure_embedded()
    bench.write(a_py="def alpha:\n\n\n  beta()\ndef beta:\ndef gamma:\n")
    bench.indexer.ensure_fresh()
    bench.indexer.ensure_embedded()
    assert bench.embedder.embedded == ["gamma"]


def test_any_candidate_gets_its_vector_on_demand(bench: Any) -> None:
    bench.write(a_py="def alpha:\n")
    bench.indexer.refresh()
    nodes = list(bench.store.scan(Scope(), (NodeKind.FUNCTION,)))
    bench.indexer.embed_nodes(nodes)
    bench.indexer.embed_nodes(nodes)
    assert bench.embedder.embedded == ["alpha"]
    assert bench.vectors.hashes("nodes").keys() == {"function:a.py#alpha"}


def test_centroids_are_unit_vectors_of_the_present_communities(bench: Any) -> None:
    bench.write(pay__a_py="def a:\n  b()\n", pay__b_py="def b:\n", mail__x_py="def x:\n  y()\n", mail__y_py="def y:\n")
    bench.indexer.refresh()
    bench.indexer.ensure_ranked()
    bench.indexer.ensure_embedded()
    ids = {str(community.id) for community in bench.indexer.partition().communities}
    assert bench.vectors.hashes("centroids").keys() == ids
    for vector in bench.vectors.vectors("centroids", ids).values():
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
    bench.indexer.update([FileChange(path=FilePath(p), change_type="deleted") for p in ("mail/x.py", "mail/y.py")])
    bench.indexer.ensure_ranked()
    bench.indexer.ensure_embedded()
    assert bench.vectors.hashes("centroids").keys() == {str(one.id) for one in bench.indexer.partition().communities}
