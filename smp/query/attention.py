"""What deserves a look in a file beyond its structure: open calls, functions without a test, latest changes."""

from __future__ import annotations

from smp.domain.graph import Direction, EdgeKind, Node, NodeKind, Scope
from smp.domain.queries import Attention, RecentChange
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.linking import unresolved_calls

RECENT_CHANGES = 10


def attention(graph: GraphStore, telemetry: TelemetryStore, file: Node) -> Attention:
    """The three lists for one file; a test file has no functions without a test."""
    scope = Scope(kind="file", prefix=file.qualname)
    nodes = {node.id: node for node in graph.scan(scope)}
    functions = sorted(node.id for node in nodes.values() if node.kind is NodeKind.FUNCTION)
    edges = graph.edges(functions, kinds=(EdgeKind.TESTS,), direction=Direction.INCOMING) if functions else ()
    tested = {edge.target for edge in edges}
    changes = sorted(telemetry.last(sorted(nodes)).values(), key=lambda change: change.node_id)
    changes.sort(key=lambda change: change.at, reverse=True)
    return Attention(
        unresolved=unresolved_calls(graph, scope).unresolved,
        without_direct_test=() if file.role == "test" else tuple(node for node in functions if node not in tested),
        recent_changes=tuple(
            RecentChange(node_id=change.node_id, event=change.event, at=change.at, agent=change.agent)
            for change in changes[:RECENT_CHANGES]
        ),
    )
