"""Descriptions and tags through a session: within its scope, on its record, by nobody but its driver."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from smp.domain.access import Grant
from smp.domain.graph import GraphDelta, GraphPart, Node, NodeKind, Owner
from smp.domain.ids import AgentId, NodeId, SessionId
from smp.domain.notifications import ScopeViolated
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import enrichment, memory, safety
from smp.rpc.registry import MethodRegistry
from tests.builders.session_world import World

if TYPE_CHECKING:
    from smp.services import Services

MONEY, CART = "shop/money.py#spare", "shop/cart.py#total"
CODER = Grant(id="tok_1", agent_id=AgentId("coder"))


class Desk:
    """The dispatcher over a world, as an agent with a token meets it."""

    def __init__(self, world: World) -> None:
        self.world = world
        services = SimpleNamespace(
            settings=world.settings,
            clock=world.clock,
            indexer=world.indexer,
            graph=world.graph,
            metadata=world.graph,
            sessions=world.service,
            session_store=world.store,
            records=world.records,
        )
        self._dispatcher = Dispatcher(MethodRegistry((safety, memory, enrichment)), cast("Services", services))

    def ask(self, method: str, params: Mapping[str, object], caller: Grant | None = CODER) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        raw = self._dispatcher.handle_bytes(msgspec.json.encode(request), caller=caller)
        assert raw is not None
        answer: dict[str, Any] = msgspec.json.decode(raw)
        return answer

    def open(self, *scope: str, mode: str = "write") -> str:
        asked: dict[str, object] = {"agent_id": "coder", "task": "t", "scope": list(scope), "mode": mode}
        return str(self.ask("smp/session/open", asked)["result"]["session_id"])

    def described(self, node: str) -> str | None:
        found = self.world.graph.enrichments((cast("Any", f"function:{node}"),))
        return next((one.description for one in found.values()), None)


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


def test_an_agent_describes_what_is_in_its_scope_and_its_audit_tells_of_it(desk: Desk) -> None:
    session = desk.open("shop/money.py")
    answer = desk.ask("smp/annotate", {"node_id": MONEY, "description": "a spare", "session_id": session})
    assert answer["result"]["status"] == "annotated"
    assert desk.described(MONEY) == "a spare"
    event = desk.world.store.events(SessionId(session))[-1]
    assert (event.method, event.target, event.files) == ("smp/annotate", f"function:{MONEY}", ("shop/money.py",))
    closed = desk.ask("smp/session/close", {"session_id": session, "status": "completed"})["result"]
    assert (closed["files_written"], closed["files_read"]) == ([], []), "words about a file do not write it"


def test_outside_the_scope_nothing_is_described_and_everybody_hears_of_the_attempt(desk: Desk) -> None:
    session = desk.open("shop/money.py")
    asked = {"node_id": CART, "description": "mine now", "session_id": session}
    assert desk.ask("smp/annotate", asked)["error"]["code"] == -32005
    assert desk.described(CART) is None
    assert [one.attempted_file for one in desk.world.notices() if isinstance(one, ScopeViolated)] == ["shop/cart.py"]


def test_a_session_that_reads_describes_nothing(desk: Desk) -> None:
    asked = {"node_id": MONEY, "description": "d", "session_id": desk.open("shop/money.py", mode="read")}
    assert desk.ask("smp/annotate", asked)["error"]["code"] == -32005
    assert desk.described(MONEY) is None


def test_of_many_descriptions_those_outside_the_scope_fail_alone(desk: Desk) -> None:
    items = [{"node_id": MONEY, "description": "in"}, {"node_id": CART, "description": "out"}]
    asked = {"annotations": items, "session_id": desk.open("shop/money.py")}
    result = desk.ask("smp/annotate/bulk", asked)["result"]
    assert (result["annotated"], result["failed"], result["failures"][0]["index"]) == (1, 1, 1)
    assert (desk.described(MONEY), desk.described(CART)) == ("in", None)


def test_tags_go_to_all_of_a_scope_or_to_none_of_it(desk: Desk) -> None:
    asked = {"scope": "package:shop", "tags": ["t"], "action": "add"}
    assert desk.ask("smp/tag", asked | {"session_id": desk.open("shop/money.py")})["error"]["code"] == -32005
    assert desk.described(MONEY) is None
    assert desk.ask("smp/tag", asked | {"session_id": desk.open("shop/")})["result"]["nodes_affected"] == 4


def test_a_push_without_a_session_is_refused_to_an_agent_and_leaves_the_shared_graph(desk: Desk) -> None:
    before = desk.world.indexer.merkle().hash
    push = {"file_path": "shop/money.py", "content": "x = 1\n", "change_type": "modified"}
    for method, asked in (("smp/update", push), ("smp/batch_update", {"changes": [push]})):
        assert desk.ask(method, asked)["error"]["code"] == -32015
    assert desk.world.indexer.merkle().hash == before
    assert "result" in desk.ask("smp/update", push, caller=None)


def test_a_session_that_a_run_drives_is_not_described_into_by_a_client(desk: Desk) -> None:
    session = desk.world.open(session_id="ses_w", driver="session/ses_w/run-1").session.id
    asked = {"node_id": MONEY, "description": "d", "session_id": session}
    assert desk.ask("smp/annotate", asked, caller=None)["error"]["code"] == -32007


def test_what_lies_in_no_file_is_left_to_the_operator(desk: Desk) -> None:
    session = desk.open("shop/")
    package, repository = (
        Node(id=NodeId(f"{kind}:{name}"), kind=kind, name=name, qualname=name, file=None)
        for kind, name in ((NodeKind.PACKAGE, "shop"), (NodeKind.REPOSITORY, "demo"))
    )
    part = GraphPart(owner=Owner("packages"), nodes=(package, repository), edges=())
    desk.world.graph.apply(GraphDelta(parts=(part,)))
    assert "result" in desk.ask("smp/annotate", {"node_id": package.id, "description": "d", "session_id": session})
    error = desk.ask("smp/annotate", {"node_id": repository.id, "description": "d", "session_id": session})["error"]
    assert (error["code"], error["data"]["path"]) == (-32602, "node_id")
