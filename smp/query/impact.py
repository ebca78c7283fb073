"""What a change of one entity breaks: direct dependents, the places to edit, how far the rest reaches.

Dependents are read from edges that exist; nothing is inferred from names. A signature change reaches callers, tests,
subclasses and overriding methods; a deletion or a move also reaches whatever uses a part of the entity from outside,
and the import lines that name it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from smp.domain.graph import CALLS, Direction, Edge, EdgeKind, Node, NodeKind, Scope
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.queries import Dependent, ImpactReport, RequiredUpdate
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import FILE_KINDS, nodes_by_id, shown_name

SIGNATURE_CHANGE, DELETE, MOVE = "signature_change", "delete", "move"
OVERRIDES, MAY_CALL = "OVERRIDES", "MAY_CALL"

TRANSITIVE_HOPS = 10
HIGH_FILES, HIGH_PLACES = 3, 6
MEDIUM_FILES, MEDIUM_PLACES = 2, 2
"""Severity by affected files or by direct dependents, whichever is worse."""

_INHERITANCE = (EdgeKind.INHERITS, EdgeKind.IMPLEMENTS)
_DEPENDENCE = (*CALLS, EdgeKind.TESTS, *_INHERITANCE, EdgeKind.USES, EdgeKind.REFERENCES, EdgeKind.DEPENDS_ON)
_HARMLESS_TO_SIGNATURES = frozenset({EdgeKind.REFERENCES, EdgeKind.DEPENDS_ON})
_STAR = "*"


class _Reach(Struct, frozen=True, kw_only=True):
    """A dependent before it takes its public form; `edit` when the place itself must change."""

    node: Node
    relationship: str
    edit: bool


def impact(graph: GraphStore, entity: Node, *, change_type: str) -> ImpactReport:
    """The report on one change.

    Args:
        change_type: `signature_change`, `delete` or `move`.
    """
    parts = {entity.id} if change_type == SIGNATURE_CHANGE else _parts(graph, entity)
    reached = _dependents(graph, entity, parts, change_type=change_type)
    if change_type == SIGNATURE_CHANGE:
        reached += _through_hierarchy(graph, entity)
    importers = () if change_type == SIGNATURE_CHANGE else _importing_files(graph, entity, parts)
    functions = {
        Dependent(id=item.node.id, file=item.node.file, relationship=item.relationship)
        for item in reached
        if item.node.file is not None
    }
    updates = {
        (item.node.file, _function_of(item.node), item.relationship)
        for item in reached
        if item.edit and item.node.file is not None
    } | {(file, None, EdgeKind.IMPORTS.value) for file in importers}
    files = {item.file for item in functions} | set(importers)
    further = graph.walk(sorted(parts), hops=TRANSITIVE_HOPS, kinds=CALLS, direction=Direction.INCOMING)
    direct = {item.id for item in functions}
    transitive = [step.node for step in further if step.node.id not in direct and step.node.id not in parts]
    return ImpactReport(
        affected_files=tuple(sorted(files)),
        affected_functions=tuple(sorted(functions, key=lambda item: (item.file, item.id, item.relationship))),
        severity=_severity(len(files), len(functions)),
        required_updates=tuple(
            RequiredUpdate(file=file, function=function, reason=reason, change_type=change_type)
            for file, function, reason in sorted(updates, key=lambda update: (update[0], update[1] or "", update[2]))
        ),
        transitive_functions=len(transitive),
        transitive_files=len({node.file for node in transitive if node.file is not None} - files),
    )


def _parts(graph: GraphStore, entity: Node) -> set[NodeId]:
    """The entity and all that goes with it: members of a class, definitions of a file, files of a package."""
    if entity.kind in FILE_KINDS or entity.kind is NodeKind.PACKAGE:
        kind = "package" if entity.kind is NodeKind.PACKAGE else "file"
        return {entity.id} | {node.id for node in graph.scan(Scope(kind=kind, prefix=entity.qualname))}
    if entity.file is None:
        return {entity.id}
    inside = graph.scan(Scope(kind="file", prefix=entity.file))
    return {entity.id} | {node.id for node in inside if node.qualname.startswith(entity.qualname + ".")}


def _dependents(graph: GraphStore, entity: Node, parts: set[NodeId], *, change_type: str) -> list[_Reach]:
    edges = graph.edges(sorted(parts), kinds=_DEPENDENCE, direction=Direction.INCOMING)
    outside = [edge for edge in edges if edge.source not in parts]
    if change_type == SIGNATURE_CHANGE:
        outside = [edge for edge in outside if _feels_signature(entity, edge)]
    nodes = nodes_by_id(graph, (edge.source for edge in outside))
    calling = {edge.source for edge in outside if edge.kind in CALLS}
    return [
        _Reach(
            node=nodes[edge.source],
            relationship=_relationship(nodes[edge.source], edge),
            # a test that gets there through a fixture only is repaired by repairing the fixture
            edit=edge.kind is not EdgeKind.TESTS or edge.source in calling,
        )
        for edge in outside
        if edge.source in nodes
    ]


def _feels_signature(entity: Node, edge: Edge) -> bool:
    """Naming a type does not depend on its parameters; handing on a function does."""
    if edge.kind in _HARMLESS_TO_SIGNATURES:
        return False
    return edge.kind is not EdgeKind.USES or entity.kind is NodeKind.FUNCTION


def _relationship(source: Node, edge: Edge) -> str:
    if edge.kind in CALLS:
        return EdgeKind.TESTS.value if source.kind is NodeKind.TEST else "CALLS"
    return edge.kind.value


def _through_hierarchy(graph: GraphStore, entity: Node) -> list[_Reach]:
    """Methods that override this one, and callers of an overridden one that may arrive here."""
    holder, _, name = entity.qualname.rpartition(".")
    if not holder or entity.file is None or entity.kind is not NodeKind.FUNCTION:
        return []
    owners = nodes_by_id(graph, (mint_node_id(kind, entity.file, holder) for kind in ("class", "interface")))
    if not owners:
        return []
    below = graph.walk(sorted(owners), hops=TRANSITIVE_HOPS, kinds=_INHERITANCE, direction=Direction.INCOMING)
    above = graph.walk(sorted(owners), hops=TRANSITIVE_HOPS, kinds=_INHERITANCE, direction=Direction.OUTGOING)
    overriding = nodes_by_id(graph, _methods((step.node for step in below), name))
    overridden = sorted(_methods((step.node for step in above), name))
    edges = graph.edges(overridden, kinds=CALLS, direction=Direction.INCOMING) if overridden else ()
    callers = nodes_by_id(graph, (edge.source for edge in edges if entity.id in edge.candidates))
    return [
        *(_Reach(node=node, relationship=OVERRIDES, edit=True) for node in overriding.values()),
        *(_Reach(node=node, relationship=MAY_CALL, edit=False) for node in callers.values()),
    ]


def _methods(classes: Iterable[Node], name: str) -> set[NodeId]:
    return {mint_node_id("function", node.file, f"{node.qualname}.{name}") for node in classes if node.file is not None}


def _importing_files(graph: GraphStore, entity: Node, parts: set[NodeId]) -> tuple[FilePath, ...]:
    """Files with an import line that names the entity, directly or through re-exports; all importers of a file."""
    whole = entity.kind in FILE_KINDS or entity.kind is NodeKind.PACKAGE
    if whole:
        todo = {node.id for node in graph.nodes(sorted(parts)) if node.kind in FILE_KINDS}
    elif entity.file is not None:
        todo = {node.id for node in graph.find(entity.file) if node.kind in FILE_KINDS}
    else:
        todo = set()
    name = entity.qualname.split(".", 1)[0]
    found: set[NodeId] = set()
    while todo:
        edges = graph.edges(sorted(todo), kinds=(EdgeKind.IMPORTS,), direction=Direction.INCOMING)
        naming = {edge.source for edge in edges if whole or name in edge.items or _STAR in edge.items}
        todo = naming - found - parts
        found |= todo
        if whole:
            break
    nodes = nodes_by_id(graph, found)
    return tuple(sorted({node.file for node in nodes.values() if node.file is not None}))


def _function_of(node: Node) -> str | None:
    return None if node.kind in FILE_KINDS else shown_name(node)


def _severity(files: int, places: int) -> str:
    if not files and not places:
        return "none"
    if files >= HIGH_FILES or places >= HIGH_PLACES:
        return "high"
    if files >= MEDIUM_FILES or places >= MEDIUM_PLACES:
        return "medium"
    return "low"
