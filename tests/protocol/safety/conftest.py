"""A fresh `World` behind the dispatcher for every exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import memory, safety
from smp.rpc.registry import MethodRegistry
from tests.builders.session_world import World, a_template, a_world

if TYPE_CHECKING:
    from smp.services import Services

Ask = Callable[[str, object], dict[str, Any]]


@pytest.fixture(scope="session")
def session_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_template(tmp_path_factory.mktemp("sessions") / "repo")


@pytest.fixture
def world(session_template: Path, tmp_path: Path) -> Iterator[World]:
    made = a_world(session_template, tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def ask(world: World) -> Ask:
    """Send one request; returns the whole response."""
    # The handlers of these groups touch three services; the others need not exist.
    services = cast(
        "Services",
        SimpleNamespace(
            settings=world.settings,
            clock=world.clock,
            indexer=world.indexer,
            sessions=world.service,
            records=world.records,
        ),
    )
    dispatcher = Dispatcher(MethodRegistry((safety, memory)), services)

    def send(method: str, params: object) -> dict[str, Any]:
        raw = dispatcher.handle_bytes(
            msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        )
        assert raw is not None
        answer: dict[str, Any] = msgspec.json.decode(raw)
        if "result" in answer:
            assert answer["result"].pop("index_state")["stale"] == []
        return answer

    return send
