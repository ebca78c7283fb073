"""The record of node changes in SQLite."""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

from collections.abc import Iterable

from smp.adapters.graph_sqlite.database import Database
from smp.adapters.graph_sqlite.rows import chunks, scope_condition
from smp.domain.graph import Scope
from smp.domain.ids import AgentId, NodeId, SessionId
from smp.domain.telemetry import NodeChange
from smp.ports.telemetry_store import TelemetryStore


class SqliteTelemetry(TelemetryStore):
    """A mixin of `SqliteGraphStore`."""

    _database: Database

    def record(self, changes: Iterable[NodeChange]) -> None:
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO change (node_id, at, event, agent, session) VALUES (?, ?, ?, ?, ?)",
                [(one.node_id, one.at, one.event, one.agent, one.session) for one in changes],
            )

    def history(self, node_id: NodeId, *, since: str) -> tuple[NodeChange, ...]:
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT node_id, event, at, agent, session FROM change WHERE node_id = ? AND at >= ? "
                "ORDER BY at DESC, event",
                (node_id, since),
            )
            return tuple(_change(row) for row in rows)

    def counts(self, scope: Scope, *, since: str) -> dict[NodeId, int]:
        condition, parameters = scope_condition(scope, "node.place")
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT node.id, count(*) FROM change JOIN node ON node.id = change.node_id "
                f"WHERE at >= ? AND {condition} GROUP BY node.id ORDER BY node.id",
                [since, *parameters],
            )
            return {NodeId(row[0]): int(row[1]) for row in rows}

    def counts_of(self, ids: Iterable[NodeId], *, since: str) -> dict[NodeId, int]:
        found: dict[NodeId, int] = {}
        with self._database.reading() as connection:
            for marks, part in chunks(dict.fromkeys(ids), fixed=1):
                rows = connection.execute(
                    "SELECT node.id, count(*) FROM change JOIN node ON node.id = change.node_id "
                    f"WHERE change.node_id IN ({marks}) AND at >= ? GROUP BY node.id",
                    [*part, since],
                )
                found.update((NodeId(row[0]), int(row[1])) for row in rows)
        return dict(sorted(found.items()))

    def last(self, ids: Iterable[NodeId]) -> dict[NodeId, NodeChange]:
        found: dict[NodeId, NodeChange] = {}
        with self._database.reading() as connection:
            for marks, part in chunks(dict.fromkeys(ids)):
                rows = connection.execute(
                    # SQLite takes the bare columns from the row that holds the maximum
                    "SELECT node_id, event, max(at), agent, session FROM change "
                    f"WHERE node_id IN ({marks}) GROUP BY node_id ORDER BY node_id",
                    part,
                )
                found.update((NodeId(row[0]), _change(row)) for row in rows)
        return found


def _change(row: tuple[str, str, str, str | None, str | None]) -> NodeChange:
    node_id, event, at, agent, session = row
    return NodeChange(
        node_id=NodeId(node_id),
        event=event,
        at=at,
        agent=AgentId(agent) if agent is not None else None,
        session=SessionId(session) if session is not None else None,
    )
