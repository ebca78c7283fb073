"""The feed of notifications in Neo4j: every process appends, every server reads what all of them appended."""

from __future__ import annotations

import sys

import msgspec
from neo4j import Transaction

from smp.adapters.neo4j.database import Neo4jDatabase
from smp.domain.errors import Unavailable
from smp.domain.notifications import Notification
from smp.ports.notifier import Notice, Notifier

KEPT = 10_000
"""Newest notices that are kept; a feed is for those who listen now, the audit is the record."""
GATE = "notices"
_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Notification] = msgspec.json.Decoder(Notification)


class Neo4jNotifier(Notifier):
    """See the port. The cursor is the state of a gate, which is held until the commit: later cursors are never seen first."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    def publish(self, notification: Notification) -> None:
        def append(transaction: Transaction) -> None:
            transaction.run(
                "MATCH (g:SmpGate {repo: $repo, name: $gate}) "
                "CREATE (:SmpNotice {repo: $repo, cursor: g.state, body: $body}) "
                "WITH g.state - $kept AS old MATCH (n:SmpNotice) WHERE n.repo = $repo AND n.cursor <= old DELETE n",
                repo=self._database.repository,
                gate=GATE,
                body=_encode(notification),
                kept=KEPT,
            ).consume()

        try:
            self._database.write(append, gate=GATE)
        except Unavailable as error:
            # The port forbids raising: what is being reported has happened already. stderr is all that is left.
            print(f"smp: notification lost: {error.message}", file=sys.stderr)

    def after(self, cursor: int, *, limit: int = 1000) -> tuple[Notice, ...]:
        rows = self._database.read(
            "MATCH (n:SmpNotice) WHERE n.repo = $repo AND n.cursor > $cursor "
            "RETURN n.cursor AS cursor, n.body AS body ORDER BY cursor LIMIT $limit",
            cursor=cursor,
            limit=limit,
        )
        return tuple(Notice(cursor=row["cursor"], body=_decoder.decode(row["body"])) for row in rows)

    def latest(self) -> int:
        rows = self._database.read(
            "MATCH (n:SmpNotice) WHERE n.repo = $repo AND n.cursor > 0 RETURN max(n.cursor) AS cursor"
        )
        return int(rows[0]["cursor"] or 0)

    def close(self) -> None:
        """Close every connection."""
        self._database.close()
