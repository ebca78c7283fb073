"""Find a definition and what stands next to it."""

from __future__ import annotations

from smp.domain.graph import CALLS, Direction, Edge, EdgeKind, Node, Resolution
from smp.domain.ids import NodeId
from smp.domain.queries import Entity, Neighbourhood
from smp.ports.graph_store import GraphStore
from smp.ports.metadata_store import MetadataStore
from smp.query.adjacency import nodes_by_id, shown_name

_DEPENDENCIES = (
    EdgeKind.DEPENDS_ON,
    EdgeKind.IMPLEMENTS,
    EdgeKind.IMPORTS,
    EdgeKind.INHERITS,
    EdgeKind.REFERENCES,
    EdgeKind.USES,
)


def describe(metadata: MetadataStore, node: Node) -> Entity:
    """A node and its purpose: the extracted docstring, else the description that was annotated."""
    purpose = node.metadata.docstring
    if purpose is None:
        enrichment = metadata.enrichments((node.id,)).get(node.id)
        purpose = enrichment.description if enrichment else None
    return Entity(node=node, purpose=purpose)


def neighbourhood(graph: GraphStore, node: Node) -> Neighbourhood:
    """Names of what a node calls, is called by and otherwise depends on. Three look-ups, whatever its degree."""
    outgoing = graph.edges((node.id,), kinds=CALLS + _DEPENDENCIES, direction=Direction.OUTGOING)
    incoming = graph.edges((node.id,), kinds=CALLS, direction=Direction.INCOMING)
    called = {edge.target for edge in outgoing if edge.kind in CALLS} - _stand_ins(outgoing)
    needed = {edge.target for edge in outgoing if edge.kind not in CALLS}
    callers = {edge.source for edge in incoming}
    nodes = nodes_by_id(graph, called | needed | callers)

    def names(ids: set[NodeId | None] | set[NodeId]) -> tuple[str, ...]:
        return tuple(
            sorted({shown_name(nodes[node_id]) for node_id in ids if node_id is not None and node_id in nodes})
        )

    return Neighbourhood(calls=names(called), called_by=names(callers), depends_on=names(needed))


def _stand_ins(outgoing: tuple[Edge, ...]) -> set[NodeId | None]:
    """Wrappers that run where a decorated name is called. The name that is written stands for both."""
    decorated = {line for edge in outgoing if edge.resolution is Resolution.DECORATED for line in edge.lines}
    return {edge.target for edge in outgoing if edge.resolution is Resolution.FLOW and decorated.issuperset(edge.lines)}
