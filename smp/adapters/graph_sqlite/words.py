"""The full-text index: what words a node has, and BM25 over them (FTS5).

Words are split before they are stored and before they are asked for (`domain.words`), so that `parseHeader` and
`parse_header` meet. A row of `words` has the key of its node.
"""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from smp.adapters.graph_sqlite.rows import chunks, decode_enrichment, decode_node, scope_condition
from smp.domain.graph import Node
from smp.domain.metadata import Enrichment
from smp.domain.words import split_words
from smp.ports.metadata_store import TextAnswer, TextMatch, TextQuery

FIELDS = ("docstring", "description", "tags", "code")
_MARK = "\x01"


def put_words(connection: sqlite3.Connection, nodes: Iterable[tuple[int, Node]], *, new: bool = False) -> None:
    """Index these nodes (key, node), with what their enrichments add.

    Args:
        new: The keys have never been in the index.
    """
    everything = list(nodes)
    added: dict[str, Enrichment] = {}
    for marks, ids in chunks(node.id for _, node in everything):
        rows = connection.execute(f"SELECT node_id, body FROM enrichment WHERE node_id IN ({marks})", ids)
        added.update((row[0], decode_enrichment(row[1])) for row in rows)
    if not new:
        drop_words(connection, [key for key, _ in everything])
    none = Enrichment()
    connection.executemany(
        "INSERT INTO words (rowid, docstring, description, tags, code) VALUES (?, ?, ?, ?, ?)",
        [(key, *_columns(node, added.get(node.id, none))) for key, node in everything],
    )


def drop_words(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Forget these nodes."""
    connection.executemany("DELETE FROM words WHERE rowid = ?", [(key,) for key in keys])


def search_words(connection: sqlite3.Connection, query: TextQuery) -> TextAnswer:
    """The answer to a query; nothing when it holds no word or names no field."""
    words = list(dict.fromkeys(split_words(query.text)))
    fields = [field for field in FIELDS if field in query.fields]
    if not words or not fields:
        return TextAnswer(matches=(), total=0)
    operator = " AND " if query.match == "all" else " OR "
    expression = "{" + " ".join(fields) + "} : (" + operator.join(f'"{word}"' for word in words) + ")"
    where, parameters = _conditions(query)
    tables = "FROM words JOIN node ON node.key = words.rowid WHERE words MATCH ? AND " + where
    total = int(connection.execute(f"SELECT count(*) {tables}", [expression, *parameters]).fetchone()[0])
    best = connection.execute(
        f"SELECT words.rowid, -bm25(words) AS score {tables} ORDER BY score DESC, node.id LIMIT ?",
        [expression, *parameters, query.limit],
    ).fetchall()
    # only the rows that are shown are marked: highlighting costs far more than ranking
    details = _details(connection, expression, fields, [row[0] for row in best])
    matches = tuple(
        TextMatch(node=details[key][0], enrichment=details[key][1], bm25=float(score), matched_on=details[key][2])
        for key, score in best
    )
    return TextAnswer(matches=matches, total=total)


def _details(
    connection: sqlite3.Connection, expression: str, fields: list[str], keys: list[int]
) -> dict[int, tuple[Node, Enrichment, tuple[str, ...]]]:
    marked = ", ".join(f"highlight(words, {FIELDS.index(field)}, '{_MARK}', '')" for field in fields)
    found: dict[int, tuple[Node, Enrichment, tuple[str, ...]]] = {}
    for marks, part in chunks(keys, fixed=1):
        rows = connection.execute(
            f"SELECT words.rowid, node.body, enrichment.body, {marked} FROM words "
            "JOIN node ON node.key = words.rowid LEFT JOIN enrichment ON enrichment.node_id = node.id "
            f"WHERE words MATCH ? AND words.rowid IN ({marks})",
            [expression, *part],
        )
        for key, node, enrichment, *texts in rows:
            matched = tuple(sorted(field for field, text in zip(fields, texts, strict=True) if _MARK in text))
            added = decode_enrichment(enrichment) if enrichment is not None else Enrichment()
            found[key] = (decode_node(node), added, matched)
    return found


def _columns(node: Node, enrichment: Enrichment) -> tuple[str, str, str, str]:
    code = [node.name if node.file is None or node.qualname == node.file else node.qualname]
    code += [node.signature or "", node.file or ""]
    texts = (node.metadata.docstring or "", enrichment.description or "", " ".join(enrichment.tags), " ".join(code))
    docstring, description, tags, names = (" ".join(split_words(text)) for text in texts)
    return docstring, description, tags, names


def _conditions(query: TextQuery) -> tuple[str, list[object]]:
    condition, parameters = scope_condition(query.scope, "node.place")
    parts = [condition]
    if query.node_types:
        parts.append(f"node.kind IN ({','.join('?' * len(query.node_types))})")
        parameters += [kind.value for kind in query.node_types]
    for tag in dict.fromkeys(query.tags):
        parts.append("node.id IN (SELECT node_id FROM tag WHERE tag = ?)")
        parameters.append(tag)
    return " AND ".join(parts), parameters
