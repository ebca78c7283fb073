"""Enrichment and full-text search over metadata."""

from __future__ import annotations

import abc
from collections.abc import Iterable

from msgspec import Struct

from smp.domain.graph import Node, NodeKind, Scope
from smp.domain.ids import NodeId
from smp.domain.metadata import Enrichment

TEXT_FIELDS = ("name", "path", "signature", "docstring", "comments", "body", "description", "tags")
"""What of a node is searched: qualified name (a file's: base name), file, signature, documentation, comments, the words
inside its code, and what was annotated."""


class TextQuery(Struct, frozen=True, kw_only=True):
    """A search.

    Attributes:
        text: Words; `match` is `all` (every word) or `any`.
        tags: Nodes must carry every one of these.
        fields: Which of `TEXT_FIELDS` count.
        weights: Of fields; 1 where none is given. A word counts by the weight of the fields that it is in.
        postings: For `any`: the rarest words of the query are taken until this many nodes have one of them, at least one
            word; 0 takes all. What common words add to a score is little, and to the cost most.
        brief: Neither `total` (it is the number of matches returned) nor `matched_on` (empty) is asked for.
    """

    text: str
    match: str = "all"
    node_types: tuple[NodeKind, ...] = ()
    tags: tuple[str, ...] = ()
    scope: Scope = Scope()
    fields: tuple[str, ...] = ("docstring", "description", "tags")
    weights: dict[str, float] = {}
    postings: int = 0
    brief: bool = False
    limit: int = 10


class TextMatch(Struct, frozen=True, kw_only=True):
    """A hit. bm25: positive, higher is better. matched_on: fields of the query that hold a word of it, sorted."""

    node: Node
    enrichment: Enrichment
    bm25: float
    matched_on: tuple[str, ...]


class TextAnswer(Struct, frozen=True, kw_only=True):
    """Hits by falling score, ties by id; total counts those beyond the limit too."""

    matches: tuple[TextMatch, ...]
    total: int


class MetadataStore(abc.ABC):
    @abc.abstractmethod
    def enrichments(self, ids: Iterable[NodeId]) -> dict[NodeId, Enrichment]:
        """Stored enrichments of these nodes; nodes never enriched are left out."""

    @abc.abstractmethod
    def put_enrichments(self, enrichments: dict[NodeId, Enrichment]) -> None:
        """Write these, one transaction. Enrichments of removed nodes vanish with them unless manually set; those come
        back when a node with the same id returns."""

    @abc.abstractmethod
    def search(self, query: TextQuery) -> TextAnswer:
        """BM25-ranked matches. Words are folded to lower case and split at case and underscore boundaries too."""
