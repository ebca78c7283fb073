"""Graph, metadata, index cache, telemetry, sessions, artifacts and notifications in Neo4j 5 (docs/server-profile.md)."""

from __future__ import annotations

from smp.adapters.neo4j.cache import Neo4jCache
from smp.adapters.neo4j.database import Neo4jDatabase
from smp.adapters.neo4j.graph import Neo4jGraph
from smp.adapters.neo4j.metadata import Neo4jMetadata
from smp.adapters.neo4j.telemetry import Neo4jTelemetry

__all__ = ["Neo4jGraphStore"]


class Neo4jGraphStore(Neo4jGraph, Neo4jMetadata, Neo4jCache, Neo4jTelemetry):
    """All four ports of the graph on one database; safe to use from several threads, the database from several hosts."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    def close(self) -> None:
        """Close every connection; the store is of no use afterwards."""
        self._database.close()
