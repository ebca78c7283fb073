"""Documents and blobs of sessions in Neo4j."""

from __future__ import annotations

import builtins
import hashlib
from typing import Any

from smp.adapters.neo4j.database import Neo4jDatabase
from smp.domain.ids import ContentHash, SessionId
from smp.ports.artifact_store import ArtifactStore

_DOCUMENT = "(d:SmpDocument {repo: $repo, kind: $kind, key: $key})"


class Neo4jArtifactStore(ArtifactStore):
    """See the port. Every write may be done twice without harm, so none needs a gate."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    def put(self, kind: str, key: str, body: bytes, *, session_id: SessionId | None = None) -> None:
        query = f"MERGE {_DOCUMENT} SET d.session = $session, d.body = $body"
        self._write(query, kind=kind, key=key, session=session_id, body=body)

    def put_if_absent(self, kind: str, key: str, body: bytes, *, session_id: SessionId | None = None) -> bytes:
        query = f"MERGE {_DOCUMENT} ON CREATE SET d.session = $session, d.body = $body RETURN d.body AS body"
        return bytes(self._write(query, kind=kind, key=key, session=session_id, body=body)[0]["body"])

    def get(self, kind: str, key: str) -> bytes | None:
        rows = self._database.read(f"MATCH {_DOCUMENT} RETURN d.body AS body", kind=kind, key=key)
        return bytes(rows[0]["body"]) if rows else None

    def list(self, kind: str, *, session_id: SessionId | None = None) -> tuple[tuple[str, bytes], ...]:
        match = "MATCH (d:SmpDocument) WHERE d.repo = $repo AND d.kind = $kind AND d.key >= ''"
        if session_id is not None:
            match = "MATCH (d:SmpDocument {repo: $repo, kind: $kind, session: $session})"
        rows = self._database.read(f"{match} RETURN d.key AS key, d.body AS body", kind=kind, session=session_id)
        return tuple(sorted((row["key"], bytes(row["body"])) for row in rows))

    def delete(self, kind: str, key: str) -> None:
        self._write(f"MATCH {_DOCUMENT} DELETE d", kind=kind, key=key)

    def put_blob(self, content: bytes) -> ContentHash:
        digest = ContentHash(hashlib.sha256(content).hexdigest())
        self._write(
            "MERGE (c:SmpContent {repo: $repo, digest: $digest}) SET c.body = $body", digest=digest, body=content
        )
        return digest

    def blob(self, digest: ContentHash) -> bytes | None:
        query = "MATCH (c:SmpContent {repo: $repo, digest: $digest}) RETURN c.body AS body"
        rows = self._database.read(query, digest=digest)
        return bytes(rows[0]["body"]) if rows else None

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def _write(self, query: str, **parameters: object) -> builtins.list[dict[str, Any]]:
        values = parameters | {"repo": self._database.repository}
        return self._database.write(lambda open_one: open_one.run(query, values).data(), gate=None)
