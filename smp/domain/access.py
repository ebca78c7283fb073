"""Who a token speaks for, and what it may do."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.ids import AgentId


class Grant(Struct, frozen=True, kw_only=True):
    """What a token of a repository allows.

    Attributes:
        id: Names the token, to revoke it; tells nothing of the token.
        agent_id: The agent that it speaks for: its sessions and no others.
        may_write: False: questions only.
        made_at: RFC 3339, UTC.
    """

    id: str
    agent_id: AgentId
    may_write: bool = True
    made_at: str = ""
