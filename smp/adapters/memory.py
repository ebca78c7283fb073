"""Ports in memory: the reference of the contract suites, for unit tests only.

`MemoryStore` is graph, metadata, index cache and telemetry in one, as the SQLite store is; `MemoryVectorIndex` the vector
index. Not thread-safe beyond one lock around transactions; nothing is kept when the process ends.
"""

from __future__ import annotations

import abc
import copy
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec
import numpy as np

from smp.domain.errors import Invalid
from smp.domain.graph import (
    DeltaCounts,
    Direction,
    Edge,
    EdgeKind,
    GraphDelta,
    Node,
    NodeKind,
    Owner,
    Scope,
    Scores,
    Walked,
)
from smp.domain.ids import ContentHash, FilePath, NodeId, mint_node_id
from smp.domain.metadata import Enrichment
from smp.domain.places import edge_order, in_scope, place_of
from smp.domain.telemetry import NodeChange
from smp.domain.traversal import reach, seeds_of
from smp.domain.words import split_words
from smp.ports.graph_store import GraphStore
from smp.ports.index_cache import IndexCache
from smp.ports.metadata_store import MetadataStore, TextAnswer, TextMatch, TextQuery
from smp.ports.telemetry_store import TelemetryStore
from smp.ports.vector_index import Match, Matrix, Vector, VectorIndex

_PATH_KINDS = (NodeKind.FILE, NodeKind.CONFIG, NodeKind.TEST, NodeKind.PACKAGE, NodeKind.REPOSITORY)
EdgeKey = tuple[str, str, str, str, str, str]


class MemoryGraph(GraphStore):
    """A mixin of `MemoryStore`."""

    _nodes: dict[NodeId, tuple[Owner, Node]]
    _edges: dict[Owner, dict[EdgeKey, Edge]]
    _observed: dict[EdgeKey, Edge]
    _scores: dict[NodeId, Scores]
    _bodies: dict[NodeId, str]

    def apply(self, delta: GraphDelta) -> DeltaCounts:
        before = {node_id: node for node_id, (_, node) in self._nodes.items()}
        edges_before = self._all_edges()
        for owner in delta.removed:
            self._drop_owner(owner)
            self._edges.pop(owner, None)
        for part in delta.parts:
            if part.nodes is not None:
                self._drop_owner(part.owner)
                self._nodes.update((node.id, (part.owner, node)) for node in part.nodes)
                self._bodies.update((node.id, part.bodies.get(node.id, "")) for node in part.nodes)
            static = [edge for edge in part.edges if edge.kind is not EdgeKind.CALLS_RUNTIME]
            self._edges[part.owner] = {edge_order(edge): edge for edge in static}
        for edges in (*self._edges.values(), self._observed):
            for key in [key for key, edge in edges.items() if not self._whole(edge)]:
                del edges[key]
        changed = {one for one, node in before.items() if one in self._nodes and self._is_other_text(node)}
        for key in [key for key, edge in self._observed.items() if {edge.source, edge.target} & changed]:
            del self._observed[key]
        self._scores = {node_id: score for node_id, score in self._scores.items() if node_id in self._nodes}
        self._forget_enrichments([node_id for node_id in before if node_id not in self._nodes])
        edges_after = self._all_edges()
        return DeltaCounts(
            nodes_added=sum(node_id not in before for node_id in self._nodes),
            nodes_updated=sum(before.get(node_id, node) != node for node_id, (_, node) in self._nodes.items()),
            nodes_removed=sum(node_id not in self._nodes for node_id in before),
            relationships_updated=sum(
                edges_before.get(key) != edges_after.get(key) for key in edges_before.keys() | edges_after.keys()
            ),
        )

    @abc.abstractmethod
    def _forget_enrichments(self, gone: list[NodeId]) -> None: ...

    def _drop_owner(self, owner: Owner) -> None:
        for node_id in [node_id for node_id, (other, _) in self._nodes.items() if other == owner]:
            del self._nodes[node_id]

    def _is_other_text(self, before: Node) -> bool:
        return self._nodes[before.id][1].source_hash != before.source_hash

    def _whole(self, edge: Edge) -> bool:
        if edge.source not in self._nodes:
            return False
        return edge.kind is EdgeKind.CALLS_UNRESOLVED or edge.target in self._nodes

    def _all_edges(self) -> dict[EdgeKey, Edge]:
        return {key: edge for edges in (*self._edges.values(), self._observed) for key, edge in edges.items()}

    def nodes(self, ids: Iterable[NodeId]) -> tuple[Node, ...]:
        return tuple(self._nodes[node_id][1] for node_id in sorted(set(ids)) if node_id in self._nodes)

    def find(self, name: str) -> tuple[Node, ...]:
        for node_id in (NodeId(name), *(mint_node_id(kind.value.lower(), name) for kind in _PATH_KINDS)):
            if node_id in self._nodes:
                return self.nodes([node_id])
        path, _, qualname = name.partition("#")
        everything = list(self.scan(Scope()))
        if qualname:
            return tuple(n for n in everything if place_of(n) == path and n.qualname == qualname)[:100]
        qualified = tuple(node for node in everything if node.qualname == name)
        if len(qualified) == 1:
            return qualified
        return tuple(node for node in everything if name in (node.qualname, node.name))[:100]

    def scan(self, scope: Scope, kinds: tuple[NodeKind, ...] = ()) -> Iterator[Node]:
        for node in self.nodes(list(self._nodes)):
            if in_scope(place_of(node), scope) and (not kinds or node.kind in kinds):
                yield node

    def edges(
        self, ids: Iterable[NodeId], *, kinds: tuple[EdgeKind, ...] = (), direction: Direction = Direction.OUTGOING
    ) -> tuple[Edge, ...]:
        wanted = set(ids)
        leaving = direction in (Direction.OUTGOING, Direction.BOTH)
        entering = direction in (Direction.INCOMING, Direction.BOTH)
        return tuple(
            edge
            for _, edge in sorted(self._all_edges().items())
            if (not kinds or edge.kind in kinds)
            and ((leaving and edge.source in wanted) or (entering and edge.target in wanted))
        )

    def scan_edges(self, scope: Scope, kinds: tuple[EdgeKind, ...] = ()) -> Iterator[Edge]:
        for _, edge in sorted(self._all_edges().items()):
            if (not kinds or edge.kind in kinds) and in_scope(place_of(self._nodes[edge.source][1]), scope):
                yield edge

    def walk(
        self,
        seeds: Iterable[NodeId],
        *,
        hops: int,
        kinds: tuple[EdgeKind, ...],
        direction: Direction,
        limit: int = 10_000,
    ) -> tuple[Walked, ...]:
        origin = sorted({seed for seed in seeds if seed in self._nodes})

        def neighbours(ids: list[NodeId]) -> Mapping[NodeId, list[NodeId]]:
            near: dict[NodeId, list[NodeId]] = {}
            for edge in self.edges(ids, kinds=kinds, direction=direction):
                if edge.target is not None:
                    if direction is not Direction.INCOMING:
                        near.setdefault(edge.source, []).append(edge.target)
                    if direction is not Direction.OUTGOING:
                        near.setdefault(edge.target, []).append(edge.source)
            return near

        found = reach(origin, hops=hops, neighbours=neighbours)
        nearest = sorted(found.hops, key=lambda node_id: (found.hops[node_id], node_id))[:limit]
        return tuple(
            Walked(node=self._nodes[one][1], hop=found.hops[one], seeds=seeds_of(found.seeds[one], origin))
            for one in nearest
        )

    def observe_calls(self, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        fresh: dict[EdgeKey, Edge] = {}
        for edge in edges:
            if edge.source not in self._nodes or edge.target not in self._nodes:
                continue
            key = edge_order(edge)
            known = self._observed.get(key)
            if known is None:
                fresh[key] = edge
                self._observed[key] = edge
            else:
                total = known.call_count + edge.call_count
                self._observed[key] = msgspec.structs.replace(known, call_count=total)
        return tuple(fresh[key] for key in sorted(fresh))

    def put_scores(self, scores: dict[NodeId, Scores]) -> None:
        self._scores = {node_id: score for node_id, score in scores.items() if node_id in self._nodes}

    def scores(self, ids: Iterable[NodeId]) -> dict[NodeId, Scores]:
        return {node_id: self._scores[node_id] for node_id in sorted(set(ids)) if node_id in self._scores}


class MemoryStore(MemoryGraph, MetadataStore, IndexCache, TelemetryStore):
    """Graph, metadata, index cache and telemetry."""

    def __init__(self) -> None:
        self._nodes = {}
        self._edges = {}
        self._observed = {}
        self._scores = {}
        self._enrichments: dict[NodeId, Enrichment] = {}
        self._hashes: dict[FilePath, ContentHash] = {}
        self._blobs: dict[str, dict[str, bytes]] = {}
        self._changes: dict[tuple[str, str, str], NodeChange] = {}
        self._bodies: dict[NodeId, str] = {}
        self._depth = 0

    def transaction(self) -> _Transaction:
        return _Transaction(self)

    def _forget_enrichments(self, gone: list[NodeId]) -> None:
        for node_id in gone:
            if node_id in self._enrichments and not self._enrichments[node_id].manually_set:
                del self._enrichments[node_id]

    def enrichments(self, ids: Iterable[NodeId]) -> dict[NodeId, Enrichment]:
        return {
            one: self._enrichments[one] for one in sorted(set(ids)) if one in self._enrichments and one in self._nodes
        }

    def put_enrichments(self, enrichments: dict[NodeId, Enrichment]) -> None:
        self._enrichments.update(enrichments)

    def search(self, query: TextQuery) -> TextAnswer:
        texts = {node.id: self._texts(node, query.fields) for node in self.scan(Scope())}
        wanted = list(dict.fromkeys(split_words(query.text)))
        if query.match == "any" and query.postings:
            wanted = _telling(wanted, texts, query.postings)
        if not wanted:
            return TextAnswer(matches=(), total=0)
        found: list[TextMatch] = []
        for node in self.scan(query.scope, query.node_types):
            enrichment = self._enrichments.get(node.id, Enrichment())
            words = Counter(word for field in texts[node.id].values() for word in field)
            hits = [word for word in wanted if word in words]
            if (
                not hits
                or (query.match == "all" and len(hits) < len(wanted))
                or not set(query.tags) <= set(enrichment.tags)
            ):
                continue
            held = (name for name, field in texts[node.id].items() if set(hits) & set(field))
            matched = () if query.brief else tuple(sorted(held))
            weighted = {
                word: sum(query.weights.get(name, 1.0) * field.count(word) for name, field in texts[node.id].items())
                for word in hits
            }
            score = _bm25(weighted, sum(words.values()), texts)
            found.append(TextMatch(node=node, enrichment=enrichment, bm25=score, matched_on=matched))
        found.sort(key=lambda match: (-match.bm25, match.node.id))
        best = tuple(found[: query.limit])
        return TextAnswer(matches=best, total=len(best) if query.brief else len(found))

    def _texts(self, node: Node, fields: tuple[str, ...]) -> dict[str, list[str]]:
        added = self._enrichments.get(node.id, Enrichment())
        texts = {
            "docstring": node.metadata.docstring or "",
            "description": added.description or "",
            "tags": " ".join(added.tags),
            "name": node.name if node.file is None or node.qualname == node.file else node.qualname,
            "path": node.file or "",
            "signature": node.signature or "",
            "comments": " ".join(comment.text for comment in node.metadata.comments),
            "body": self._bodies.get(node.id, ""),
        }
        return {field: split_words(text) for field, text in texts.items() if field in fields}

    def file_hashes(self) -> dict[FilePath, ContentHash]:
        return dict(sorted(self._hashes.items()))

    def put_file_hashes(self, hashes: dict[FilePath, ContentHash], removed: Iterable[FilePath]) -> None:
        for path in removed:
            self._hashes.pop(path, None)
        self._hashes.update(hashes)

    def blobs(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        stored = self._blobs.get(kind, {})
        return {key: stored[key] for key in sorted(set(keys)) if key in stored}

    def put_blobs(self, kind: str, blobs: dict[str, bytes]) -> None:
        self._blobs.setdefault(kind, {}).update(blobs)

    def drop_blobs(self, kind: str, keys: Iterable[str]) -> None:
        for key in keys:
            self._blobs.get(kind, {}).pop(key, None)

    def keys(self, kind: str) -> tuple[str, ...]:
        return tuple(sorted(self._blobs.get(kind, {})))

    def record(self, changes: Iterable[NodeChange]) -> None:
        for change in changes:
            self._changes.setdefault((change.node_id, change.at, change.event), change)

    def history(self, node_id: NodeId, *, since: str) -> tuple[NodeChange, ...]:
        ours = [change for change in self._changes.values() if change.node_id == node_id and change.at >= since]
        return tuple(sorted(sorted(ours, key=lambda one: one.event), key=lambda one: one.at, reverse=True))

    def counts(self, scope: Scope, *, since: str) -> dict[NodeId, int]:
        inside = {node.id for node in self.scan(scope)}
        changed = (change.node_id for change in self._changes.values() if change.at >= since)
        return dict(sorted(Counter(node_id for node_id in changed if node_id in inside).items()))

    def counts_of(self, ids: Iterable[NodeId], *, since: str) -> dict[NodeId, int]:
        wanted = set(ids)
        return {node_id: number for node_id, number in self.counts(Scope(), since=since).items() if node_id in wanted}

    def last(self, ids: Iterable[NodeId]) -> dict[NodeId, NodeChange]:
        newest = {node_id: self.history(node_id, since="") for node_id in sorted(set(ids))}
        return {node_id: changes[0] for node_id, changes in newest.items() if changes}


class _Transaction:
    """Puts the store back as it was when the block raises; an inner transaction leaves that to the outer one."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._before: dict[str, object] = {}

    def __enter__(self) -> None:
        if not self._store._depth:
            self._before = {name: copy.deepcopy(value) for name, value in vars(self._store).items()}
        self._store._depth += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._store._depth -= 1
        if kind is not None and self._before:
            vars(self._store).update(self._before)


def _telling(words: list[str], texts: dict[NodeId, dict[str, list[str]]], postings: int) -> list[str]:
    everywhere = [{word for field in one.values() for word in field} for one in texts.values()]
    holding = {word: sum(word in one for one in everywhere) for word in words}
    taken: set[str] = set()
    for word in sorted((word for word in words if holding[word]), key=lambda word: (holding[word], word)):
        postings -= holding[word]
        if postings < 0 and taken:
            break
        taken.add(word)
    return [word for word in words if word in taken]


def _bm25(hits: Mapping[str, float], length: int, texts: dict[NodeId, dict[str, list[str]]]) -> float:
    """Okapi BM25 (k1 = 1.2, b = 0.75) with FTS5's floor under the inverse document frequency."""
    documents = [[word for field in fields.values() for word in field] for fields in texts.values()]
    average = sum(map(len, documents)) / len(documents)
    score = 0.0
    for word, weight in hits.items():
        holding = sum(word in document for document in documents)
        rarity = max(math.log((len(documents) - holding + 0.5) / (holding + 0.5)), 1e-6)
        score += rarity * weight * 2.2 / (weight + 1.2 * (0.25 + 0.75 * length / average))
    return score


class MemoryVectorIndex(VectorIndex):
    """Exact search over a dictionary."""

    def __init__(self) -> None:
        self._collections: dict[str, dict[str, tuple[Vector, str]]] = {}

    def upsert(self, collection: str, keys: tuple[str, ...], vectors: Matrix, hashes: tuple[str, ...]) -> None:
        stored = self._collections.setdefault(collection, {})
        known = next(iter(stored.values()), None)
        if known is not None and len(keys) and vectors.shape[1] != known[0].shape[0]:
            raise Invalid(
                f"vectors of {vectors.shape[1]} numbers in a collection of {known[0].shape[0]}", path="vectors"
            )
        for key, vector, digest in zip(keys, vectors, hashes, strict=True):
            stored[key] = (np.array(vector, dtype=np.float32), digest)

    def nearest(
        self, collection: str, query: Vector, *, k: int, within: frozenset[str] | None = None
    ) -> tuple[Match, ...]:
        stored = self._collections.get(collection, {})
        found = self.similarities(collection, query, stored if within is None else within)
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:k]
        return tuple(Match(key=key, score=score) for key, score in ranked)

    def similarities(self, collection: str, query: Vector, keys: Iterable[str]) -> dict[str, float]:
        stored = self._collections.get(collection, {})
        return {key: float(np.clip(stored[key][0] @ query, -1, 1)) for key in sorted(set(keys)) if key in stored}

    def hashes(self, collection: str, keys: Iterable[str] | None = None) -> dict[str, str]:
        wanted = None if keys is None else set(keys)
        stored = sorted(self._collections.get(collection, {}).items())
        return {key: digest for key, (_, digest) in stored if wanted is None or key in wanted}

    def count(self, collection: str) -> int:
        return len(self._collections.get(collection, {}))

    def vectors(self, collection: str, keys: Iterable[str]) -> dict[str, Vector]:
        stored = self._collections.get(collection, {})
        return {key: stored[key][0] for key in sorted(set(keys)) if key in stored}

    def delete(self, collection: str, keys: Iterable[str]) -> None:
        for key in keys:
            self._collections.get(collection, {}).pop(key, None)
