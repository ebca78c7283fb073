"""The graph in which communities are found.

Definitions are tied to their file and files to their folder by lighter edges than calls: what nothing calls still belongs
somewhere, and code that lies together stays together when the calls do not say otherwise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind

RELATIONSHIPS = (EdgeKind.CALLS_STATIC, EdgeKind.CALLS_RUNTIME, EdgeKind.IMPORTS)
DEFINES_WEIGHT = 1.0
FOLDER_WEIGHT = 0.5

WeightedEdge = tuple[int, int, float]


class Projection(Struct, frozen=True, kw_only=True):
    """The graph that is clustered, by position in `nodes`.

    Attributes:
        nodes: Members first, then the packages that only hold them together.
        members: How many of `nodes` are members.
        edges: Undirected, weighted, each pair once. relations: only those of the relationship types, by number of edges.
    """

    nodes: tuple[Node, ...]
    members: int
    edges: tuple[WeightedEdge, ...]
    relations: dict[tuple[int, int], int]


def project(nodes: Iterable[Node], edges: Iterable[Edge], *, relationship_types: tuple[EdgeKind, ...]) -> Projection:
    """The projection of a graph: every node that lies in a file is a member."""
    everything = sorted(nodes, key=lambda node: node.id)
    members = [node for node in everything if node.file is not None]
    glue = [node for node in everything if node.kind is NodeKind.PACKAGE]
    ordered = (*members, *glue)
    position = {node.id: index for index, node in enumerate(ordered)}
    weights: dict[tuple[int, int], float] = defaultdict(float)
    relations: Counter[tuple[int, int]] = Counter()
    for edge in edges:
        source, target = position.get(edge.source), position.get(edge.target) if edge.target else None
        if source is None or target is None or source == target:
            continue
        pair = (min(source, target), max(source, target))
        if edge.kind in relationship_types:
            relations[pair] += 1
            weights[pair] += 1
        elif edge.kind is EdgeKind.DEFINES:
            weights[pair] += DEFINES_WEIGHT
        elif edge.kind is EdgeKind.CONTAINS:
            weights[pair] += FOLDER_WEIGHT
    return Projection(
        nodes=ordered,
        members=len(members),
        edges=tuple((source, target, weight) for (source, target), weight in sorted(weights.items())),
        relations=dict(sorted(relations.items())),
    )


def members_only(projection: Projection) -> Projection:
    """The same without the packages that hold members together."""
    count = projection.members
    return replace(
        projection,
        nodes=projection.nodes[:count],
        edges=tuple(edge for edge in projection.edges if edge[0] < count and edge[1] < count),
    )


def folder_of(node: Node) -> str:
    """Where a node lies; a package is its own folder."""
    return (node.file or node.qualname).rpartition("/")[0] if node.file else node.qualname
