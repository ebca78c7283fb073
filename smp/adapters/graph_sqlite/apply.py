"""Writing a graph delta: the difference to what is stored, and nothing else.

Rows of nodes that stay keep their key, so edges of other owners into them survive; a node that goes takes its edges in
both directions, its score, its words and (unless set by hand) its enrichment along.
"""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from smp.adapters.graph_sqlite.rows import KIND_NUMBER, RUNTIME, chunks
from smp.adapters.graph_sqlite.words import drop_words, put_words, wordless
from smp.domain.graph import DeltaCounts, Edge, EdgeKind, GraphDelta, Node, Owner
from smp.domain.ids import NodeId
from smp.domain.packing import decode_node, encode_edge, encode_node
from smp.domain.places import place_of

EdgeRow = tuple[int, int, int | None, bytes]
"""kind, source key, target key, body."""


class Application:
    """One delta on its way into the tables; used once, inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection
        self._keys: dict[NodeId, int] = {}
        self._added = self._updated = self._removed = self._edges = 0

    def run(self, delta: GraphDelta) -> DeltaCounts:
        for owner in delta.removed:
            self._replace_nodes(owner, (), {})
        for part in delta.parts:
            if part.nodes is not None:
                self._replace_nodes(part.owner, part.nodes, part.bodies)
        for owner in delta.removed:
            self._replace_edges(owner, ())
        for part in delta.parts:
            edges = part.edges
            self._load_keys(edges)
            self._replace_edges(part.owner, edges)
        if delta.removed:
            used = "SELECT owner FROM node UNION SELECT owner FROM edge"
            self._sql.execute(f"DELETE FROM owner WHERE key NOT IN ({used})")
        return DeltaCounts(
            nodes_added=self._added,
            nodes_updated=self._updated,
            nodes_removed=self._removed,
            relationships_updated=self._edges,
        )

    def _owner_key(self, owner: Owner) -> int:
        row = self._sql.execute("SELECT key FROM owner WHERE name = ?", (owner,)).fetchone()
        if row is None:
            return int(self._sql.execute("INSERT INTO owner (name) VALUES (?)", (owner,)).lastrowid or 0)
        return int(row[0])

    def _replace_nodes(self, owner: Owner, nodes: Iterable[Node], bodies: Mapping[NodeId, str]) -> None:
        owner_key = self._owner_key(owner)
        rows = self._sql.execute("SELECT id, key, body FROM node WHERE owner = ?", (owner_key,))
        stored = {NodeId(row[0]): (int(row[1]), bytes(row[2])) for row in rows}
        fresh: list[tuple[Node, bytes]] = []
        same: dict[int, Node] = {}
        for node in nodes:
            body = encode_node(node)
            old = stored.pop(node.id, None)
            if old is None:
                fresh.append((node, body))
            elif old[1] != body:
                self._update_node(old[0], node, body, bodies)
                if decode_node(old[1]).source_hash != node.source_hash:
                    self._forget_observed(old[0])
            else:
                same[old[0]] = node
        self._remove_nodes(stored)
        self._insert_nodes(owner_key, fresh, bodies)
        lacking = wordless(self._sql, same)
        put_words(self._sql, [(key, same[key]) for key in sorted(lacking)], bodies=bodies, new=True)

    def _update_node(self, key: int, node: Node, body: bytes, bodies: Mapping[NodeId, str]) -> None:
        self._sql.execute(
            "UPDATE node SET kind = ?, name = ?, qualname = ?, place = ?, body = ? WHERE key = ?",
            (node.kind.value, node.name, node.qualname, place_of(node), body, key),
        )
        put_words(self._sql, [(key, node)], bodies=bodies)
        self._updated += 1

    def _forget_observed(self, key: int) -> None:
        """What ran was another text."""
        done = self._sql.execute("DELETE FROM runtime_edge WHERE source = ? OR target = ?", (key, key))
        self._edges += done.rowcount

    def _insert_nodes(self, owner_key: int, fresh: list[tuple[Node, bytes]], bodies: Mapping[NodeId, str]) -> None:
        if not fresh:
            return
        first = int(self._sql.execute("SELECT coalesce(max(key), 0) + 1 FROM node").fetchone()[0])
        self._sql.executemany(
            "INSERT INTO node (key, id, owner, kind, name, qualname, place, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (key, node.id, owner_key, node.kind.value, node.name, node.qualname, place_of(node), body)
                for key, (node, body) in enumerate(fresh, first)
            ],
        )
        self._keys.update((node.id, key) for key, (node, _) in enumerate(fresh, first))
        put_words(self._sql, [(key, node) for key, (node, _) in enumerate(fresh, first)], bodies=bodies, new=True)
        self._added += len(fresh)

    def _remove_nodes(self, gone: dict[NodeId, tuple[int, bytes]]) -> None:
        if not gone:
            return
        for marks, ids in chunks(gone):
            ours = f"node_id IN ({marks}) AND node_id NOT IN (SELECT node_id FROM enrichment WHERE manually_set = 1)"
            self._sql.execute(f"DELETE FROM tag WHERE {ours}", ids)
            self._sql.execute(f"DELETE FROM enrichment WHERE node_id IN ({marks}) AND manually_set = 0", ids)
        keys = [key for key, _ in gone.values()]
        drop_words(self._sql, keys)
        for marks, part in chunks(keys):
            for table in ("edge", "runtime_edge"):
                for end in ("source", "target"):
                    done = self._sql.execute(f"DELETE FROM {table} WHERE {end} IN ({marks})", part)
                    self._edges += done.rowcount
            self._sql.execute(f"DELETE FROM score WHERE node IN ({marks})", part)
            self._sql.execute(f"DELETE FROM node WHERE key IN ({marks})", part)
        self._removed += len(gone)

    def _load_keys(self, edges: Iterable[Edge]) -> None:
        ends = {end for edge in edges for end in (edge.source, edge.target) if end is not None}
        wanted = sorted(ends - self._keys.keys())
        for marks, ids in chunks(wanted):
            rows = self._sql.execute(f"SELECT id, key FROM node WHERE id IN ({marks})", ids)
            self._keys.update((NodeId(row[0]), int(row[1])) for row in rows)

    def _replace_edges(self, owner: Owner, edges: Iterable[Edge]) -> None:
        owner_key = self._owner_key(owner)
        rows = self._sql.execute("SELECT key, kind, source, target, body FROM edge WHERE owner = ?", (owner_key,))
        stored: dict[EdgeRow, int] = {(row[1], row[2], row[3], bytes(row[4])): int(row[0]) for row in rows}
        fresh: list[EdgeRow] = []
        seen: set[EdgeRow] = set()
        for edge in edges:
            row = self._row(edge)
            if row is None or row in seen:
                continue
            seen.add(row)
            if stored.pop(row, None) is None:
                fresh.append(row)
        self._sql.executemany("DELETE FROM edge WHERE key = ?", [(key,) for key in stored.values()])
        self._sql.executemany(
            "INSERT INTO edge (owner, kind, source, target, body) VALUES (?, ?, ?, ?, ?)",
            [(owner_key, *row) for row in fresh],
        )
        self._edges += _distinct(stored, fresh)

    def _row(self, edge: Edge) -> EdgeRow | None:
        """The row of an edge; None when an end is missing, or when it is one that only observation makes."""
        source = self._keys.get(edge.source)
        kind = KIND_NUMBER[edge.kind]
        if source is None or kind == RUNTIME:
            return None
        target = self._keys.get(edge.target) if edge.target is not None else None
        if target is None and edge.kind is not EdgeKind.CALLS_UNRESOLVED:
            return None
        return (kind, source, target, encode_edge(edge))


def _distinct(gone: Iterable[EdgeRow], fresh: Iterable[EdgeRow]) -> int:
    """Relationships that changed: one whose body alone differs is gone and fresh, and counts once."""
    unresolved = KIND_NUMBER[EdgeKind.CALLS_UNRESOLVED]
    keyed = {
        (row[0], row[1], row[2], row[3] if row[0] == unresolved else b"") for rows in (gone, fresh) for row in rows
    }
    return len(keyed)
