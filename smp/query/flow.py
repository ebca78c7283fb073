"""How execution or data gets from one node to another, and which types it takes on the way."""

from __future__ import annotations

from smp.domain.graph import CALLS, Direction, EdgeKind, Node, NodeKind, Resolution
from smp.domain.ids import NodeId, mint_node_id
from smp.domain.queries import Flow, FlowStep, PathStep, TypeTransition
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import nodes_by_id, shown_name
from smp.query.paths import shortest_path
from smp.query.roles import is_endpoint

_EXECUTION = CALLS
_DATA = (*CALLS, EdgeKind.USES, EdgeKind.REFERENCES, EdgeKind.DEPENDS_ON)
"""Data also travels through what is used without a call: variables, types, functions passed by name."""
UNKNOWN_TYPE = "unknown"


def flow(graph: GraphStore, start: Node, end: Node, *, flow_type: str) -> Flow:
    """The shortest way from one node to another.

    Args:
        flow_type: `execution` follows calls; `data` also what is used and referred to.
    """
    steps = shortest_path(graph, start, {end.id}, kinds=_DATA if flow_type == "data" else _EXECUTION)
    if not steps and start.id != end.id:
        return Flow(path=(), type_transitions=())
    nodes = [start, *(step.target for step in steps)]
    classes = nodes_by_id(graph, filter(None, map(_holder, nodes)))
    constructors = _constructors(graph, steps)
    return Flow(
        path=tuple(
            FlowStep(id=node.id, node=shown_name(node), type=_step_type(node, classes), file=node.file)
            for node in nodes
        ),
        type_transitions=tuple(
            _transition(step.source, step.target, constructors.get(step.target.id, step.target)) for step in steps
        ),
    )


def _transition(source: Node, target: Node, callee: Node) -> TypeTransition:
    parameters = (parameter for parameter in callee.parameters if not parameter.receiver)
    return TypeTransition(
        from_node=shown_name(source),
        to_node=shown_name(target),
        param_types=tuple(parameter.annotation or UNKNOWN_TYPE for parameter in parameters),
        return_type=target.qualname if target.kind is NodeKind.CLASS else target.return_type,
    )


def _constructors(graph: GraphStore, steps: tuple[PathStep, ...]) -> dict[NodeId, Node]:
    """The constructor that runs for each class on the way: calling a class hands its arguments to it."""
    classes = {step.target.id: step.target for step in steps if step.target.kind is NodeKind.CLASS}
    if not classes:
        return {}
    callers = sorted({step.source.id for step in steps})
    edges = graph.edges(callers, kinds=(EdgeKind.CALLS_STATIC,), direction=Direction.OUTGOING)
    built = nodes_by_id(graph, (edge.target for edge in edges if edge.resolution is Resolution.CONSTRUCTOR))
    by_class = {_holder(node): node for node in built.values()}
    return {node_id: by_class[node_id] for node_id in classes if node_id in by_class}


def _holder(node: Node) -> NodeId | None:
    """The id of the class that would hold a definition, if there is one."""
    holder = node.qualname.rpartition(".")[0]
    return mint_node_id("class", node.file, holder) if holder and node.file is not None else None


def _step_type(node: Node, classes: dict[NodeId, Node]) -> str:
    if is_endpoint(node):
        return "endpoint"
    if node.kind is NodeKind.FUNCTION and _holder(node) in classes:
        return "method"
    return node.kind.value.lower()
