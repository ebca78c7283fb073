"""The Python SDK against a real index: over HTTP, over a child process's standard streams, and in this process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import msgspec
import pytest

from smp.client import AsyncClient, CallFailed, Client, ErrorCode, Missed, Misunderstood, Notice, Unreachable
from smp.client.envelope import result_of
from smp.client.notifications import Feed, read_frame
from smp.domain.notifications import MemoryUpdated
from smp.domain.sessions import SessionMode
from smp.rpc.errors import (
    CODES,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
)
from smp.rpc.methods.memory import UpdateResult
from smp.rpc.methods.safety import BlockedResult, RecoveredResult
from tests.builders.command_line import Checkout
from tests.builders.served_shop import FILES, Server


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(tmp_path_factory.mktemp("client") / "shop", FILES)


@pytest.fixture(scope="module")
def server(checkout: Checkout) -> Iterator[Server]:
    running = Server(checkout.root)
    yield running
    running.stop()


@pytest.fixture(params=["http", "stdio", "local"])
def client(request: pytest.FixtureRequest, checkout: Checkout) -> Iterator[Client]:
    if request.param == "http":
        found = Client.http(request.getfixturevalue("server").url)
    else:
        found = Client.stdio(checkout.root) if request.param == "stdio" else Client.local(checkout.root)
    with found:
        yield found


@pytest.fixture(params=["http", "stdio", "local"])
def awaited(request: pytest.FixtureRequest, checkout: Checkout) -> AsyncClient:
    if request.param == "http":
        return AsyncClient.http(request.getfixturevalue("server").url)
    return AsyncClient.stdio(checkout.root) if request.param == "stdio" else AsyncClient.local(checkout.root)


def test_a_result_has_the_types_of_the_server(client: Client) -> None:
    found = client.navigate(query="shop/cart.py#total", include_relationships=True)
    assert found.entity.name == "total"
    assert [hit.name for hit in client.locate(query="what the customer pays", ranking="fusion").results][:1] == [
        "total"
    ]


def test_an_error_has_its_code_and_fields(client: Client) -> None:
    with pytest.raises(CallFailed, match="no node 'nowhere'") as raised:
        client.navigate(query="nowhere")
    assert raised.value.code is ErrorCode.NOT_FOUND
    assert raised.value.data == {"node_id": "nowhere"}


def test_a_session_gives_its_id_to_every_call_and_is_closed_at_the_end(client: Client) -> None:
    with client.session(agent_id="ada", task="look", scope=["shop/"], mode=SessionMode.READ) as session:
        assert isinstance(client.session_recover(session_id=session.id, agent_id="ada"), RecoveredResult)
        assert isinstance(session.guard_check(target="shop/money.py"), BlockedResult)  # a read session may not write
    assert session.closed is not None
    with pytest.raises(CallFailed) as raised:
        client.session_recover(session_id=session.id, agent_id="ada")
    assert raised.value.code is ErrorCode.SESSION_NOT_FOUND


def test_a_session_that_an_exception_leaves_is_aborted_and_the_exception_goes_on(client: Client) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        client.session(agent_id="ada", task="fail", scope=["shop/"], mode=SessionMode.READ) as session,
    ):
        raise ZeroDivisionError
    assert session.closed is not None
    trail = client.audit_get(audit_log_id=session.closed.audit_log_id)
    assert trail.status == "aborted"


def test_a_session_that_was_closed_inside_of_its_block_is_no_failure(client: Client) -> None:
    with client.session(agent_id="ada", task="hand over", scope=["shop/"], mode=SessionMode.READ) as session:
        session.session_close(status="completed")
    assert session.closed is None


def test_a_call_that_needs_a_session_says_so_where_there_is_none(client: Client) -> None:
    with pytest.raises(ValueError, match=r"client\.session"):
        client.guard_check(target="shop/money.py")


def test_awaited_calls_run_side_by_side(awaited: AsyncClient) -> None:
    found: dict[str, str] = {}

    async def look(name: str) -> None:
        found[name] = (await awaited.navigate(query=name)).entity.name

    async def main() -> None:
        async with awaited, anyio.create_task_group() as group:
            for name in ("total", "round_half_up"):
                group.start_soon(look, name)

    anyio.run(main)
    assert found == {"total": "total", "round_half_up": "round_half_up"}


def test_a_cancelled_task_still_closes_its_session(server: Server) -> None:
    async def main() -> str:
        async with AsyncClient.http(server.url) as client:
            with anyio.CancelScope() as scope:
                opening = client.session(agent_id="ada", task="stop", scope=["shop/"], mode=SessionMode.READ)
                async with opening as session:
                    scope.cancel()
                    await anyio.sleep_forever()
            assert session.closed is not None
            return (await client.audit_get(audit_log_id=session.closed.audit_log_id)).status

    assert anyio.run(main) == "aborted"


def test_notifications_go_on_where_they_were_when_the_server_comes_back(checkout: Checkout) -> None:
    running = Server(checkout.root)
    try:
        with Client.http(running.url) as client:
            assert isinstance(
                client.update(file_path="shop/a.py", content="A = 1\n", change_type="created"), UpdateResult
            )
            notices = client.notifications(after=0)
            first = updated(notices)
            running.stop()
            running.start()
            client.update(file_path="shop/b.py", content="B = 1\n", change_type="created")
            second = updated(notices)
            notices.close()  # type: ignore[attr-defined]
    finally:
        running.stop()
    assert first == ("shop/a.py",)
    assert second == ("shop/b.py",)


def updated(notices: Iterator[Notice | Missed]) -> tuple[str, ...]:
    """The files of the next update that is told of."""
    bodies = (notice.body for notice in notices if isinstance(notice, Notice))
    return next(body.changes.files_affected for body in bodies if isinstance(body, MemoryUpdated))


def test_awaited_notifications_arrive(server: Server) -> None:
    async def main() -> tuple[str, ...]:
        async with AsyncClient.http(server.url) as client:
            await client.update(file_path="shop/c.py", content="C = 1\n", change_type="created")
            async for notice in client.notifications(after=0):
                if isinstance(notice, Notice) and isinstance(notice.body, MemoryUpdated):
                    return notice.body.changes.files_affected
        return ()

    assert anyio.run(main) != ()


def test_nobody_at_the_address_is_said_with_what_to_do(checkout: Checkout) -> None:
    with Client.http("http://127.0.0.1:9") as client:
        with pytest.raises(Unreachable, match="smp serve"):
            client.navigate(query="total")
        with pytest.raises(Unreachable, match="running"):
            next(client.notifications())
    with pytest.raises(ValueError, match=r"Client\.http"):
        Client.local(checkout.root).notifications()
    with pytest.raises(Unreachable, match="cannot start"):
        Client.stdio(checkout.root, command=["no-such-program"])


def test_a_child_that_ends_is_said() -> None:
    with (
        Client.stdio(Path("nowhere"), command=[sys.executable, "-c", "pass"]) as client,
        pytest.raises(Unreachable, match="ended"),
    ):
        client.navigate(query="total")


SLOW = """
import json, sys
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    if number == 0:
        continue  # answered late, with the second
    if number == 1:
        print(json.dumps({"id": asked["id"] - 1, "result": {"unresolved_count": 1}}), flush=True)
    print(json.dumps({"id": asked["id"], "result": {"unresolved_count": 2, "external_count": 0, "unresolved": [], "not_linked": []}}), flush=True)
"""


def test_the_late_answer_of_an_interrupted_call_is_not_the_next_ones() -> None:
    with Client.stdio(Path(), command=[sys.executable, "-c", SLOW]) as client:
        previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        try:
            with pytest.raises(KeyboardInterrupt):
                client.linker_report()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
        assert client.linker_report().unresolved_count == 2


def test_a_server_that_is_gone_does_not_hide_what_went_wrong(checkout: Checkout) -> None:
    running = Server(checkout.root)

    def fail_without_server(client: Client) -> None:
        with client.session(agent_id="ada", task="fail", scope=["shop/"], mode=SessionMode.READ):
            running.stop()
            raise ZeroDivisionError

    with Client.http(running.url) as client, pytest.raises(ZeroDivisionError):
        fail_without_server(client)


def test_a_server_that_lets_in_and_closes_without_a_word_is_not_hammered() -> None:
    feed = Feed("http://127.0.0.1:1", None, 3)
    pauses = [feed._pause(3) for _ in range(9)]
    assert pauses == sorted(pauses)
    assert (pauses[0] > 0, pauses[-1]) == (True, 5.0)
    assert feed._pause(2) == 0.0


@pytest.mark.parametrize("raw", [b"<html>", b"{}", b'{"result": {"name": 3}}', b"\xff"])
def test_what_is_no_answer_is_said_as_such(raw: bytes) -> None:
    with pytest.raises(Misunderstood):
        result_of(raw, msgspec.json.Decoder(UpdateResult))


def test_a_notification_of_a_newer_server_is_passed_over_and_a_gap_is_said() -> None:
    assert read_frame(b'{"method":"smp/notification","params":{"type":"brand_new","cursor":4}}') is None
    missed = read_frame(b'{"method":"smp/notifications/missed","params":{"after":1,"oldest":9}}')
    assert isinstance(missed, Missed)
    assert missed.cursor == 8


def test_the_codes_are_those_of_the_server() -> None:
    own = {PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR}
    assert {int(code) for code in ErrorCode} == own | set(CODES.values())
