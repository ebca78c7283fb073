"""Content hashes and the indexer's blobs in SQLite."""

# ruff: noqa: S608 - what is put into statements are constants and rows of question marks

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

from smp.adapters.graph_sqlite.held import FEW_KEYS, Holding
from smp.adapters.graph_sqlite.rows import chunks
from smp.domain.ids import ContentHash, FilePath
from smp.ports.index_cache import IndexCache


class SqliteCache(Holding, IndexCache):
    """A mixin of `SqliteGraphStore`."""

    def transaction(self) -> AbstractContextManager[None]:
        return self._transaction()

    def steady(self) -> AbstractContextManager[None]:
        return self._database.steady()

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
        asked, held = list(dict.fromkeys(keys)), self._held()
        missing = [key for key in asked if (kind, key) not in held.blobs]
        found = {key: body for key in asked if (body := held.blobs.get((kind, key))) is not None}
        if not missing:
            return dict(sorted(found.items()))
        with self._database.reading() as connection:
            for marks, part in chunks(missing, fixed=1):
                rows = connection.execute(
                    f"SELECT key, body FROM blob WHERE kind = ? AND key IN ({marks})",
                    [kind, *part],
                )
                found.update((row[0], bytes(row[1])) for row in rows)
        held.keep_blobs(kind, missing, found)
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
        held = self._held()
        known = held.keys.get(kind)
        if known is None:
            with self._database.reading() as connection:
                rows = connection.execute("SELECT key FROM blob WHERE kind = ? ORDER BY key", (kind,))
                known = tuple(row[0] for row in rows)
            if len(known) <= FEW_KEYS:
                held.keys[kind] = known
        return known
