"""Every adapter that can be reached here, per port: a suite asks for the port's fixture and runs once for each."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smp.adapters.graph_sqlite import SqliteGraphStore
from smp.adapters.memory import MemoryStore
from smp.adapters.neo4j import Neo4jGraphStore
from smp.adapters.neo4j.database import Neo4jDatabase
from smp.domain.graph import (
    Edge,
    EdgeKind,
    GraphDelta,
    GraphPart,
    Node,
    NodeKind,
    Owner,
    Parameter,
    Resolution,
    UnresolvedReason,
)
from smp.domain.ids import ContentHash, FilePath, mint_node_id
from smp.domain.metadata import Annotation, Comment, Metadata
from smp.settings import GraphSettings, VectorsSettings, load_settings
from tests.builders.server_profile import TestServer, started

Store = MemoryStore | SqliteGraphStore | Neo4jGraphStore


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestServer]:
    """A real server; tests share it and name repositories of their own."""
    with started("neo4j", tmp_path_factory.mktemp("servers")) as server:
        yield server


@pytest.fixture(scope="session")
def neo4j(neo4j_server: TestServer) -> GraphSettings:
    """Where the shared server is."""
    return GraphSettings(store="neo4j", url=neo4j_server.settings()["SMP_GRAPH_URL"], patience_s=20)


@pytest.fixture(scope="session")
def weaviate_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestServer]:
    """A real server; tests share it and name repositories of their own."""
    with started("weaviate", tmp_path_factory.mktemp("servers")) as server:
        yield server


@pytest.fixture(scope="session")
def weaviate(weaviate_server: TestServer) -> VectorsSettings:
    """Where the shared server is, and its key."""
    found = weaviate_server.settings()
    return VectorsSettings(
        store="weaviate",
        url=found["SMP_VECTORS_URL"],
        grpc_port=int(found["SMP_VECTORS_GRPC_PORT"]),
        api_key=found["SMP_VECTORS_API_KEY"],
        patience_s=20,
    )


def open_neo4j(settings: GraphSettings) -> Neo4jGraphStore:
    """An empty store of a repository that nobody else has."""
    return Neo4jGraphStore(Neo4jDatabase(settings, uuid.uuid4().hex))


@pytest.fixture(params=["memory", "sqlite", "neo4j"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Graph, metadata, index cache and telemetry together, as the indexer uses them."""
    if request.param == "memory":
        yield MemoryStore()
        return
    opened: SqliteGraphStore | Neo4jGraphStore
    if request.param == "neo4j":
        opened = open_neo4j(request.getfixturevalue("neo4j"))
    else:
        opened = SqliteGraphStore(load_settings(tmp_path, environ={}))
    yield opened
    opened.close()


@pytest.fixture
def fresh(store: Store, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A second, empty store of the same kind."""
    if isinstance(store, MemoryStore):
        yield MemoryStore()
        return
    opened: SqliteGraphStore | Neo4jGraphStore
    if isinstance(store, Neo4jGraphStore):
        opened = open_neo4j(request.getfixturevalue("neo4j"))
        yield opened
        opened.close()
        return
    opened = SqliteGraphStore(load_settings(tmp_path, data_dir=tmp_path / "fresh", environ={}))
    yield opened
    opened.close()


@pytest.fixture
def everything() -> Any:
    """A node and its edges (into `b.py#g` and nowhere) with every field set to something else than its default."""
    node = Node(
        id=mint_node_id("function", "a.py", "f"),
        kind=NodeKind.FUNCTION,
        name="f",
        qualname="f",
        file=FilePath("a.py"),
        language="python",
        start_line=1,
        end_line=3,
        start_byte=4,
        end_byte=90,
        signature="f(x: int = 1) -> str",
        parameters=(Parameter(name="x", kind="keyword_only", annotation="int", required=False, receiver=True),),
        return_type="str",
        complexity=4,
        exported=True,
        modifiers=("async",),
        role="source",
        source_hash=ContentHash("0" * 64),
        lines=3,
        metadata=Metadata(
            docstring="Says f.",
            comments=(Comment(line=2, text="why"),),
            decorators=("@cached",),
            annotations=(Annotation(name="x", type="int"),),
            returns="str",
            throws=("ValueError",),
        ),
    )
    static = Edge(
        kind=EdgeKind.CALLS_STATIC,
        source=node.id,
        target=mint_node_id("function", "b.py", "g"),
        line=2,
        lines=(2, 3),
        resolution=Resolution.IMPORT,
        via="branch",
        import_source=FilePath("b.py"),
        candidates=(mint_node_id("function", "b.py", "h"),),
        weight=0.5,
    )
    imports = Edge(kind=EdgeKind.IMPORTS, source=node.id, target=static.target, items=("g",), type_only=True)
    unresolved = Edge(
        kind=EdgeKind.CALLS_UNRESOLVED,
        source=node.id,
        line=3,
        lines=(3,),
        to_name="h()",
        reason=UnresolvedReason.AMBIGUOUS,
    )
    return node, (static, imports, unresolved)


@pytest.fixture
def build() -> Any:
    """Small nodes, edges and parts: `build.function("a.py", "f")`, `build.calls(f, g)`, `build.part(…)`."""
    return Build()


class Build:
    """Builders of the contract suites; every value that a test does not name has one fixed default."""

    def file(self, path: str, **fields: Any) -> Any:
        return self.node("File", path, None, **fields)

    def function(self, path: str, qualname: str, **fields: Any) -> Any:
        return self.node("Function", path, qualname, **fields)

    def node(self, kind: str, path: str, qualname: str | None, **fields: Any) -> Any:
        full = qualname or path
        values: dict[str, Any] = {
            "id": mint_node_id(kind.lower(), path, qualname),
            "kind": NodeKind(kind),
            "name": full.split("/")[-1] if qualname is None else full.split(".")[-1],
            "qualname": full,
            "file": None if kind in ("Package", "Repository", "Community") else FilePath(path),
        }
        return Node(**(values | fields))

    def edge(self, kind: str, source: Any, target: Any, **fields: Any) -> Any:
        return Edge(kind=EdgeKind(kind), source=source.id, target=target.id if target is not None else None, **fields)

    def calls(self, source: Any, target: Any, line: int = 1, **fields: Any) -> Any:
        return self.edge("CALLS_STATIC", source, target, line=line, lines=(line,), **fields)

    def part(self, owner: str, nodes: Any, edges: Any = ()) -> Any:
        return GraphPart(owner=Owner(owner), nodes=None if nodes is None else tuple(nodes), edges=tuple(edges))

    def delta(self, *parts: Any, removed: tuple[str, ...] = ()) -> Any:
        return GraphDelta(parts=parts, removed=tuple(Owner(owner) for owner in removed))
