"""Content hashes and the indexer's blobs in SQLite."""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

from smp.adapters.graph_sqlite.database import Database
from smp.adapters.graph_sqlite.rows import chunks
from smp.domain.ids import ContentHash, FilePath
from smp.ports.index_cache import IndexCache


class SqliteCache(IndexCache):
    """A mixin of `SqliteGraphStore`."""

    _database: Database

    def transaction(self) -> AbstractContextManager[None]:
        return self._transaction()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._database.writing():
            yield

    def file_hashes(self) -> dict[FilePath, ContentHash]:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT path, hash FROM file_hash ORDER BY path")
            return {FilePath(row[0]): ContentHash(row[1]) for row in rows}

    def put_file_hashes(self, hashes: dict[FilePath, ContentHash], removed: Iterable[FilePath]) -> None:
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM file_hash WHERE path = ?", [(path,) for path in removed])
            connection.executemany("INSERT OR REPLACE INTO file_hash (path, hash) VALUES (?, ?)", list(hashes.items()))

    def blobs(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._database.reading() as connection:
            for marks, part in chunks(dict.fromkeys(keys), fixed=1):
                rows = connection.execute(
                    f"SELECT key, body FROM blob WHERE kind = ? AND key IN ({marks})",
                    [kind, *part],
                )
                found.update((row[0], bytes(row[1])) for row in rows)
        return dict(sorted(found.items()))

    def put_blobs(self, kind: str, blobs: dict[str, bytes]) -> None:
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO blob (kind, key, body) VALUES (?, ?, ?)",
                [(kind, key, body) for key, body in blobs.items()],
            )

    def drop_blobs(self, kind: str, keys: Iterable[str]) -> None:
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM blob WHERE kind = ? AND key = ?", [(kind, key) for key in keys])

    def keys(self, kind: str) -> tuple[str, ...]:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT key FROM blob WHERE kind = ? ORDER BY key", (kind,))
            return tuple(row[0] for row in rows)
