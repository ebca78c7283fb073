"""Before several files are written: in which order, at which risk, and whether two scopes meet."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping

from msgspec import Struct

from smp.domain.graph import Direction, EdgeKind, Node, Scope
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.paths import covers
from smp.domain.queries import PlanCycle, PlanStep, ScopeOverlap, TaskPlan
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.adjacency import DEFINITION_KINDS, FILE_KINDS, nodes_by_id
from smp.query.context import HotRule, average_complexity, file_heat
from smp.query.roles import risk_level

_RISKS = ("low", "medium", "high")


class _Facts(Struct, frozen=True, kw_only=True):
    """What the order of a file depends on."""

    importers: frozenset[FilePath]
    risk: str
    heat: int
    is_hot: bool
    new: bool


def plan(graph: GraphStore, telemetry: TelemetryStore, files: tuple[FilePath, ...], *, hot: HotRule) -> TaskPlan:
    """The order in which files are best written: what others import comes first.

    Files that import one another in a circle are reported as a conflict and ordered by path.

    Args:
        files: To be written; those that do not exist yet come as they are.
    """
    wanted = tuple(dict.fromkeys(files))
    known = _known(graph, wanted)
    imports, importers = _imports(graph, known, wanted)
    facts = {file: _facts(graph, telemetry, file, known.get(file), importers[file], hot=hot) for file in wanted}
    components = _components(imports)
    order = _order(components, imports, facts)
    step_of = {file: number for number, file in enumerate(order, start=1)}
    dependants = {file: sum(file in targets for targets in imports.values()) for file in wanted}
    at_risk = {importer for file in wanted for importer in facts[file].importers} - set(wanted)
    return TaskPlan(
        execution_order=tuple(
            PlanStep(
                step=step_of[file],
                file=file,
                dependants_in_plan=dependants[file],
                dependencies_in_plan=len(imports[file]),
                depends_on_steps=tuple(sorted(step_of[target] for target in imports[file])),
                blast_radius=len(facts[file].importers),
                is_hot_node=facts[file].is_hot,
                heat_score=facts[file].heat,
                risk_level=facts[file].risk,
                is_new_file=facts[file].new,
            )
            for file in order
        ),
        inter_file_conflicts=tuple(
            PlanCycle(
                files=tuple(sorted(component)),
                message="these files import one another; write them as one step",
            )
            for component in components
            if len(component) > 1
        ),
        external_files_at_risk=tuple(sorted(at_risk)),
    )


def overlap(graph: GraphStore, a: tuple[FilePath, ...], b: tuple[FilePath, ...]) -> ScopeOverlap:
    """Files that two scopes share, and the definitions in them.

    Args:
        a, b: Files, or directory prefixes that end in `/`.
    """
    shared = {file for file in a if covers(b, file)} | {file for file in b if covers(a, file)}
    nodes: set[NodeId] = set()
    for entry in sorted(shared):
        kind = "package" if entry.endswith("/") else "file"
        scope = Scope(kind=kind, prefix=entry.rstrip("/"))
        nodes |= {node.id for node in graph.scan(scope, DEFINITION_KINDS)}
    return ScopeOverlap(files=tuple(sorted(shared)), nodes=tuple(sorted(nodes)))


def _known(graph: GraphStore, files: tuple[FilePath, ...]) -> dict[FilePath, Node]:
    ids = [mint_node_id(kind.value.lower(), file) for file in files for kind in FILE_KINDS]
    return {FilePath(node.qualname): node for node in graph.nodes(ids)}


def _imports(
    graph: GraphStore, known: Mapping[FilePath, Node], wanted: tuple[FilePath, ...]
) -> tuple[dict[FilePath, set[FilePath]], dict[FilePath, set[FilePath]]]:
    """Imports among the files of the plan, and all importers of each, in one look-up a direction."""
    imports: dict[FilePath, set[FilePath]] = {file: set() for file in wanted}
    importers: dict[FilePath, set[FilePath]] = {file: set() for file in wanted}
    by_id = {node.id: file for file, node in known.items()}
    edges = graph.edges(sorted(by_id), kinds=(EdgeKind.IMPORTS,), direction=Direction.INCOMING) if by_id else ()
    sources = nodes_by_id(graph, (edge.source for edge in edges))
    for edge in edges:
        source = sources.get(edge.source)
        if source is None or edge.target is None or edge.source == edge.target:
            continue
        importer, imported = FilePath(source.qualname), by_id[edge.target]
        importers[imported].add(importer)
        if importer in imports:
            imports[importer].add(imported)
    return imports, importers


def _facts(
    graph: GraphStore,
    telemetry: TelemetryStore,
    file: FilePath,
    node: Node | None,
    importers: set[FilePath],
    *,
    hot: HotRule,
) -> _Facts:
    heat, is_hot = file_heat(graph, telemetry, file, hot=hot) if node is not None else (0, False)
    defined = tuple(graph.scan(Scope(kind="file", prefix=file), DEFINITION_KINDS)) if node is not None else ()
    risk = risk_level(importers=len(importers), avg_complexity=average_complexity(defined))
    return _Facts(importers=frozenset(importers), risk=risk, heat=heat, is_hot=is_hot, new=node is None)


def _components(imports: Mapping[FilePath, set[FilePath]]) -> tuple[frozenset[FilePath], ...]:
    """Strongly connected components by first member. The closure of a plan of a few files is cheap and plain."""
    reach = {file: _closure(file, imports) for file in imports}
    found: dict[FilePath, frozenset[FilePath]] = {}
    for file in sorted(imports):
        if file not in found:
            component = frozenset({file} | {other for other in reach[file] if file in reach[other]})
            found.update(dict.fromkeys(component, component))
    return tuple(dict.fromkeys(found[file] for file in sorted(found)))


def _closure(file: FilePath, imports: Mapping[FilePath, set[FilePath]]) -> set[FilePath]:
    reached: set[FilePath] = set()
    todo = [file]
    while todo:
        fresh = imports[todo.pop()] - reached
        reached |= fresh
        todo.extend(fresh)
    return reached


def _order(
    components: tuple[frozenset[FilePath], ...],
    imports: Mapping[FilePath, set[FilePath]],
    facts: Mapping[FilePath, _Facts],
) -> list[FilePath]:
    """Components with all their imports done, lowest risk first, then smallest blast radius, then path."""
    home = {file: component for component in components for file in component}
    waiting = {
        component: {home[target] for file in component for target in imports[file]} - {component}
        for component in components
    }
    dependants: defaultdict[frozenset[FilePath], set[frozenset[FilePath]]] = defaultdict(set)
    for component, needs in waiting.items():
        for need in needs:
            dependants[need].add(component)

    def key(component: frozenset[FilePath]) -> tuple[int, int, str]:
        risk = max(_RISKS.index(facts[file].risk) for file in component)
        return risk, max(len(facts[file].importers) for file in component), min(component)

    ready = [(key(component), component) for component in components if not waiting[component]]
    heapq.heapify(ready)
    order: list[FilePath] = []
    while ready:
        _, component = heapq.heappop(ready)
        order += sorted(component)
        for dependant in dependants[component]:
            waiting[dependant].discard(component)
            if not waiting[dependant]:
                heapq.heappush(ready, (key(dependant), dependant))
    return order
