"""One SQLite file that several threads and processes share: connections, transactions, schema versions.

Every thread reads on a connection of its own; a write is one `BEGIN IMMEDIATE` transaction on that same connection, so
that it never has to upgrade a read lock and either waits for its turn or fails whole. WAL lets readers go on meanwhile.
The stores of one file create their own tables under a version each; a file of another version is refused, not guessed at.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smp.domain.errors import Unavailable

FILE_NAME = "sessions.db"
"""Holds sessions, their artifacts and the feed of notifications, under the data directory."""

BUSY_TIMEOUT_MS = 30_000
"""How long a writer waits for the others; a write takes milliseconds."""

_TURNS: dict[str, threading.Lock] = {}
"""One queue of writers per file and process. SQLite's own waiting is sleeping and trying again, which starves some thread
as soon as several write at once; between processes, of which there are few, it has to do."""
_TURNS_GUARD = threading.Lock()


class SqliteFile:
    """Connections to one database file.

    Args:
        path: The file; its folder is made when missing.

    Raises:
        Unavailable: It cannot be opened, or is full, read-only, damaged, or locked beyond `BUSY_TIMEOUT_MS`; likewise
            from every method.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        with _TURNS_GUARD:
            self._turn = _TURNS.setdefault(os.path.abspath(path), threading.Lock())

    def create(self, component: str, *, version: int, schema: tuple[str, ...]) -> None:
        """Make the tables of a store unless they are there.

        Raises:
            Unavailable: They are there in another version.
        """
        with self.write() as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL)"
            )
            row = db.execute("SELECT version FROM schema_versions WHERE component = ?", (component,)).fetchone()
            if row is None:
                for statement in schema:
                    db.execute(statement)
                db.execute("INSERT INTO schema_versions VALUES (?, ?)", (component, version))
            elif row[0] != version:
                raise Unavailable(
                    f"{self.path.name} holds {component} of version {row[0]}, this release needs {version}; "
                    "move the file away, or use the release that wrote it",
                    backend="sqlite",
                )

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection, for queries; each query sees the last commit."""
        try:
            yield self._connection()
        except sqlite3.Error as error:
            raise self._unavailable(error) from error

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed at the end, rolled back when anything is raised."""
        with self._turn:
            try:
                db = self._connection()
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise self._unavailable(error) from error
            try:
                yield db
                db.execute("COMMIT")
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise self._unavailable(error) from error
                raise

    def close(self) -> None:
        """Close every thread's connection; a later call opens anew."""
        with self._guard:
            for db in self._all:
                db.close()
            self._all.clear()
            self._local = threading.local()

    def _connection(self) -> sqlite3.Connection:
        # A connection must not cross fork(): SQLite's locks belong to the process that took them.
        owner: int | None = getattr(self._local, "pid", None)
        if owner == os.getpid():
            db: sqlite3.Connection = self._local.db
            return db
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            ignore = self.path.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", "utf-8")
        except OSError as error:
            raise Unavailable(f"cannot make {str(self.path.parent)!r}: {error.strerror}", backend="sqlite") from error
        db = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        self._local.db, self._local.pid = db, os.getpid()
        with self._guard:
            self._all.append(db)
        return db

    def _unavailable(self, error: sqlite3.Error) -> Unavailable:
        hint = "check that the disk has room and the file is writable, then repeat the call"
        if "malformed" in str(error) or "not a database" in str(error):
            hint = "the file is damaged: put a copy back, or move it away (open sessions and their audit go with it)"
        return Unavailable(f"{str(self.path)!r}: {error}; {hint}", backend="sqlite")
