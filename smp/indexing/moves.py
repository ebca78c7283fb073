"""Definitions that a change moved: what people and agents wrote onto them goes along.

A node is where its source is. Of the nodes that went and those that came in one change (a rename, a move, a branch switch),
two are the same if their kind, name and own source are, and are so once on either side. A file has moved to where most of
its definitions went, or, as git tells renames, where its content is; what was edited on the way is then found by its
qualified name. Nothing is guessed between several.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from smp.domain.graph import Node, NodeKind
from smp.domain.ids import FilePath, NodeId
from smp.domain.metadata import Enrichment
from smp.indexing.changes import NodeChanges
from smp.ports.metadata_store import MetadataStore

FILES = frozenset({NodeKind.FILE, NodeKind.CONFIG})


def written_on_moved(changes: NodeChanges, metadata: MetadataStore) -> dict[NodeId, Enrichment]:
    """What was written onto nodes that have moved, under their new ids; to be asked before the old ones go."""
    if not changes.deleted or not changes.created:
        return {}
    written = {
        node_id: one
        for node_id, one in metadata.enrichments(node.id for node in changes.deleted).items()
        if one.manually_set or one.description or one.tags
    }
    if not written:
        return {}
    moved = moved_nodes(changes.deleted, changes.created)
    return {
        moved[node_id]: msgspec.structs.replace(one, source_hash=Enrichment().source_hash, enriched_at=None)
        for node_id, one in written.items()
        if node_id in moved
    }


def moved_nodes(gone: Iterable[Node], come: Iterable[Node]) -> dict[NodeId, NodeId]:
    """Old id → new id."""
    old, new = list(gone), list(come)
    before, after = _told_apart(old), _told_apart(new)
    pairs = {node.id: after[key] for key, node in before.items() if key in after}
    homes = {node.id: node.file for node in old}
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for node_id, there in pairs.items():
        home = homes[node_id]
        if home is not None and there.file is not None and home != there.file:
            votes[home][there.file] += 1
    places = {(node.kind, node.file, _within(node)): node for node in new}
    for node in old:
        if node.id in pairs or node.file is None or node.file not in votes:
            continue
        target = FilePath(votes[node.file].most_common(1)[0][0])
        same = places.get((node.kind, target, _within(node)))
        if same is not None:
            pairs[node.id] = same
    return {node_id: there.id for node_id, there in pairs.items()}


def _within(node: Node) -> str:
    """A node's name inside its file."""
    return "" if node.kind in FILES else node.qualname


def _told_apart(nodes: Iterable[Node]) -> dict[tuple[NodeKind, str, str], Node]:
    """By kind, own source and name, those that share them with no other; a file goes by its content alone."""
    held: dict[tuple[NodeKind, str, str], list[Node]] = {}
    for node in nodes:
        if node.source_hash:
            key = (node.kind, str(node.source_hash), "" if node.kind in FILES else node.name)
            held.setdefault(key, []).append(node)
    return {key: found[0] for key, found in held.items() if len(found) == 1}
