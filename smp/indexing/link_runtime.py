"""From frames that ran to nodes of the graph: a trace becomes CALLS_RUNTIME edges.

A frame names its code by file, qualified name and first line; a node by file, qualified name (without `.<locals>`) and
the line at which its decorators begin. Both lines agree while the file is as indexed; the name alone decides where it
is not, and where one name has several definitions (`~2`), the line does. What matches nothing is counted, never guessed.

Who a call belongs to follows the static rule (decisions.md section 3): code of a lambda or comprehension to the
innermost named function around it, code of a class body to the function around the class, and the rest to the file.
A call *of* an unnamed function is no edge.
"""

from __future__ import annotations

import re
from collections import Counter

from msgspec import Struct

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind, Scope
from smp.domain.ids import CommitSha, NodeId, SandboxId
from smp.domain.traces import Frame, Trace
from smp.ports.graph_store import GraphStore

_FILES = (NodeKind.FILE, NodeKind.CONFIG)
_FUNCTIONS = (NodeKind.FUNCTION, NodeKind.TEST)
_NAMED = (*_FUNCTIONS, NodeKind.CLASS, NodeKind.INTERFACE)
_VARIANT = re.compile(r"~\d+$")
_MODULE = "<module>"
UNKNOWN_OUTER = "?."
"""Before Python 3.11 code objects know their bare names only; the tracer marks those so."""


class LinkedTrace(Struct, frozen=True, kw_only=True):
    """edges: sorted by source and target, one each. unresolved: distinct frames that no node answers to.

    lower_bounds: Ends of the edges whose counts may be too low.
    """

    edges: tuple[Edge, ...]
    lower_bounds: frozenset[tuple[NodeId, NodeId]] = frozenset()
    unresolved: tuple[Frame, ...] = ()


def link_trace(
    trace: Trace, graph: GraphStore, *, sandbox_id: SandboxId, commit_sha: CommitSha, first_seen: str
) -> LinkedTrace:
    """Resolve both ends of every observed call.

    Args:
        graph: As the session sees it.
        first_seen: Time of the execution, RFC 3339.
    """
    files = _Files(graph)
    counts: Counter[tuple[NodeId, NodeId]] = Counter()
    unresolved: set[Frame] = set()
    lower_bounds: set[tuple[NodeId, NodeId]] = set()
    for call in trace.calls:
        definitions = files.of(call.caller.file), files.of(call.callee.file)
        caller = definitions[0].caller(call.caller)
        callee = definitions[1].callee(call.callee)
        if caller is None:
            unresolved.add(call.caller)
        if callee is None and not _unnamed(call.callee):
            unresolved.add(call.callee)
        if caller is not None and callee is not None:
            counts[caller, callee] += call.count
            if call.lower_bound:
                lower_bounds.add((caller, callee))
    edges = tuple(
        Edge(
            kind=EdgeKind.CALLS_RUNTIME,
            source=source,
            target=target,
            call_count=count,
            sandbox_id=sandbox_id,
            commit_sha=commit_sha,
            first_seen=first_seen,
        )
        for (source, target), count in sorted(counts.items())
    )
    return LinkedTrace(
        edges=edges,
        lower_bounds=frozenset(lower_bounds),
        unresolved=tuple(sorted(unresolved, key=lambda frame: (frame.file, frame.first_line, frame.qualname))),
    )


class _Files:
    """Definitions by file, each file fetched once."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._known: dict[str, _Definitions] = {}

    def of(self, file: str) -> _Definitions:
        if file not in self._known:
            self._known[file] = _Definitions(tuple(self._graph.scan(Scope(kind="file", prefix=file))))
        return self._known[file]


class _Definitions:
    """The nodes of one file, found by frame."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._file = next((node for node in nodes if node.kind in _FILES), None)
        self._named = [node for node in nodes if node.kind in _NAMED]
        self._by_name = {node.qualname: node for node in self._named}

    def callee(self, frame: Frame) -> NodeId | None:
        """The function that a frame is a run of; None for modules, class bodies and unnamed functions."""
        node = None if _unnamed(frame) else self._find(frame)
        return node.id if node is not None and node.kind in _FUNCTIONS else None

    def caller(self, frame: Frame) -> NodeId | None:
        """The node that calls made in a frame belong to."""
        if frame.qualname == _MODULE:
            return self._file_id()
        if not _unnamed(frame):
            node = self._find(frame)
            return self._owner(node) if node is not None else None
        around = self._around(frame)
        return self._owner(around) if around is not None else self._file_id()

    def _find(self, frame: Frame) -> Node | None:
        name = _parts(frame)
        if name is None:  # the interpreter knows bare names only
            bare = frame.qualname.removeprefix(UNKNOWN_OUTER)
            return self._at(bare, frame.first_line)
        same = [node for node in self._named if _VARIANT.sub("", node.qualname) == ".".join(name)]
        exact = [node for node in same if node.start_line == frame.first_line]
        for found in (exact, same):
            if len(found) == 1:
                return found[0]
        return None

    def _at(self, bare: str, line: int) -> Node | None:
        """The definition of this name that begins on a line, else the innermost one that the line lies in."""
        # Native code has no names that the source has: the line alone says which function it is of.
        same = [
            node for node in self._named if (_VARIANT.sub("", node.name) == bare if bare else node.kind in _FUNCTIONS)
        ]
        exact = [node for node in same if node.start_line == line]
        if exact:
            return exact[0] if len(exact) == 1 else None
        inside = [node for node in same if node.start_line <= line <= node.end_line]
        return max(inside, key=lambda node: (node.start_line, -node.end_line), default=None)

    def _around(self, frame: Frame) -> Node | None:
        """The innermost named definition around unnamed code; None at the top of the module."""
        line, name = frame.first_line, _parts(frame)
        if name == []:
            return None
        inside = [node for node in self._named if node.start_line <= line <= node.end_line]
        if name is not None:
            same = [node for node in self._named if _VARIANT.sub("", node.qualname) == ".".join(name)]
            inside = [node for node in same if node in inside] or (same if len(same) == 1 else [])
        return max(inside, key=lambda node: (node.start_line, -node.end_line), default=None)

    def _owner(self, node: Node) -> NodeId | None:
        """The node itself when it is a function; for a class body the function around it, else the file."""
        while node.kind not in _FUNCTIONS:
            above = self._by_name.get(node.qualname.rpartition(".")[0])
            if above is None:
                return self._file_id()
            node = above
        return node.id

    def _file_id(self) -> NodeId | None:
        return self._file.id if self._file is not None else None


def _parts(frame: Frame) -> list[str] | None:
    """The qualified name up to the first unnamed part, without `<locals>`; None where the interpreter has none."""
    if frame.qualname.startswith(UNKNOWN_OUTER):
        return None
    named = [part for part in frame.qualname.split(".") if part != "<locals>"]
    unnamed = next((position for position, part in enumerate(named) if part.startswith("<")), len(named))
    return named[:unnamed]


def _unnamed(frame: Frame) -> bool:
    """Lambdas, comprehensions, generator expressions, annotation scopes; anything whose own name is in brackets."""
    return frame.qualname != _MODULE and frame.qualname.endswith(">")
