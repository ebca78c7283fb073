"""Enrichments and full-text search in SQLite."""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

from collections.abc import Iterable

from smp.adapters.graph_sqlite.held import Holding
from smp.adapters.graph_sqlite.rows import chunks
from smp.adapters.graph_sqlite.words import put_words, search_words
from smp.domain.ids import NodeId
from smp.domain.metadata import Enrichment
from smp.domain.packing import decode_enrichment, decode_node, encode_enrichment
from smp.ports.metadata_store import MetadataStore, TextAnswer, TextQuery


class SqliteMetadata(Holding, MetadataStore):
    """A mixin of `SqliteGraphStore`."""

    def enrichments(self, ids: Iterable[NodeId]) -> dict[NodeId, Enrichment]:
        held, wanted = self._held(), dict.fromkeys(ids)
        known = held.enrichments
        found: dict[NodeId, Enrichment | None] = {node_id: known[node_id] for node_id in wanted if node_id in known}
        missing = [node_id for node_id in wanted if node_id not in found]
        if missing:
            read: dict[NodeId, Enrichment | None] = dict.fromkeys(missing)
            with self._database.reading() as connection:
                for marks, part in chunks(missing):
                    rows = connection.execute(
                        "SELECT node_id, enrichment.body FROM enrichment JOIN node ON node.id = enrichment.node_id "
                        f"WHERE node_id IN ({marks})",
                        part,
                    )
                    read.update((NodeId(row[0]), decode_enrichment(row[1])) for row in rows)
            held.keep_enrichments(read)
            found |= read
        return {node_id: one for node_id in sorted(found) if (one := found[node_id]) is not None}

    def put_enrichments(self, enrichments: dict[NodeId, Enrichment]) -> None:
        with self._database.writing() as connection:
            before: dict[str, Enrichment] = {}
            for marks, part in chunks(enrichments):
                rows = connection.execute(f"SELECT node_id, body FROM enrichment WHERE node_id IN ({marks})", part)
                before.update((row[0], decode_enrichment(row[1])) for row in rows)
            none = Enrichment()
            changed = {
                node_id: enrichment
                for node_id, enrichment in enrichments.items()
                if _words(before.get(node_id, none)) != _words(enrichment)
            }
            connection.executemany(
                "INSERT OR REPLACE INTO enrichment (node_id, manually_set, body) VALUES (?, ?, ?)",
                [
                    (node_id, int(value.manually_set), encode_enrichment(value))
                    for node_id, value in enrichments.items()
                ],
            )
            connection.executemany("DELETE FROM tag WHERE node_id = ?", [(node_id,) for node_id in changed])
            connection.executemany(
                "INSERT OR IGNORE INTO tag (node_id, tag) VALUES (?, ?)",
                [(node_id, tag) for node_id, enrichment in changed.items() for tag in enrichment.tags],
            )
            for marks, part in chunks(changed):
                rows = connection.execute(f"SELECT key, body FROM node WHERE id IN ({marks})", part)
                put_words(connection, [(int(row[0]), decode_node(row[1])) for row in rows.fetchall()])

    def search(self, query: TextQuery) -> TextAnswer:
        held = self._held()
        with self._database.reading() as connection:
            return search_words(connection, held, query)


def _words(enrichment: Enrichment) -> tuple[str | None, tuple[str, ...]]:
    """What of an enrichment the full-text index and the table of tags hold."""
    return enrichment.description, enrichment.tags
