"""The record of node changes in Neo4j."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from neo4j import Transaction

from smp.adapters.neo4j.database import Neo4jDatabase, batches
from smp.adapters.neo4j.rows import placed, within
from smp.domain.graph import Scope
from smp.domain.ids import AgentId, NodeId, SessionId
from smp.domain.telemetry import NodeChange
from smp.ports.telemetry_store import TelemetryStore

_CHANGE = "c.node AS node, c.event AS event, c.at AS at, c.agent AS agent, c.session AS session"
_BY_NODE = "MATCH (c:SmpChange) WHERE c.repo = $repo AND c.node = {node} AND c.at >= $since"


class Neo4jTelemetry(TelemetryStore):
    """A mixin of `Neo4jGraphStore`."""

    _database: Neo4jDatabase

    def record(self, changes: Iterable[NodeChange]) -> None:
        rows = [
            {"key": [one.node_id, one.at, one.event], "agent": one.agent, "session": one.session} for one in changes
        ]

        def append(transaction: Transaction) -> None:
            for some in batches(rows):
                transaction.run(
                    "UNWIND $rows AS row "
                    "MERGE (c:SmpChange {repo: $repo, node: row.key[0], at: row.key[1], event: row.key[2]}) "
                    "ON CREATE SET c.agent = row.agent, c.session = row.session",
                    repo=self._database.repository,
                    rows=some,
                ).consume()

        self._database.write(append)

    def history(self, node_id: NodeId, *, since: str) -> tuple[NodeChange, ...]:
        query = _BY_NODE.format(node="$node") + f" RETURN {_CHANGE} ORDER BY at DESC, event"
        return tuple(_change(row) for row in self._database.read(query, node=node_id, since=since))

    def counts(self, scope: Scope, *, since: str) -> dict[NodeId, int]:
        query = (
            "MATCH (c:SmpChange) WHERE c.repo = $repo AND c.at >= $since WITH c.node AS id, count(*) AS number "
            f"MATCH (n:SmpNode {{repo: $repo, id: id}}) WHERE {placed(scope, 'n')} RETURN id, number"
        )
        return _numbers(self._database.read(query, since=since, **within(scope)))

    def counts_of(self, ids: Iterable[NodeId], *, since: str) -> dict[NodeId, int]:
        query = (
            "UNWIND $ids AS id MATCH (:SmpNode {repo: $repo, id: id}) "
            + _BY_NODE.format(node="id")
            + " RETURN id, count(c) AS number"
        )
        wanted = sorted(set(ids))
        return _numbers(self._database.read(query, ids=wanted, since=since)) if wanted else {}

    def last(self, ids: Iterable[NodeId]) -> dict[NodeId, NodeChange]:
        newest = f"{_BY_NODE.format(node='id')} RETURN c ORDER BY c.at DESC, c.event LIMIT 1"
        query = f"UNWIND $ids AS id CALL (id) {{ {newest} }} RETURN {_CHANGE} ORDER BY node"
        wanted = sorted(set(ids))
        rows = self._database.read(query, ids=wanted, since="") if wanted else []
        return {NodeId(row["node"]): _change(row) for row in rows}


def _numbers(rows: Iterable[Mapping[str, Any]]) -> dict[NodeId, int]:
    return dict(sorted((NodeId(row["id"]), int(row["number"])) for row in rows))


def _change(row: Mapping[str, Any]) -> NodeChange:
    return NodeChange(
        node_id=NodeId(row["node"]),
        event=row["event"],
        at=row["at"],
        agent=AgentId(row["agent"]) if row["agent"] is not None else None,
        session=SessionId(row["session"]) if row["session"] is not None else None,
    )
