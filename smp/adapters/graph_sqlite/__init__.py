"""Graph, metadata, index cache and telemetry of a repository in one SQLite file."""

from __future__ import annotations

from smp.adapters.graph_sqlite.cache import SqliteCache
from smp.adapters.graph_sqlite.database import SCHEMA_VERSION, Database
from smp.adapters.graph_sqlite.graph import SqliteGraph
from smp.adapters.graph_sqlite.metadata import SqliteMetadata
from smp.adapters.graph_sqlite.telemetry import SqliteTelemetry
from smp.settings import Settings

__all__ = ["SCHEMA_VERSION", "SqliteGraphStore"]


class SqliteGraphStore(SqliteGraph, SqliteMetadata, SqliteCache, SqliteTelemetry):
    """All four ports on `<data_dir>/graph.db`; safe to use from several threads, the file from several processes.

    Args:
        settings: `data_dir` is made when missing.

    Raises:
        Unavailable: The folder cannot be written, or the file has another schema version.
    """

    def __init__(self, settings: Settings) -> None:
        self._database = Database(settings.data_dir)

    def close(self) -> None:
        """Close every connection; the store is of no use afterwards."""
        self._database.close()
