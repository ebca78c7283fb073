"""Edges that are being gathered from several sites, and what is left out of calls between which nothing decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from smp.domain.graph import Edge, EdgeKind, Resolution, UnresolvedReason
from smp.domain.ids import FilePath, NodeId
from smp.domain.source import NOTHING
from smp.indexing.linking.bits import C_INTERFACE
from smp.indexing.linking.values import BOUND, CLASS, FUNC, INST, ClassRef, FuncRef, Value

MAX_CANDIDATES = 10


class Draft:
    """An edge that is being gathered from several sites."""

    __slots__ = ("candidates", "import_source", "label", "lines", "via")

    def __init__(self) -> None:
        self.lines: set[int] = set()
        self.label: Resolution | None = None
        self.via = ""
        self.import_source: FilePath | None = None
        self.candidates: set[str] = set()


def made_classes(held: Iterable[Value]) -> list[str]:
    """Classes with a node whose name is called."""
    return [value.ref.node_id for value in held if value.kind == CLASS and value.ref is not None and value.ref.node_id]


def without_rivals(held: list[Value]) -> tuple[list[Value], set[str]]:
    """Values without methods that several extensions of a class give under one name, and the ids of those."""
    groups: dict[tuple[ClassRef, str], set[FuncRef]] = {}
    for value in held:
        ref = value.ref
        extends = isinstance(ref, FuncRef) and ref.cls is not None and ref.decl.extension != NOTHING
        if value.kind in (FUNC, BOUND) and isinstance(ref, FuncRef) and ref.cls is not None and extends:
            groups.setdefault((ref.cls, ref.decl.name), set()).add(ref)
    rivals: set[object] = {ref for refs in groups.values() if len(refs) > 1 for ref in refs}
    kept = [value for value in held if value.ref not in rivals]
    return kept, {str(ref.node_id) for ref in rivals if isinstance(ref, FuncRef)}


def by_static_type(held: list[Value]) -> tuple[list[Value], set[str]]:
    """In a language that knows each receiver's type: methods of that type, and ids of others that flow says may run.

    A value declared to be of an interface has the interface's method, whatever it holds; one declared to be of a class is
    of no other.
    """
    methods = [value for value in held if value.kind == BOUND and value.recv is not None and value.recv.kind == INST]
    declared = {value.recv.ref for value in methods if value.recv is not None and value.recv.below}
    if not declared:
        return held, set()
    through = {ref for ref in declared if isinstance(ref, ClassRef) and ref.decl.flags & C_INTERFACE}
    kept = through or declared
    other = [value for value in methods if value.recv is not None and value.recv.ref not in kept]
    ids = {value.ref.node_id for value in other if value.ref is not None and value.ref.node_id is not None}
    return [value for value in held if value not in other], ids if through else set()


def finished(
    drafts: Mapping[tuple[str, int, str], Draft],
    unresolved: Mapping[tuple[int, str, str], Draft],
    definitions: tuple[str, ...],
) -> list[Edge]:
    """The edges of a file from what was gathered."""
    made = [
        Edge(
            kind=EdgeKind(kind),
            source=NodeId(definitions[source]),
            target=NodeId(target),
            line=min(draft.lines),
            lines=tuple(sorted(draft.lines)),
            resolution=draft.label,
            via=draft.via or None,
            import_source=draft.import_source,
            candidates=tuple(NodeId(c) for c in sorted(draft.candidates - {target})[:MAX_CANDIDATES]),
        )
        for (kind, source, target), draft in drafts.items()
    ]
    made += [
        Edge(
            kind=EdgeKind.CALLS_UNRESOLVED,
            source=NodeId(definitions[source]),
            line=min(draft.lines),
            lines=tuple(sorted(draft.lines)),
            to_name=name,
            reason=UnresolvedReason(reason),
            candidates=tuple(NodeId(c) for c in sorted(draft.candidates)[:MAX_CANDIDATES]),
        )
        for (source, name, reason), draft in unresolved.items()
    ]
    return made
