"""Requests and the exact answers they get, per method and per documented error, for the groups that read.

A pair is a JSON object with `name`, `method`, `params` and either `result` or `error` (code and data; of the message only
what `says` names). Every pair starts from the graph in `shop.txt`; `before` lists calls to make first.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from tests.builders.read_platform import read_platform

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("SMP_SHARED", HERE.parents[2] / "shared"))
GROUPS = ("community", "enrichment", "linker", "query", "telemetry")
INDEX_STATE: dict[str, Any] = {"commit": None, "dirty": [], "stale": [], "dirty_count": 0, "stale_count": 0}
REGISTRY = MethodRegistry(METHOD_GROUPS)


def pairs() -> list[Any]:
    files = [file for group in GROUPS for file in sorted((HERE / group).glob("*.json"))]
    return [
        pytest.param(pair, id=f"{file.parent.name}/{file.stem}: {pair['name']}")
        for file in files
        for pair in json.loads(file.read_text("utf-8"))
    ]


def ask(dispatcher: Dispatcher, method: str, params: object) -> dict[str, Any]:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    raw = dispatcher.handle_bytes(json.dumps(request).encode())
    assert raw is not None
    answer: dict[str, Any] = json.loads(raw)
    if "result" in answer:
        said = answer["result"].pop("index_state", None)
        assert said == (INDEX_STATE if REGISTRY[method].dated else None)
    return answer


@pytest.fixture
def dispatcher() -> Dispatcher:
    return Dispatcher(REGISTRY, read_platform((HERE / "shop.txt").read_text("utf-8")))


@pytest.mark.parametrize("pair", pairs())
def test_a_request_gets_its_answer(dispatcher: Dispatcher, pair: dict[str, Any]) -> None:
    for method, params in pair.get("before", ()):
        assert "error" not in ask(dispatcher, method, params)
    answer = ask(dispatcher, pair["method"], pair["params"])
    if "error" in pair:
        error = answer["error"]
        assert (error["code"], error.get("data")) == (pair["error"]["code"], pair["error"].get("data"))
        assert pair.get("says", "") in error["message"]
    else:
        assert answer.get("result") == pair["result"], answer


def test_every_method_of_these_groups_has_a_success_and_an_error() -> None:
    given = [pair.values[0] for pair in pairs()]
    specified = json.loads((SHARED / "conformance" / "methods.json").read_text("utf-8"))["methods"]
    wanted = {name for name, entry in specified.items() if entry["group"] in GROUPS and not entry.get("internal")}
    # smp/diff needs an index to stage a proposal in: tests/protocol/memory
    assert {pair["method"] for pair in given if "result" in pair} >= wanted - {"smp/diff"}
    assert {pair["method"] for pair in given if "error" in pair} >= wanted
