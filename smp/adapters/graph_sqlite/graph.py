"""The graph in SQLite: apply, fetch, walk."""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from smp.adapters.graph_sqlite.apply import Application
from smp.adapters.graph_sqlite.held import SMALL_SCAN, Held, Holding
from smp.adapters.graph_sqlite.rows import KIND_NUMBER, RUNTIME, chunks, scope_condition
from smp.domain.graph import (
    DeltaCounts,
    Direction,
    Edge,
    EdgeKind,
    GraphDelta,
    GraphSize,
    Node,
    NodeKind,
    Scope,
    Scores,
    Walked,
)
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.packing import KINDS, decode_edge, decode_node, encode_edge
from smp.domain.places import edge_order
from smp.domain.traversal import reach, seeds_of
from smp.ports.graph_store import GraphStore

FIND_LIMIT = 100
_decode_keys = msgspec.json.Decoder(tuple[int, ...]).decode
PATH_KINDS = (NodeKind.FILE, NodeKind.CONFIG, NodeKind.TEST, NodeKind.PACKAGE, NodeKind.REPOSITORY)
"""Kinds whose id is made from a path alone, in the order in which a path is looked up."""


class SqliteGraph(Holding, GraphStore):
    """A mixin of `SqliteGraphStore`."""

    def apply(self, delta: GraphDelta) -> DeltaCounts:
        with self._database.writing() as connection:
            return Application(connection).run(delta)

    def nodes(self, ids: Iterable[NodeId]) -> tuple[Node, ...]:
        wanted, held = sorted(set(ids)), self._held()
        known = held.nodes
        missing = [node_id for node_id in wanted if node_id not in known]
        if missing:
            known = {node_id: known[node_id] for node_id in wanted if node_id in known}
            with self._database.reading() as connection:
                for marks, part in chunks(missing):
                    rows = connection.execute(f"SELECT key, body FROM node WHERE id IN ({marks})", part)
                    read = [(int(row[0]), decode_node(row[1])) for row in rows]
                    known.update((node.id, node) for _, node in read)
                    held.keep_nodes(read)
        return tuple(known[node_id] for node_id in wanted if node_id in known)

    def find(self, name: str) -> tuple[Node, ...]:
        held = self._held()
        known = held.found.get(name)
        return known if known is not None else held.keep_found(name, self._named(name))

    def _named(self, name: str) -> tuple[Node, ...]:
        ids = (NodeId(name), *(mint_node_id(kind.value.lower(), name) for kind in PATH_KINDS))
        by_id = {node.id: node for node in self.nodes(ids)}
        for node_id in ids:
            if node_id in by_id:
                return (by_id[node_id],)
        path, _, qualname = name.partition("#")
        if qualname:
            return self._select("place = ? AND qualname = ?", [path, qualname])
        qualified = self._select("qualname = ?", [name])
        return qualified if len(qualified) == 1 else self._select("qualname = ? OR name = ?", [name, name])

    def _select(self, condition: str, parameters: list[object]) -> tuple[Node, ...]:
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT body FROM node WHERE {condition} ORDER BY id LIMIT {FIND_LIMIT}",
                parameters,
            )
            return tuple(decode_node(row[0]) for row in rows)

    def scan(self, scope: Scope, kinds: tuple[NodeKind, ...] = ()) -> Iterator[Node]:
        if scope.kind != "full" or not kinds:
            yield from self._read(scope, kinds)
            return
        held, key = self._held(), tuple(kind.value for kind in kinds)
        found = held.scans.get(key)
        if found is not None:
            yield from found
            return
        begun: list[Node] = []
        for node in self._read(scope, kinds):
            if len(begun) <= SMALL_SCAN:
                begun.append(node)
            yield node
        if len(begun) <= SMALL_SCAN:
            held.scans[key] = tuple(begun)

    def _read(self, scope: Scope, kinds: tuple[NodeKind, ...]) -> Iterator[Node]:
        condition, parameters = scope_condition(scope, "place")
        if kinds:
            condition += f" AND kind IN ({','.join('?' * len(kinds))})"
            parameters += [kind.value for kind in kinds]
        with self._database.lasting() as connection:
            rows = connection.execute(f"SELECT body FROM node WHERE {condition} ORDER BY id", parameters)
            for row in rows:
                yield decode_node(row[0])

    def edges(
        self, ids: Iterable[NodeId], *, kinds: tuple[EdgeKind, ...] = (), direction: Direction = Direction.OUTGOING
    ) -> tuple[Edge, ...]:
        with self._database.reading() as connection:
            keys = list(_keys_of(connection, ids).values())
            found: dict[tuple[str, str, str, str, str, str], Edge] = {}
            for end in _ends(direction):
                for edge in _edges_at(connection, keys, end=end, kinds=kinds):
                    found[edge_order(edge)] = edge
        return tuple(found[key] for key in sorted(found))

    def links(self, ids: Iterable[NodeId], kinds: tuple[EdgeKind, ...]) -> tuple[tuple[NodeId, NodeId], ...]:
        held = self._held()
        with self._database.reading() as connection:
            keys = _keys_of(connection, ids)
            named = {key: node_id for node_id, key in keys.items()}
            near = _neighbours(connection, held, sorted(named), kinds=kinds, direction=Direction.OUTGOING)
        return tuple(
            sorted({(named[key], named[far]) for key, others in near.items() for far in others if far in named})
        )

    def count_sources(self, targets: Iterable[NodeId], kinds: tuple[EdgeKind, ...]) -> dict[NodeId, int]:
        held = self._held()
        with self._database.reading() as connection:
            keys = _keys_of(connection, targets)
            near = _neighbours(connection, held, sorted(keys.values()), kinds=kinds, direction=Direction.INCOMING)
        counts = {node_id: len({*near[key]} - {key}) for node_id, key in keys.items()}
        return {node_id: count for node_id, count in counts.items() if count}

    def in_files(self) -> Iterator[tuple[NodeId, FilePath]]:
        outside = (NodeKind.REPOSITORY, NodeKind.PACKAGE, NodeKind.COMMUNITY, NodeKind.FILE)
        marks = ",".join("?" * len(outside))
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT id, place FROM node WHERE place IS NOT NULL AND kind NOT IN ({marks})", outside
            ).fetchall()
        return iter(found)

    def scan_edges(self, scope: Scope, kinds: tuple[EdgeKind, ...] = ()) -> Iterator[Edge]:
        condition, parameters = scope_condition(scope, "s.place")
        for kind in KINDS:
            if kinds and kind not in kinds:
                continue
            with self._database.reading() as connection:
                found = _select_edges(connection, kind, condition, parameters)
            found.sort(key=edge_order)
            yield from found

    def count(self, kinds: tuple[NodeKind, ...]) -> int:
        marks = ",".join("?" * len(kinds))
        with self._database.reading() as connection:
            counted = connection.execute(f"SELECT count(*) FROM node WHERE kind IN ({marks})", [*kinds]).fetchone()
        return int(counted[0])

    def size(self) -> GraphSize:
        with self._database.reading() as connection:
            nodes = connection.execute("SELECT count(*) FROM node").fetchone()[0]
            unresolved = connection.execute("SELECT count(*) FROM edge WHERE target IS NULL").fetchone()[0]
            stored = connection.execute("SELECT count(*) FROM edge").fetchone()[0]
            observed = connection.execute("SELECT count(*) FROM runtime_edge").fetchone()[0]
        return GraphSize(nodes=nodes, edges=stored + observed - unresolved, unresolved=unresolved)

    def walk(
        self,
        seeds: Iterable[NodeId],
        *,
        hops: int,
        kinds: tuple[EdgeKind, ...],
        direction: Direction,
        limit: int = 10_000,
    ) -> tuple[Walked, ...]:
        held = self._held()
        with self._database.reading() as connection:
            ids = _keys_of(connection, seeds)
            origin = sorted(ids)

            def neighbours(keys: list[int]) -> Mapping[int, Sequence[int]]:
                return _neighbours(connection, held, keys, kinds=kinds, direction=direction)

            found = reach([ids[seed] for seed in origin], hops=hops, neighbours=neighbours)
            nearest = _nearest(connection, found.hops, limit)
            nodes = [(found.hops[key], node, found.seeds[key]) for key, node in held.nodes_at(connection, nearest)]
        nodes.sort(key=lambda one: (one[0], one[1].id))
        seeds_by_bits = {bits: seeds_of(bits, origin) for bits in {one[2] for one in nodes}}
        return tuple(Walked(node=node, hop=hop, seeds=seeds_by_bits[bits]) for hop, node, bits in nodes)

    def observe_calls(self, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        observed = list(edges)
        fresh: list[Edge] = []
        with self._database.writing() as connection:
            keys = _keys_of(connection, (end for edge in observed for end in (edge.source, edge.target) if end))
            for edge in observed:
                source, target = keys.get(edge.source), keys.get(edge.target) if edge.target else None
                if source is None or target is None:
                    continue
                place = (source, target, edge.commit_sha or "")
                done = connection.execute(
                    "UPDATE runtime_edge SET call_count = call_count + ? WHERE source = ? AND target = ? AND commit_sha = ?",
                    (edge.call_count, *place),
                )
                if done.rowcount == 0:
                    connection.execute(
                        "INSERT INTO runtime_edge (source, target, commit_sha, call_count, body) VALUES (?, ?, ?, ?, ?)",
                        (*place, edge.call_count, encode_edge(edge)),
                    )
                    fresh.append(edge)
        return tuple(sorted(fresh, key=edge_order))

    def put_scores(self, scores: dict[NodeId, Scores]) -> None:
        with self._database.writing() as connection:
            keys = _keys_of(connection, scores)
            connection.execute("DELETE FROM score")
            connection.executemany(
                "INSERT INTO score (node, pagerank, community_l0, community_l1) VALUES (?, ?, ?, ?)",
                [
                    (keys[node_id], score.pagerank, score.community_l0, score.community_l1)
                    for node_id, score in scores.items()
                    if node_id in keys
                ],
            )

    def scores(self, ids: Iterable[NodeId]) -> dict[NodeId, Scores]:
        held = self._held()
        wanted = sorted(set(ids))
        known = held.scores
        found: dict[NodeId, Scores] = {}
        missing = [node_id for node_id in wanted if node_id not in known]
        with self._database.reading() as connection:
            for marks, part in chunks(missing):
                rows = connection.execute(
                    "SELECT node.id, pagerank, community_l0, community_l1 FROM score "
                    f"JOIN node ON node.key = score.node WHERE node.id IN ({marks})",
                    part,
                )
                for node_id, pagerank, coarse, fine in rows:
                    found[NodeId(node_id)] = Scores(pagerank=pagerank, community_l0=coarse, community_l1=fine)
        answer = {
            node_id: found.get(node_id) or known[node_id] for node_id in wanted if node_id in found or node_id in known
        }
        held.keep_scores(found)
        return answer


def _ends(direction: Direction) -> tuple[str, ...]:
    if direction is Direction.BOTH:
        return ("source", "target")
    return ("source",) if direction is Direction.OUTGOING else ("target",)


def _keys_of(connection: sqlite3.Connection, ids: Iterable[NodeId]) -> dict[NodeId, int]:
    found: dict[NodeId, int] = {}
    for marks, part in chunks(dict.fromkeys(ids)):
        rows = connection.execute(f"SELECT id, key FROM node WHERE id IN ({marks})", part)
        found.update((NodeId(row[0]), int(row[1])) for row in rows)
    return found


def _nearest(connection: sqlite3.Connection, hops: Mapping[int, int], limit: int) -> list[int]:
    """The keys with the fewest hops, ties by id; the ids are only looked at where the limit cuts."""
    kept: list[int] = []
    for hop in sorted(set(hops.values())):
        keys = [key for key, distance in hops.items() if distance == hop]
        if len(kept) + len(keys) > limit:
            room = limit - len(kept)
            named: list[tuple[str, int]] = []
            for marks, part in chunks(keys):
                first = f"SELECT id, key FROM node WHERE key IN ({marks}) ORDER BY id LIMIT {room}"
                named += connection.execute(first, part).fetchall()
            return kept + [key for _, key in sorted(named)[:room]]
        kept += keys
    return kept


def _edges_at(
    connection: sqlite3.Connection, keys: list[int], *, end: str, kinds: tuple[EdgeKind, ...]
) -> Iterator[Edge]:
    numbers = [KIND_NUMBER[kind] for kind in kinds]
    only = f" AND e.kind IN ({','.join(map(str, numbers))})" if numbers else ""
    for marks, part in chunks(keys):
        rows = connection.execute(
            "SELECT e.kind, s.id, t.id, e.body FROM edge e JOIN node s ON s.key = e.source "
            f"LEFT JOIN node t ON t.key = e.target WHERE e.{end} IN ({marks}){only}",
            part,
        )
        for kind, source, target, body in rows:
            yield decode_edge(KINDS[kind], NodeId(source), NodeId(target) if target else None, body)
        if not kinds or EdgeKind.CALLS_RUNTIME in kinds:
            yield from _runtime_edges(connection, f"e.{end} IN ({marks})", part)


def _runtime_edges(connection: sqlite3.Connection, condition: str, parameters: list[object]) -> Iterator[Edge]:
    rows = connection.execute(
        "SELECT s.id, t.id, e.body, e.call_count, e.commit_sha FROM runtime_edge e "
        f"JOIN node s ON s.key = e.source JOIN node t ON t.key = e.target WHERE {condition}",
        parameters,
    )
    for source, target, body, count, commit in rows:
        yield decode_edge(EdgeKind.CALLS_RUNTIME, NodeId(source), NodeId(target), body, count, commit)


def _select_edges(
    connection: sqlite3.Connection, kind: EdgeKind, condition: str, parameters: list[object]
) -> list[Edge]:
    if kind is EdgeKind.CALLS_RUNTIME:
        return list(_runtime_edges(connection, condition, parameters))
    number = KIND_NUMBER[kind]
    rows = connection.execute(
        "SELECT s.id, t.id, e.body FROM edge e JOIN node s ON s.key = e.source "
        f"LEFT JOIN node t ON t.key = e.target WHERE e.kind = {number} AND {condition}",
        parameters,
    )
    return [decode_edge(kind, NodeId(row[0]), NodeId(row[1]) if row[1] else None, row[2]) for row in rows]


def _neighbours(
    connection: sqlite3.Connection, held: Held, keys: list[int], *, kinds: tuple[EdgeKind, ...], direction: Direction
) -> dict[int, tuple[int, ...]]:
    """The other ends of the edges of these nodes."""
    numbers = ",".join(str(KIND_NUMBER[kind]) for kind in kinds)
    ends = _ends(direction)
    by_end: list[dict[int, tuple[int, ...]]] = []
    for end in ends:
        known = held.adjacent((end, numbers))
        found = {key: known[key] for key in keys if key in known}
        missing = [key for key in keys if key not in found]
        if missing:
            read = _adjacent(connection, missing, end=end, numbers=numbers)
            held.keep_adjacent((end, numbers), read)
            found |= read
        by_end.append(found)
    if len(by_end) == 1:
        return by_end[0]
    return {key: by_end[0][key] + by_end[1][key] for key in keys}


def _adjacent(connection: sqlite3.Connection, keys: list[int], *, end: str, numbers: str) -> dict[int, tuple[int, ...]]:
    """The other ends by node, gathered by SQLite: a row for each edge costs more than all else of a walk."""
    other = "target" if end == "source" else "source"
    only = f" AND kind IN ({numbers})" if numbers else ""
    found: dict[int, tuple[int, ...]] = dict.fromkeys(keys, ())
    for marks, part in chunks(keys):
        statements = [
            f"SELECT {end}, group_concat({other}) FROM edge WHERE {end} IN ({marks}){only} AND target IS NOT NULL"
        ]
        if not numbers or str(RUNTIME) in numbers.split(","):
            statements.append(f"SELECT {end}, group_concat({other}) FROM runtime_edge WHERE {end} IN ({marks})")
        for statement in statements:
            for near, far in connection.execute(f"{statement} GROUP BY {end}", part):
                found[near] += _decode_keys(f"[{far}]")
    return found
