"""A token speaks for one agent: that agent's sessions, boxes and audits, and no others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from smp.domain.access import Grant
from smp.domain.errors import SandboxNotFound, Unauthorized
from smp.domain.ids import AgentId
from smp.rpc.access import OPERATORS, READING, SHARED, check_access
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.mcp.server import TOOLS, McpServer
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


class Verdicts:
    def report(self, verify_id: str) -> Any:
        session = verify_id.replace("ver_", "ses_")
        return SimpleNamespace(session_id=session) if session in SESSIONS else None


SERVICES = cast("Services", SimpleNamespace(session_store=Sessions(), sandboxes=Boxes(), integrity=Verdicts()))
CODER = Grant(id="tok_1", agent_id=AgentId("coder"))
READER = Grant(id="tok_2", agent_id=AgentId("coder"), may_write=False)
OPEN: dict[str, object] = {"agent_id": "coder", "task": "t", "scope": ["a.py"], "mode": "write"}
PUSH: dict[str, object] = {"file_path": "a.py", "content": "", "change_type": "modified"}
WORDS: dict[str, dict[str, object]] = {
    "smp/update": PUSH,
    "smp/batch_update": {"changes": [PUSH]},
    "smp/annotate": {"node_id": "a.py", "description": "d"},
    "smp/annotate/bulk": {"annotations": [{"node_id": "a.py", "description": "d"}]},
    "smp/tag": {"scope": "full", "tags": ["t"], "action": "add"},
}
MARK: dict[str, object] = {"mutant": 1, "reason": "equal by the type of x"}


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
        ("smp/verify/mark_equivalent", MARK | {"verify_result_id": "ver_mine"}),
        ("smp/verify/mark_equivalent", MARK | {"verify_result_id": "ver_unknown"}),
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
        ("smp/verify/mark_equivalent", MARK | {"verify_result_id": "ver_theirs"}),
    ],
)
def test_an_agent_cannot_act_in_what_is_anothers(method: str, params: dict[str, object]) -> None:
    with pytest.raises(Unauthorized):
        check(method, params)
    check(method, params, None)  # the operator may


@pytest.mark.parametrize("method", sorted(SHARED))
def test_what_all_share_an_agent_changes_in_a_session_of_its_own(method: str) -> None:
    with pytest.raises(Unauthorized, match="name its session_id"):
        check(method, WORDS[method])
    with pytest.raises(Unauthorized, match="belongs to another agent"):
        check(method, WORDS[method] | {"session_id": "ses_theirs"})
    check(method, WORDS[method] | {"session_id": "ses_mine"})
    check(method, WORDS[method], None)  # the operator


@pytest.mark.parametrize("method", sorted(OPERATORS))
def test_what_concerns_every_agent_is_the_operators(method: str) -> None:
    needed: dict[str, dict[str, object]] = {
        "smp/index/import": {"snapshot_id": "snap_1"},
        "smp/operations/swarm": {"swarm_id": "swm_1"},
    }
    params = needed.get(method, {})
    with pytest.raises(Unauthorized, match="operator"):
        check(method, params)
    check(method, params, None)


def test_each_method_is_known_to_read_to_name_a_session_or_box_or_to_be_the_same_whoever_asks() -> None:
    named = {"session_id", "session_a", "sandbox_id", "audit_log_id", "verify_result_id", "agent_id", "handoff_id"}
    derived = {"smp/enrich", "smp/enrich/batch", "smp/community/detect"}
    free = {name for name, method in METHODS.items() if not named & set(method.params.__struct_fields__)}
    assert free - READING - OPERATORS == derived


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


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("session", {"action": "open", "agent_id": "other", "task": "t", "scope": ["a.py"]}),
        ("session", {"action": "abort", "session_id": "ses_theirs"}),
        ("explain", {"target": "a.py", "session_id": "ses_theirs"}),
        ("check", {"session_id": "ses_theirs", "file": "a.py"}),
        ("edit", {"session_id": "ses_theirs", "files": [{"file": "a.py", "content": ""}]}),
        ("run", {"session_id": "ses_theirs", "command": "true"}),
        ("run", {"session_id": "ses_mine", "sandbox_id": "box_theirs", "command": "true"}),
        ("verify", {"sandbox_id": "box_theirs", "target_file": "a.py", "test_file": "t.py"}),
        ("hand_off", {"session_id": "ses_theirs", "sandbox_id": "box_theirs", "title": "t"}),
    ],
)
def test_the_tools_of_mcp_are_bound_by_the_token_as_the_methods_are(tool: str, arguments: dict[str, object]) -> None:
    server = McpServer(SERVICES, Dispatcher(METHODS, SERVICES))
    result = server.answer(next(one for one in TOOLS if one.name == tool), arguments, CODER)
    assert result.structured_content is not None
    assert result.structured_content["error"]["code"] == -32015
