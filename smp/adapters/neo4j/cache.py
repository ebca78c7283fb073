"""Content hashes and the indexer's blobs in Neo4j."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

from neo4j import Transaction

from smp.adapters.neo4j.database import Neo4jDatabase, batches
from smp.domain.ids import ContentHash, FilePath
from smp.ports.index_cache import IndexCache

BLOBS = 200
"""Of one statement; one may have megabytes."""
SMALL_BLOB = 4_096
"""Bytes; larger ones are read again each time."""


class Neo4jCache(IndexCache):
    """A mixin of `Neo4jGraphStore`."""

    _database: Neo4jDatabase

    def transaction(self) -> AbstractContextManager[None]:
        return self._database.transaction()

    def file_hashes(self) -> dict[FilePath, ContentHash]:
        held = self._database.held()
        if "files" not in held:
            rows = self._database.read(
                "MATCH (f:SmpFile) WHERE f.repo = $repo AND f.path >= '' RETURN f.path AS path, f.hash AS hash"
            )
            held["files"] = dict(sorted((FilePath(row["path"]), ContentHash(row["hash"])) for row in rows))
        return dict(held["files"])

    def put_file_hashes(self, hashes: dict[FilePath, ContentHash], removed: Iterable[FilePath]) -> None:
        gone, rows = list(removed), [{"path": path, "hash": digest} for path, digest in hashes.items()]

        def put(transaction: Transaction) -> None:
            repo = self._database.repository
            for paths in batches(gone):
                transaction.run(
                    "UNWIND $paths AS path MATCH (f:SmpFile {repo: $repo, path: path}) DELETE f", repo=repo, paths=paths
                ).consume()
            for some in batches(rows):
                transaction.run(
                    "UNWIND $rows AS row MERGE (f:SmpFile {repo: $repo, path: row.path}) SET f.hash = row.hash",
                    repo=repo,
                    rows=some,
                ).consume()

        self._database.write(put)

    def blobs(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        wanted, held = sorted(set(keys)), self._database.held()
        missing = [key for key in wanted if ("blob", kind, key) not in held]
        found = {key: body for key in wanted if (body := held.get(("blob", kind, key))) is not None}
        for some in batches(missing):
            rows = self._database.read(
                "UNWIND $keys AS key MATCH (b:SmpBlob {repo: $repo, kind: $kind, key: key}) RETURN key, b.body AS body",
                kind=kind,
                keys=some,
            )
            read = {row["key"]: bytes(row["body"]) for row in rows}
            found |= read
            for key in some:
                body = read.get(key)
                if body is None or len(body) <= SMALL_BLOB:
                    held["blob", kind, key] = body
        return dict(sorted(found.items()))

    def put_blobs(self, kind: str, blobs: dict[str, bytes]) -> None:
        rows = [{"key": key, "body": body} for key, body in blobs.items()]

        def put(transaction: Transaction) -> None:
            for some in batches(rows, BLOBS):
                transaction.run(
                    "UNWIND $rows AS row MERGE (b:SmpBlob {repo: $repo, kind: $kind, key: row.key}) SET b.body = row.body",
                    repo=self._database.repository,
                    kind=kind,
                    rows=some,
                ).consume()

        self._database.write(put)

    def drop_blobs(self, kind: str, keys: Iterable[str]) -> None:
        gone = list(keys)

        def drop(transaction: Transaction) -> None:
            for some in batches(gone):
                transaction.run(
                    "UNWIND $keys AS key MATCH (b:SmpBlob {repo: $repo, kind: $kind, key: key}) DELETE b",
                    repo=self._database.repository,
                    kind=kind,
                    keys=some,
                ).consume()

        self._database.write(drop)

    def keys(self, kind: str) -> tuple[str, ...]:
        held = self._database.held()
        if ("keys", kind) not in held:
            query = "MATCH (b:SmpBlob) WHERE b.repo = $repo AND b.kind = $kind AND b.key >= '' RETURN b.key AS key"
            held["keys", kind] = tuple(sorted(row["key"] for row in self._database.read(query, kind=kind)))
        known: tuple[str, ...] = held["keys", kind]
        return known
