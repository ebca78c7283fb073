"""Enrichment rows: from which source, and when, a node's metadata was read.

The metadata itself is part of the node; the row remembers the source hash it was made from, so that a node whose code
has moved on shows as stale until it is enriched again. What people added (description, tags) is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from smp.domain.graph import Node
from smp.domain.ids import NodeId
from smp.domain.metadata import Enrichment, EnrichmentStatus


def enrich_nodes(
    nodes: Iterable[Node], known: Mapping[NodeId, Enrichment], *, at: str, force: bool = False
) -> dict[NodeId, Enrichment]:
    """Rows to write: for nodes without one, or whose source has changed, or all of them.

    Args:
        known: Stored rows of these nodes.
        at: RFC 3339 time that the new rows carry.
        force: Also nodes whose row is up to date.
    """
    rows: dict[NodeId, Enrichment] = {}
    for node in nodes:
        old = known.get(node.id, Enrichment())
        if force or old.enriched_at is None or old.source_hash != node.source_hash:
            rows[node.id] = msgspec.structs.replace(old, source_hash=node.source_hash, enriched_at=at)
    return rows


def enrichment_status(node: Node, enrichment: Enrichment | None) -> EnrichmentStatus:
    """Stale wins over everything; a node with nothing extracted and nothing added has no metadata."""
    if enrichment is None or enrichment.enriched_at is None or enrichment.source_hash != node.source_hash:
        return EnrichmentStatus.STALE
    if node.metadata.empty and not enrichment.description and not enrichment.tags:
        return EnrichmentStatus.NO_METADATA
    return EnrichmentStatus.ENRICHED
