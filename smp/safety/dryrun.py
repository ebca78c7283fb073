"""What a proposed change would break: safe or breaking, from the graphs before and after, nothing written.

A definition of the changed files is *incompatible* when it is gone, when calls that were right become wrong (a new required
parameter, a keyword or position that is no longer accepted), when what it returns is declared differently, or when it
turned into another sort of thing (async, property). Whoever depends on it and was not changed along is broken. Changed
along is a node whose own source differs, in this proposal or earlier in the session, so a change in several steps is judged
as the whole that it is. An added optional parameter breaks nobody; a caller that reaches the same name elsewhere after the
change (moved and re-exported, inherited) is not broken by its removal.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from msgspec import Struct

from smp.domain.graph import CALLS, Direction, Edge, EdgeKind, Node, NodeKind, Resolution, UnresolvedReason
from smp.domain.ids import FilePath, NodeId
from smp.domain.session_steps import Broken, DryrunReport, DryrunVerdict, Risk, StructuralDelta
from smp.indexing.changes import NodeChanges, compare_nodes
from smp.indexing.reports import ParseError
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import CALLABLE_KINDS, DEFINITION_KINDS, FILE_KINDS, nodes_by_id
from smp.safety.signatures import Incompatible, incompatibility

_INHERITANCE = (EdgeKind.INHERITS, EdgeKind.IMPLEMENTS)
_NEEDS_NAME = (*CALLS, *_INHERITANCE, EdgeKind.USES, EdgeKind.REFERENCES)
"""What a removal breaks. TESTS is left out: it also holds what a test reaches through fixtures, which break themselves."""
_NEEDS_SIGNATURE = CALLS
_STAR = "*"

SYMBOL_REMOVED, SYNTAX_ERROR, UNREACHABLE = "SYMBOL_REMOVED", "SYNTAX_ERROR", "NO_LONGER_IMPORTABLE"


class Graphs(Struct, frozen=True, kw_only=True):
    """The same files in three states.

    Attributes:
        shared: As everyone sees them, before the session.
        before: As the session sees them now. after: as it would see them.
    """

    shared: GraphStore
    before: GraphStore
    after: GraphStore


class _Dependence(Struct, frozen=True, kw_only=True):
    """A node that depends on an incompatible definition."""

    source: Node
    definition: Node
    edge: Edge
    cause: Incompatible


def rehearse(
    graphs: Graphs,
    before: tuple[Node, ...],
    after: tuple[Node, ...],
    base: tuple[Node, ...],
    *,
    errors: tuple[ParseError, ...],
    touched: Callable[[Iterable[NodeId]], frozenset[NodeId]],
) -> DryrunReport:
    """The report.

    Args:
        before, after, base: Nodes of the changed files in the three graphs; `base` in the shared one.
        errors: Parts of the changed files that would no longer parse and do now.
        touched: Which of some nodes the session itself has changed before.
    """
    files = {node.file for node in (*before, *after, *base) if node.file is not None}
    changes = compare_nodes(before, after)
    causes = _incompatible(base, after)
    broken = _broken(graphs, causes, base, after, touched=touched)
    importers = _importers(graphs, causes, broken, files)
    tests = tuple(item for item in broken if item.source.kind is NodeKind.TEST)
    callers = tuple(item for item in broken if item.source.kind is not NodeKind.TEST)
    entries = (*map(_entry, callers), *importers)
    test_entries = tuple(map(_entry, tests))
    verdict = DryrunVerdict.BREAKING if entries or test_entries or errors else DryrunVerdict.SAFE
    return DryrunReport(
        verdict=verdict,
        delta=_delta(changes),
        affected_files=tuple(sorted({entry.file for entry in (*entries, *test_entries)})),
        broken_callers=tuple(sorted(set(entries), key=_order)),
        broken_tests=tuple(sorted(set(test_entries), key=_order)),
        test_coverage_delta=_coverage_delta(graphs, before, after),
        risks=_risks(causes, errors),
    )


def _order(entry: Broken) -> tuple[str, str, str]:
    return (entry.file, entry.function, entry.because)


def _delta(changes: NodeChanges) -> StructuralDelta:
    """Counts without files; a container counts as modified only for what changed outside of its parts."""
    created = [node for node in changes.created if node.kind in DEFINITION_KINDS]
    deleted = [node for node in changes.deleted if node.kind in DEFINITION_KINDS]
    modified = [(old, new) for old, new in changes.modified if new.kind in DEFINITION_KINDS]
    inner = (*created, *deleted, *(new for _, new in modified))
    own = [
        (old, new)
        for old, new in modified
        if _header(old) != _header(new)
        or not any(node.file == new.file and node.qualname.startswith(new.qualname + ".") for node in inner)
    ]
    return StructuralDelta(
        nodes_added=len(created),
        nodes_modified=len(own),
        nodes_removed=len(deleted),
        signature_changed=any(_header(old) != _header(new) for old, new in modified),
    )


def _header(node: Node) -> tuple[object, ...]:
    return (node.signature, node.parameters, node.return_type, node.modifiers)


def _incompatible(base: tuple[Node, ...], after: tuple[Node, ...]) -> dict[NodeId, Incompatible]:
    new = {node.id: node for node in after}
    found: dict[NodeId, Incompatible] = {}
    for node in base:
        if node.kind in FILE_KINDS and node.id not in new:
            found[node.id] = Incompatible(code=SYMBOL_REMOVED, because=f"{node.qualname} is removed")
        if node.kind not in DEFINITION_KINDS or node.kind is NodeKind.TEST:
            continue
        if node.id not in new:
            found[node.id] = Incompatible(code=SYMBOL_REMOVED, because=f"{node.qualname} is removed")
        elif (cause := incompatibility(node, new[node.id])) is not None:
            found[node.id] = cause
    return found


def _broken(
    graphs: Graphs,
    causes: dict[NodeId, Incompatible],
    base: tuple[Node, ...],
    after: tuple[Node, ...],
    *,
    touched: Callable[[Iterable[NodeId]], frozenset[NodeId]],
) -> tuple[_Dependence, ...]:
    definitions = {node.id: node for node in base}
    kept = {node.id for node in after}
    incoming = graphs.shared.edges(sorted(definitions), kinds=_NEEDS_NAME, direction=Direction.INCOMING)
    dependences = []
    sources = nodes_by_id(graphs.shared, (edge.source for edge in incoming))
    survivors = nodes_by_id(graphs.after, sources)
    mine = touched(sorted(sources))
    links = _links(graphs.after, survivors)
    for edge in incoming:
        source, target = sources.get(edge.source), edge.target
        if source is None or target is None or edge.source == target or edge.source not in survivors:
            continue
        definition = definitions[target]
        changed_along = edge.source in mine or survivors[edge.source].source_hash != source.source_hash
        cause = causes.get(target)
        if cause is None and target in kept and edge.resolution is Resolution.IMPORT and not changed_along:
            cause = _unreachable(links[edge.source], definition)
        if cause is None or not _concerns(cause, edge):
            continue
        if cause.code == SYMBOL_REMOVED and _elsewhere(links[edge.source], definition):
            continue
        if changed_along and not (cause.code == SYMBOL_REMOVED and _still_names(links[edge.source], definition)):
            continue
        dependences.append(_Dependence(source=source, definition=definition, edge=edge, cause=cause))
    return tuple(dependences)


def _unreachable(links: _Links, definition: Node) -> Incompatible | None:
    """An import that led to a definition, which is still there, leads nowhere: it is no longer exported."""
    if definition.id in links.targets or _elsewhere(links, definition):
        return None
    return Incompatible(code=UNREACHABLE, because=f"{definition.qualname} is no longer importable")


class _Links(Struct, frozen=True, kw_only=True):
    """Where a node leads after the change: targets, their bare names, and names that found no target."""

    targets: frozenset[NodeId]
    names: frozenset[str]
    unresolved: frozenset[str]


def _links(graph: GraphStore, sources: dict[NodeId, Node]) -> dict[NodeId, _Links]:
    edges = graph.edges(sorted(sources), kinds=(*_NEEDS_NAME, EdgeKind.CALLS_UNRESOLVED), direction=Direction.OUTGOING)
    ends = nodes_by_id(graph, (edge.target for edge in edges))
    leaving: defaultdict[NodeId, list[Edge]] = defaultdict(list)
    for edge in edges:
        leaving[edge.source].append(edge)
    found = {}
    for source in sources:
        own = leaving[source]
        targets = frozenset(edge.target for edge in own if edge.target is not None)
        found[source] = _Links(
            targets=targets,
            names=frozenset(_bare(ends[target]) for target in targets if target in ends),
            unresolved=frozenset(
                re.split(r"\W+", edge.to_name)[-1]
                for edge in own
                if edge.to_name and edge.reason is not UnresolvedReason.EXTERNAL
            ),
        )
    return found


def _elsewhere(links: _Links, definition: Node) -> bool:
    return definition.id not in links.targets and _bare(definition) in links.names


def _still_names(links: _Links, definition: Node) -> bool:
    return _bare(definition) in links.unresolved


def _bare(node: Node) -> str:
    return node.name.partition("~")[0]


def _concerns(cause: Incompatible, edge: Edge) -> bool:
    return cause.code in (SYMBOL_REMOVED, UNREACHABLE) or edge.kind in _NEEDS_SIGNATURE


def _importers(
    graphs: Graphs,
    causes: dict[NodeId, Incompatible],
    broken: tuple[_Dependence, ...],
    files: set[FilePath],
) -> tuple[Broken, ...]:
    """Files that import a removed name and have no broken code of their own: the import line itself fails."""
    removed = nodes_by_id(graphs.shared, (node for node, cause in causes.items() if cause.code == SYMBOL_REMOVED))
    names = {
        (node.file, _bare(node)): node
        for node in removed.values()
        if "." not in node.qualname and node.file is not None
    }
    if not names:
        return ()
    changed = {node.qualname: node for file in sorted(files) for node in graphs.shared.find(file)}
    ids = sorted(node.id for node in changed.values() if node.kind in FILE_KINDS)
    reported = {item.source.file for item in broken}
    edges = graphs.shared.edges(ids, kinds=(EdgeKind.IMPORTS,), direction=Direction.INCOMING) if ids else ()
    sources = nodes_by_id(graphs.shared, (edge.source for edge in edges))
    survivors = nodes_by_id(graphs.after, sources)
    after = {
        (edge.source, item)
        for edge in (
            graphs.after.edges(sorted(survivors), kinds=(EdgeKind.IMPORTS,), direction=Direction.OUTGOING)
            if survivors
            else ()
        )
        for item in edge.items
        if edge.target not in ids
    }
    again = _brought_in(graphs.after, changed.values())
    targets = nodes_by_id(graphs.shared, ids)
    entries = []
    for edge in edges:
        source = sources.get(edge.source)
        if source is None or edge.source not in survivors or source.file is None or source.file in reported:
            continue
        if survivors[edge.source].source_hash != source.source_hash or edge.target not in targets:
            continue
        for item in edge.items:
            file = targets[edge.target].file
            definition = None if file is None else names.get((file, item))
            if definition is not None and (edge.source, item) not in after and not {item, _STAR} & again[file]:
                entries.append(
                    Broken(function=source.qualname, file=source.file, because=f"imports {item}, which is removed")
                )
    return tuple(entries)


def _brought_in(graph: GraphStore, files: Iterable[Node]) -> dict[FilePath | None, frozenset[str]]:
    """Names that files import themselves, and so still offer when the definition has moved out of them."""
    found = {}
    for file in files:
        edges = graph.edges((file.id,), kinds=(EdgeKind.IMPORTS,), direction=Direction.OUTGOING)
        found[file.file] = frozenset(item for edge in edges for item in edge.items)
    return found


def _entry(item: _Dependence) -> Broken:
    file = item.source.file
    assert file is not None, "what calls or names a definition lies in a file"
    return Broken(
        function=item.source.qualname,
        file=file,
        because=item.cause.because,
        expected_return_type=item.cause.old_return,
        actual_return_type=item.cause.new_return,
    )


def _coverage_delta(graphs: Graphs, before: tuple[Node, ...], after: tuple[Node, ...]) -> str:
    difference = _reached(graphs.after, after) - _reached(graphs.before, before)
    return "unchanged" if difference == 0 else f"{difference:+d} functions reached by tests"


def _reached(graph: GraphStore, nodes: tuple[Node, ...]) -> int:
    ids = sorted(node.id for node in nodes if node.kind in CALLABLE_KINDS and node.kind is not NodeKind.TEST)
    edges = graph.edges(ids, kinds=(EdgeKind.TESTS,), direction=Direction.INCOMING) if ids else ()
    return len({edge.target for edge in edges})


def _risks(causes: dict[NodeId, Incompatible], errors: tuple[ParseError, ...]) -> tuple[Risk, ...]:
    """What is worth knowing whatever the verdict: callers outside the repository see these changes too."""
    broken = tuple(Risk(code=SYNTAX_ERROR, message=error.message, file=error.file, line=error.line) for error in errors)
    return (
        *broken,
        *(Risk(code=cause.code, message=cause.because, node_id=node) for node, cause in sorted(causes.items())),
    )
