"""What a change did to nodes: which were created, modified, deleted; as telemetry and as a notification say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from smp.domain.graph import Node
from smp.domain.ids import AgentId, FilePath, NodeId, SessionId
from smp.domain.notifications import Changes, MemoryUpdated
from smp.domain.telemetry import NodeChange

NOTIFIED_NODES = 200
"""Structural changes that one notification names; a branch switch changes thousands."""


class NodeChanges(Struct, frozen=True, kw_only=True):
    """Nodes by what happened to them; `modified` holds (before, after) of those whose own source differs."""

    created: tuple[Node, ...] = ()
    modified: tuple[tuple[Node, Node], ...] = ()
    deleted: tuple[Node, ...] = ()

    @property
    def ids(self) -> tuple[NodeId, ...]:
        """All of them, sorted."""
        return tuple(sorted({node.id for node in (*self.created, *self.deleted, *(new for _, new in self.modified))}))


def compare_nodes(before: Iterable[Node], after: Iterable[Node]) -> NodeChanges:
    """The difference of two sets of nodes. A node that only moved, its source unchanged, counts as unchanged."""
    old = {node.id: node for node in before}
    new = {node.id: node for node in after}
    return NodeChanges(
        created=tuple(new[node_id] for node_id in sorted(new.keys() - old.keys())),
        modified=tuple(
            (old[node_id], new[node_id])
            for node_id in sorted(old.keys() & new.keys())
            if old[node_id].source_hash != new[node_id].source_hash
        ),
        deleted=tuple(old[node_id] for node_id in sorted(old.keys() - new.keys())),
    )


def telemetry_of(
    changes: NodeChanges, *, at: str, agent: AgentId | None, session: SessionId | None
) -> tuple[NodeChange, ...]:
    """One record a node."""
    events: Mapping[str, Iterable[Node]] = {
        "created": changes.created,
        "modified": [after for _, after in changes.modified],
        "deleted": changes.deleted,
    }
    return tuple(
        NodeChange(node_id=node.id, event=event, at=at, agent=agent, session=session)
        for event, nodes in events.items()
        for node in nodes
    )


def notification_of(files: tuple[FilePath, ...], changes: NodeChanges) -> MemoryUpdated:
    """What clients are told: `function Cart.total modified`, `function Cart.total: signature changed`."""
    structural = [f"{_called(node)} created" for node in changes.created]
    structural += [f"{_called(after)} modified" for _, after in changes.modified]
    structural += [f"{_called(node)} deleted" for node in changes.deleted]
    semantic: list[str] = []
    for before, after in changes.modified:
        if before.signature != after.signature:
            semantic.append(f"{_called(after)}: signature changed")
        if before.metadata.docstring != after.metadata.docstring:
            semantic.append(f"{_called(after)}: docstring changed")
    return MemoryUpdated(
        changes=Changes(
            files_affected=files,
            structural_changes=tuple(structural[:NOTIFIED_NODES]),
            semantic_changes=tuple(semantic[:NOTIFIED_NODES]),
        )
    )


def _called(node: Node) -> str:
    return f"{node.kind.value.lower()} {node.qualname}"
