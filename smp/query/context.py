"""The editing context of a file: what it holds, who depends on it, how risky a change is.

Reads a bounded number of times whatever the file's degree; what grows with the repository is the look at its packages,
to count the files of the API layer.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from msgspec import Struct

from smp.domain.graph import CALLS, Direction, Edge, EdgeKind, Node, NodeKind, Scope
from smp.domain.ids import FilePath, NodeId
from smp.domain.queries import (
    ContextSummary,
    DataFlow,
    DefinedClass,
    DefinedFunction,
    FileContext,
    ImportOf,
    ReachedFile,
    SimilarFile,
)
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.adjacency import CALLABLE_KINDS, FILE_KINDS, callers_by_target, importers_of, nodes_by_id, shown_name
from smp.query.heat import heat_score
from smp.query.roles import in_api_layer, is_api_package, is_endpoint, risk_level, role_of

SIMILAR_FILES = 5
_CLASS_KINDS = (NodeKind.CLASS, NodeKind.INTERFACE)


class HotRule(Struct, frozen=True, kw_only=True):
    """When a node counts as hot: at least both limits since the start of the window (RFC 3339)."""

    since: str
    min_changes: int
    min_callers: int


class _File(Struct, frozen=True, kw_only=True):
    """A file with everything one look-up away."""

    node: Node
    defined: tuple[Node, ...]
    imports: tuple[Edge, ...]
    importers: tuple[Node, ...]
    calls_in: tuple[Edge, ...]
    calls_out: tuple[Edge, ...]
    ends: dict[NodeId, Node]


def file_context(
    graph: GraphStore, telemetry: TelemetryStore, file: Node, *, hot: HotRule, depth: int = 1
) -> FileContext:
    """The context of a File or Config node.

    Args:
        depth: How many imports away a dependent file may lie to be listed in `reach`.
    """
    seen = _look(graph, file)
    dependents = graph.walk((file.id,), hops=depth, kinds=(EdgeKind.IMPORTS,), direction=Direction.INCOMING)
    return FileContext(
        file=file,
        summary=_summary(graph, telemetry, seen, hot=hot),
        imports=_imports(seen),
        imported_by=tuple(sorted({node.file for node in seen.importers if node.file is not None})),
        functions=_functions(seen.defined),
        classes=_classes(seen.defined),
        structurally_similar=_similar(graph, seen),
        entry_points=_entry_points(seen),
        data_flow_in=_data_flow(seen, seen.calls_in, outwards=False),
        data_flow_out=_data_flow(seen, seen.calls_out, outwards=True),
        reach=tuple(
            ReachedFile(file=step.node.file, depth=step.hop)
            for step in sorted(dependents, key=lambda step: (step.hop, step.node.id))
            if step.node.file is not None
        ),
    )


def blast_radius(graph: GraphStore, file: NodeId) -> int:
    """Number of other files that import a file."""
    return len({edge.source for edge in importers_of(graph, file)})


def average_complexity(defined: tuple[Node, ...]) -> float:
    """Mean McCabe number of the functions and tests in a file, to one decimal; 0 without any."""
    scores = [node.complexity for node in defined if node.kind in CALLABLE_KINDS]
    return round(sum(scores) / len(scores), 1) if scores else 0.0


def file_heat(graph: GraphStore, telemetry: TelemetryStore, path: FilePath, *, hot: HotRule) -> tuple[int, bool]:
    """The heat of the hottest definition in a file, and whether any of them is hot."""
    counts = telemetry.counts(Scope(kind="file", prefix=path), since=hot.since)
    callers = callers_by_target(graph, counts)
    scores = [heat_score(changes, len(callers[node])) for node, changes in counts.items()]
    is_hot = any(
        changes >= hot.min_changes and len(callers[node]) >= hot.min_callers for node, changes in counts.items()
    )
    return max(scores, default=0), is_hot


def _look(graph: GraphStore, file: Node) -> _File:
    inside = tuple(graph.scan(Scope(kind="file", prefix=file.qualname)))
    defined = tuple(node for node in inside if node.id != file.id)
    ids = sorted({file.id, *(node.id for node in defined)})
    own = set(ids)
    imports = graph.edges((file.id,), kinds=(EdgeKind.IMPORTS,), direction=Direction.OUTGOING)
    importing = importers_of(graph, file.id)
    outgoing = graph.edges(ids, kinds=CALLS, direction=Direction.OUTGOING)
    incoming = graph.edges(ids, kinds=(*CALLS, EdgeKind.TESTS), direction=Direction.INCOMING)
    ends = nodes_by_id(
        graph,
        (
            *(edge.target for edge in (*imports, *outgoing)),
            *(edge.source for edge in (*importing, *incoming)),
        ),
    )
    return _File(
        node=file,
        defined=tuple(sorted(defined, key=lambda node: (node.start_line, node.id))),
        imports=tuple(edge for edge in imports if edge.target in ends and edge.target != file.id),
        importers=tuple(ends[source] for source in sorted({edge.source for edge in importing}) if source in ends),
        calls_in=tuple(edge for edge in incoming if edge.source in ends),
        calls_out=tuple(edge for edge in outgoing if edge.target in ends and edge.target not in own),
        ends=ends | {node.id: node for node in (file, *defined)},
    )


def _summary(graph: GraphStore, telemetry: TelemetryStore, seen: _File, *, hot: HotRule) -> ContextSummary:
    complexities = [node.complexity for node in seen.defined if node.kind in CALLABLE_KINDS]
    average = average_complexity(seen.defined)
    importers = {node.file for node in seen.importers if node.file is not None}
    tests = {seen.ends[edge.source].file for edge in seen.calls_in if edge.kind is EdgeKind.TESTS} - {seen.node.file}
    heat, is_hot = file_heat(graph, telemetry, FilePath(seen.node.qualname), hot=hot)
    return ContextSummary(
        role=role_of(seen.node, seen.defined, importers=len(importers), imports=len(seen.imports)),
        blast_radius=len(importers),
        api_layer_callers=sum(map(in_api_layer, importers)),
        api_layer_total=_api_layer_files(graph),
        avg_complexity=average,
        max_complexity=max(complexities, default=0),
        exported_symbols=sum(node.exported for node in seen.defined),
        has_tests=bool(tests),
        test_files=tuple(sorted(file for file in tests if file is not None)),
        is_hot_node=is_hot,
        heat_score=heat,
        risk_level=risk_level(importers=len(importers), avg_complexity=average),
    )


def _api_layer_files(graph: GraphStore) -> int:
    """Files of the API layer, by the packages that make it up: there are far fewer packages than files."""
    layer = [node.qualname for node in graph.scan(Scope(), (NodeKind.PACKAGE,)) if is_api_package(node.qualname)]
    topmost = [path for path in layer if not any(path.startswith(other + "/") for other in layer)]
    return sum(1 for path in topmost for _ in graph.scan(Scope(kind="package", prefix=path), (NodeKind.FILE,)))


def _imports(seen: _File) -> tuple[ImportOf, ...]:
    items: defaultdict[FilePath, set[str]] = defaultdict(set)
    for edge in seen.imports:
        target = seen.ends[edge.target] if edge.target is not None else None
        if target is not None and target.file is not None:
            items[target.file].update(edge.items)
    return tuple(ImportOf(file=file, items=tuple(sorted(names))) for file, names in sorted(items.items()))


def _functions(defined: tuple[Node, ...]) -> tuple[DefinedFunction, ...]:
    """Functions and methods in source order; those nested in a function are part of it and left out."""
    holders = {node.qualname for node in defined if node.kind in CALLABLE_KINDS}
    return tuple(
        DefinedFunction(
            id=node.id,
            name=shown_name(node),
            complexity=max(node.complexity, 1),
            exported=node.exported,
            signature=node.signature,
            start_line=node.start_line,
        )
        for node in defined
        if node.kind is NodeKind.FUNCTION and node.qualname.rpartition(".")[0] not in holders
    )


def _classes(defined: tuple[Node, ...]) -> tuple[DefinedClass, ...]:
    methods = Counter(node.qualname.rpartition(".")[0] for node in defined if node.kind is NodeKind.FUNCTION)
    return tuple(
        DefinedClass(
            id=node.id,
            name=shown_name(node),
            method_count=methods[node.qualname],
            exported=node.exported,
            start_line=node.start_line,
        )
        for node in defined
        if node.kind in _CLASS_KINDS
    )


def _similar(graph: GraphStore, seen: _File) -> tuple[SimilarFile, ...]:
    targets = sorted({edge.target for edge in seen.imports if edge.target is not None})
    if not targets:
        return ()
    shared: defaultdict[NodeId, set[NodeId]] = defaultdict(set)
    for edge in graph.edges(targets, kinds=(EdgeKind.IMPORTS,), direction=Direction.INCOMING):
        if edge.source != seen.node.id and edge.target is not None:
            shared[edge.source].add(edge.target)
    best = sorted(shared, key=lambda node: (-len(shared[node]), node))[:SIMILAR_FILES]
    files = nodes_by_id(graph, best)
    held: defaultdict[NodeId, set[NodeId]] = defaultdict(set)
    for edge in graph.edges(best, kinds=(EdgeKind.DEFINES,), direction=Direction.OUTGOING):
        if edge.target is not None:
            held[edge.source].add(edge.target)
    nodes = nodes_by_id(graph, {node for ids in held.values() for node in ids})
    own = {node.kind for node in seen.defined}
    return tuple(
        SimilarFile(
            file=FilePath(files[node].qualname),
            shared_imports=len(shared[node]),
            shared_node_types=tuple(sorted(own & {nodes[child].kind for child in held[node] if child in nodes})),
        )
        for node in best
        if node in files and files[node].kind in FILE_KINDS
    )


def _entry_points(seen: _File) -> tuple[NodeId, ...]:
    """Where execution comes in: endpoints, what other files call, and exported functions that nothing here calls."""
    own = {seen.node.id, *(node.id for node in seen.defined)}
    from_outside = {edge.target for edge in seen.calls_in if edge.kind in CALLS and edge.source not in own}
    from_inside = {edge.target for edge in seen.calls_in if edge.kind in CALLS and edge.source in own}
    return tuple(
        sorted(
            node.id
            for node in seen.defined
            if node.kind is NodeKind.FUNCTION
            and (is_endpoint(node) or node.id in from_outside or (node.exported and node.id not in from_inside))
        )
    )


def _data_flow(seen: _File, edges: tuple[Edge, ...], *, outwards: bool) -> tuple[DataFlow, ...]:
    flows: set[DataFlow] = set()
    for edge in edges:
        callee = seen.ends.get(edge.target) if edge.target is not None else None
        caller = seen.ends.get(edge.source)
        far = callee if outwards else caller
        if edge.kind not in CALLS or callee is None or caller is None or far is None or far.file is None:
            continue
        if far.file != seen.node.file:
            carries = callee.return_type if outwards else _handed_in(callee)
            flows.add(DataFlow(other=far.file, via=shown_name(far), carries=carries))
    return tuple(sorted(flows, key=lambda flow: (flow.other, flow.via, flow.carries or "")))


def _handed_in(callee: Node) -> str | None:
    written = [
        parameter.annotation for parameter in callee.parameters if parameter.annotation and not parameter.receiver
    ]
    return ", ".join(written) or None
