"""The graph in Neo4j: apply, fetch, walk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from neo4j import Transaction

from smp.adapters.neo4j.apply import Application
from smp.adapters.neo4j.database import Neo4jDatabase, batches
from smp.adapters.neo4j.rows import RELATIONSHIP, edge_of, placed, types, within
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
from smp.domain.ids import NodeId, mint_node_id
from smp.domain.packing import KINDS, decode_node, encode_edge
from smp.domain.places import edge_order
from smp.ports.graph_store import GraphStore

FIND_LIMIT = 100
PATH_KINDS = (NodeKind.FILE, NodeKind.CONFIG, NodeKind.TEST, NodeKind.PACKAGE, NodeKind.REPOSITORY)
"""Kinds whose id is made from a path alone, in the order in which a path is looked up."""
_BY_ID = "UNWIND $ids AS id MATCH (n:SmpNode {repo: $repo, id: id}) "
_ARROWS = {Direction.OUTGOING: ("-", "->"), Direction.INCOMING: ("<-", "-"), Direction.BOTH: ("-", "-")}


class Neo4jGraph(GraphStore):
    """A mixin of `Neo4jGraphStore`."""

    _database: Neo4jDatabase

    def apply(self, delta: GraphDelta) -> DeltaCounts:
        return self._database.write(lambda open_one: Application(open_one, self._database.repository).run(delta))

    def nodes(self, ids: Iterable[NodeId]) -> tuple[Node, ...]:
        wanted = sorted(set(ids))
        rows = self._database.read(_BY_ID + "RETURN n.body AS body", ids=wanted) if wanted else []
        return tuple(sorted((decode_node(row["body"]) for row in rows), key=lambda node: node.id))

    def find(self, name: str) -> tuple[Node, ...]:
        held = self._database.held()
        key = ("find", name)
        if key not in held:
            held[key] = self._named(name)
        found: tuple[Node, ...] = held[key]
        return found

    def _named(self, name: str) -> tuple[Node, ...]:
        ids = (NodeId(name), *(mint_node_id(kind.value.lower(), name) for kind in PATH_KINDS))
        by_id = {node.id: node for node in self.nodes(ids)}
        for node_id in ids:
            if node_id in by_id:
                return (by_id[node_id],)
        path, _, qualname = name.partition("#")
        if qualname:
            return self._select("n.place = $path AND n.qualname = $qualname", path=path, qualname=qualname)
        qualified = self._select("n.qualname = $name", name=name)
        return qualified if len(qualified) == 1 else self._select("(n.qualname = $name OR n.name = $name)", name=name)

    def _select(self, condition: str, **parameters: object) -> tuple[Node, ...]:
        rows = self._database.read(
            f"MATCH (n:SmpNode) WHERE n.repo = $repo AND {condition} "
            f"RETURN n.body AS body ORDER BY n.id LIMIT {FIND_LIMIT}",
            **parameters,
        )
        return tuple(decode_node(row["body"]) for row in rows)

    def scan(self, scope: Scope, kinds: tuple[NodeKind, ...] = ()) -> Iterator[Node]:
        condition = placed(scope, "n") + (" AND n.kind IN $kinds" if kinds else "")
        rows = self._database.stream(
            f"MATCH (n:SmpNode) WHERE n.repo = $repo AND n.id >= '' AND {condition} RETURN n.body AS body ORDER BY n.id",
            kinds=[kind.value for kind in kinds],
            **within(scope),
        )
        for row in rows:
            yield decode_node(row["body"])

    def edges(
        self, ids: Iterable[NodeId], *, kinds: tuple[EdgeKind, ...] = (), direction: Direction = Direction.OUTGOING
    ) -> tuple[Edge, ...]:
        left, right = _ARROWS[direction]
        query = _BY_ID + f"MATCH (n){left}[r{types(kinds)}]{right}() RETURN DISTINCT {RELATIONSHIP}"
        wanted = sorted(set(ids))
        found = {
            edge_order(edge): edge for edge in map(edge_of, self._database.read(query, ids=wanted) if wanted else [])
        }
        return tuple(found[key] for key in sorted(found))

    def links(self, ids: Iterable[NodeId], kinds: tuple[EdgeKind, ...]) -> tuple[tuple[NodeId, NodeId], ...]:
        wanted = sorted(set(ids))
        if not wanted:
            return ()
        query = _BY_ID + (
            f"MATCH (n)-[{types(kinds, joining=True)}]->(m:SmpNode) WHERE m.id IN $ids "
            "RETURN DISTINCT n.id AS source, m.id AS target"
        )
        return tuple(sorted((row["source"], row["target"]) for row in self._database.read(query, ids=wanted)))

    def scan_edges(self, scope: Scope, kinds: tuple[EdgeKind, ...] = ()) -> Iterator[Edge]:
        for kind in KINDS:
            if kinds and kind not in kinds:
                continue
            query = (
                f"MATCH (n:SmpNode)-[r:{kind.value}]->() WHERE n.repo = $repo AND {placed(scope, 'n')} "
                f"RETURN {RELATIONSHIP}"
            )
            yield from sorted(map(edge_of, self._database.read(query, **within(scope))), key=edge_order)

    def count(self, kinds: tuple[NodeKind, ...]) -> int:
        query = "MATCH (n:SmpNode) WHERE n.repo = $repo AND n.kind IN $kinds RETURN count(n) AS number"
        return int(self._database.read(query, kinds=[kind.value for kind in kinds])[0]["number"])

    def size(self) -> GraphSize:
        held = self._database.held()
        if "size" not in held:
            counts = (
                "MATCH (n:SmpNode) WHERE n.repo = $repo "
                "RETURN count(n) AS nodes, sum(COUNT { (n)-->() }) AS edges, "
                "sum(COUNT { (n)-[:CALLS_UNRESOLVED]->() }) AS unresolved"
            )
            row = self._database.read(counts)[0]
            unresolved = int(row["unresolved"])
            held["size"] = GraphSize(nodes=row["nodes"], edges=row["edges"] - unresolved, unresolved=unresolved)
        size: GraphSize = held["size"]
        return size

    def walk(
        self,
        seeds: Iterable[NodeId],
        *,
        hops: int,
        kinds: tuple[EdgeKind, ...],
        direction: Direction,
        limit: int = 10_000,
    ) -> tuple[Walked, ...]:
        origin, followed = sorted(set(seeds)), types(kinds, joining=True)
        if hops < 1 or not origin or not followed:
            return ()
        left, right = _ARROWS[direction]
        # the smallest length of all paths to a node is what the planner answers by breadth-first search
        query = _BY_ID + (
            f"MATCH p = (n){left}[{followed}*1..{int(hops)}]{right}(m:SmpNode) WITH n, m, min(length(p)) AS hop "
            "WHERE NOT m.id IN $ids WITH m, min(hop) AS hop, collect(n.id) AS seeds "
            "RETURN m.body AS body, hop, seeds ORDER BY hop, m.id LIMIT $limit"
        )
        rows = self._database.read(query, ids=origin, limit=limit)
        return tuple(
            Walked(node=decode_node(row["body"]), hop=row["hop"], seeds=tuple(sorted(row["seeds"]))) for row in rows
        )

    def observe_calls(self, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        observed = [edge for edge in edges if edge.target is not None]
        return self._database.write(lambda open_one: self._observe(open_one, observed))

    def _observe(self, transaction: Transaction, observed: list[Edge]) -> tuple[Edge, ...]:
        repo = self._database.repository
        counted: dict[tuple[str, str, str], tuple[Edge, int]] = {}
        for edge in observed:
            place = (edge.source, str(edge.target), edge.commit_sha or "")
            first, before = counted.get(place, (edge, 0))
            counted[place] = (first, before + edge.call_count)
        rows = [
            {"s": place[0], "t": place[1], "commit": place[2], "calls": calls, "body": encode_edge(first)}
            for place, (first, calls) in counted.items()
        ]
        fresh: list[Edge] = []
        for part in batches(rows):
            added = transaction.run(
                "UNWIND $rows AS row MATCH (s:SmpNode {repo: $repo, id: row.s}) "
                "MATCH (t:SmpNode {repo: $repo, id: row.t}) MERGE (s)-[r:CALLS_RUNTIME {commit: row.commit}]->(t) "
                "ON CREATE SET r.body = row.body, r.calls = row.calls, r.fresh = true "
                "ON MATCH SET r.calls = r.calls + row.calls "
                "WITH r, row, r.fresh AS fresh REMOVE r.fresh WITH row, fresh WHERE fresh "
                "RETURN row.s AS s, row.t AS t, row.commit AS commit",
                repo=repo,
                rows=part,
            )
            fresh += [counted[row["s"], row["t"], row["commit"]][0] for row in added]
        return tuple(sorted(fresh, key=edge_order))

    def put_scores(self, scores: dict[NodeId, Scores]) -> None:
        rows: list[dict[str, Any]] = [
            {"id": node_id, "rank": score.pagerank, "l0": score.community_l0, "l1": score.community_l1}
            for node_id, score in scores.items()
        ]

        def put(transaction: Transaction) -> None:
            repo = self._database.repository
            transaction.run(
                "MATCH (n:SmpNode) WHERE n.repo = $repo AND n.rank IS NOT NULL REMOVE n.rank, n.l0, n.l1", repo=repo
            ).consume()
            for part in batches(rows):
                transaction.run(
                    "UNWIND $rows AS row MATCH (n:SmpNode {repo: $repo, id: row.id}) "
                    "SET n.rank = row.rank, n.l0 = row.l0, n.l1 = row.l1",
                    repo=repo,
                    rows=part,
                ).consume()

        self._database.write(put)

    def scores(self, ids: Iterable[NodeId]) -> dict[NodeId, Scores]:
        query = _BY_ID + "WITH n WHERE n.rank IS NOT NULL RETURN n.id AS id, n.rank AS rank, n.l0 AS l0, n.l1 AS l1"
        wanted = sorted(set(ids))
        rows = self._database.read(query, ids=wanted) if wanted else []
        return {
            NodeId(row["id"]): Scores(pagerank=row["rank"], community_l0=row["l0"], community_l1=row["l1"])
            for row in sorted(rows, key=lambda row: str(row["id"]))
        }
