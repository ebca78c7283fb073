"""Link archives as SQLite files, one a family: `<data_dir>/link/<name>.db`.

A file is written under another name and renamed when it is whole, so readers see the old one or the new one; who has the old
one open reads on in it. SQLite does not notice a flipped bit, so each body carries a checksum.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from smp.ports.link_archive import DamagedArchive, LinkArchive, LinkArchives

_LOG = logging.getLogger(__name__)
_STAMP = "stamp"
_CHECK_BYTES = 4
ABANDONED_S = 3600
"""Nobody writes an archive for so long."""
_BATCH = 512
SCHEMA = """
PRAGMA page_size = 8192;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE entry (key TEXT PRIMARY KEY, body BLOB NOT NULL);
"""


class SqliteLinkArchives(LinkArchives):
    """The archives in one folder."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "link"

    def open(self, name: str, stamp: str) -> LinkArchive | None:
        path = self._folder / f"{name}.db"
        if not path.is_file():
            return None
        try:
            archive = _SqliteLinkArchive(path)
            found = archive.get(_STAMP)
        except (DamagedArchive, sqlite3.Error) as error:
            _LOG.warning("%s is damaged and will be made anew: %s", path.name, error)
            return None
        if found is None or found.decode() != stamp:
            archive.close()
            return None
        return archive

    def write(self, name: str, stamp: str, entries: Iterable[tuple[str, bytes]]) -> bool:
        scratch: str | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._sweep(name)
            handle, scratch = tempfile.mkstemp(dir=self._folder, prefix=f"{name}-", suffix=".tmp")
            os.close(handle)
            self._fill(scratch, [(_STAMP, stamp.encode())], entries)
            os.replace(scratch, self._folder / f"{name}.db")
        except (OSError, sqlite3.Error) as error:
            _LOG.warning("the link of %s files cannot be kept for the next process: %s", name, error)
            self.drop(name)
            return False
        finally:
            if scratch is not None:
                Path(scratch).unlink(missing_ok=True)
        return True

    def _fill(self, path: str, head: list[tuple[str, bytes]], entries: Iterable[tuple[str, bytes]]) -> None:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.executescript(SCHEMA)
            connection.execute("BEGIN")
            for batch in _batches([*head], entries):
                connection.executemany(
                    "INSERT INTO entry (key, body) VALUES (?, ?)", [(key, _sealed(body)) for key, body in batch]
                )
            connection.execute("COMMIT")
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _sweep(self, name: str) -> None:
        """Takes away what processes that were killed have left half-written."""
        for path in self._folder.glob(f"{name}-*.tmp"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < time.time() - ABANDONED_S:
                    path.unlink()

    def drop(self, name: str) -> None:
        with contextlib.suppress(OSError):
            (self._folder / f"{name}.db").unlink(missing_ok=True)


class _SqliteLinkArchive(LinkArchive):
    def __init__(self, path: Path) -> None:
        # Linking is done by one thread at a time, not always by the same.
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )

    def get(self, key: str) -> bytes | None:
        try:
            row = self._connection.execute("SELECT body FROM entry WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise DamagedArchive(str(error)) from error
        if row is None:
            return None
        body = row[0] if isinstance(row[0], bytes) else b""
        if zlib.crc32(body[_CHECK_BYTES:]).to_bytes(_CHECK_BYTES, "little") != body[:_CHECK_BYTES]:
            raise DamagedArchive(f"the checksum of {key!r} is wrong")
        return body[_CHECK_BYTES:]

    def close(self) -> None:
        self._connection.close()


def _sealed(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_CHECK_BYTES, "little") + body


def _batches(head: list[tuple[str, bytes]], entries: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch = head
    for entry in entries:
        batch.append(entry)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    yield batch
