"""Writing a graph delta: the difference to what is stored, and nothing else (docs/adr/0002-parts.md).

Nodes that stay keep their identity, so edges of other owners into them survive; a node that goes takes its edges in both
directions, its score, its words and (unless set by hand) its enrichment along. Rows are gathered and written in batches, all
inside the caller's transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from neo4j import Transaction

from smp.adapters.neo4j.database import batches
from smp.adapters.neo4j.rows import label
from smp.adapters.neo4j.words import text_properties
from smp.domain.graph import DeltaCounts, Edge, EdgeKind, GraphDelta, Node, Owner, Part
from smp.domain.ids import NodeId
from smp.domain.metadata import Enrichment
from smp.domain.packing import decode_enrichment, decode_node, encode_edge, encode_node
from smp.domain.places import place_of

EdgeRow = tuple[EdgeKind, NodeId, NodeId | None, bytes]
"""kind, source, target, body."""
PARTS = 200
"""Owners whose stored nodes and edges are read at once."""


class Application:
    """One delta on its way into the database; used once, inside a transaction."""

    def __init__(self, transaction: Transaction, repository: str) -> None:
        self._transaction = transaction
        self._repo = repository
        self._added = self._updated = self._removed = self._edges = 0
        self._owners: dict[NodeId, Owner] = {}
        """Of the nodes that this delta has seen."""

    def run(self, delta: GraphDelta) -> DeltaCounts:
        for gone in batches(delta.removed, PARTS):
            stored = self._stored_nodes(gone)
            self._remove_nodes([node_id for nodes in stored.values() for node_id in nodes])
        for parts in batches(delta.parts, PARTS):
            self._replace_nodes([part for part in parts if part.nodes is not None])
        for gone in batches(delta.removed, PARTS):
            self._write_edges(self._stored_edges(gone), {})
            self._run("UNWIND $names AS name MATCH (o:SmpOwner {repo: $repo, name: name}) DETACH DELETE o", names=gone)
        for parts in batches(delta.parts, PARTS):
            self._replace_edges(parts)
        return DeltaCounts(
            nodes_added=self._added,
            nodes_updated=self._updated,
            nodes_removed=self._removed,
            relationships_updated=self._edges,
        )

    def _run(self, query: str, **parameters: object) -> list[Any]:
        return list(self._transaction.run(query, {"repo": self._repo} | parameters))

    def _stored_nodes(self, owners: Iterable[Owner]) -> dict[Owner, dict[NodeId, bytes]]:
        stored: dict[Owner, dict[NodeId, bytes]] = defaultdict(dict)
        rows = self._run(
            "UNWIND $owners AS owner MATCH (n:SmpNode) WHERE n.repo = $repo AND n.owner = owner "
            "RETURN owner, n.id AS id, n.body AS body",
            owners=list(owners),
        )
        for row in rows:
            stored[row["owner"]][NodeId(row["id"])] = row["body"]
        return stored

    def _replace_nodes(self, parts: list[Part]) -> None:
        stored = self._stored_nodes(part.owner for part in parts)
        fresh: list[tuple[Owner, Node, bytes, str]] = []
        changed: list[tuple[Owner, Node, bytes, str]] = []
        other_text: list[NodeId] = []
        gone: list[NodeId] = []
        for part in parts:
            bodies = part.bodies
            before = stored.get(part.owner, {})
            for node in part.nodes or ():
                self._owners[node.id] = part.owner
                body, old = encode_node(node), before.pop(node.id, None)
                row = (part.owner, node, body, bodies.get(node.id, ""))
                if old is None:
                    fresh.append(row)
                elif old != body:
                    changed.append(row)
                    if decode_node(old).source_hash != node.source_hash:
                        other_text.append(node.id)
            gone += before
        self._remove_nodes(gone)
        self._insert_nodes(fresh)
        self._update_nodes(changed)
        for some in batches(other_text):
            # what ran was another text
            self._edges += self._cut(
                "UNWIND $ids AS id MATCH (:SmpNode {repo: $repo, id: id})-[r:CALLS_RUNTIME]-()", ids=some
            )

    def _cut(self, match: str, **parameters: object) -> int:
        """Delete the relationships `r` of a match, each once; how many there were."""
        query = (
            f"{match} WITH DISTINCT r WITH collect(r) AS cut FOREACH (r IN cut | DELETE r) RETURN size(cut) AS number"
        )
        return int(self._run(query, **parameters)[0]["number"])

    def _remove_nodes(self, ids: list[NodeId]) -> None:
        for some in batches(ids):
            match = "UNWIND $ids AS id MATCH (n:SmpNode {repo: $repo, id: id})"
            self._run(f"{match} WHERE n.manual CREATE (:SmpNote {{repo: $repo, id: id, body: n.enrichment}})", ids=some)
            self._edges += self._cut(f"{match}-[r]-()", ids=some)
            self._run(f"{match} DELETE n", ids=some)
            for node_id in some:
                self._owners.pop(node_id, None)
        self._removed += len(ids)

    def _insert_nodes(self, fresh: list[tuple[Owner, Node, bytes, str]]) -> None:
        notes = self._notes(node.id for _, node, _, _ in fresh)
        by_label: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for owner, node, body, words in fresh:
            note = notes.get(node.id)
            enrichment = decode_enrichment(note) if note else None
            row = _properties(node, body) | text_properties(node, enrichment or Enrichment(), words)
            row |= {"repo": self._repo, "id": node.id, "owner": owner}
            if enrichment is not None:
                row |= {"enrichment": note, "manual": enrichment.manually_set, "tags": list(enrichment.tags)}
            by_label[label(node)].append(row)
        for labels, rows in by_label.items():
            for some in batches(rows):
                self._run(f"UNWIND $rows AS row CREATE (n:{labels}) SET n = row", rows=some)
        self._added += len(fresh)

    def _notes(self, ids: Iterable[NodeId]) -> dict[NodeId, bytes]:
        """Enrichments that wait for these nodes; they are taken."""
        if not self._run("MATCH (n:SmpNote) WHERE n.repo = $repo AND n.id >= '' RETURN 1 LIMIT 1"):
            return {}
        found: dict[NodeId, bytes] = {}
        for some in batches(ids):
            rows = self._run(
                "UNWIND $ids AS id MATCH (n:SmpNote {repo: $repo, id: id}) WITH n, n.id AS id, n.body AS body DELETE n "
                "RETURN id, body",
                ids=some,
            )
            found.update((NodeId(row["id"]), row["body"]) for row in rows)
        return found

    def _update_nodes(self, changed: list[tuple[Owner, Node, bytes, str]]) -> None:
        for some in batches(changed):
            match = "UNWIND $ids AS id MATCH (n:SmpNode {repo: $repo, id: id}) WHERE n.enrichment IS NOT NULL "
            known = self._run(
                match + "RETURN n.id AS id, n.enrichment AS body", ids=[node.id for _, node, _, _ in some]
            )
            added = {row["id"]: decode_enrichment(row["body"]) for row in known}
            rows = [
                {
                    "id": node.id,
                    "new": _properties(node, body) | text_properties(node, added.get(node.id, Enrichment()), words),
                }
                for _, node, body, words in some
            ]
            self._run("UNWIND $rows AS row MATCH (n:SmpNode {repo: $repo, id: row.id}) SET n += row.new", rows=rows)
        self._updated += len(changed)

    def _load_owners(self, edges: Iterable[Edge]) -> None:
        ends = {end for edge in edges for end in (edge.source, edge.target) if end is not None}
        for some in batches(sorted(ends - self._owners.keys())):
            rows = self._run(
                "UNWIND $ids AS id MATCH (n:SmpNode {repo: $repo, id: id}) RETURN id, n.owner AS owner", ids=some
            )
            self._owners.update((NodeId(row["id"]), Owner(row["owner"])) for row in rows)

    def _stored_edges(self, owners: Iterable[Owner]) -> dict[Owner, dict[EdgeRow, str]]:
        """By owner its edges, with their ids: those that leave its nodes, and, where it has others, those that enter them or
        leave the nodes that it has noted."""
        stored: dict[Owner, dict[EdgeRow, str]] = defaultdict(dict)
        rows = self._run(
            "UNWIND $owners AS owner "
            "CALL (owner) { MATCH (n:SmpNode) WHERE n.repo = $repo AND n.owner = owner MATCH (n)-[r]->() RETURN r "
            "UNION MATCH (o:SmpOwner {repo: $repo, name: owner}) WHERE o.inward "
            "MATCH (n:SmpNode) WHERE n.repo = $repo AND n.owner = owner MATCH (n)<-[r]-() RETURN r "
            "UNION MATCH (o:SmpOwner {repo: $repo, name: owner}) UNWIND o.strays AS id "
            "MATCH (n:SmpNode {repo: $repo, id: id})-[r]->() RETURN r } "
            "WITH owner, r WHERE r.owner = owner "
            "RETURN owner, elementId(r) AS rid, type(r) AS kind, startNode(r).id AS s, endNode(r).id AS t, r.body AS body",
            owners=list(owners),
        )
        for row in rows:
            stored[row["owner"]][EdgeKind(row["kind"]), row["s"], row["t"], row["body"]] = row["rid"]
        return stored

    def _replace_edges(self, parts: list[Part]) -> None:
        edges = {part.owner: part.edges for part in parts}
        self._load_owners(edge for some in edges.values() for edge in some)
        stored = self._stored_edges(edges)
        fresh: dict[Owner, list[EdgeRow]] = {}
        owners = []
        for owner, wanted in edges.items():
            rows = dict.fromkeys(row for edge in wanted if (row := self._row(edge)) is not None)
            before = stored.get(owner, {})
            fresh[owner] = [row for row in rows if before.pop(row, None) is None]
            away = [row for row in rows if self._owners[row[1]] != owner]
            strays = sorted({row[1] for row in away if row[2] is None or self._owners[row[2]] != owner})
            owners.append({"name": owner, "inward": bool(away), "strays": strays})
        self._run(
            "UNWIND $rows AS row MERGE (o:SmpOwner {repo: $repo, name: row.name}) "
            "SET o.inward = row.inward, o.strays = row.strays",
            rows=owners,
        )
        self._write_edges(stored, fresh)

    def _row(self, edge: Edge) -> EdgeRow | None:
        """The row of an edge; None when an end is missing, or when it is one that only observation makes."""
        if edge.source not in self._owners or edge.kind is EdgeKind.CALLS_RUNTIME:
            return None
        target = edge.target if edge.target in self._owners else None
        if target is None and edge.kind is not EdgeKind.CALLS_UNRESOLVED:
            return None
        return (edge.kind, edge.source, target, encode_edge(edge))

    def _write_edges(self, gone: Mapping[Owner, dict[EdgeRow, str]], fresh: Mapping[Owner, list[EdgeRow]]) -> None:
        for some in batches(rid for rows in gone.values() for rid in rows.values()):
            self._run("UNWIND $ids AS id MATCH ()-[r]->() WHERE elementId(r) = id DELETE r", ids=some)
        by_kind: dict[EdgeKind, list[dict[str, Any]]] = defaultdict(list)
        for owner, rows in fresh.items():
            for kind, source, target, body in rows:
                by_kind[kind].append({"s": source, "t": target, "o": owner, "b": body})
        for kind, created in by_kind.items():
            end = "(t:SmpNode {repo: $repo, id: row.t})"
            if kind is EdgeKind.CALLS_UNRESOLVED:
                end = "(t:SmpOwner {repo: $repo, name: row.o})"
            for part in batches(created):
                self._run(
                    f"UNWIND $rows AS row MATCH (s:SmpNode {{repo: $repo, id: row.s}}) MATCH {end} "
                    f"CREATE (s)-[:{kind.value} {{owner: row.o, body: row.b}}]->(t)",
                    rows=part,
                )
        for owner in gone.keys() | fresh.keys():
            self._edges += _distinct(gone.get(owner, {}), fresh.get(owner, []))


def _properties(node: Node, body: bytes) -> dict[str, Any]:
    return {
        "kind": node.kind.value,
        "name": node.name,
        "qualname": node.qualname,
        "place": place_of(node),
        "start_line": node.start_line,
        "body": body,
    }


def _distinct(gone: Iterable[EdgeRow], fresh: Iterable[EdgeRow]) -> int:
    """Relationships that changed: one whose body alone differs is gone and fresh, and counts once."""
    unresolved = EdgeKind.CALLS_UNRESOLVED
    return len(
        {(row[0], row[1], row[2], row[3] if row[0] is unresolved else b"") for rows in (gone, fresh) for row in rows}
    )
