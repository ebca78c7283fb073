"""The full-text index: what words a node has, and BM25 over them (FTS5).

Words are split before they are stored and before they are asked for (`domain.words`), so that `parseHeader` and
`parse_header` meet. A row of `words` has the key of its node; the words of a body come with the node and stay until it
changes.
"""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from smp.adapters.graph_sqlite.held import Held
from smp.adapters.graph_sqlite.rows import chunks, scope_condition
from smp.domain.graph import Node
from smp.domain.ids import NodeId
from smp.domain.metadata import Enrichment
from smp.domain.packing import decode_enrichment
from smp.domain.words import indexed_words, split_words
from smp.ports.metadata_store import TEXT_FIELDS, TextAnswer, TextMatch, TextQuery

_MARK = "\x01"
_COLUMNS = ", ".join(TEXT_FIELDS)
_MARKS = ", ".join("?" * (len(TEXT_FIELDS) + 1))
WORDS_SCHEMA = (
    f"CREATE VIRTUAL TABLE words USING fts5 ({_COLUMNS}, tokenize = 'unicode61')",
    "CREATE VIRTUAL TABLE words_known USING fts5vocab (words, row)",
)


def put_words(
    connection: sqlite3.Connection,
    nodes: Iterable[tuple[int, Node]],
    *,
    bodies: Mapping[NodeId, str] | None = None,
    new: bool = False,
) -> None:
    """Index these nodes (key, node), with what their enrichments add.

    Args:
        bodies: Words of their bodies, split; None keeps what is stored.
        new: The keys have never been in the index.
    """
    everything = list(nodes)
    added: dict[str, Enrichment] = {}
    for marks, ids in chunks(node.id for _, node in everything):
        rows = connection.execute(f"SELECT node_id, body FROM enrichment WHERE node_id IN ({marks})", ids)
        added.update((row[0], decode_enrichment(row[1])) for row in rows)
    kept: dict[int, str] = {}
    if bodies is None:
        for marks, keys in chunks(key for key, _ in everything):
            kept.update(connection.execute(f"SELECT rowid, body FROM words WHERE rowid IN ({marks})", keys).fetchall())
    if not new:
        drop_words(connection, [key for key, _ in everything])
    none = Enrichment()
    connection.executemany(
        f"INSERT INTO words (rowid, {_COLUMNS}) VALUES ({_MARKS})",
        [
            (
                key,
                *indexed_words(
                    node, added.get(node.id, none), kept.get(key, "") if bodies is None else bodies.get(node.id, "")
                ),
            )
            for key, node in everything
        ],
    )


def wordless(connection: sqlite3.Connection, keys: Iterable[int]) -> set[int]:
    """Those of these nodes that the index lacks: all of them, after it was made anew for other columns."""
    wanted = set(keys)
    for marks, part in chunks(wanted):
        wanted -= {
            int(row[0]) for row in connection.execute(f"SELECT id FROM words_docsize WHERE id IN ({marks})", part)
        }
    return wanted


def drop_words(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Forget these nodes."""
    connection.executemany("DELETE FROM words WHERE rowid = ?", [(key,) for key in keys])


def search_words(connection: sqlite3.Connection, held: Held, query: TextQuery) -> TextAnswer:
    """The answer to a query; nothing when it holds no word or names no field.

    Args:
        held: Of the file's present state.
    """
    words = list(dict.fromkeys(split_words(query.text)))
    if query.match == "any":
        words = _telling(connection, words, query.postings)
    fields = [field for field in TEXT_FIELDS if field in query.fields]
    if not words or not fields:
        return TextAnswer(matches=(), total=0)
    operator = " AND " if query.match == "all" else " OR "
    expression = "{" + " ".join(fields) + "} : (" + operator.join(f'"{word}"' for word in words) + ")"
    total, best = (_best if query.brief else _counted)(connection, expression, query)
    keys = [key for key, _ in best]
    matched = {} if query.brief else _matched(connection, expression, fields, words, keys)
    details = _details(connection, held, matched, keys)
    matches = tuple(
        TextMatch(node=details[key][0], enrichment=details[key][1], bm25=float(score), matched_on=details[key][2])
        for key, score in best
        if key in details
    )
    return TextAnswer(matches=matches, total=len(matches) if total is None else total)


def _telling(connection: sqlite3.Connection, words: list[str], postings: int) -> list[str]:
    """The rarest of the words that the bound leaves, in their order; words that no node has are left out with them."""
    if not postings or not words:
        return words
    marks = ",".join("?" * len(words))
    known = connection.execute(f"SELECT doc, term FROM words_known WHERE term IN ({marks})", words).fetchall()
    taken: set[str] = set()
    for count, word in sorted(known):
        postings -= count
        if postings < 0 and taken:
            break
        taken.add(word)
    return [word for word in words if word in taken]


def _score(query: TextQuery) -> str:
    weights = ", ".join(str(float(query.weights.get(field, 1.0))) for field in TEXT_FIELDS)
    return f"-bm25(words, {weights})"


def _counted(
    connection: sqlite3.Connection, expression: str, query: TextQuery
) -> tuple[int | None, list[tuple[int, float]]]:
    where, parameters = _conditions(query)
    if not parameters:
        found = connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", [expression]).fetchone()
        return int(found[0]), _best(connection, expression, query)[1]
    tables = "FROM words JOIN node ON node.key = words.rowid WHERE words MATCH ? AND " + where
    total = int(connection.execute(f"SELECT count(*) {tables}", [expression, *parameters]).fetchone()[0])
    best = connection.execute(
        f"SELECT words.rowid, {_score(query)} AS score {tables} ORDER BY score DESC, node.id LIMIT ?",
        [expression, *parameters, query.limit],
    ).fetchall()
    return total, best


def _best(
    connection: sqlite3.Connection, expression: str, query: TextQuery
) -> tuple[int | None, list[tuple[int, float]]]:
    """The best without their number: the index alone ranks, and only what is near the top is looked up to be filtered."""
    where, parameters = _conditions(query)
    ranked = f"SELECT rowid, {_score(query)} AS score FROM words WHERE words MATCH ? ORDER BY score DESC LIMIT ?"
    asked = query.limit + query.limit // 2
    while True:
        rows = connection.execute(ranked, [expression, asked]).fetchall()
        ids: dict[int, str] = {}
        for marks, keys in chunks((row[0] for row in rows), fixed=len(parameters)):
            fitting = f"SELECT key, id FROM node WHERE {where} AND key IN ({marks})"
            ids.update(connection.execute(fitting, [*parameters, *keys]).fetchall())
        best = sorted((-score, ids[key], key) for key, score in rows if key in ids)[: query.limit]
        # what ties with the last row may lie beyond it, with a smaller id
        if len(rows) < asked or (len(best) == query.limit and -best[-1][0] > rows[-1][1]):
            return None, [(key, -score) for score, _, key in best]
        asked *= 8


def _matched(
    connection: sqlite3.Connection, expression: str, fields: Sequence[str], words: Iterable[str], keys: list[int]
) -> dict[int, tuple[str, ...]]:
    """Which fields of these rows hold a word.

    Words are stored apart, so that looking is enough. What FTS5 may fold (accents) it is asked to mark itself, which means to
    look all matches up once more.
    """
    wanted = frozenset(words)
    matched: dict[int, tuple[str, ...]] = {}
    folded = list(keys)
    if all(map(str.isascii, wanted)):
        folded = []
        for marks, part in chunks(keys):
            rows = connection.execute(f"SELECT rowid, {', '.join(fields)} FROM words WHERE rowid IN ({marks})", part)
            for key, *texts in rows:
                if not all(map(str.isascii, texts)):
                    folded.append(key)
                held = (field for field, text in zip(fields, texts, strict=True) if not wanted.isdisjoint(text.split()))
                matched[key] = tuple(sorted(held))
    marked = "".join(f", highlight(words, {TEXT_FIELDS.index(field)}, '{_MARK}', '')" for field in fields)
    for marks, part in chunks(folded, fixed=1):
        # the plus keeps SQLite from asking the index once for each row
        rows = connection.execute(
            f"SELECT rowid{marked} FROM words WHERE words MATCH ? AND +rowid IN ({marks})", [expression, *part]
        )
        for key, *texts in rows:
            matched[key] = tuple(sorted(field for field, text in zip(fields, texts, strict=True) if _MARK in text))
    return matched


def _details(
    connection: sqlite3.Connection, held: Held, matched: Mapping[int, tuple[str, ...]], keys: list[int]
) -> dict[int, tuple[Node, Enrichment, tuple[str, ...]]]:
    nodes = dict(held.nodes_at(connection, keys))
    added: dict[str, Enrichment] = {}
    for marks, part in chunks(node.id for node in nodes.values()):
        rows = connection.execute(f"SELECT node_id, body FROM enrichment WHERE node_id IN ({marks})", part)
        added.update((row[0], decode_enrichment(row[1])) for row in rows)
    none = Enrichment()
    return {key: (node, added.get(node.id, none), matched.get(key, ())) for key, node in nodes.items()}


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
