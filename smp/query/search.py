"""Ranked full-text search over docstrings, descriptions and tags."""

from __future__ import annotations

from smp.domain.graph import NodeKind, Scope
from smp.ports.graph_store import GraphStore
from smp.ports.metadata_store import MetadataStore, TextAnswer, TextQuery
from smp.query.enrichment import ENRICHABLE

SEARCHED_FIELDS = ("description", "docstring", "tags")


def search(
    metadata: MetadataStore,
    text: str,
    *,
    match: str,
    node_types: tuple[NodeKind, ...],
    tags: tuple[str, ...],
    scope: Scope,
    limit: int,
) -> TextAnswer:
    """BM25-ranked matches.

    Args:
        match: `all` or `any` of the words.
        node_types: Empty for every kind. tags: all of them must be on a match.
    """
    return metadata.search(
        TextQuery(
            text=text,
            match=match,
            node_types=node_types,
            tags=tags,
            scope=scope,
            fields=SEARCHED_FIELDS,
            limit=limit,
        )
    )


def searched_nodes(graph: GraphStore, *, node_types: tuple[NodeKind, ...], scope: Scope) -> int:
    """How many nodes a search looks at; reads the whole scope."""
    return sum(1 for _ in graph.scan(scope, node_types or ENRICHABLE))
