"""What is embedded: the text of a node, and which nodes come first (docs/adr/0003-embeddings.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from smp.domain.graph import Node, NodeKind
from smp.domain.metadata import Enrichment
from smp.domain.words import split_words

NODES, CENTROIDS = "nodes", "centroids"
AHEAD_KINDS = (NodeKind.FUNCTION, NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.FILE, NodeKind.TEST)
"""Nodes that are embedded before anyone asks for them; any other when it becomes a candidate."""
TEXT_CHARS = 320
"""Of each part. The time of the model grows with the length, and what something is for stands at its beginning."""


def embedded_text(node: Node, enrichment: Enrichment | None = None) -> str:
    """Name in words, then the first paragraph of the documentation; what is undocumented shows its parameters instead.

    The whole signature would take most of the model's attention: types and punctuation blur what a function is for.
    """
    name = " ".join(split_words(node.qualname if node.qualname != node.file else node.file))
    described = enrichment.description if enrichment is not None and enrichment.description else ""
    documentation = (node.metadata.docstring or "").strip().partition("\n\n")[0]
    parameters = " ".join(word for one in node.parameters if not one.receiver for word in split_words(one.name))
    parts = [name, documentation or ("" if described else parameters), described]
    return "\n".join(part.strip()[:TEXT_CHARS] for part in parts if part.strip())


def text_hash(text: str, model: str) -> str:
    """Tells whether a stored vector still is that of a text."""
    return hashlib.sha256(f"{model}\0{text}".encode()).hexdigest()[:32]


def by_likelihood(nodes: Iterable[Node], *, tests: frozenset[str]) -> list[Node]:
    """The order to embed in: code before tests, documented before undocumented, exported before private.

    Args:
        tests: Paths of test files.
    """
    return sorted(
        nodes,
        key=lambda node: (
            node.kind is NodeKind.TEST or (node.file or "") in tests,
            node.metadata.docstring is None,
            not node.exported,
            node.kind is NodeKind.FILE,
            node.id,
        ),
    )
