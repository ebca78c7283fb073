"""Two versions of a file, compared node by node.

A node counts as modified when its signature, its own text or its calls differ. Its own text is its source without that
of the definitions inside it: editing a method does not modify the class, and moving a node down a line changes nothing.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from smp.domain.graph import CALLS, Direction, Edge, EdgeKind, Node, Scope
from smp.domain.ids import ContentHash, FilePath, NodeId
from smp.domain.queries import Link, ModifiedNode, NodeChanges, StructuralDiff
from smp.ports.graph_store import GraphStore
from smp.query.adjacency import FILE_KINDS

_COMPARED = (
    *CALLS,
    EdgeKind.IMPORTS,
    EdgeKind.DEFINES,
    EdgeKind.INHERITS,
    EdgeKind.IMPLEMENTS,
    EdgeKind.TESTS,
    EdgeKind.USES,
    EdgeKind.REFERENCES,
    EdgeKind.DEPENDS_ON,
)


class FileVersion(Struct, frozen=True, kw_only=True):
    """One version of a file: its nodes (the file's own among them), their outgoing edges, its bytes.

    Without bytes (None) a node's own text cannot be told from that of the definitions in it.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    content: bytes | None = None


def read_version(graph: GraphStore, path: FilePath, content: bytes | None) -> FileVersion:
    """What a graph says of a file; empty when it does not know it."""
    nodes = tuple(graph.scan(Scope(kind="file", prefix=path)))
    if not nodes:
        return FileVersion()
    ids = sorted(node.id for node in nodes)
    return FileVersion(
        nodes=nodes, edges=graph.edges(ids, kinds=_COMPARED, direction=Direction.OUTGOING), content=content
    )


def diff_versions(before: FileVersion, after: FileVersion) -> StructuralDiff:
    """The structural difference; empty for equal versions."""
    old = {node.id: node for node in before.nodes}
    new = {node.id: node for node in after.nodes}
    legible = before.content is not None and after.content is not None
    old_text = own_text(before) if legible else {node.id: node.source_hash for node in before.nodes}
    new_text = own_text(after) if legible else {node.id: node.source_hash for node in after.nodes}
    old_calls, new_calls = _calls(before.edges), _calls(after.edges)
    modified: list[ModifiedNode] = []
    for node_id in sorted(old.keys() & new.keys()):
        was, now = old[node_id], new[node_id]
        changes = NodeChanges(
            signature_changed=signature_of(was) != signature_of(now),
            body_changed=old_text[node_id] != new_text[node_id],
            complexity_delta=now.complexity - was.complexity,
            calls_added=tuple(sorted(new_calls[node_id] - old_calls[node_id])),
            calls_removed=tuple(sorted(old_calls[node_id] - new_calls[node_id])),
        )
        if changes.signature_changed or changes.body_changed or changes.calls_added or changes.calls_removed:
            modified.append(ModifiedNode(before=was, after=now, changes=changes))
    old_links, new_links = _links(before.edges), _links(after.edges)
    return StructuralDiff(
        added=_sorted_definitions(new[node_id] for node_id in new.keys() - old.keys()),
        removed=_sorted_definitions(old[node_id] for node_id in old.keys() - new.keys()),
        modified=tuple(modified),
        links_added=tuple(sorted(new_links - old_links, key=_link_order)),
        links_removed=tuple(sorted(old_links - new_links, key=_link_order)),
    )


def signature_of(node: Node) -> tuple[object, ...]:
    """What a caller relies on: the line as written, each parameter, what comes back."""
    return (node.signature, node.parameters, node.return_type, node.modifiers, node.kind)


def own_text(version: FileVersion) -> dict[NodeId, ContentHash]:
    """A digest of each node's own text: its bytes without those of the nodes inside it."""
    ordered = sorted(version.nodes, key=lambda node: (node.start_byte, -node.end_byte, node.id))
    inside: defaultdict[NodeId, list[Node]] = defaultdict(list)
    open_nodes: list[Node] = []
    for node in ordered:
        while open_nodes and not _holds(open_nodes[-1], node):
            open_nodes.pop()
        if open_nodes:
            inside[open_nodes[-1].id].append(node)
        open_nodes.append(node)
    return {node.id: _digest(version.content or b"", node, inside[node.id]) for node in ordered}


def _holds(outer: Node, inner: Node) -> bool:
    if outer.kind in FILE_KINDS and outer.qualname == outer.file:
        return True
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _digest(content: bytes, node: Node, inside: list[Node]) -> ContentHash:
    """Blank lines around what is cut out count for nothing: they belong to neither."""
    whole = node.kind in FILE_KINDS
    position, end = (0, len(content)) if whole else (node.start_byte, node.end_byte)
    pieces: list[bytes] = []
    for child in inside:
        pieces.append(content[position : child.start_byte].strip())
        position = max(position, child.end_byte)
    pieces.append(content[position:end].strip())
    return ContentHash(hashlib.sha256(b"\0".join(filter(None, pieces))).hexdigest())


def _calls(edges: Iterable[Edge]) -> defaultdict[NodeId, set[NodeId]]:
    calls: defaultdict[NodeId, set[NodeId]] = defaultdict(set)
    for edge in edges:
        if edge.kind is EdgeKind.CALLS_STATIC and edge.target is not None:
            calls[edge.source].add(edge.target)
    return calls


def _links(edges: Iterable[Edge]) -> set[Link]:
    """Observations are left out: a proposed version has never run."""
    return {
        Link(kind=edge.kind, source=edge.source, target=edge.target)
        for edge in edges
        if edge.target is not None and edge.kind is not EdgeKind.CALLS_RUNTIME
    }


def _link_order(link: Link) -> tuple[str, str, str]:
    return (link.kind.value, link.source, link.target)


def _sorted_definitions(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted((node for node in nodes if node.kind not in FILE_KINDS), key=lambda node: node.id))
