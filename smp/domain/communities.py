"""Structural clusters at two levels, and how they touch (specification, community detection)."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.ids import NodeId


class Community(Struct, frozen=True, kw_only=True):
    """A cluster.

    Attributes:
        id: `community:<level>/<label>`; it stays when the graph changes, as long as most members do.
        label: One of its kind at its level.
        level: 0 coarse, 1 fine. parent: the coarse community that holds most of a fine one; None at level 0.
        modularity_score: The community's own contribution, in [-0.5, 1].
    """

    id: NodeId
    level: int
    label: str
    parent: NodeId | None = None
    majority_path_prefix: str = ""
    top_tags: tuple[str, ...] = ()
    member_count: int = 0
    file_count: int = 0
    internal_edge_count: int = 0
    external_edge_count: int = 0
    modularity_score: float = 0.0
    bridge_communities: tuple[NodeId, ...] = ()
    detected_at: str = ""


class Bridge(Struct, frozen=True, kw_only=True):
    """Two communities of one level that edges connect; coupling_weight = edges between / edges of the smaller, in [0, 1]."""

    source: NodeId
    target: NodeId
    edge_count: int
    coupling_weight: float


class Partition(Struct, frozen=True, kw_only=True):
    """Both levels at once.

    Attributes:
        modularity: By level, as igraph and GDS define it.
        members_l0: Node id → community id, coarse. members_l1: fine.
    """

    communities: tuple[Community, ...] = ()
    bridges: tuple[Bridge, ...] = ()
    modularity: tuple[float, float] = (0.0, 0.0)
    members_l0: dict[NodeId, NodeId] = {}
    members_l1: dict[NodeId, NodeId] = {}
