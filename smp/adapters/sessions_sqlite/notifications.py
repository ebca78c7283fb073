"""The feed of notifications on SQLite: every process appends, every server reads what all of them appended."""

from __future__ import annotations

import sys

import msgspec

from smp.adapters.sessions_sqlite.file import FILE_NAME, SqliteFile
from smp.domain.errors import Unavailable
from smp.domain.notifications import Notification
from smp.ports.notifier import Notice, Notifier
from smp.settings import Settings

KEPT = 10_000
"""Newest notices that are kept; a feed is for those who listen now, the audit is the record."""

_VERSION = 1
_SCHEMA = ("CREATE TABLE notices (cursor INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL)",)
_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Notification] = msgspec.json.Decoder(Notification)


class SqliteNotifier(Notifier):
    """See the port. Lives in `<data_dir>/sessions.db`. AUTOINCREMENT keeps cursors rising even after old notices are dropped."""

    def __init__(self, settings: Settings) -> None:
        self._file = SqliteFile(settings.data_dir / FILE_NAME)
        self._file.create("notifications", version=_VERSION, schema=_SCHEMA)

    def publish(self, notification: Notification) -> None:
        try:
            with self._file.write() as db:
                cursor = db.execute("INSERT INTO notices (body) VALUES (?)", (_encode(notification),)).lastrowid or 0
                db.execute("DELETE FROM notices WHERE cursor <= ?", (cursor - KEPT,))
        except Unavailable as error:
            # The port forbids raising: what is being reported has happened already. stderr is all that is left.
            print(f"smp: notification lost: {error.message}", file=sys.stderr)

    def after(self, cursor: int, *, limit: int = 1000) -> tuple[Notice, ...]:
        with self._file.read() as db:
            rows = db.execute(
                "SELECT cursor, body FROM notices WHERE cursor > ? ORDER BY cursor LIMIT ?", (cursor, limit)
            ).fetchall()
        return tuple(Notice(cursor=at, body=_decoder.decode(body)) for at, body in rows)

    def latest(self) -> int:
        with self._file.read() as db:
            row = db.execute("SELECT max(cursor) FROM notices").fetchone()
        return int(row[0] or 0)

    def close(self) -> None:
        """Close the connections of all threads."""
        self._file.close()
