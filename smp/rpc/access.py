"""What a token allows: its agent's sessions, boxes and verdicts and no others; reading only, where it says so.

What all share is changed by an agent through a session of its own, whose scope bounds it and whose audit tells of it: a push,
a description or a tag without a session would act in what every other session sees. What is derived from the code (enriching,
communities, indexing what lies on disk) is the same whoever asks, and free. Snapshots are the operator's.

Checked once, before any handler runs, from the parameters by their names: a method that is added is covered by it. Without a
token of an agent (loopback, or the server's own token) everything is allowed.
"""

from __future__ import annotations

from msgspec import Struct

from smp.domain.access import Grant
from smp.domain.errors import SandboxNotFound, Unauthorized
from smp.domain.ids import AuditId, SessionId
from smp.services import Services

READING = frozenset(
    {
        "smp/sync", "smp/merkle/tree", "smp/linker/report", "smp/linker/runtime", "smp/enrich/stale", "smp/enrich/status",
        "smp/search", "smp/community/list", "smp/community/get", "smp/community/boundaries", "smp/navigate", "smp/trace",
        "smp/context", "smp/impact", "smp/diff", "smp/locate", "smp/flow", "smp/graph/why", "smp/conflict",
        "smp/audit/get", "smp/telemetry/hot", "smp/telemetry/node", "smp/operations/map", "smp/operations/source",
        "smp/operations/sessions", "smp/operations/steps", "smp/operations/evidence",
    }
)  # fmt: skip
"""Methods that change nothing; a token that may not write can call these, and open and end sessions of mode `read`."""
SHARED = frozenset({"smp/update", "smp/batch_update", "smp/annotate", "smp/annotate/bulk", "smp/tag"})
"""Methods that put an agent's own words or content into what all share: an agent names a session of its own."""
OPERATORS = frozenset({"smp/index/import", "smp/index/export", "smp/operations/swarms", "smp/operations/swarm"})
"""Methods that replace the whole index, sign it with the server's key, or show many agents' work."""
_SESSIONS = frozenset({"smp/session/open", "smp/session/recover", "smp/session/close"})


def check_access(method: str, params: Struct, grant: Grant | None, services: Services) -> None:
    """Let a call through, or say why not.

    Raises:
        Unauthorized: The token speaks for another agent, may not write, or names no session where it has to.
    """
    if grant is None:
        return
    if method in OPERATORS:
        raise Unauthorized(f"{method} concerns every agent; ask the operator, whose token may call it")
    if not grant.may_write and method not in READING:
        if method not in _SESSIONS:
            raise Unauthorized(f"this token only reads; {method} needs one that may write")
        if str(getattr(params, "mode", "read")) != "read":
            raise Unauthorized("this token only reads; open a session of mode read")
    named = getattr(params, "agent_id", None)
    if isinstance(named, str) and named != grant.agent_id:
        raise Unauthorized(f"this token speaks for {grant.agent_id!r}; name that agent_id")
    mine = False
    for parameter in ("session_id", "session_a"):
        session = getattr(params, parameter, None)
        if isinstance(session, str):
            _own_session(session, grant, services)
            mine = True
    if method in SHARED and not mine:
        raise Unauthorized(f"{method} changes what every agent sees; open a session and name its session_id")
    box = getattr(params, "sandbox_id", None)
    if isinstance(box, str) and not mine:
        _own_box(box, grant, services)
    audit = getattr(params, "audit_log_id", None)
    if isinstance(audit, str):
        found = services.session_store.by_audit(AuditId(audit))
        if found is not None:
            _own_session(found.id, grant, services)
    verdict = getattr(params, "verify_result_id", None)
    if isinstance(verdict, str) and not mine:
        report = services.integrity.report(verdict)
        if report is not None:
            _own_session(report.session_id, grant, services)


def _own_session(session_id: str, grant: Grant, services: Services) -> None:
    session = services.session_store.get(SessionId(session_id))
    if session is not None and session.agent_id != grant.agent_id:
        raise Unauthorized("the session belongs to another agent; open one of your own", session_id=session_id)


def _own_box(sandbox_id: str, grant: Grant, services: Services) -> None:
    """A box is its session's agent's, and that of whoever reviews it."""
    try:
        owner = services.sandboxes.get(sandbox_id).spec.session_id
    except SandboxNotFound:
        return  # the handler says so, to everyone alike
    session = services.session_store.get(owner)
    if session is None or session.agent_id == grant.agent_id:
        return
    theirs = (other for other in services.session_store.active() if other.agent_id == grant.agent_id)
    if not any(other.sandbox_id == sandbox_id for other in theirs):
        raise Unauthorized("the sandbox belongs to another agent; spawn one in a session of your own")
