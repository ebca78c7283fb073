"""Which calls have no proved target, and what was seen to run."""

from __future__ import annotations

from collections import Counter

from smp.domain.graph import Direction, Edge, EdgeKind, Node, NodeKind, Scope, UnresolvedReason
from smp.domain.ids import FilePath, NodeId
from smp.domain.queries import (
    LinkerReport,
    NotLinked,
    ObservedAt,
    RuntimeCallee,
    RuntimeReport,
    SettledCall,
    UnresolvedCall,
)
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
    answers = _answers(graph, listed)
    calls = [
        _unresolved(edge, callers[edge.source], answers.get(number, ()))
        for number, edge in enumerate(listed)
        if edge.source in callers
    ]
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
    runs: dict[NodeId, list[Edge]] = {}
    for edge in edges:
        of_commit = commit_sha is None or (edge.commit_sha or "").startswith(commit_sha)
        if edge.kind is EdgeKind.CALLS_RUNTIME and edge.target is not None and of_commit:
            runs.setdefault(edge.target, []).append(edge)
    static = {edge.target for edge in edges if edge.kind is EdgeKind.CALLS_STATIC and edge.target is not None}
    open_calls = [
        edge
        for edge in edges
        if edge.kind is EdgeKind.CALLS_UNRESOLVED and edge.reason is not UnresolvedReason.EXTERNAL
    ]
    callees = nodes_by_id(graph, runs)
    discovered = [callees[target] for target in sorted(runs) if target not in static and target in callees]
    answers = settle(discovered, open_calls)
    return RuntimeReport(
        node_id=node.id,
        runtime_callees=tuple(
            _callee(callee, runs[callee.id], static)
            for callee in sorted(callees.values(), key=lambda callee: callee.id)
            if callee.file is not None
        ),
        static_only_callees=tuple(sorted(static - runs.keys())),
        unresolved_remaining=sum(not found for found in answers),
        settled=tuple(
            SettledCall(
                to_name=edge.to_name or "?",
                reason=edge.reason or UnresolvedReason.DYNAMIC,
                lines=edge.lines or (edge.line,),
                answers=found,
            )
            for edge, found in zip(open_calls, answers, strict=True)
            if found
        ),
        ran=bool(runs) or _was_entered(graph, node, commit_sha),
    )


def _was_entered(graph: GraphStore, node: Node, commit_sha: str | None) -> bool:
    entering = graph.edges((node.id,), kinds=(EdgeKind.CALLS_RUNTIME,), direction=Direction.INCOMING)
    return any(commit_sha is None or (edge.commit_sha or "").startswith(commit_sha) for edge in entering)


def _callee(callee: Node, seen: list[Edge], static: set[NodeId]) -> RuntimeCallee:
    assert callee.file is not None
    oldest_first = sorted(seen, key=lambda edge: (edge.first_seen or "", edge.commit_sha or ""))
    return RuntimeCallee(
        node_id=callee.id,
        file=callee.file,
        call_count=max(sum(edge.call_count for edge in seen), 1),
        was_static_unresolved=callee.id not in static,
        runs=tuple(
            ObservedAt(
                commit_sha=edge.commit_sha,
                sandbox_id=edge.sandbox_id,
                first_seen=edge.first_seen,
                call_count=edge.call_count,
            )
            for edge in oldest_first
        ),
    )


def _answers(graph: GraphStore, open_calls: list[Edge]) -> dict[int, tuple[NodeId, ...]]:
    """What was seen that settles unresolved calls, by their position."""
    by_caller: dict[NodeId, list[int]] = {}
    for number, edge in enumerate(open_calls):
        by_caller.setdefault(edge.source, []).append(number)
    seen: dict[NodeId, set[NodeId]] = {}
    for edge in graph.edges(by_caller, kinds=(EdgeKind.CALLS_RUNTIME,)):
        if edge.target is not None:
            seen.setdefault(edge.source, set()).add(edge.target)
    for edge in graph.edges(seen, kinds=(EdgeKind.CALLS_STATIC,)):
        if edge.target is not None:
            seen[edge.source].discard(edge.target)
    callees = nodes_by_id(graph, {target for targets in seen.values() for target in targets})
    found: dict[int, tuple[NodeId, ...]] = {}
    for caller, targets in seen.items():
        numbers = by_caller[caller]
        discovered = [callees[target] for target in sorted(targets) if target in callees]
        found |= zip(numbers, settle(discovered, [open_calls[number] for number in numbers]), strict=True)
    return found


def settle(discovered: list[Node], open_calls: list[Edge]) -> list[tuple[NodeId, ...]]:
    """Per unresolved call of one caller, what it can have been of what was seen.

    A candidate or the same last name is an answer. What is decided at run time (`table[key]()`, a call of a variable) has no
    name to go by: its answers are the seen callees that no other of the calls names.

    Args:
        discovered: Observed callees that the source does not give.
    """
    named = [tuple(callee.id for callee in discovered if _names(callee, edge)) for edge in open_calls]
    taken = {one for answers in named for one in answers}
    left = tuple(callee.id for callee in discovered if callee.id not in taken)
    return [answers or (left if _is_nameless(edge) else ()) for answers, edge in zip(named, open_calls, strict=True)]


def _unresolved(edge: Edge, caller: Node, settled_by: tuple[NodeId, ...]) -> UnresolvedCall:
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
        settled_by=settled_by,
    )


def _action(edge: Edge) -> str:
    """What would settle a call: an import of a plain name, a type for a receiver, a run for what is decided at run time."""
    if edge.reason is UnresolvedReason.DYNAMIC:
        return TRACE_RUNTIME
    return ANNOTATE_TYPE if "." in (edge.to_name or "") else ADD_IMPORT


def _names(callee: Node, edge: Edge) -> bool:
    return callee.id in edge.candidates or (edge.to_name or "").rpartition(".")[2] == callee.name


def _is_nameless(edge: Edge) -> bool:
    return edge.reason is UnresolvedReason.DYNAMIC or not (edge.to_name or "").rpartition(".")[2].isidentifier()
