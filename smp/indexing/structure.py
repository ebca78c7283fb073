"""Repository and packages: the nodes above the files, and the CONTAINS edges down to them.

Every directory with an indexed file below it is a package. The repository's name comes from its own manifest, not from
the folder it happens to lie in, so that two checkouts of one commit have one graph.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping

from smp.domain.graph import OWNER_STRUCTURE, Edge, EdgeKind, GraphPart, Node, NodeKind
from smp.domain.ids import FilePath, NodeId, mint_node_id

MANIFESTS = (FilePath("pyproject.toml"), FilePath("package.json"), FilePath("Cargo.toml"), FilePath("go.mod"))
UNNAMED = "repository"


def structure_part(files: Mapping[FilePath, NodeId], *, name: str) -> GraphPart:
    """The part of `OWNER_STRUCTURE`.

    Args:
        files: Path → id of the file's own node.
        name: The repository's (see `repository_name`).
    """
    repository = Node(id=mint_node_id("repository", name), kind=NodeKind.REPOSITORY, name=name, qualname=name)
    folders = sorted({folder for path in files for folder in folders_of(path)})
    nodes = [repository, *(_package(folder) for folder in folders)]

    def holder(path: str) -> NodeId:
        folder = path.rpartition("/")[0]
        return mint_node_id("package", folder) if folder else repository.id

    edges = [_contains(holder(folder), mint_node_id("package", folder)) for folder in folders]
    edges += [_contains(holder(path), node_id) for path, node_id in files.items()]
    edges.sort(key=lambda edge: (edge.source, edge.target or ""))
    return GraphPart(owner=OWNER_STRUCTURE, nodes=tuple(nodes), edges=tuple(edges))


def folders_of(path: str) -> list[str]:
    """The directories above a file, outermost first; none for a file at the top."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def repository_name(manifests: Mapping[FilePath, bytes]) -> str:
    """The name a repository gives itself in the first manifest that has one; `repository` when none has."""
    for path in MANIFESTS:
        name = _declared(path, manifests[path]) if path in manifests else None
        if name:
            return name
    return UNNAMED


def wanted_manifests(files: Iterable[FilePath]) -> tuple[FilePath, ...]:
    """Those of `MANIFESTS` that are among the files."""
    present = set(files)
    return tuple(path for path in MANIFESTS if path in present)


def _package(folder: str) -> Node:
    return Node(
        id=mint_node_id("package", folder), kind=NodeKind.PACKAGE, name=folder.rpartition("/")[2], qualname=folder
    )


def _contains(source: NodeId, target: NodeId) -> Edge:
    return Edge(kind=EdgeKind.CONTAINS, source=source, target=target)


def _declared(path: FilePath, content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
        if path == "go.mod":
            first = next((line.split() for line in text.splitlines() if line.startswith("module ")), [])
            return first[1] if len(first) > 1 else None
        table = json.loads(text) if path == "package.json" else tomllib.loads(text)
    except (UnicodeDecodeError, ValueError, RecursionError):
        return None
    for key in ("project", "package"):
        section = table.get(key) if isinstance(table, dict) and path != "package.json" else table
        name = section.get("name") if isinstance(section, dict) else None
        if isinstance(name, str) and name.strip():
            return name.strip()
    return None
