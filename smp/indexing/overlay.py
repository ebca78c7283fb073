"""A graph as it would be: a store, and a delta laid over it. Reads only; what is written goes nowhere else.

Owners that the delta replaces or removes hide everything that the base has of them. Answers are those of a store to which the delta had been applied, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge

from smp.domain.errors import Refused
from smp.domain.graph import (
    DeltaCounts,
    Direction,
    Edge,
    EdgeKind,
    GraphDelta,
    Node,
    NodeKind,
    Scope,
    Scores,
    Walked,
)
from smp.domain.ids import NodeId, mint_node_id
from smp.domain.places import edge_order, in_scope, place_of
from smp.domain.traversal import reach, seeds_of
from smp.ports.graph_store import GraphStore

PATH_KINDS = (NodeKind.FILE, NodeKind.CONFIG, NodeKind.TEST, NodeKind.PACKAGE, NodeKind.REPOSITORY)
FIND_LIMIT = 100
_KEPT_KINDS = frozenset({EdgeKind.CALLS_RUNTIME, EdgeKind.MEMBER_OF, EdgeKind.BRIDGES, EdgeKind.CHILD_OF})
"""Edges that no file's part holds, so that replacing a part leaves them."""


class OverlayGraphStore(GraphStore):
    """The graph after a delta, without storing it.

    Args:
        base: The store underneath; it may change meanwhile, files outside the delta then show the newer state.
        delta: Parts that replace the base's. Owners are paths of files or `OWNER_STRUCTURE`.
    """

    def __init__(self, base: GraphStore, delta: GraphDelta) -> None:
        self._base = base
        self._nodes: dict[NodeId, Node] = {}
        self._edges: list[Edge] = []
        self._hidden_nodes: set[str] = set(delta.removed)
        self._hidden_edges: set[str] = set(delta.removed)
        for part in delta.parts:
            self._hidden_edges.add(part.owner)
            self._edges += part.edges
            if part.nodes is not None:
                self._hidden_nodes.add(part.owner)
                self._nodes.update((node.id, node) for node in part.nodes)
        self._edges.sort(key=edge_order)

    def apply(self, delta: GraphDelta) -> DeltaCounts:
        raise Refused("an overlay is read only; update the session's files instead")

    def observe_calls(self, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        return self._base.observe_calls(edges)

    def put_scores(self, scores: dict[NodeId, Scores]) -> None:
        raise Refused("an overlay is read only; scores belong to the shared graph")

    def scores(self, ids: Iterable[NodeId]) -> dict[NodeId, Scores]:
        return self._base.scores(ids)

    def nodes(self, ids: Iterable[NodeId]) -> tuple[Node, ...]:
        wanted = set(ids)
        ours = [self._nodes[node_id] for node_id in wanted & self._nodes.keys()]
        theirs = self._visible(self._base.nodes(wanted - self._nodes.keys()))
        return tuple(sorted((*ours, *theirs), key=lambda node: node.id))

    def find(self, name: str) -> tuple[Node, ...]:
        for node_id in (NodeId(name), *(mint_node_id(kind.value.lower(), name) for kind in PATH_KINDS)):
            exact = self.nodes([node_id])
            if exact:
                return exact
        path, _, qualname = name.partition("#")
        if qualname:
            return self._matching(name, lambda node: place_of(node) == path and node.qualname == qualname)
        qualified = self._matching(name, lambda node: node.qualname == name)
        if len(qualified) == 1:
            return qualified
        return self._matching(name, lambda node: name in (node.qualname, node.name))

    def _matching(self, name: str, fits: Callable[[Node], bool]) -> tuple[Node, ...]:
        theirs = self._visible(node for node in self._base.find(name) if fits(node))
        ours = [node for node in self._nodes.values() if fits(node)]
        return tuple(sorted((*theirs, *ours), key=lambda node: node.id))[:FIND_LIMIT]

    def _visible(self, nodes: Iterable[Node]) -> list[Node]:
        return [node for node in nodes if not self._hides(node) and node.id not in self._nodes]

    def _hides(self, node: Node) -> bool:
        return _owner(node) in self._hidden_nodes

    def scan(self, scope: Scope, kinds: tuple[NodeKind, ...] = ()) -> Iterator[Node]:
        theirs = (n for n in self._base.scan(scope, kinds) if not self._hides(n) and n.id not in self._nodes)
        ours = [
            node
            for node in sorted(self._nodes.values(), key=lambda node: node.id)
            if in_scope(place_of(node), scope) and (not kinds or node.kind in kinds)
        ]
        yield from merge(theirs, ours, key=lambda node: node.id)

    def edges(
        self, ids: Iterable[NodeId], *, kinds: tuple[EdgeKind, ...] = (), direction: Direction = Direction.OUTGOING
    ) -> tuple[Edge, ...]:
        wanted = set(ids)
        theirs = self._kept(self._base.edges(wanted, kinds=kinds, direction=direction))
        leaving, entering = direction is not Direction.INCOMING, direction is not Direction.OUTGOING
        ours = self._whole(
            edge
            for edge in self._edges
            if (not kinds or edge.kind in kinds)
            and ((leaving and edge.source in wanted) or (entering and edge.target in wanted))
        )
        return tuple(sorted((*theirs, *ours), key=edge_order))

    def scan_edges(self, scope: Scope, kinds: tuple[EdgeKind, ...] = ()) -> Iterator[Edge]:
        theirs = self._kept(list(self._base.scan_edges(scope, kinds)))
        ours = self._whole(edge for edge in self._edges if not kinds or edge.kind in kinds)
        places = {node.id: place_of(node) for node in self.nodes({edge.source for edge in ours})}
        inside = [edge for edge in ours if in_scope(places.get(edge.source), scope)]
        yield from sorted((*theirs, *inside), key=edge_order)

    def _kept(self, edges: Iterable[Edge]) -> list[Edge]:
        """Edges of the base that the delta neither replaces nor robs of an end; what ran in another text goes with that."""
        found = list(edges)
        ends = {end for edge in found for end in (edge.source, edge.target) if end is not None}
        theirs = self._base.nodes(ends)
        owners = {node.id: _owner(node) for node in theirs}
        changed = {
            node.id
            for node in theirs
            if node.id in self._nodes and self._nodes[node.id].source_hash != node.source_hash
        }
        present = {node.id for node in self.nodes(ends)}
        return [
            edge
            for edge in found
            if (edge.kind in _KEPT_KINDS or owners.get(edge.source) not in self._hidden_edges)
            and edge.source in present
            and (edge.target is None or edge.target in present)
            and not (edge.kind is EdgeKind.CALLS_RUNTIME and {edge.source, edge.target} & changed)
        ]

    def _whole(self, edges: Iterable[Edge]) -> list[Edge]:
        """Our own edges whose ends exist."""
        found = list(edges)
        ends = {end for edge in found for end in (edge.source, edge.target) if end is not None}
        present = {node.id for node in self.nodes(ends)}
        return [
            edge
            for edge in found
            if edge.source in present and (edge.kind is EdgeKind.CALLS_UNRESOLVED or edge.target in present)
        ]

    def walk(
        self,
        seeds: Iterable[NodeId],
        *,
        hops: int,
        kinds: tuple[EdgeKind, ...],
        direction: Direction,
        limit: int = 10_000,
    ) -> tuple[Walked, ...]:
        origin = [node.id for node in self.nodes(seeds)]

        def neighbours(ids: list[NodeId]) -> Mapping[NodeId, list[NodeId]]:
            near: dict[NodeId, list[NodeId]] = {}
            for edge in self.edges(ids, kinds=kinds, direction=direction):
                if edge.target is not None:
                    if direction is not Direction.INCOMING:
                        near.setdefault(edge.source, []).append(edge.target)
                    if direction is not Direction.OUTGOING:
                        near.setdefault(edge.target, []).append(edge.source)
            return near

        found = reach(origin, hops=hops, neighbours=neighbours)
        nearest = sorted(found.hops, key=lambda node_id: (found.hops[node_id], node_id))[:limit]
        nodes = {node.id: node for node in self.nodes(nearest)}
        return tuple(
            Walked(node=nodes[one], hop=found.hops[one], seeds=seeds_of(found.seeds[one], origin)) for one in nearest
        )


def _owner(node: Node) -> str:
    """The owner of a node's part: its file, or the one part for everything above files."""
    if node.file is not None:
        return node.file
    return "@communities" if node.kind is NodeKind.COMMUNITY else "@structure"
