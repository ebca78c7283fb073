"""Enrichments in Neo4j: properties of their node, or, while that is away and they are kept for it, a note."""

from __future__ import annotations

from collections.abc import Iterable

from neo4j import Transaction

from smp.adapters.neo4j.database import Neo4jDatabase, batches
from smp.adapters.neo4j.search import search_words
from smp.adapters.neo4j.words import added_properties
from smp.domain.ids import NodeId
from smp.domain.metadata import Enrichment
from smp.domain.packing import decode_enrichment, encode_enrichment
from smp.ports.metadata_store import MetadataStore, TextAnswer, TextQuery


class Neo4jMetadata(MetadataStore):
    """A mixin of `Neo4jGraphStore`."""

    _database: Neo4jDatabase

    def enrichments(self, ids: Iterable[NodeId]) -> dict[NodeId, Enrichment]:
        wanted = sorted(set(ids))
        query = (
            "UNWIND $ids AS id MATCH (n:SmpNode {repo: $repo, id: id}) WHERE n.enrichment IS NOT NULL "
            "RETURN id, n.enrichment AS body"
        )
        rows = self._database.read(query, ids=wanted) if wanted else []
        return dict(sorted((NodeId(row["id"]), decode_enrichment(row["body"])) for row in rows))

    def put_enrichments(self, enrichments: dict[NodeId, Enrichment]) -> None:
        def put(transaction: Transaction) -> None:
            for some in batches(enrichments.items()):
                self._put(transaction, dict(some))

        self._database.write(put)

    def _put(self, transaction: Transaction, enrichments: dict[NodeId, Enrichment]) -> None:
        repo = self._database.repository
        found = transaction.run(
            "UNWIND $ids AS id OPTIONAL MATCH (n:SmpNode {repo: $repo, id: id}) "
            "RETURN id, n IS NOT NULL AS there, n.enrichment AS body",
            repo=repo,
            ids=list(enrichments),
        )
        there = {NodeId(row["id"]): row["body"] for row in found if row["there"]}
        none, rows = Enrichment(), []
        for node_id, before in there.items():
            enrichment = enrichments[node_id]
            was = decode_enrichment(before) if before else none
            # full text is written anew only where its words have changed: it is most of what a write costs
            fresh = (was.description, was.tags) != (enrichment.description, enrichment.tags)
            words = added_properties(enrichment) if fresh else {}
            own = {"enrichment": encode_enrichment(enrichment), "manual": enrichment.manually_set}
            rows.append({"id": node_id, "new": own | words})
        transaction.run(
            "UNWIND $rows AS row MATCH (n:SmpNode {repo: $repo, id: row.id}) SET n += row.new", repo=repo, rows=rows
        ).consume()
        away = [
            {"id": node_id, "body": encode_enrichment(one)}
            for node_id, one in enrichments.items()
            if node_id not in there
        ]
        transaction.run(
            "UNWIND $rows AS row MERGE (n:SmpNote {repo: $repo, id: row.id}) SET n.body = row.body",
            repo=repo,
            rows=away,
        ).consume()

    def search(self, query: TextQuery) -> TextAnswer:
        return search_words(self._database, query)
