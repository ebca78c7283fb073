"""Words of prose and of identifiers, as search sees them: folded, split at case and underscore boundaries."""

from __future__ import annotations

import re

from smp.domain.graph import Node
from smp.domain.metadata import Enrichment

_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+|[^A-Za-z0-9]+")


def split_words(text: str) -> list[str]:
    """Lower-case words in order of appearance, with repetitions.

    `parseHTTPHeader_v2` gives `parse`, `http`, `header`, `v2`. Letters outside ASCII are folded but not split at case.
    """
    return [part.lower() for run in _RUN.findall(text) for part in _PART.findall(run)]


def indexed_words(node: Node, enrichment: Enrichment, body: str) -> tuple[str, ...]:
    """What full text holds of a node, in the order of `TEXT_FIELDS`: words with spaces between; those of the body come so."""
    own = node.name if node.file is None or node.qualname == node.file else node.qualname
    name, path, signature, docstring, comments, description, tags = (
        " ".join(split_words(text))
        for text in (
            own,
            node.file or "",
            node.signature or "",
            node.metadata.docstring or "",
            " ".join(comment.text for comment in node.metadata.comments),
            enrichment.description or "",
            " ".join(enrichment.tags),
        )
    )
    return name, path, signature, docstring, comments, body, description, tags
