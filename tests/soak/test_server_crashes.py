"""A session that its client drives over HTTP, `smp serve` killed by SIGKILL before, in and after each step of it.

The client does what the protocol asks of it: it starts the server again, recovers the session and repeats the step whose answer
it lost. Real boxes, tests, mutants and branches.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smp.bootstrap import build_platform
from smp.domain.ids import FilePath, SessionId
from smp.safety.audit import verify
from smp.services import Services
from tests.builders.mortal_shop import boxed, start_stopping
from tests.builders.session_rig import free_port
from tests.builders.shop_repository import FIXED, TESTS, Shop, open_shop
from tests.builders.stopping import Stops

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]
PRICES, TEST_FILE = FilePath("shop/prices.py"), FilePath("tests/test_prices.py")
SESSION_NOT_FOUND = -32003

STEPS = {
    "smp/session/open": ("write1",),
    "smp/sandbox/spawn": ("write2",),
    "smp/guard/check": ("write1",),
    "smp/dryrun": ("write1",),
    "smp/checkpoint": ("write1",),
    "smp/batch_update": ("box1", "write4"),
    "smp/sandbox/execute": ("write1", "write2"),
    "smp/verify/integrity": ("write1", "write2"),
    "smp/handoff/pr": ("write2",),
    "smp/session/close": ("write2", "record1"),
}
"""The steps in their order, and points in each of them."""
CELLS = [(step, moment) for step, during in STEPS.items() for moment in ("before", *during, "after")]


class Lost(Exception):
    """The server died with the answer."""


class ServedShop:
    """The shop behind `smp serve`, and a client of it."""

    def __init__(self, folder: Path, shop: Shop) -> None:
        self._folder, self.shop = folder, shop
        self.stops = Stops(folder)
        self.services: Services = build_platform(shop.settings)
        self._port = free_port()
        self._number = 0
        self.start()

    def start(self) -> None:
        """Have the server up."""
        arguments = ("serve", "--repo", str(self.shop.repo), "--port", str(self._port))
        self._server = start_stopping(self._folder, self.shop, *arguments, stream="stderr", until="serving ")

    def die(self) -> None:
        """SIGKILL."""
        self._server.kill()
        self._server.wait(30)

    def ask(self, method: str, params: dict[str, object]) -> dict[str, Any]:
        """One call; the whole response."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            connection.request("POST", "/rpc", body, {"Content-Type": "application/json"})
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
        except (ConnectionError, http.client.HTTPException) as error:
            raise Lost from error
        finally:
            connection.close()
        return answer

    def proposed(self) -> dict[str, str]:
        """What the next session writes; no other has."""
        self._number += 1
        return {PRICES: f"# {self._number}\n{FIXED}", TEST_FILE: f"# {self._number}\n{TESTS}"}


def params_of(step: str, files: dict[str, str], known: dict[str, str]) -> dict[str, object]:
    """Parameters of a step, with what earlier ones have answered."""
    session: dict[str, object] = {"session_id": known.get("session_id", "")}
    box = known.get("sandbox_id", "")
    given: dict[str, dict[str, object]] = {
        "smp/session/open": {"agent_id": "coder", "task": "t", "scope": [PRICES, TEST_FILE], "mode": "write"},
        "smp/sandbox/spawn": session,
        "smp/guard/check": session | {"target": PRICES},
        "smp/dryrun": session | {"file_path": PRICES, "proposed_content": files[PRICES]},
        "smp/checkpoint": session | {"files": [PRICES, TEST_FILE]},
        "smp/batch_update": session
        | {
            "changes": [{"file_path": path, "content": text, "change_type": "modified"} for path, text in files.items()]
        },
        "smp/sandbox/execute": {"sandbox_id": box, "command": "python -m pytest -q -p no:cacheprovider"},
        "smp/verify/integrity": {"sandbox_id": box, "target_file": PRICES, "test_file": TEST_FILE},
        "smp/handoff/pr": session | {"sandbox_id": box, "title": "a percentage is a hundredth"},
        "smp/session/close": session | {"status": "completed"},
    }
    return given[step]


def episodes_of(served: ServedShop, session: SessionId) -> int:
    """How often a session is remembered, once it is: a server that has just started writes what the last one could not."""
    pause = threading.Event()
    for _ in range(600):
        if found := [one for one in served.services.records.records().episodes if one.session_id == session]:
            return len(found)
        pause.wait(0.1)
    return 0


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedShop]:
    folder = tmp_path_factory.mktemp("served")
    with open_shop(folder) as shop:
        made = ServedShop(folder, shop)
        yield made
        made.die()


def killed_in(served: ServedShop, step: str, params: dict[str, object], point: str) -> None:
    """Make a call, kill the server when it comes to the point, start it again."""
    served.stops.point.write_text(point)
    lost = threading.Event()

    def call() -> None:
        try:
            served.ask(step, params)
        except Lost:
            lost.set()

    caller = threading.Thread(target=call)
    caller.start()
    pause = threading.Event()
    while caller.is_alive() and not served.stops.reached.exists():
        pause.wait(0.02)
    assert served.stops.reached.exists(), f"{point} was never reached"
    served.die()
    caller.join(60)
    assert lost.is_set()
    served.stops.reached.unlink()
    served.start()


def driven(served: ServedShop, dies_in: str, point: str) -> SessionId:
    """Drive a session to its end through the death of its server."""
    files, known = served.proposed(), dict[str, str]()
    for step in STEPS:
        if step == dies_in:
            killed_in(served, step, params_of(step, files, known), point)
            if "session_id" in known:
                recovered = served.ask("smp/session/recover", {"session_id": known["session_id"], "agent_id": "coder"})
                if "error" in recovered:
                    assert (step, recovered["error"]["code"]) == ("smp/session/close", SESSION_NOT_FOUND)
                    break
        answer = served.ask(step, params_of(step, files, known))
        assert "result" in answer, (step, answer)
        found = answer["result"]
        assert found.get("verdict", found.get("status")) not in ("failed", "conflict", "breaking", "red_alert"), answer
        known |= {name: found[name] for name in ("session_id", "sandbox_id", "audit_log_id") if name in found}
    return SessionId(known["session_id"])


@pytest.mark.parametrize(("step", "moment"), CELLS)
def test_a_server_that_dies_at_a_step_is_started_again_and_the_session_recovered(
    served: ServedShop, step: str, moment: str
) -> None:
    before = set(served.shop.branches())
    session = driven(served, step, f"{step}:{moment}")
    store = served.services.session_store
    events = store.events(session)
    assert verify(events) is None
    methods = [event.method for event in events if event.result != "started"]
    assert (methods[0], methods[-1]) == ("smp/session/open", "smp/session/close")
    assert methods.count("smp/session/open") == methods.count("smp/session/close") == 1
    # A repeat of what has a key of its own, the branch's commit, is one line; the other steps are taken twice.
    twice = moment == "after" and step not in ("smp/session/open", "smp/handoff/pr", "smp/session/close")
    assert [methods.count(one) for one in STEPS] == [2 if one == step and twice else 1 for one in STEPS]
    left = store.active()
    assert len(left) == (moment == "after" and step == "smp/session/open"), "whose id its client never heard"
    for lost in left:
        assert served.ask("smp/session/close", {"session_id": lost.id, "status": "aborted"})["result"]
    assert store.locks() == ()
    assert list((served.shop.settings.data_dir / "boxes").glob("box_*")) == []
    assert boxed(served.shop) == []
    assert set(served.shop.branches()) - before == {f"smp/{session}"}
    served.shop.git("fetch", "--quiet", "origin", f"smp/{session}")
    assert served.shop.git("rev-list", "--count", "HEAD..FETCH_HEAD") == "1\n"
    assert served.shop.git("show", f"FETCH_HEAD:{PRICES}").endswith(FIXED)
    assert served.shop.git("status", "--porcelain") == ""
    assert episodes_of(served, session) == 1
