"""The graph of a package's sources, as far as calls go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse, wants_config
from smp.indexing.link import link

_CODE = frozenset({NodeKind.FUNCTION, NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.TEST, NodeKind.VARIABLE})


@dataclass(frozen=True)
class Graph:
    """Nodes by file, and the edges that say something of calls."""

    nodes: dict[str, tuple[Node, ...]]
    by_id: dict[str, Node]
    calls: tuple[Edge, ...]
    unresolved: tuple[Edge, ...]


def linked(root: Path, files: list[PurePosixPath]) -> Graph:
    """Analyses and links the files of a project, with its configuration."""
    analyses = {FilePath(str(path)): analyse(FilePath(str(path)), (root / path).read_bytes()) for path in files}
    listed = [path for path in root.rglob("*.json") if path.is_file()]
    paths = [FilePath(path.relative_to(root).as_posix()) for path in listed]
    configs = {path: (root / path).read_bytes() for path in paths if wants_config(path)}
    edges = [edge for found in link(analyses, configs=configs).edges.values() for edge in found]
    nodes = {path: tuple(n for n in found.nodes if n.kind in _CODE) for path, found in analyses.items()}
    return Graph(
        nodes={str(path): found for path, found in nodes.items()},
        by_id={node.id: node for found in analyses.values() for node in found.nodes},
        calls=tuple(edge for edge in edges if edge.kind is EdgeKind.CALLS_STATIC),
        unresolved=tuple(edge for edge in edges if edge.kind is EdgeKind.CALLS_UNRESOLVED),
    )
