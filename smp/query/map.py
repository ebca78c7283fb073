"""The map of the code: its files, the community each belongs to, how hot it is, and how communities touch."""

from __future__ import annotations

from collections import Counter, defaultdict

from msgspec import Struct

from smp.domain.communities import Bridge, Community, Partition
from smp.domain.graph import NodeKind, Scope
from smp.domain.ids import FilePath, NodeId
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.communities import communities_at
from smp.query.heat import hot_nodes


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
    for node in graph.scan(Scope()):
        if node.file is None:
            continue
        if node.kind is NodeKind.FILE:
            files.append(node)
        else:
            definitions[node.file] += 1
        community = partition.members_l0.get(node.id)
        if community is not None:
            votes[node.file][community] += 1
    heat: dict[FilePath, int] = {}
    for hot in hot_nodes(graph, telemetry, scope=Scope(), since=since, min_changes=1, min_callers=1):
        if hot.file is not None:
            heat[hot.file] = max(heat.get(hot.file, 0), hot.heat_score)
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
