"""`smp/plan` and `smp/conflict` over sessions that exist as lines of a table."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, cast

import msgspec
import pytest

from smp.domain.errors import ScopeViolation, SessionNotFound
from smp.domain.ids import AgentId, AuditId, FilePath, SessionId
from smp.domain.sessions import Concurrency, SafetyLevel, Session, SessionMode, SessionStatus
from smp.ports.graph_store import GraphStore
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from tests.builders.read_platform import read_platform

GRAPH = """
file money.py
function money.py#round_cents
file cart.py
function cart.py#total
file app.py
cart.py IMPORTS money.py
app.py IMPORTS cart.py
"""
SCOPES = {
    "ses_write": (SessionMode.WRITE, ("cart.py", "money.py", "new.py")),
    "ses_other": (SessionMode.WRITE, ("app.py", "cart.py")),
    "ses_read": (SessionMode.READ, ("cart.py",)),
    "ses_reader": (SessionMode.READ, ("cart.py", "app.py")),
    "ses_far": (SessionMode.WRITE, ("app.py",)),
}


class Table:
    """Sessions by id; writes outside the scope are refused."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph

    def graph_for(self, session_id: str | None) -> GraphStore:
        return self._graph

    def require(self, session_id: str, *, method: str, write: FilePath | None = None) -> Session:
        if session_id not in SCOPES:
            raise SessionNotFound(session_id)
        mode, scope = SCOPES[session_id]
        if write is not None and write not in scope:
            raise ScopeViolation("outside", session_id=session_id, attempted_file=write, declared_scope=list(scope))
        now = datetime(2026, 1, 1, tzinfo=UTC)
        return Session(
            id=SessionId(session_id),
            agent_id=AgentId("a"),
            task="t",
            scope=tuple(map(FilePath, scope)),
            mode=mode,
            concurrency=Concurrency.MVCC,
            status=SessionStatus.ACTIVE,
            safety_level=SafetyLevel.STANDARD,
            commit_sha=None,
            opened_at=now,
            expires_at=now,
            ttl_seconds=1,
            audit_id=AuditId("aud"),
            driver="rpc:a",
        )


@pytest.fixture
def dispatcher() -> Dispatcher:
    services = read_platform(GRAPH)
    services = msgspec.structs.replace(services, sessions=cast("Any", Table(services.graph)))
    return Dispatcher(MethodRegistry(METHOD_GROUPS), services)


def ask(dispatcher: Dispatcher, method: str, **params: object) -> Any:
    raw = dispatcher.handle_bytes(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode())
    assert raw is not None
    answer = json.loads(raw)
    answer.get("result", {}).pop("index_state", None)
    return answer.get("result", answer.get("error"))


def test_a_plan_orders_the_files_of_a_session(dispatcher: Dispatcher) -> None:
    writes = ["cart.py", "./new.py", "money.py"]
    found = ask(dispatcher, "smp/plan", session_id="ses_write", task="t", intended_writes=writes)
    order = [(step["file"], step["is_new_file"], step["depends_on_steps"]) for step in found["execution_order"]]
    assert order == [("new.py", True, []), ("money.py", False, []), ("cart.py", False, [2])]
    assert found["external_files_at_risk"] == ["app.py"]


@pytest.mark.parametrize(
    ("session", "writes", "code", "path"),
    [
        ("ses_write", ["app.py"], -32005, None),
        ("ses_none", ["cart.py"], -32003, None),
        ("ses_write", ["cart.py", "./cart.py"], -32602, "intended_writes[1]"),
        ("ses_write", ["../cart.py"], -32602, "intended_writes[0]"),
        ("ses_write", [], -32602, "intended_writes"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(
    dispatcher: Dispatcher, session: str, writes: list[str], code: int, path: str | None
) -> None:
    error = ask(dispatcher, "smp/plan", session_id=session, task="t", intended_writes=writes)
    assert (error["code"], error["data"].get("path")) == (code, path)


def test_two_writers_of_one_file_conflict(dispatcher: Dispatcher) -> None:
    assert ask(dispatcher, "smp/conflict", session_a="ses_write", session_b="ses_other") == {
        "conflict": True,
        "overlapping_files": ["cart.py"],
        "overlapping_nodes": ["function:cart.py#total"],
        "session_modes": {"ses_write": "write", "ses_other": "write"},
        "write_session": None,
    }


def test_a_reader_and_a_writer_conflict(dispatcher: Dispatcher) -> None:
    assert ask(dispatcher, "smp/conflict", session_a="ses_read", session_b="ses_write")["write_session"] == "ses_write"


@pytest.mark.parametrize(("a", "b"), [("ses_read", "ses_reader"), ("ses_write", "ses_far"), ("ses_write", "ses_write")])
def test_readers_strangers_and_oneself_do_not(dispatcher: Dispatcher, a: str, b: str) -> None:
    assert ask(dispatcher, "smp/conflict", session_a=a, session_b=b) == {"conflict": False}


def test_an_unknown_session_is_an_error(dispatcher: Dispatcher) -> None:
    assert ask(dispatcher, "smp/conflict", session_a="ses_read", session_b="ses_none")["code"] == -32003
