"""The map of the code: its files, the community each belongs to, how hot it is, and how communities touch."""

from __future__ import annotations

from collections import Counter, defaultdict

from msgspec import Struct

from smp.domain.communities import Bridge, Community, Partition
from smp.domain.graph import CALLS, NodeKind, Scope
from smp.domain.ids import FilePath, NodeId
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.communities import communities_at
from smp.query.heat import heat_score


class MappedFile(Struct, frozen=True, kw_only=True):
    """A file on the map.

    Attributes:
        community: The coarse community that most of its definitions belong to; None where none does.
        lines: Its length. definitions: classes, functions and the like in it.
        heat: Of its hottest definition, 0 to 100. role: `source`, `test`, `generated`.
    """

    path: FilePath
    language: str | None
    role: str
    community: NodeId | None
    lines: int
    definitions: int
    heat: int


class CodeMap(Struct, frozen=True, kw_only=True):
    """Files by path; communities by falling size; bridges between communities of the coarse level."""

    files: tuple[MappedFile, ...]
    communities: tuple[Community, ...]
    bridges: tuple[Bridge, ...]


def code_map(graph: GraphStore, telemetry: TelemetryStore, partition: Partition, *, since: str) -> CodeMap:
    """The whole map.

    Args:
        since: RFC 3339 time at which the window of heat begins.
    """
    votes: dict[FilePath, Counter[NodeId]] = defaultdict(Counter)
    definitions: Counter[FilePath] = Counter()
    files = []
    file_of: dict[NodeId, FilePath] = {}
    for node_id, file in graph.in_files():
        file_of[node_id] = file
        definitions[file] += 1
        community = partition.members_l0.get(node_id)
        if community is not None:
            votes[file][community] += 1
    for node in graph.scan(Scope(), (NodeKind.FILE,)):
        if node.file is not None:
            files.append(node)
            if node.id in partition.members_l0:
                votes[node.file][partition.members_l0[node.id]] += 1
    heat: dict[FilePath, int] = {}
    changes = telemetry.counts(Scope(), since=since)
    callers = graph.count_sources(changes, CALLS)
    for node_id in changes.keys() & callers.keys():
        changed = file_of.get(node_id)
        if changed is not None:
            heat[changed] = max(heat.get(changed, 0), heat_score(changes[node_id], callers[node_id]))
    coarse = communities_at(partition, 0)
    known = {community.id for community in coarse}

    def community_of(path: FilePath) -> NodeId | None:
        found = votes[path]
        return min(found, key=lambda one: (-found[one], one), default=None)

    return CodeMap(
        files=tuple(
            MappedFile(
                path=node.file,
                language=node.language,
                role=node.role,
                community=community_of(node.file),
                lines=node.lines or node.end_line,
                definitions=definitions[node.file],
                heat=heat.get(node.file, 0),
            )
            for node in sorted(files, key=lambda node: node.file or "")
            if node.file is not None
        ),
        communities=coarse,
        bridges=tuple(bridge for bridge in partition.bridges if bridge.source in known and bridge.target in known),
    )
