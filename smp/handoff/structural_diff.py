"""What a change set does to the definitions of a repository, and to the calls between them. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from msgspec import Struct

from smp.domain.graph import CALLS, Edge, Node, NodeKind
from smp.domain.ids import FilePath, NodeId
from smp.indexing.analyse import analyse
from smp.indexing.reports import GraphPreview

_DEFINITIONS = frozenset(NodeKind) - {
    NodeKind.FILE, NodeKind.CONFIG, NodeKind.PACKAGE, NodeKind.REPOSITORY, NodeKind.COMMUNITY
}  # fmt: skip


class SignatureChange(Struct, frozen=True, kw_only=True):
    """A definition that is called differently now."""

    node_id: NodeId
    before: str
    after: str


class StructuralDiff(Struct, frozen=True, kw_only=True):
    """Definitions by what became of them, each sorted by id.

    Attributes:
        modified: Those whose own source changed; a class is not modified by a change inside one of its methods.
        calls_added, calls_removed: Static and runtime calls that leave the changed files.
    """

    added: tuple[NodeId, ...] = ()
    modified: tuple[NodeId, ...] = ()
    removed: tuple[NodeId, ...] = ()
    signatures: tuple[SignatureChange, ...] = ()
    calls_added: tuple[tuple[NodeId, NodeId], ...] = ()
    calls_removed: tuple[tuple[NodeId, NodeId], ...] = ()


def diff_definitions(before: Mapping[FilePath, bytes], after: Mapping[FilePath, bytes]) -> StructuralDiff:
    """Compare two states of the changed files; a file that is missing on a side does not exist there."""
    old = _definitions(before)
    new = _definitions(after)
    both = sorted(old.keys() & new.keys())
    return StructuralDiff(
        added=tuple(sorted(new.keys() - old.keys())),
        modified=tuple(node_id for node_id in both if old[node_id][1] != new[node_id][1]),
        removed=tuple(sorted(old.keys() - new.keys())),
        signatures=tuple(
            SignatureChange(
                node_id=node_id, before=old[node_id][0].signature or "", after=new[node_id][0].signature or ""
            )
            for node_id in both
            if old[node_id][0].signature != new[node_id][0].signature
        ),
    )


def diff_previews(
    base: GraphPreview, head: GraphPreview
) -> tuple[list[tuple[NodeId, NodeId]], list[tuple[NodeId, NodeId]]]:
    """(added, removed) calls as (caller, callee), sorted, from one state of some files to another.

    Both are previews against the same graph. A preview is silent about files that it leaves as they are in the graph; what
    these hold is in the other preview, as its state before.
    """
    old = _calls(base.after_edges) | _calls(head.before_edges, without={*base.files, *base.relinked})
    new = _calls(head.after_edges) | _calls(base.before_edges, without={*head.files, *head.relinked})
    return sorted(new - old), sorted(old - new)


def _calls(edges: Iterable[Edge], without: set[FilePath] | None = None) -> set[tuple[NodeId, NodeId]]:
    return {
        (edge.source, edge.target)
        for edge in edges
        if edge.kind in CALLS
        and edge.target is not None
        and not (without and edge.source.partition(":")[2].partition("#")[0] in without)
    }


def _definitions(files: Mapping[FilePath, bytes]) -> dict[NodeId, tuple[Node, str]]:
    """Definitions with the hash of their own source: what lies in inner definitions is cut out."""
    found: dict[NodeId, tuple[Node, str]] = {}
    for path in sorted(files):
        content = files[path]
        nodes = [node for node in analyse(path, content).nodes if node.kind in _DEFINITIONS]
        for node in nodes:
            inner = [
                other for other in nodes
                if other is not node and node.start_byte <= other.start_byte and other.end_byte <= node.end_byte
                and (other.end_byte - other.start_byte) < (node.end_byte - node.start_byte)
            ]  # fmt: skip
            found[node.id] = (node, _own_hash(node, inner, content))
    return found


def _own_hash(node: Node, inner: list[Node], content: bytes) -> str:
    digest, at = hashlib.sha256(), node.start_byte
    for other in sorted(inner, key=lambda one: (one.start_byte, -one.end_byte)):
        if other.start_byte >= at:
            digest.update(content[at : other.start_byte] + f"\0{other.kind}:{other.name}\0".encode())
            at = other.end_byte
    digest.update(content[at : node.end_byte])
    return digest.hexdigest()
