"""Audits as JSON lines, and whether they are whole (decisions.md section 8).

A line is an event with the session that it belongs to. The hash chain of a session shows a line that was changed, left out or put
in; that its tail was cut shows by the line that ends every session, which is then missing. (A review may add lines behind it.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from smp.domain.ids import SessionId
from smp.domain.sessions import AuditEvent, Session, SessionStatus
from smp.ports.session_store import SessionStore
from smp.safety.audit import verify

ENDINGS = frozenset({"smp/session/close", "SESSION_EXPIRED"})


class AuditLine(Struct, frozen=True, kw_only=True):
    """One line of an export. ended: the session has ended, so its audit must."""

    session_id: SessionId
    audit_log_id: str
    ended: bool
    event: AuditEvent


class Flaw(Struct, frozen=True, kw_only=True):
    """Where an audit is not what was written. position: of the event in its session, from 1."""

    session_id: SessionId
    position: int
    problem: str


def export_lines(store: SessionStore, sessions: Iterable[Session]) -> Iterator[bytes]:
    """The events of some sessions, oldest first, a JSON object each, without newlines."""
    encode = msgspec.json.Encoder().encode
    for session in sessions:
        ended = session.status is not SessionStatus.ACTIVE
        for event in store.events(session.id):
            yield encode(AuditLine(session_id=session.id, audit_log_id=session.audit_id, ended=ended, event=event))


def flaws(lines: Iterable[bytes]) -> list[Flaw]:
    """What is wrong with exported audits, by session; empty when they are whole.

    Raises:
        msgspec.DecodeError: A line is no line of an export.
    """
    decode = msgspec.json.Decoder(AuditLine).decode
    gathered: dict[SessionId, list[AuditEvent]] = {}
    ended: set[SessionId] = set()
    for raw in lines:
        if not raw.strip():
            continue
        line = decode(raw)
        gathered.setdefault(line.session_id, []).append(line.event)
        if line.ended:
            ended.add(line.session_id)
    found = []
    for session_id, events in gathered.items():
        broken = verify(events)
        if broken is not None:
            found.append(Flaw(session_id=session_id, position=broken, problem="does not follow from the line before"))
        elif session_id in ended and not any(event.method in ENDINGS for event in events):
            found.append(
                Flaw(session_id=session_id, position=len(events), problem="the session ended, its audit does not")
            )
    return found
