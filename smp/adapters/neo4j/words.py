"""What full text holds of a node: a property a field, words with spaces between, and how many there are."""

from __future__ import annotations

from typing import Any

from smp.adapters.neo4j.schema import TEXT_PROPERTIES
from smp.domain.graph import Node
from smp.domain.metadata import Enrichment
from smp.domain.words import indexed_words, split_words
from smp.ports.metadata_store import TEXT_FIELDS

OWN_WORDS, ADDED_WORDS = "words", "added_words"
"""Properties that count the words of the node itself, and of what was annotated."""


def text_properties(node: Node, enrichment: Enrichment, body: str) -> dict[str, Any]:
    """The properties of a node's words; empty fields are left out of the database.

    Args:
        body: Words inside its code, split.
    """
    texts = dict(zip(TEXT_FIELDS, indexed_words(node, enrichment, body), strict=True))
    own = sum(len(text.split()) for field, text in texts.items() if field not in ("description", "tags"))
    properties: dict[str, Any] = {TEXT_PROPERTIES[field]: text or None for field, text in texts.items()}
    return properties | added_properties(enrichment) | {OWN_WORDS: own}


def added_properties(enrichment: Enrichment) -> dict[str, Any]:
    """The properties that an enrichment decides."""
    description, tags = split_words(enrichment.description or ""), split_words(" ".join(enrichment.tags))
    return {
        TEXT_PROPERTIES["description"]: " ".join(description) or None,
        TEXT_PROPERTIES["tags"]: " ".join(tags) or None,
        "tags": list(enrichment.tags) or None,
        ADDED_WORDS: len(description) + len(tags),
    }
