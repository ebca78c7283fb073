"""Where the graph lives: apply a delta, fetch, walk.

Every answer is sorted by id (nodes) or by kind, source, target, to_name (edges), so that equal graphs give equal
answers. All methods raise `Unavailable` when the backend cannot be reached.
"""

from __future__ import annotations

import abc
from collections import defaultdict
from collections.abc import Iterable, Iterator

from smp.domain.graph import (
    DeltaCounts,
    Direction,
    Edge,
    EdgeKind,
    GraphDelta,
    GraphSize,
    Node,
    NodeKind,
    Scope,
    Scores,
    Walked,
)
from smp.domain.ids import FilePath, NodeId


class GraphStore(abc.ABC):
    @abc.abstractmethod
    def apply(self, delta: GraphDelta) -> DeltaCounts:
        """Replace the delta's parts and drop its removed owners, in one transaction.

        Applying the same delta twice is harmless and counts nothing the second time. CALLS_RUNTIME edges are kept
        while both ends are as they were when the call ran (`source_hash`): what is dropped with an end, or with a change of one. An edge whose target does not exist after the transaction is
        kept only when it is a CALLS_UNRESOLVED.
        """

    @abc.abstractmethod
    def nodes(self, ids: Iterable[NodeId]) -> tuple[Node, ...]:
        """The nodes with these ids; unknown ids are left out."""

    @abc.abstractmethod
    def find(self, name: str) -> tuple[Node, ...]:
        """Every node that a reference may mean, by the first of these that answers: exact id; file or package path;
        `path#qualname`; a qualified name that only one node has; qualified and bare names alike. At most 100."""

    @abc.abstractmethod
    def scan(self, scope: Scope, kinds: tuple[NodeKind, ...] = ()) -> Iterator[Node]:
        """All nodes of a scope (communities only in the full scope), of these kinds or of all when empty."""

    @abc.abstractmethod
    def edges(
        self, ids: Iterable[NodeId], *, kinds: tuple[EdgeKind, ...] = (), direction: Direction = Direction.OUTGOING
    ) -> tuple[Edge, ...]:
        """The edges that leave (or enter) any of these nodes. CALLS_UNRESOLVED only leave."""

    def links(self, ids: Iterable[NodeId], kinds: tuple[EdgeKind, ...]) -> tuple[tuple[NodeId, NodeId], ...]:
        """(source, target) of the edges of these kinds between two of these nodes, each pair once, sorted. A store that can
        tell without reading edges overrides this."""
        wanted = set(ids)
        edges = self.edges(sorted(wanted), kinds=kinds) if wanted else ()
        return tuple(sorted({(e.source, e.target) for e in edges if e.target is not None and e.target in wanted}))

    @abc.abstractmethod
    def scan_edges(self, scope: Scope, kinds: tuple[EdgeKind, ...] = ()) -> Iterator[Edge]:
        """All edges whose source lies in the scope."""

    def in_files(self) -> Iterator[tuple[NodeId, FilePath]]:
        """(node, file) of every node that lies in a file, the file's own node left out; in no order. A store that can tell
        without reading whole nodes overrides this."""
        return ((node.id, node.file) for node in self.scan(Scope()) if node.file and node.kind is not NodeKind.FILE)

    def count_sources(self, targets: Iterable[NodeId], kinds: tuple[EdgeKind, ...]) -> dict[NodeId, int]:
        """How many other nodes have an edge of these kinds to each; nodes without any are left out. A store that can count
        without reading edges overrides this."""
        wanted = sorted(set(targets))
        sources: defaultdict[NodeId, set[NodeId]] = defaultdict(set)
        for edge in self.edges(wanted, kinds=kinds, direction=Direction.INCOMING) if wanted else ():
            if edge.target is not None and edge.target != edge.source:
                sources[edge.target].add(edge.source)
        return {target: len(found) for target, found in sources.items()}

    def count(self, kinds: tuple[NodeKind, ...]) -> int:
        """How many nodes of these kinds there are."""
        return sum(1 for _ in self.scan(Scope(), kinds))

    def size(self) -> GraphSize:
        """How much the graph holds. A store that can count without reading everything overrides this."""
        unresolved = sum(1 for _ in self.scan_edges(Scope(), (EdgeKind.CALLS_UNRESOLVED,)))
        return GraphSize(
            nodes=sum(1 for _ in self.scan(Scope())),
            edges=sum(1 for _ in self.scan_edges(Scope())) - unresolved,
            unresolved=unresolved,
        )

    @abc.abstractmethod
    def walk(
        self,
        seeds: Iterable[NodeId],
        *,
        hops: int,
        kinds: tuple[EdgeKind, ...],
        direction: Direction,
        limit: int = 10_000,
    ) -> tuple[Walked, ...]:
        """Nodes within `hops` edges of the seeds, seeds left out, nearest first, ties by id.

        One query, not one per node. At most `limit` nodes, the nearest.
        """

    @abc.abstractmethod
    def observe_calls(self, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        """Add CALLS_RUNTIME edges; counts of the same (source, target, commit_sha) add up, first_seen is kept.

        Returns:
            The edges that were new. Edges with an unknown end are refused silently and not returned.
        """

    @abc.abstractmethod
    def put_scores(self, scores: dict[NodeId, Scores]) -> None:
        """Replace all scores."""

    @abc.abstractmethod
    def scores(self, ids: Iterable[NodeId]) -> dict[NodeId, Scores]:
        """Scores of these nodes; nodes never ranked are left out."""
