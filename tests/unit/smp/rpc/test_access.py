"""A token speaks for one agent: that agent's sessions, boxes and audits, and no others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from smp.domain.access import Grant
from smp.domain.errors import SandboxNotFound, Unauthorized
from smp.domain.ids import AgentId
from smp.rpc.access import READING, check_access
from smp.rpc.method import decode_params
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry

if TYPE_CHECKING:
    from smp.services import Services

METHODS = MethodRegistry(METHOD_GROUPS)
SESSIONS = {"ses_mine": "coder", "ses_theirs": "other"}
BOXES = {"box_mine": "ses_mine", "box_theirs": "ses_theirs", "box_reviewed": "ses_theirs"}


class Sessions:
    """Two sessions of two agents; the coder reviews a box of the other's."""

    def get(self, session_id: str) -> Any:
        agent = SESSIONS.get(session_id)
        return SimpleNamespace(id=session_id, agent_id=agent, sandbox_id=None) if agent else None

    def active(self) -> tuple[Any, ...]:
        return (SimpleNamespace(id="ses_review", agent_id="coder", sandbox_id="box_reviewed"),)

    def by_audit(self, audit_id: str) -> Any:
        return self.get(audit_id.replace("aud_", "ses_"))


class Boxes:
    def get(self, sandbox_id: str) -> Any:
        if sandbox_id not in BOXES:
            raise SandboxNotFound(sandbox_id)
        return SimpleNamespace(spec=SimpleNamespace(session_id=BOXES[sandbox_id]))


SERVICES = cast("Services", SimpleNamespace(session_store=Sessions(), sandboxes=Boxes()))
CODER = Grant(id="tok_1", agent_id=AgentId("coder"))
READER = Grant(id="tok_2", agent_id=AgentId("coder"), may_write=False)
OPEN: dict[str, object] = {"agent_id": "coder", "task": "t", "scope": ["a.py"], "mode": "write"}


def check(method: str, params: dict[str, object], grant: Grant | None = CODER) -> None:
    check_access(method, decode_params(METHODS[method], params), grant, SERVICES)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("smp/session/open", OPEN),
        ("smp/session/recover", {"session_id": "ses_mine", "agent_id": "coder"}),
        ("smp/update", {"file_path": "a.py", "content": "", "change_type": "modified", "session_id": "ses_mine"}),
        ("smp/sandbox/execute", {"sandbox_id": "box_mine", "command": "true"}),
        ("smp/sandbox/execute", {"sandbox_id": "box_reviewed", "command": "true"}),
        ("smp/sandbox/execute", {"sandbox_id": "box_unknown", "command": "true"}),
        ("smp/audit/get", {"audit_log_id": "aud_mine"}),
        ("smp/session/close", {"session_id": "ses_unknown", "status": "aborted"}),
    ],
)
def test_an_agent_acts_in_what_is_its_own_and_hears_of_the_unknown_from_the_handler(
    method: str, params: dict[str, object]
) -> None:
    check(method, params)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("smp/session/open", OPEN | {"agent_id": "other"}),
        ("smp/session/recover", {"session_id": "ses_theirs", "agent_id": "coder"}),
        ("smp/session/close", {"session_id": "ses_theirs", "status": "aborted"}),
        ("smp/lock", {"session_id": "ses_theirs", "files": ["a.py"]}),
        ("smp/locate", {"query": "x", "session_id": "ses_theirs"}),
        ("smp/sandbox/execute", {"sandbox_id": "box_theirs", "command": "true"}),
        ("smp/verify/integrity", {"sandbox_id": "box_theirs", "target_file": "a.py", "test_file": "t.py"}),
        ("smp/conflict", {"session_a": "ses_theirs", "session_b": "ses_mine"}),
        ("smp/audit/get", {"audit_log_id": "aud_theirs"}),
    ],
)
def test_an_agent_cannot_act_in_what_is_anothers(method: str, params: dict[str, object]) -> None:
    with pytest.raises(Unauthorized):
        check(method, params)
    check(method, params, None)  # the operator may


def test_a_reading_token_asks_and_opens_reading_sessions() -> None:
    check("smp/locate", {"query": "x"}, READER)
    check("smp/session/open", OPEN | {"mode": "read"}, READER)
    check("smp/session/close", {"session_id": "ses_mine", "status": "completed"}, READER)
    with pytest.raises(Unauthorized, match="mode read"):
        check("smp/session/open", OPEN, READER)


def test_a_reading_token_changes_nothing() -> None:
    refused = []
    for name, method in METHODS.items():
        params = msgspec.json.schema(method.params)
        assert params
        try:
            check_access(name, cast("Any", SimpleNamespace(mode="write")), READER, SERVICES)
        except Unauthorized:
            refused.append(name)
    assert METHODS.keys() >= READING
    assert set(refused) | READING | {"smp/session/recover", "smp/session/close"} >= set(METHODS)
    assert {"smp/update", "smp/sandbox/execute", "smp/handoff/pr", "smp/annotate", "smp/index/import"} <= set(refused)
