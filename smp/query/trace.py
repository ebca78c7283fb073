"""Follow one relationship outwards, as a tree for people and as a flat list for programs."""

from __future__ import annotations

from collections import Counter, defaultdict

from smp.domain.graph import CALLS, Direction, Edge, EdgeKind, Node
from smp.domain.ids import NodeId
from smp.domain.queries import Trace, TracedNode, TraceTree
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import shown_name

CALLS_SELECTOR = "CALLS"

_FORWARD = {"CALLS": "calls", "CALLS_STATIC": "calls", "CALLS_RUNTIME": "calls", "CALLS_UNRESOLVED": "calls"}
_BACKWARD = {
    "CALLS": "called_by",
    "CALLS_STATIC": "called_by",
    "CALLS_RUNTIME": "called_by",
    "CHILD_OF": "parent_of",
    "CONTAINS": "contained_by",
    "DEFINES": "defined_by",
    "DEPENDS_ON": "depended_on_by",
    "IMPLEMENTS": "implemented_by",
    "IMPORTS": "imported_by",
    "INHERITS": "inherited_by",
    "MEMBER_OF": "members",
    "REFERENCES": "referenced_by",
    "TESTS": "tested_by",
    "USES": "used_by",
}


def kinds_of(relationship: str) -> tuple[EdgeKind, ...]:
    """Edge kinds that a request's relationship stands for; `CALLS` is static and runtime calls."""
    return CALLS if relationship == CALLS_SELECTOR else (EdgeKind(relationship),)


def trace(graph: GraphStore, start: Node, *, relationship: str, depth: int, direction: Direction) -> Trace:
    """Everything within `depth` edges of a node.

    Two look-ups, whatever the size. In the tree each node is expanded once, at its smallest depth and first place by
    name; cycles end there. Siblings of one qualified name are told apart as `path#qualname`.
    """
    kinds = kinds_of(relationship)
    walked = graph.walk((start.id,), hops=depth, kinds=kinds, direction=direction)
    nodes = {start.id: start} | {step.node.id: step.node for step in walked}
    depths = {start.id: 0} | {step.node.id: step.hop for step in walked}
    inner = sorted(node for node, hop in depths.items() if hop < depth)
    edges = graph.edges(inner, kinds=kinds, direction=direction)
    label = (_BACKWARD if direction is Direction.INCOMING else _FORWARD).get(relationship, relationship.lower())
    return Trace(
        root=shown_name(start),
        label=label,
        tree=_tree(start.id, nodes=nodes, depths=depths, edges=edges, direction=direction),
        nodes=tuple(
            TracedNode(id=step.node.id, name=shown_name(step.node), file=step.node.file, depth=step.hop)
            for step in sorted(walked, key=lambda step: (step.hop, step.node.id))
        ),
    )


def _tree(
    root: NodeId,
    *,
    nodes: dict[NodeId, Node],
    depths: dict[NodeId, int],
    edges: tuple[Edge, ...],
    direction: Direction,
) -> TraceTree:
    children: defaultdict[NodeId, set[NodeId]] = defaultdict(set)
    unresolved: defaultdict[NodeId, set[str]] = defaultdict(set)
    for edge in edges:
        near, far = (edge.target, edge.source) if direction is Direction.INCOMING else (edge.source, edge.target)
        if near is None or far is None:
            unresolved[edge.source].add(edge.to_name or "")
        elif far in nodes and near in nodes:
            children[near].add(far)
    levels: defaultdict[int, list[NodeId]] = defaultdict(list)
    for node, hop in depths.items():
        levels[hop].append(node)
    built: dict[NodeId, TraceTree] = {}
    placed = _places(root, children, depths)
    for hop in sorted(levels, reverse=True):  # deepest first: a branch is complete before the one that holds it
        for node in levels[hop]:
            branches = {name: TraceTree() for name in unresolved[node] if name}
            for name, child in _named(children[node], nodes):
                branches[name] = built[child] if placed.get(child) == node else TraceTree()
            built[node] = TraceTree(branches=dict(sorted(branches.items())))
    return built[root]


def _places(root: NodeId, children: dict[NodeId, set[NodeId]], depths: dict[NodeId, int]) -> dict[NodeId, NodeId]:
    """The parent under which each node is expanded: the smallest id one level nearer to the root."""
    placed: dict[NodeId, NodeId] = {}
    for parent in sorted(children):
        for child in children[parent]:
            if child != root and depths[child] == depths[parent] + 1:
                placed.setdefault(child, parent)
    return placed


def _named(ids: set[NodeId], nodes: dict[NodeId, Node]) -> list[tuple[str, NodeId]]:
    names = Counter(shown_name(nodes[node_id]) for node_id in ids)

    def name(node: Node) -> str:
        plain = shown_name(node)
        return plain if names[plain] == 1 or node.file is None else f"{node.file}#{plain}"

    return sorted((name(nodes[node_id]), node_id) for node_id in ids)
