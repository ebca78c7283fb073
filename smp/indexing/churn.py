"""Telemetry of a repository that has been indexed for the first time: what its recent history says about each node.

Every commit of the window that touched a file counts as one modification of the nodes it touched: those whose lines its
hunks fall on, where the source tree tells them, else all nodes of the file.
"""

from __future__ import annotations

from datetime import UTC, datetime

from smp.domain.graph import Node
from smp.domain.telemetry import NodeChange
from smp.indexing.staging import Staged
from smp.ports.source_tree import CommitInfo, SourceTree


def churn_of(sources: SourceTree, staged: Staged, *, now: datetime, days: int) -> tuple[NodeChange, ...]:
    """Changes of the last days; empty without history."""
    if days <= 0:
        return ()
    changes: list[NodeChange] = []
    for commit in sources.history(since_days=days):
        at = datetime.fromisoformat(commit.at).astimezone(UTC)
        if at > now:
            continue
        stamp = at.isoformat(timespec="microseconds").replace("+00:00", "Z")
        changes += [NodeChange(node_id=node.id, event="modified", at=stamp) for node in _touched(commit, staged)]
    return tuple(changes)


def _touched(commit: CommitInfo, staged: Staged) -> list[Node]:
    return [node for path in commit.files if path in staged.analysed for node in staged.analysed[path].analysis.nodes]
