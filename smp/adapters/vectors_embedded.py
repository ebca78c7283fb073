"""Vectors in one SQLite file, searched exactly in memory.

A collection is a matrix of unit rows, read whole when first asked and kept up to date; what another process has written is
noticed by SQLite's own change counter. 40,000 vectors of 384 numbers are 61 MB and take about 10 ms to search.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from smp.domain.errors import Invalid, Unavailable
from smp.ports.vector_index import Match, Matrix, Vector, VectorIndex
from smp.settings import Settings

SCHEMA_VERSION = 1
FILE_NAME = "vectors.db"
DECIMALS = 6
"""Scores are rounded to this: what a dot product gives beyond depends on where in the matrix the row lies."""

_SCHEMA = """CREATE TABLE vector (
    collection TEXT NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (collection, key)
) WITHOUT ROWID"""


class _Collection:
    """A collection in memory; rows in any order, `position` says where."""

    def __init__(self, rows: list[tuple[str, str, bytes]]) -> None:
        self.keys = [key for key, _, _ in rows]
        self.hashes = {key: digest for key, digest, _ in rows}
        self.position = {key: index for index, key in enumerate(self.keys)}
        flat = np.frombuffer(b"".join(body for _, _, body in rows), dtype=np.float32)
        self.product: tuple[bytes, np.ndarray[tuple[int], np.dtype[np.float64]]] | None = None
        """The last query that was held against all rows, with the scores; one question is asked several times."""
        self._room: Matrix = flat.reshape(len(rows), -1).copy() if rows else np.zeros((0, 0), dtype=np.float32)

    @property
    def matrix(self) -> Matrix:
        """The rows in use; those behind are room for more, so that filling in does not copy everything each time."""
        return self._room[: len(self.keys)]

    def put(self, keys: tuple[str, ...], vectors: Matrix, hashes: tuple[str, ...]) -> None:
        self.product = None
        fresh: dict[str, int] = {}
        for row, (key, digest) in enumerate(zip(keys, hashes, strict=True)):
            self.hashes[key] = digest
            if key in self.position:
                self.matrix[self.position[key]] = vectors[row]
            else:
                fresh[key] = row
        if fresh:
            used, needed = len(self.keys), len(self.keys) + len(fresh)
            if needed > len(self._room):
                room = np.empty((max(needed, used + used // 2), vectors.shape[1]), dtype=np.float32)
                room[:used] = self.matrix if used else room[:0]
                self._room = room
            self._room[used:needed] = vectors[list(fresh.values())]
            for key in fresh:
                self.position[key] = len(self.keys)
                self.keys.append(key)

    def drop(self, keys: set[str]) -> None:
        self.product = None
        kept = [index for index, key in enumerate(self.keys) if key not in keys]
        self._room = self.matrix[kept]
        self.keys = [self.keys[index] for index in kept]
        self.position = {key: index for index, key in enumerate(self.keys)}
        self.hashes = {key: self.hashes[key] for key in self.keys}


class EmbeddedVectorIndex(VectorIndex):
    """Safe to use from several threads, the file from several processes.

    Args:
        settings: `data_dir` holds `vectors.db`; made when missing.

    Raises:
        Unavailable: The folder cannot be written, or the file has another schema version.
    """

    def __init__(self, settings: Settings) -> None:
        self._path = settings.data_dir / FILE_NAME
        self._lock = threading.RLock()
        self._collections: dict[str, _Collection] = {}
        self._seen = -1
        with self._translated():
            settings.data_dir.mkdir(parents=True, exist_ok=True)
            self._sql = sqlite3.connect(self._path, timeout=30, isolation_level=None, check_same_thread=False)
            self._sql.execute("PRAGMA journal_mode = WAL")
            self._sql.execute("PRAGMA synchronous = NORMAL")
            with self._writing():
                version = self._sql.execute("PRAGMA user_version").fetchone()[0]
                if version == 0:
                    self._sql.execute(_SCHEMA)
                    self._sql.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                elif version != SCHEMA_VERSION:
                    raise Unavailable(
                        f"{str(self._path)!r} has schema {version}, this program needs {SCHEMA_VERSION}; delete the file",
                        backend=FILE_NAME,
                    )

    def close(self) -> None:
        """Close the file; the index is of no use afterwards."""
        with self._lock:
            self._sql.close()

    def upsert(self, collection: str, keys: tuple[str, ...], vectors: Matrix, hashes: tuple[str, ...]) -> None:
        if not keys:
            return
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        with self._lock, self._translated():
            held = self._collection(collection)
            if len(held.keys) and held.matrix.shape[1] != rows.shape[1]:
                raise Invalid(
                    f"vectors of {rows.shape[1]} numbers in a collection of {held.matrix.shape[1]}", path="vectors"
                )
            with self._writing():
                self._sql.executemany(
                    "INSERT OR REPLACE INTO vector (collection, key, hash, body) VALUES (?, ?, ?, ?)",
                    [
                        (collection, key, digest, row.tobytes())
                        for key, digest, row in zip(keys, hashes, rows, strict=True)
                    ],
                )
            held.put(keys, rows, hashes)

    def nearest(
        self, collection: str, query: Vector, *, k: int, within: frozenset[str] | None = None
    ) -> tuple[Match, ...]:
        with self._lock, self._translated():
            held = self._collection(collection)
            keys = held.keys if within is None else sorted(key for key in within if key in held.position)
            scores = self._scores(held, query, keys)
        if len(keys) > k:
            # everything that ties with the last one stays, so that ties are broken by key and not by position
            bound = np.partition(scores, len(keys) - k)[len(keys) - k]
            chosen = np.flatnonzero(scores >= bound)
        else:
            chosen = np.arange(len(keys))
        found = sorted((-float(scores[index]), keys[index]) for index in chosen)[:k]
        return tuple(Match(key=key, score=-score) for score, key in found)

    def similarities(self, collection: str, query: Vector, keys: Iterable[str]) -> dict[str, float]:
        with self._lock, self._translated():
            held = self._collection(collection)
            known = sorted(key for key in set(keys) if key in held.position)
            scores = self._scores(held, query, known)
        return dict(zip(known, map(float, scores), strict=True))

    def hashes(self, collection: str, keys: Iterable[str] | None = None) -> dict[str, str]:
        with self._lock, self._translated():
            stored = self._collection(collection).hashes
            return {key: stored[key] for key in sorted(stored if keys is None else set(keys)) if key in stored}

    def count(self, collection: str) -> int:
        with self._lock, self._translated():
            return len(self._collection(collection).keys)

    def vectors(self, collection: str, keys: Iterable[str]) -> dict[str, Vector]:
        with self._lock, self._translated():
            held = self._collection(collection)
            return {key: held.matrix[held.position[key]].copy() for key in sorted(set(keys)) if key in held.position}

    def delete(self, collection: str, keys: Iterable[str]) -> None:
        with self._lock, self._translated():
            held = self._collection(collection)
            gone = {key for key in keys if key in held.position}
            if not gone:
                return
            with self._writing():
                self._sql.executemany(
                    "DELETE FROM vector WHERE collection = ? AND key = ?", [(collection, key) for key in sorted(gone)]
                )
            held.drop(gone)

    def _scores(
        self, held: _Collection, query: Vector, keys: list[str]
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        if not keys:
            return np.zeros(0)
        if query.shape[0] != held.matrix.shape[1]:
            raise Invalid(
                f"a query of {query.shape[0]} numbers in a collection of {held.matrix.shape[1]}", path="query"
            )
        if held.product is not None and held.product[0] == query.tobytes():
            known = held.product[1]
            return known if keys is held.keys else known[[held.position[key] for key in keys]]
        matrix = held.matrix if keys is held.keys else held.matrix[[held.position[key] for key in keys]]
        clipped = np.clip((matrix @ query).astype(np.float64), -1.0, 1.0)
        scores: np.ndarray[tuple[int], np.dtype[np.float64]] = np.round(clipped, DECIMALS)
        if keys is held.keys:
            held.product = (query.tobytes(), scores)
        return scores

    def _collection(self, name: str) -> _Collection:
        version = int(self._sql.execute("PRAGMA data_version").fetchone()[0])
        if version != self._seen:
            self._collections.clear()
            self._seen = version
        held = self._collections.get(name)
        if held is None:
            rows = self._sql.execute("SELECT key, hash, body FROM vector WHERE collection = ? ORDER BY key", (name,))
            held = self._collections[name] = _Collection(rows.fetchall())
        return held

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._sql.execute("COMMIT")
        finally:
            if self._sql.in_transaction:
                self._sql.execute("ROLLBACK")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            hint = "check that the disk has room and the folder can be written, then repeat"
            if "malformed" in str(error) or "not a database" in str(error):
                hint = "move the file away and run smp index"
            raise Unavailable(f"{str(self._path)!r}: {error}; {hint}", backend=FILE_NAME) from error
