"""Full-text search: `smp_fulltext` finds and ranks roughly, BM25 as the embedded profile computes it ranks what is left.

Lucene scores each field apart and counts words over all repositories. So that equal graphs give equal answers in both
profiles, and no repository's words move another's ranks, the candidates are scored again: FTS5's BM25 over the whole row,
with weights, from counts of this repository alone. Beyond `CANDIDATES` hits Lucene's order decides who is a candidate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from smp.adapters.neo4j.database import Neo4jDatabase
from smp.adapters.neo4j.rows import placed, within
from smp.adapters.neo4j.schema import FULLTEXT, TEXT_PROPERTIES
from smp.adapters.neo4j.words import ADDED_WORDS, OWN_WORDS
from smp.domain.metadata import Enrichment
from smp.domain.packing import decode_enrichment, decode_node
from smp.domain.words import split_words
from smp.ports.metadata_store import TEXT_FIELDS, TextAnswer, TextMatch, TextQuery

CANDIDATES = 400
"""At least so many hits are scored; more where more are asked for."""
MOST_WORDS = 200
"""Of one query; Lucene takes a bounded number of clauses. Later ones are left out."""
K1, B = 1.2, 0.75
SMALLEST_IDF = 1e-6
_HITS = "CALL db.index.fulltext.queryNodes($index, $query, $options) YIELD node AS n, score WITH n, score WHERE n.repo = $repo"


def search_words(database: Neo4jDatabase, query: TextQuery) -> TextAnswer:
    """The answer to a query; nothing when it holds no word or names no field."""
    fields = [field for field in TEXT_FIELDS if field in query.fields]
    words = list(dict.fromkeys(split_words(query.text)))[:MOST_WORDS]
    held = database.held()
    if query.match == "any" and query.postings:
        words = _telling(database, held, words, query.postings)
    if not words or not fields:
        return TextAnswer(matches=(), total=0)
    expression = _expression(database.repository, words, fields, query)
    condition, parameters = _condition(query)
    candidates = max(CANDIDATES, 4 * query.limit)
    ask: dict[str, Any] = {"index": FULLTEXT, "query": expression, "options": {}, **parameters}
    total = None
    if not query.brief:
        counted = database.read(f"{_HITS} AND {condition} RETURN count(n) AS number", **ask)
        total = int(counted[0]["number"])
    texts = ", ".join(f"n.{TEXT_PROPERTIES[field]} AS {field}" for field in fields)
    length = f"n.{OWN_WORDS} + n.{ADDED_WORDS} AS length"
    # repository and kinds are part of what Lucene is asked: where nothing else chooses, it need not bring more than these
    options = {"limit": candidates} if condition == "true" else {}
    rows = database.read(
        f"{_HITS} AND {condition} WITH n, score ORDER BY score DESC, n.id LIMIT $candidates "
        f"RETURN n.body AS node, n.enrichment AS added, {length}, {texts}",
        **(ask | {"candidates": candidates, "options": options}),
    )
    rarity = _rarity(database, held, words, fields)
    average = _size(database, held)[1]
    wanted, found = frozenset(words), []
    for row in rows:
        counts = {field: _occurrences(row[field], wanted) for field in fields}
        score = _bm25(counts, words, query.weights, rarity, row["length"] / average)
        node = decode_node(row["node"])
        matched = () if query.brief else tuple(sorted(field for field, held in counts.items() if held))
        added = decode_enrichment(row["added"]) if row["added"] else Enrichment()
        found.append(TextMatch(node=node, enrichment=added, bm25=score, matched_on=matched))
    found.sort(key=lambda match: (-match.bm25, match.node.id))
    best = tuple(found[: query.limit])
    return TextAnswer(matches=best, total=len(best) if total is None else total)


def _expression(repository: str, words: Sequence[str], fields: Sequence[str], query: TextQuery) -> str:
    """What Lucene is asked. Words are letters and digits (`domain.words`) and come in quotes: none is an operator."""
    weights = {field: float(query.weights.get(field, 1.0)) for field in fields}
    each = [
        "(" + " ".join(f'{TEXT_PROPERTIES[field]}:"{word}"^{weights[field]}' for field in fields) + ")"
        for word in words
    ]
    wanted = " ".join(f"+{one}" for one in each) if query.match == "all" else f"+({' '.join(each)})"
    kinds = " ".join(f"kind:{kind.value}" for kind in query.node_types)
    return f'+(repo:"{repository}")^0 {wanted}' + (f" +({kinds})^0" if kinds else "")


def _condition(query: TextQuery) -> tuple[str, dict[str, object]]:
    condition = placed(query.scope, "n")
    if query.tags:
        condition += " AND all(tag IN $tags WHERE tag IN coalesce(n.tags, []))"
    return condition, {"tags": list(query.tags), **within(query.scope)}


def _holding(
    database: Neo4jDatabase, held: dict[Any, Any], words: Sequence[str], fields: Sequence[str]
) -> dict[str, int]:
    """In how many nodes of the repository a word is, in any of these fields."""
    key = tuple(fields)
    missing = [word for word in words if ("holding", key, word) not in held]
    if missing:
        properties = [TEXT_PROPERTIES[field] for field in fields]
        asked = [
            {
                "word": word,
                "query": f'+repo:"{database.repository}" +({" ".join(f"{one}:{chr(34)}{word}{chr(34)}" for one in properties)})',
            }
            for word in missing
        ]
        rows = database.read(
            "UNWIND $asked AS one CALL (one) { "
            "CALL db.index.fulltext.queryNodes($index, one.query) YIELD node RETURN count(node) AS number } "
            "RETURN one.word AS word, number",
            index=FULLTEXT,
            asked=asked,
        )
        held.update({("holding", key, row["word"]): int(row["number"]) for row in rows})
    return {word: held["holding", key, word] for word in words}


def _telling(database: Neo4jDatabase, held: dict[Any, Any], words: list[str], postings: int) -> list[str]:
    """The rarest of the words that the bound leaves, in their order; words that no node has are left out with them."""
    holding = _holding(database, held, words, TEXT_FIELDS)
    taken: set[str] = set()
    for count, word in sorted((holding[word], word) for word in words if holding[word]):
        postings -= count
        if postings < 0 and taken:
            break
        taken.add(word)
    return [word for word in words if word in taken]


def _size(database: Neo4jDatabase, held: dict[Any, Any]) -> tuple[int, float]:
    """Nodes of the repository, and words of one on average."""
    if "words" not in held:
        query = f"MATCH (n:SmpNode) WHERE n.repo = $repo RETURN count(n) AS nodes, sum(n.{OWN_WORDS} + n.{ADDED_WORDS}) AS words"
        row = database.read(query)[0]
        held["words"] = (int(row["nodes"]), max(row["words"], 1) / max(row["nodes"], 1))
    size: tuple[int, float] = held["words"]
    return size


def _rarity(
    database: Neo4jDatabase, held: dict[Any, Any], words: Sequence[str], fields: Sequence[str]
) -> dict[str, float]:
    """Inverse document frequency, with FTS5's floor."""
    nodes = _size(database, held)[0]
    holding = _holding(database, held, words, fields)
    return {word: max(math.log((nodes - holding[word] + 0.5) / (holding[word] + 0.5)), SMALLEST_IDF) for word in words}


def _bm25(
    counts: Mapping[str, Mapping[str, int]],
    words: Sequence[str],
    weights: Mapping[str, float],
    rarity: Mapping[str, float],
    length: float,
) -> float:
    """Okapi BM25 as FTS5 has it: a word counts by the weights of the fields that it is in.

    Args:
        counts: How often a word is in a field. length: of the node, in average ones.
    """
    score = 0.0
    for word in words:
        often = sum(weights.get(field, 1.0) * held[word] for field, held in counts.items() if word in held)
        if often:
            score += rarity[word] * often * (K1 + 1) / (often + K1 * (1 - B + B * length))
    return score


def _occurrences(text: str | None, wanted: frozenset[str]) -> dict[str, int]:
    """How often each of the wanted words is in a text, those that are not left out."""
    return Counter(word for word in text.split() if word in wanted) if text else {}
