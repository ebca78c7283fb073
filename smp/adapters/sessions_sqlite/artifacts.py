"""Documents and blobs of sessions on SQLite, beside the sessions themselves."""

from __future__ import annotations

import builtins
import hashlib

from smp.adapters.sessions_sqlite.file import FILE_NAME, SqliteFile
from smp.domain.ids import ContentHash, SessionId
from smp.ports.artifact_store import ArtifactStore
from smp.settings import Settings

_VERSION = 1
_SCHEMA = (
    """CREATE TABLE documents (
        kind TEXT NOT NULL, key TEXT NOT NULL, session_id TEXT, body BLOB NOT NULL, PRIMARY KEY (kind, key)
    ) WITHOUT ROWID""",
    "CREATE INDEX documents_of_session ON documents (session_id, kind)",
    "CREATE TABLE blobs (digest TEXT PRIMARY KEY, content BLOB NOT NULL)",
)


class SqliteArtifactStore(ArtifactStore):
    """See the port. Lives in `<data_dir>/sessions.db`, a file that the other stores of sessions use too."""

    def __init__(self, settings: Settings) -> None:
        self._file = SqliteFile(settings.data_dir / FILE_NAME)
        self._file.create("artifacts", version=_VERSION, schema=_SCHEMA)

    def put(self, kind: str, key: str, body: bytes, *, session_id: SessionId | None = None) -> None:
        with self._file.write() as db:
            db.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)", (kind, key, session_id, body))

    def put_if_absent(self, kind: str, key: str, body: bytes, *, session_id: SessionId | None = None) -> bytes:
        with self._file.write() as db:
            db.execute("INSERT OR IGNORE INTO documents VALUES (?, ?, ?, ?)", (kind, key, session_id, body))
            row = db.execute("SELECT body FROM documents WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        return bytes(row[0])

    def get(self, kind: str, key: str) -> bytes | None:
        with self._file.read() as db:
            row = db.execute("SELECT body FROM documents WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        return None if row is None else bytes(row[0])

    def list(self, kind: str, *, session_id: SessionId | None = None) -> tuple[tuple[str, bytes], ...]:
        query, values = "SELECT key, body FROM documents WHERE kind = ?", [kind]
        if session_id is not None:
            query, values = query + " AND session_id = ?", [kind, session_id]
        with self._file.read() as db:
            rows: builtins.list[tuple[str, bytes]] = db.execute(query + " ORDER BY key", values).fetchall()
        return tuple((key, bytes(body)) for key, body in rows)

    def delete(self, kind: str, key: str) -> None:
        with self._file.write() as db:
            db.execute("DELETE FROM documents WHERE kind = ? AND key = ?", (kind, key))

    def put_blob(self, content: bytes) -> ContentHash:
        digest = ContentHash(hashlib.sha256(content).hexdigest())
        if self.blob(digest) is None:
            with self._file.write() as db:
                db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (digest, content))
        return digest

    def blob(self, digest: ContentHash) -> bytes | None:
        with self._file.read() as db:
            row = db.execute("SELECT content FROM blobs WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        """Close the connections of all threads."""
        self._file.close()
