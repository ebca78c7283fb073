"""Which calls have no proved target, and what was seen to run."""

from __future__ import annotations

from collections import Counter

from smp.domain.graph import Direction, Edge, EdgeKind, Node, NodeKind, Scope, UnresolvedReason
from smp.domain.ids import FilePath, NodeId
from smp.domain.queries import LinkerReport, NotLinked, RuntimeCallee, RuntimeReport, UnresolvedCall
from smp.languages.registry import language_named
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import nodes_by_id

ADD_IMPORT, ANNOTATE_TYPE, TRACE_RUNTIME = "add_import", "annotate_type", "trace_runtime"


def unresolved_calls(graph: GraphStore, scope: Scope) -> LinkerReport:
    """Every unresolved call made in a scope; calls that leave the project are counted, not listed; so are the files of languages
    whose calls nobody looks for."""
    listed: list[Edge] = []
    external = 0
    for edge in graph.scan_edges(scope, (EdgeKind.CALLS_UNRESOLVED,)):
        if edge.reason is UnresolvedReason.EXTERNAL:
            external += 1
        else:
            listed.append(edge)
    callers = nodes_by_id(graph, (edge.source for edge in listed))
    calls = [_unresolved(edge, callers[edge.source]) for edge in listed if edge.source in callers]
    calls.sort(key=lambda call: (call.file, call.lines, call.caller, call.to_name, call.reason.value))
    return LinkerReport(unresolved=tuple(calls), external_count=external, not_linked=_not_linked(graph, scope))


def _not_linked(graph: GraphStore, scope: Scope) -> tuple[NotLinked, ...]:
    counts = Counter(node.language for node in graph.scan(scope, (NodeKind.FILE,)) if node.language is not None)
    silent = {
        name: language for name in counts if (language := language_named(name)) is not None and not language.links
    }
    return tuple(NotLinked(language=name, files=counts[name]) for name in sorted(silent))


def observed_calls(graph: GraphStore, node: Node, *, commit_sha: str | None) -> RuntimeReport:
    """What a node was seen to call, beside what its source says.

    Args:
        commit_sha: Only observations made at this commit (a prefix will do); None counts all.
    """
    kinds = (EdgeKind.CALLS_RUNTIME, EdgeKind.CALLS_STATIC, EdgeKind.CALLS_UNRESOLVED)
    edges = graph.edges((node.id,), kinds=kinds, direction=Direction.OUTGOING)
    counts: Counter[NodeId] = Counter()
    for edge in edges:
        of_commit = commit_sha is None or (edge.commit_sha or "").startswith(commit_sha)
        if edge.kind is EdgeKind.CALLS_RUNTIME and edge.target is not None and of_commit:
            counts[edge.target] += edge.call_count
    static = {edge.target for edge in edges if edge.kind is EdgeKind.CALLS_STATIC and edge.target is not None}
    open_calls = [
        edge
        for edge in edges
        if edge.kind is EdgeKind.CALLS_UNRESOLVED and edge.reason is not UnresolvedReason.EXTERNAL
    ]
    callees = nodes_by_id(graph, counts)
    discovered = [callees[target] for target in counts if target not in static and target in callees]
    return RuntimeReport(
        node_id=node.id,
        runtime_callees=tuple(
            RuntimeCallee(
                node_id=callee.id,
                file=callee.file,
                call_count=max(counts[callee.id], 1),
                was_static_unresolved=callee.id not in static,
            )
            for callee in sorted(callees.values(), key=lambda callee: callee.id)
            if callee.file is not None
        ),
        static_only_callees=tuple(sorted(static - counts.keys())),
        unresolved_remaining=sum(not any(_settles(callee, edge) for callee in discovered) for edge in open_calls),
    )


def _unresolved(edge: Edge, caller: Node) -> UnresolvedCall:
    file = caller.file or FilePath(caller.qualname)
    return UnresolvedCall(
        caller=edge.source,
        file=file,
        to_name=edge.to_name or "?",
        reason=edge.reason or UnresolvedReason.DYNAMIC,
        candidates=edge.candidates,
        action=_action(edge),
        action_target=file,
        lines=edge.lines or (edge.line,),
    )


def _action(edge: Edge) -> str:
    """What would settle a call: an import of a plain name, a type for a receiver, a run for what is decided at run time."""
    if edge.reason is UnresolvedReason.DYNAMIC:
        return TRACE_RUNTIME
    return ANNOTATE_TYPE if "." in (edge.to_name or "") else ADD_IMPORT


def _settles(callee: Node, edge: Edge) -> bool:
    """Whether an observed callee may be what an unresolved call meant: a candidate, the same name, or any name at all
    where the source gives none (`table[key]()`)."""
    if callee.id in edge.candidates:
        return True
    last = (edge.to_name or "").rpartition(".")[2]
    return last == callee.name or not last.isidentifier()
