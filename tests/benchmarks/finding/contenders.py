"""The ways to find that are compared, each over the same index: names of nodes, best first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from smp.domain.graph import Node, NodeKind, Scope
from smp.domain.words import split_words
from smp.indexing.embed import NODES
from smp.ports.metadata_store import TEXT_FIELDS, TextQuery
from smp.query.locate import DEFAULT_KINDS, FUSION, Query, Stores, locate
from smp.query.ranking import POSTINGS, TEXT_WEIGHTS
from smp.services import Services

DEPTH = 100
"""Results looked at."""
SINCE = "2000-01-01T00:00:00Z"
Find = Callable[[str], list[str]]


class Contender(Struct, frozen=True, kw_only=True):
    name: str
    find: Find


def contenders(services: Services) -> tuple[Contender, ...]:
    """Keyword count, BM25, vectors, the specification's composite, fusion; all put what lies in test files last."""
    nodes = {node.id: node for node in services.graph.scan(Scope(), DEFAULT_KINDS)}
    tests = test_files(services)
    stores = Stores(
        graph=services.graph,
        metadata=services.metadata,
        telemetry=services.telemetry,
        vectors=services.vectors,
        embedder=services.embedder,
    )
    partition = services.indexer.partition()
    texts = _texts(services, nodes.values())

    def keywords(question: str) -> list[str]:
        words = {word for word in split_words(question) if len(word) > 2}
        found = {
            node: (sum(word in text for word in words), sum(text.count(word) for word in words))
            for node, text in texts.items()
        }
        return sorted(found, key=lambda node: (-found[node][0], -found[node][1], node))

    def bm25(question: str) -> list[str]:
        query = TextQuery(
            text=question,
            match="any",
            node_types=DEFAULT_KINDS,
            fields=TEXT_FIELDS,
            weights=TEXT_WEIGHTS,
            postings=POSTINGS,
            brief=True,
            limit=2 * DEPTH,
        )
        return [match.node.id for match in services.metadata.search(query).matches]

    def vectors(question: str) -> list[str]:
        vector = services.embedder.embed([question])[0]
        matches = services.vectors.nearest(NODES, vector, k=5 * DEPTH)
        return [match.key for match in matches if match.key in nodes]

    def located(ranking: str) -> Find:
        def find(question: str) -> list[str]:
            query = Query(text=question, since=SINCE, top_k=DEPTH, ranking=ranking)
            return [result.node_id for result in locate(stores, partition, query).results]

        return find

    def tests_last(find: Find) -> Find:
        def ordered(question: str) -> list[str]:
            found = find(question)
            return sorted(found, key=lambda node: (nodes[node].file or "") in tests)[:DEPTH]  # type: ignore[index]

        return ordered

    return (
        Contender(name="keywords", find=tests_last(keywords)),
        Contender(name="BM25", find=tests_last(bm25)),
        Contender(name="vectors", find=tests_last(vectors)),
        Contender(name="composite", find=tests_last(located("composite"))),
        Contender(name="fusion", find=located(FUSION)),
    )


def test_files(services: Services) -> set[str]:
    """Paths of the test files."""
    return {node.qualname for node in services.graph.scan(Scope(), (NodeKind.FILE,)) if node.role == "test"}


def _texts(services: Services, nodes: Iterable[Node]) -> dict[str, str]:
    """Source text of each node with its path, folded."""
    contents: dict[str, bytes] = {}
    found: dict[str, str] = {}
    for node in nodes:
        if node.file is None:
            continue
        if node.file not in contents:
            contents[node.file] = services.indexer.content(node.file) or b""
        body = contents[node.file][node.start_byte : node.end_byte].decode("utf-8", "replace")
        found[node.id] = re.sub(r"\s+", " ", f"{node.file} {body}").lower()
    return found
