"""The one file behind the embedded stores: connections, schema, transactions.

Server, worker and command line share `<data_dir>/graph.db`. Readers have a connection per thread and see the last commit
(WAL); writers queue for one lock per process and then for SQLite's own (`BEGIN IMMEDIATE`, busy timeout). A transaction
is bound to its thread; what that thread reads meanwhile comes from the writing connection and includes its own writes.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from smp.adapters.graph_sqlite.words import WORDS_SCHEMA
from smp.domain.errors import Unavailable

SCHEMA_VERSION = 2
BUSY_TIMEOUT_MS = 30_000
FILE_NAME = "graph.db"

SCHEMA = """
CREATE TABLE owner (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE node (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    qualname TEXT NOT NULL,
    place TEXT,
    body BLOB NOT NULL
);
CREATE INDEX node_owner ON node (owner);
CREATE INDEX node_place ON node (place);
CREATE INDEX node_name ON node (name);
CREATE INDEX node_qualname ON node (qualname);
CREATE TABLE edge (
    key INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    source INTEGER NOT NULL,
    target INTEGER,
    body BLOB NOT NULL
);
CREATE INDEX edge_owner ON edge (owner);
CREATE INDEX edge_source ON edge (source, kind, target);
CREATE INDEX edge_target ON edge (target, kind, source) WHERE target IS NOT NULL;
CREATE TABLE runtime_edge (
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    commit_sha TEXT NOT NULL,
    call_count INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (source, target, commit_sha)
) WITHOUT ROWID;
CREATE INDEX runtime_edge_target ON runtime_edge (target);
CREATE TABLE score (node INTEGER PRIMARY KEY, pagerank REAL NOT NULL, community_l0 TEXT, community_l1 TEXT);
CREATE TABLE enrichment (node_id TEXT PRIMARY KEY, manually_set INTEGER NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE tag (node_id TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (node_id, tag)) WITHOUT ROWID;
CREATE TABLE change (
    node_id TEXT NOT NULL,
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    agent TEXT,
    session TEXT,
    PRIMARY KEY (node_id, at, event)
) WITHOUT ROWID;
CREATE INDEX change_at ON change (at);
CREATE TABLE file_hash (path TEXT PRIMARY KEY, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE blob (kind TEXT NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, key));
"""

PRAGMAS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 33554432;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;
PRAGMA mmap_size = 268435456;
"""


class _Reading(AbstractContextManager[sqlite3.Connection]):
    """What `Database.reading` gives. One for all threads: it keeps nothing. A generator in its place would cost more than many
    a question that is asked in it."""

    def __init__(
        self, connection: Callable[[], sqlite3.Connection], refused: Callable[[sqlite3.Error], Unavailable]
    ) -> None:
        self._connection = connection
        self._refused = refused

    def __enter__(self) -> sqlite3.Connection:
        return self._connection()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise self._refused(error) from error


class Database:
    """Connections to one `graph.db`; safe to use from several threads.

    Args:
        data_dir: Made, with a `.gitignore` that ignores everything in it, when it is missing.

    Raises:
        Unavailable: The folder cannot be written, or the file was written by another version of the schema.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME
        self._lock = threading.RLock()
        self._opening = threading.Lock()
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._closed = False
        self._state = 0
        self._reading = _Reading(self._reader, self._refused)
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
            ignore = data_dir / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", "utf-8")
        except OSError as error:
            raise Unavailable(
                f"cannot write in {str(data_dir)!r} ({error.strerror}); name another folder with --data-dir",
                backend=FILE_NAME,
            ) from error
        with self._translated():
            self._writer = self._connect()
            self._create()

    def close(self) -> None:
        """Close every connection; later calls raise `Unavailable`."""
        with self._lock, self._opening:
            self._closed = True
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection to read with: this thread's own, or the writing one inside a transaction of this thread."""
        return self._reading

    def _reader(self) -> sqlite3.Connection:
        local = self._local
        if getattr(local, "depth", 0):
            return self._writer
        connection: sqlite3.Connection | None = getattr(local, "connection", None)
        if connection is None:
            with self._translated():
                connection = local.connection = self._connect()
        return connection

    def state(self) -> int | None:
        """A number for what the file holds: while it stays, nothing has been changed by anybody.

        Every thread has a connection of its own, which SQLite tells when another one has changed the file; the first to hear
        of a change raises the number for all. None while this thread sees something else than the last commit: inside a
        transaction of its own, and while it goes through a result (`lasting`).
        """
        local = self._local
        if getattr(local, "depth", 0) or getattr(local, "lasting", 0):
            return None
        steady: int | None = getattr(local, "steady", None)
        if steady is not None:
            return steady
        with self.reading() as connection:
            seen = connection.execute("PRAGMA data_version").fetchone()[0]
        if seen != getattr(local, "seen", None):
            local.seen = seen
            with self._opening:
                self._state += 1
        return self._state

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Ask once for the state, for all that this thread asks inside: five looks are a third of the briefest question."""
        self._local.steady = self.state()
        try:
            yield
        finally:
            self._local.steady = None

    @contextmanager
    def lasting(self) -> Iterator[sqlite3.Connection]:
        """As `reading`, for a result that is gone through while other questions are asked: until then this thread sees the
        file as it was when the result began."""
        self._local.lasting = getattr(self._local, "lasting", 0) + 1
        try:
            with self.reading() as connection:
                yield connection
        finally:
            self._local.lasting = getattr(self._local, "lasting", 0) - 1

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The writing connection inside a transaction; joins the one that this thread has open."""
        depth = getattr(self._local, "depth", 0)
        if depth:
            with self._translated():
                yield self._writer
            return
        with self._lock, self._translated():
            self._writer.execute("BEGIN IMMEDIATE")
            self._local.depth = 1
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                self._local.depth = 0
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    def _connect(self) -> sqlite3.Connection:
        with self._opening:
            if self._closed:
                raise Unavailable("the store has been closed; open it again", backend=FILE_NAME)
            connection = sqlite3.connect(
                self.path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
            )
            self._connections.append(connection)
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        for pragma in PRAGMAS.strip().splitlines():
            connection.execute(pragma)
        return connection

    def _create(self) -> None:
        if self._version() == SCHEMA_VERSION:
            return
        with self.writing() as connection:
            version = self._version()
            if version == 0:
                for statement in (*SCHEMA.split(";\n"), *WORDS_SCHEMA):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif version == 1:
                # full text had other columns; the next refresh finds the nodes without words and fills them in
                for statement in ("DROP TABLE IF EXISTS words", "DROP TABLE IF EXISTS words_known", *WORDS_SCHEMA):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif version != SCHEMA_VERSION:
                raise Unavailable(
                    f"{str(self.path)!r} has schema {version}, this program needs {SCHEMA_VERSION}; "
                    "move the file away and run smp index",
                    backend=FILE_NAME,
                )

    def _version(self) -> int:
        return int(self._writer.execute("PRAGMA user_version").fetchone()[0])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._refused(error) from error

    def _refused(self, error: sqlite3.Error) -> Unavailable:
        hint = "check that the disk has room and the folder can be written, then repeat the call"
        if "locked" in str(error):
            hint = "another process is writing for long; repeat the call"
        elif (isinstance(error, sqlite3.DatabaseError) and "malformed" in str(error)) or "not a database" in str(error):
            hint = "move the file away and run smp index"
        return Unavailable(f"{str(self.path)!r}: {error}; {hint}", backend=FILE_NAME)
