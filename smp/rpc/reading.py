"""What every read handler starts with: a fresh index, the right view of the graph, defaults from the settings."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Struct, UnsetType

from smp.domain.errors import SessionNotFound, Unauthorized
from smp.domain.graph import Node
from smp.domain.ids import SessionId
from smp.domain.sessions import Session
from smp.ports.graph_store import GraphStore
from smp.query.context import HotRule
from smp.query.heat import window_start
from smp.rpc.context import RequestContext

T = TypeVar("T")
W = TypeVar("W", bound=Struct)


def graph_of(ctx: RequestContext, session_id: str | UnsetType | None = None) -> GraphStore:
    """The graph as a caller sees it, brought up to date first: the shared one, or an mvcc session's overlay.

    Raises:
        SessionNotFound, SessionExpired: The session named is not open.
    """
    ctx.services.indexer.ensure_fresh()
    session = given(session_id)
    return ctx.services.graph if session is None else ctx.services.sessions.graph_for(session)


def may_see(ctx: RequestContext, session: Session) -> bool:
    """Whether a session is the caller's to look at: an agent's token sees its own."""
    return ctx.grant is None or session.agent_id == ctx.grant.agent_id


def session_to_look_at(ctx: RequestContext, session_id: str) -> Session:
    """An open or an ended session.

    Raises:
        SessionNotFound, Unauthorized: There is none, or it is another agent's.
    """
    found = ctx.services.session_store.get(SessionId(session_id))
    if found is None:
        raise SessionNotFound(session_id)
    if not may_see(ctx, found):
        raise Unauthorized("the session belongs to another agent")
    return found


def note_read(ctx: RequestContext, session_id: str | UnsetType | None, *nodes: Node, method: str) -> None:
    """Log what a session has looked at, inside its scope or not, and extend its life; nothing without a session."""
    session = given(session_id)
    if session is not None:
        files = tuple(sorted({node.file for node in nodes if node.file is not None}))
        ctx.services.sessions.note_read(session, method=method, files=files)


def given(value: T | UnsetType) -> T | None:
    """An optional parameter, None where it was left out."""
    return None if isinstance(value, UnsetType) else value


def hot_rule(ctx: RequestContext) -> HotRule:
    """When a node counts as hot, by the settings."""
    safety = ctx.services.settings.safety
    return HotRule(
        since=window_start(ctx.services.clock.now(), safety.hot_window_days),
        min_changes=safety.hot_changes,
        min_callers=safety.hot_callers,
    )


def wire(answer: Struct, shape: type[W]) -> W:
    """A domain answer in the shape of the wire: fields of the same Python names, under the names of the protocol."""
    return msgspec.convert(answer, shape, from_attributes=True)


def rfc3339(moment: datetime) -> str:
    """A moment as the protocol writes it: UTC, `Z`."""
    return moment.isoformat().replace("+00:00", "Z")
