"""Telemetry of a repository that has been indexed for the first time: what its recent history says about each node.

Every commit of the window counts as one modification of the nodes that its hunks fall on, and of the file. Line numbers of
an old commit are carried forward through the hunks of all later ones, so that they mean today's lines; edits that are not
committed yet are not known to the history and may shift them a little. A change without lines (binary, mode) counts for all
nodes of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from smp.domain.graph import Node
from smp.domain.ids import FilePath
from smp.domain.telemetry import NodeChange
from smp.indexing.records import timestamp
from smp.ports.source_tree import CommitInfo, Hunk


def churn_of(
    history: Sequence[CommitInfo], nodes: Mapping[FilePath, Sequence[Node]], *, now: datetime
) -> tuple[NodeChange, ...]:
    """Changes of the present nodes.

    Args:
        history: Newest first.
        nodes: Of each indexed file, its own node first.
        now: Commits from the future are left out: their clocks were wrong.
    """
    changes: list[NodeChange] = []
    later: dict[FilePath, list[tuple[Hunk, ...]]] = {}
    for commit in history:
        at = datetime.fromisoformat(commit.at).astimezone(UTC)
        stamp = timestamp(at)
        for path in commit.files:
            hunks = commit.hunks.get(path, ())
            if at <= now and path in nodes:
                touched = touched_nodes(nodes[path], hunks, later.get(path, ()))
                changes += [NodeChange(node_id=node.id, event="modified", at=stamp) for node in touched]
            later.setdefault(path, []).insert(0, hunks)
    return tuple(changes)


def touched_nodes(nodes: Sequence[Node], hunks: Sequence[Hunk], later: Sequence[Sequence[Hunk]]) -> list[Node]:
    """The file's own node, and those whose present lines the hunks fall on; all of them when there are no hunks.

    Args:
        later: Hunks of the commits that came after, oldest first.
    """
    if not hunks:
        return list(nodes)
    spans: list[tuple[int, int]] = []
    for hunk in hunks:
        first, last = hunk.new_start, hunk.new_start + max(hunk.new_lines, 1) - 1
        for step in later:
            first, last = carry_forward(first, step), carry_forward(last, step)
        spans.append((first, max(first, last)))
    return [
        node
        for position, node in enumerate(nodes)
        if position == 0 or any(first <= node.end_line and node.start_line <= last for first, last in spans)
    ]


def carry_forward(line: int, hunks: Sequence[Hunk]) -> int:
    """The line that a line has become by these hunks; one that was replaced falls on what stands in its place."""
    shift = 0
    for hunk in hunks:
        # a hunk that only inserts says after which line it does
        begins = hunk.old_start if hunk.old_lines else hunk.old_start + 1
        if line < begins:
            break
        if line < begins + hunk.old_lines:
            offset = min(line - begins, max(hunk.new_lines - 1, 0))
            return max(hunk.new_start + offset, 1)
        shift += hunk.new_lines - hunk.old_lines
    return line + shift
