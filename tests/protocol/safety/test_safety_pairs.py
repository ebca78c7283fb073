"""Requests of the safety group and the exact answers they get, per method and per documented error.

A pair is a JSON object with `name`, `method`, `params` and either `result` or `error` (code and data) with the message in
`says`. `before` lists calls to make first; a number among them is seconds that pass.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from smp.domain.ids import FilePath
from smp.indexing.reports import FileChange
from smp.rpc.methods.safety import METHODS
from tests.builders.session_world import World

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("SMP_SHARED", HERE.parents[3] / "shared"))
PAIRS: list[dict[str, Any]] = [
    pair for file in sorted(HERE.glob("*.json")) for pair in json.loads(file.read_text("utf-8"))
]
Ask = Callable[[str, object], dict[str, Any]]


def prepare(world: World, ask: Ask, before: list[Any]) -> None:
    for step in before:
        if isinstance(step, list):
            answer = ask(*step)
            assert "error" not in answer, answer
        else:
            world.clock.forward(step)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_a_request_gets_its_answer(world: World, ask: Ask, pair: dict[str, Any]) -> None:
    prepare(world, ask, pair.get("before", []))
    answer = ask(pair["method"], pair["params"])
    if "error" in pair:
        error = answer["error"]
        assert (error["code"], error["data"], error["message"]) == (*pair["error"].values(), pair["says"])
    else:
        assert answer["result"] == pair["result"]


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if "result" in pair], ids=lambda pair: pair["name"])
def test_the_answers_have_the_published_shape(pair: dict[str, Any]) -> None:
    document = json.loads((SHARED / "conformance" / "methods.json").read_text("utf-8"))
    schema = document["methods"][pair["method"]]["result"] | {"$defs": document["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(pair["result"])


def test_every_method_has_a_success_and_an_error() -> None:
    names = {method.name for method in METHODS}
    assert {pair["method"] for pair in PAIRS if "result" in pair} == names
    assert {pair["method"] for pair in PAIRS if "error" in pair} == names


def test_the_steps_of_an_elevated_session_out_of_order_are_refused_with_the_file(world: World, ask: Ask) -> None:
    for name in ("one", "two", "three", "four"):
        content = b"from shop.money import rounded\n\n\ndef f():\n    rounded(1)\n"
        world.indexer.update((FileChange(path=FilePath(f"shop/{name}.py"), content=content),))
    world.heat("shop/money.py#rounded", times=4)
    file = "shop/money.py"
    opened = ask("smp/session/open", {"agent_id": "a", "task": "t", "scope": [file], "mode": "write"})["result"]
    assert opened["safety_level"] == "elevated"
    assert opened["hot_nodes_in_scope"] == [
        {"node_id": "function:shop/money.py#rounded", "heat_score": 30, "caller_count": 6, "changes_in_window": 5}
    ]
    session = {"session_id": opened["session_id"]}
    for method, params in (
        ("smp/dryrun", {"file_path": file, "proposed_content": ""}),
        ("smp/checkpoint", {"files": [file]}),
        ("smp/update", {"file_path": file, "content": "", "change_type": "modified"}),
    ):
        error = ask(method, session | params)["error"]
        assert (error["code"], error["data"]) == (-32007, {"file": file, "safety_level": "elevated"})


def test_a_session_that_a_run_drives_refuses_steps_and_names_the_run(world: World, ask: Ask) -> None:
    session = world.open(session_id="ses_w", driver="session/ses_w/run-1").session.id
    error = ask("smp/guard/check", {"session_id": session, "target": "shop/money.py"})["error"]
    assert (error["code"], error["data"]) == (-32007, {"run_id": "run-1", "workflow_id": "session/ses_w"})


def test_hostile_paths_are_refused_everywhere(world: World, ask: Ask) -> None:
    session = world.id("shop/money.py")
    for path in ("../../etc/passwd", "/etc/passwd", "file:///etc/passwd", ".git/config", ".smp/x", "a//../..//b", ".."):
        for method, params in (
            ("smp/guard/check", {"target": path}),
            ("smp/guard/check", {"target": "shop/money.py", "coverage_report": path}),
            ("smp/dryrun", {"file_path": path, "proposed_content": ""}),
            ("smp/checkpoint", {"files": [path]}),
            ("smp/lock", {"files": [path]}),
            ("smp/unlock", {"files": [path]}),
        ):
            answer = ask(method, {"session_id": session, **params})
            assert answer["error"]["code"] == -32602, (method, path, answer)


def test_the_guard_tells_what_earlier_sessions_met_in_the_file(ask: Ask, world: World) -> None:
    def opened() -> str:
        params = {
            "agent_id": "coder",
            "task": "t",
            "scope": ["shop/cart.py"],
            "mode": "write",
            "concurrency": "exclusive",
        }
        return str(ask("smp/session/open", params)["result"]["session_id"])

    first = opened()
    assert "known" not in ask("smp/guard/check", {"session_id": first, "target": "shop/cart.py"})["result"]
    world.service.update(first, (FileChange(path=FilePath("shop/cart.py"), content=b"def total():\n    return 1\n"),))
    ask("smp/session/close", {"session_id": first, "status": "completed"})
    known = ask("smp/guard/check", {"session_id": opened(), "target": "shop/cart.py"})["result"]["known"]
    assert (known["file"], len(known["episodes"]), known["rules"]) == ("shop/cart.py", 1, [])
