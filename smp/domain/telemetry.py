"""How nodes change over time."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.ids import AgentId, NodeId, SessionId


class NodeChange(Struct, frozen=True, kw_only=True):
    """One recorded change of a node (telemetry). `at` is RFC 3339 UTC; agent and session are None for outside edits."""

    node_id: NodeId
    event: str
    at: str
    agent: AgentId | None = None
    session: SessionId | None = None
