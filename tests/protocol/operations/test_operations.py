"""What people watch: the map, present text, sessions and their steps; an agent sees its own sessions only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from smp.client import CallFailed, Client, ErrorCode
from smp.domain.sessions import SessionMode
from tests.builders.command_line import Checkout
from tests.builders.served_shop import FILES, Server


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    secret = {".gitignore": "secret.py\n", "secret.py": "KEY = 1\n"}
    return Checkout(tmp_path_factory.mktemp("operations") / "shop", FILES | secret)


@pytest.fixture(scope="module")
def client(checkout: Checkout) -> Iterator[Client]:
    with Client.local(checkout.root) as found:
        yield found


def test_the_map_has_every_file_once_with_its_size(client: Client) -> None:
    found = client.operations_map()
    assert [(file.path, file.lines, file.definitions) for file in found.files if file.path.endswith(".py")] == [
        ("shop/cart.py", 6, 1),
        ("shop/money.py", 2, 1),
    ]
    assert found.repository == "shop"


def test_lines_are_those_of_the_present_text(client: Client, checkout: Checkout) -> None:
    assert client.operations_source(file_path="shop/cart.py", first=4, last=4).lines == (
        "def total(prices: list[float]) -> int:",
    )
    checkout.write("shop/cart.py", "A = 1\n" + FILES["shop/cart.py"])
    assert client.operations_source(file_path="shop/cart.py", last=1).lines == ("A = 1",)
    checkout.write("shop/cart.py", FILES["shop/cart.py"])


@pytest.mark.parametrize("path", ["secret.py", "../shop/cart.py", ".git/config", "nowhere.py"])
def test_only_what_is_indexed_can_be_read(client: Client, path: str) -> None:
    with pytest.raises(CallFailed) as raised:
        client.operations_source(file_path=path)
    assert raised.value.code in (ErrorCode.NOT_FOUND, ErrorCode.INVALID_PARAMS)


def test_a_session_is_listed_with_its_steps_while_it_is_open_and_after(client: Client) -> None:
    with client.session(agent_id="ada", task="look", scope=["shop/"], mode=SessionMode.READ) as session:
        assert client.operations_sessions().sessions[0].session_id == session.id
        assert [step.method for step in client.operations_steps(session_id=session.id).steps] == ["smp/session/open"]
    ended = client.operations_steps(session_id=session.id)
    assert ended.session.status == "completed"
    assert ended.steps[-1].method == "smp/session/close"


def test_an_agent_sees_its_own_sessions_only(checkout: Checkout) -> None:
    token = checkout.run("token", "new", "--agent", "bob").stdout.split()[-1]
    server = Server(checkout.root, token="the operator's")
    try:
        with (
            Client.http(server.url, token="the operator's") as operator,
            Client.http(server.url, token=token) as bob,
            operator.session(agent_id="ada", task="look", scope=["shop/"], mode=SessionMode.READ) as hers,
        ):
            assert [one.agent_id for one in bob.operations_sessions().sessions] == []
            with pytest.raises(CallFailed) as raised:
                bob.operations_steps(session_id=hers.id)
        assert raised.value.code is ErrorCode.UNAUTHORIZED
    finally:
        server.stop()
