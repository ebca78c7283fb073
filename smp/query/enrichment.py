"""The state of metadata: what is known of each node, what has gone stale, what was added by hand.

Enrichment itself is extraction from the syntax tree and happens when a file is indexed; here the extracted metadata is
recorded as enriched, judged fresh or stale by source hash, and joined with descriptions and tags that people add.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, structs

from smp.domain.errors import DocstringExists
from smp.domain.graph import Node, NodeKind, Scope
from smp.domain.ids import FilePath, NodeId
from smp.domain.metadata import Enrichment, EnrichmentStatus
from smp.domain.queries import EnrichmentCounts, StaleNode
from smp.indexing.enrich import enrich_nodes
from smp.ports.graph_store import GraphStore
from smp.ports.metadata_store import MetadataStore

ENRICHABLE = (NodeKind.CLASS, NodeKind.FUNCTION, NodeKind.INTERFACE, NodeKind.TEST, NodeKind.VARIABLE)
"""Kinds that can carry a docstring, annotations or decorators of their own."""
ADD, REMOVE, REPLACE = "add", "remove", "replace"


class EnrichOutcome(Struct, frozen=True, kw_only=True):
    """What enriching a node did; `fresh`: nothing to do, its source has not changed."""

    status: EnrichmentStatus
    enrichment: Enrichment
    fresh: bool = False


class BatchOutcome(Struct, frozen=True, kw_only=True):
    """Counts add up to the nodes of the scope; no_metadata: their ids, sorted."""

    enriched: int
    skipped: int
    no_metadata: tuple[NodeId, ...]


def enrich(metadata: MetadataStore, nodes: Iterable[Node], *, now: str, force: bool) -> dict[NodeId, EnrichOutcome]:
    """Record the metadata of these nodes as enriched from their present source. One look-up, one write.

    Args:
        now: RFC 3339 UTC.
        force: Record again although the source has not changed.
    """
    wanted = tuple(nodes)
    stored = metadata.enrichments(node.id for node in wanted)
    rows = enrich_nodes(wanted, stored, at=now, force=force)
    if rows:
        metadata.put_enrichments(rows)
    return {
        node.id: EnrichOutcome(
            status=EnrichmentStatus.NO_METADATA if node.metadata.empty else EnrichmentStatus.ENRICHED,
            enrichment=rows.get(node.id) or stored[node.id],
            fresh=node.id not in rows,
        )
        for node in wanted
    }


def enrich_scope(graph: GraphStore, metadata: MetadataStore, scope: Scope, *, now: str, force: bool) -> BatchOutcome:
    """Enrich every node of a scope."""
    outcomes = enrich(metadata, graph.scan(scope, ENRICHABLE), now=now, force=force)
    bare = [node for node, outcome in outcomes.items() if outcome.status is EnrichmentStatus.NO_METADATA]
    rest = [outcome for outcome in outcomes.values() if outcome.status is EnrichmentStatus.ENRICHED]
    skipped = sum(outcome.fresh for outcome in rest)
    return BatchOutcome(enriched=len(rest) - skipped, skipped=skipped, no_metadata=tuple(sorted(bare)))


def stale_nodes(graph: GraphStore, metadata: MetadataStore, scope: Scope) -> tuple[StaleNode, ...]:
    """Nodes whose stored enrichment is not of their present source, by id."""
    nodes, stored = _read(graph, metadata, scope)
    return tuple(
        StaleNode(
            node_id=node.id,
            file=node.file,
            last_enriched=stored[node.id].enriched_at if node.id in stored else None,
            current_hash=node.source_hash,
            enriched_hash=(stored[node.id].source_hash or None) if node.id in stored else None,
        )
        for node in nodes
        if node.file is not None and _stale(node, stored)
    )


def count_enrichment(graph: GraphStore, metadata: MetadataStore, scope: Scope) -> EnrichmentCounts:
    """How much of a scope has metadata. A description added by hand counts as metadata."""
    nodes, stored = _read(graph, metadata, scope)
    bare = sum(node.metadata.empty and stored.get(node.id, Enrichment()).description is None for node in nodes)
    total = len(nodes)
    return EnrichmentCounts(
        total_nodes=total,
        has_docstring=sum(node.metadata.docstring is not None for node in nodes),
        has_annotations=sum(bool(node.metadata.annotations or node.metadata.returns) for node in nodes),
        has_tags=sum(bool(stored[node.id].tags) for node in nodes if node.id in stored),
        manually_annotated=sum(stored[node.id].manually_set for node in nodes if node.id in stored),
        no_metadata=bare,
        stale=sum(_stale(node, stored) for node in nodes),
        coverage_pct=round(100 * (total - bare) / total, 1) if total else 100.0,
    )


def refuse_documented(node: Node, *, force: bool) -> None:
    """Raise DocstringExists for a node that its source documents already."""
    if node.metadata.docstring is not None and not force:
        raise DocstringExists(node.id)


def annotate(
    metadata: MetadataStore, node: Node, *, description: str, tags: tuple[str, ...], force: bool, now: str
) -> Enrichment:
    """Describe a node by hand; tags are added to those it has.

    Raises:
        DocstringExists: The source documents it already and `force` is not set. The docstring is kept either way.
    """
    refuse_documented(node, force=force)
    before = metadata.enrichments((node.id,)).get(node.id, Enrichment())
    after = structs.replace(
        before,
        description=description,
        tags=tuple(sorted({*before.tags, *tags})),
        manually_set=True,
        annotated_at=now,
    )
    metadata.put_enrichments({node.id: after})
    return after


def files_of(graph: GraphStore, scope: Scope) -> tuple[FilePath, ...]:
    """Files that have a node in a scope which can be tagged, sorted."""
    return tuple(sorted({node.file for node in graph.scan(scope, ENRICHABLE) if node.file is not None}))


def tag_scope(graph: GraphStore, metadata: MetadataStore, scope: Scope, *, tags: tuple[str, ...], action: str) -> int:
    """Add, remove or replace tags on every node of a scope.

    Returns:
        Number of nodes whose tags changed.
    """
    nodes = tuple(graph.scan(scope, ENRICHABLE))
    stored = metadata.enrichments(node.id for node in nodes)
    changed: dict[NodeId, Enrichment] = {}
    for node in nodes:
        before = stored.get(node.id, Enrichment())
        after = tuple(sorted(_retag(frozenset(before.tags), frozenset(tags), action)))
        if after != before.tags:
            changed[node.id] = structs.replace(before, tags=after)
    if changed:
        metadata.put_enrichments(changed)
    return len(changed)


def _retag(before: frozenset[str], tags: frozenset[str], action: str) -> frozenset[str]:
    if action == REPLACE:
        return tags
    return before | tags if action == ADD else before - tags


def _read(
    graph: GraphStore, metadata: MetadataStore, scope: Scope
) -> tuple[tuple[Node, ...], Mapping[NodeId, Enrichment]]:
    nodes = tuple(sorted(graph.scan(scope, ENRICHABLE), key=lambda node: node.id))
    return nodes, metadata.enrichments(node.id for node in nodes)


def _stale(node: Node, stored: Mapping[NodeId, Enrichment]) -> bool:
    """A node that was only tagged or described was never enriched: that is stale, too."""
    enrichment = stored.get(node.id)
    return enrichment is None or enrichment.source_hash != node.source_hash
