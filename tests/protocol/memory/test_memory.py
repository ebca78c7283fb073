"""Updates, sync, the Merkle tree and the structural diff, through the dispatcher into a real index."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from smp.rpc.dispatcher import Dispatcher

NEW = "def tax(cents: int) -> int:\n    return cents // 5\n"


def ask(dispatcher: Dispatcher, method: str, **params: object) -> dict[str, Any]:
    raw = dispatcher.handle_bytes(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode())
    assert raw is not None
    answer: dict[str, Any] = json.loads(raw)
    return answer


def result(dispatcher: Dispatcher, method: str, **params: object) -> dict[str, Any]:
    answer = ask(dispatcher, method, **params)
    assert "result" in answer, answer
    found: dict[str, Any] = answer["result"]
    return found


def failure(dispatcher: Dispatcher, method: str, **params: object) -> tuple[int, dict[str, Any]]:
    error = ask(dispatcher, method, **params)["error"]
    return error["code"], error.get("data", {})


def leaves(tree: dict[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, node in tree.items():
        if "children" in node:
            found |= leaves(node["children"], f"{prefix}{name}/")
        else:
            found[prefix + name] = node["hash"]
    return found


def test_a_created_file_is_known_and_the_working_tree_untouched(dispatcher: Dispatcher, repo: Path) -> None:
    got = result(dispatcher, "smp/update", file_path="./shop//tax.py", content=NEW, change_type="created")
    assert (got["status"], got["nodes_removed"]) == ("success", 0)
    assert got["nodes_added"] >= 2
    entity = result(dispatcher, "smp/navigate", query="shop/tax.py#tax")["entity"]
    assert (entity["type"], entity["file"], entity["signature"]) == (
        "Function",
        "shop/tax.py",
        "tax(cents: int) -> int",
    )
    assert not (repo / "shop/tax.py").exists()


def test_a_deleted_file_is_gone(dispatcher: Dispatcher) -> None:
    got = result(dispatcher, "smp/update", file_path="shop/money.py", change_type="deleted")
    assert got["nodes_removed"] >= 2
    assert failure(dispatcher, "smp/navigate", query="shop/money.py#round_cents")[0] == -32001


def test_without_content_the_disk_is_read(dispatcher: Dispatcher, repo: Path) -> None:
    (repo / "shop/money.py").write_text(NEW, "utf-8")
    result(dispatcher, "smp/update", file_path="shop/money.py", change_type="modified")
    assert result(dispatcher, "smp/navigate", query="tax")["entity"]["id"] == "function:shop/money.py#tax"


def test_what_does_not_parse_is_partial(dispatcher: Dispatcher) -> None:
    broken = "def sound():\n    return 1\n\n\ndef broken(:\n"
    got = result(dispatcher, "smp/update", file_path="shop/bad.py", content=broken, change_type="created")
    assert got["status"] == "partial"
    assert got["parse_errors"][0]["file"] == "shop/bad.py"
    result(dispatcher, "smp/navigate", query="shop/bad.py#sound")


def test_a_batch_is_applied_whole(dispatcher: Dispatcher) -> None:
    changes = [
        {"file_path": "shop/tax.py", "content": NEW, "change_type": "created"},
        {"file_path": "shop/cart.py", "change_type": "deleted"},
    ]
    got = result(dispatcher, "smp/batch_update", changes=changes)
    assert got["nodes_added"] >= 2
    assert got["nodes_removed"] >= 2


@pytest.mark.parametrize("second", ["../outside.py", "shop/tax.py"])
def test_one_invalid_change_refuses_the_batch(dispatcher: Dispatcher, second: str) -> None:
    before = result(dispatcher, "smp/merkle/tree")["root_hash"]
    changes = [{"file_path": path, "content": NEW, "change_type": "created"} for path in ("shop/tax.py", second)]
    assert failure(dispatcher, "smp/batch_update", changes=changes) == (-32602, {"path": "changes[1].file_path"})
    assert result(dispatcher, "smp/merkle/tree")["root_hash"] == before


@pytest.mark.parametrize(
    ("params", "code", "path"),
    [
        ({"file_path": "../x.py", "change_type": "modified", "content": ""}, -32602, "file_path"),
        ({"file_path": "shop/", "change_type": "modified", "content": ""}, -32602, "file_path"),
        ({"file_path": "x.py", "change_type": "renamed"}, -32602, "change_type"),
        ({"file_path": "x.py", "change_type": "modified", "content": None}, -32602, "content"),
        ({"file_path": "no/such.py", "change_type": "modified"}, -32602, "file_path"),
        ({"change_type": "modified"}, -32602, "file_path"),
    ],
)
def test_bad_updates_say_which_parameter(
    dispatcher: Dispatcher, params: dict[str, object], code: int, path: str
) -> None:
    assert failure(dispatcher, "smp/update", **params) == (code, {"path": path})


def test_a_locked_file_is_refused_to_others(dispatcher: Dispatcher) -> None:
    code, data = failure(dispatcher, "smp/update", file_path="shop/locked.py", content="", change_type="created")
    assert (code, data["held_by_agent"]) == (-32006, "coder")


def test_updates_go_through_the_session_named(dispatcher: Dispatcher) -> None:
    update = {"file_path": "shop/locked.py", "content": NEW, "change_type": "created"}
    assert failure(dispatcher, "smp/update", session_id="ses_none", **update)[0] == -32003
    assert result(dispatcher, "smp/update", session_id="ses_open", **update)["status"] == "success"


def test_the_tree_has_a_leaf_per_file_and_counts_nodes(dispatcher: Dispatcher, repo: Path) -> None:
    got = result(dispatcher, "smp/merkle/tree")
    assert leaves(got["tree"]) == {
        name: hashlib.sha256((repo / name).read_bytes()).hexdigest()
        for name in ("shop/__init__.py", "shop/cart.py", "shop/money.py")
    }
    assert got["tree"]["shop"]["children"]["money.py"]["node_count"] == 2


def test_a_scope_of_the_tree_keeps_its_root(dispatcher: Dispatcher) -> None:
    whole = result(dispatcher, "smp/merkle/tree")["root_hash"]
    part = result(dispatcher, "smp/merkle/tree", scope="file:shop/cart.py")
    assert (part["root_hash"], list(leaves(part["tree"]))) == (whole, ["shop/cart.py"])
    assert failure(dispatcher, "smp/merkle/tree", scope="package:none")[0] == -32001
    assert failure(dispatcher, "smp/merkle/tree", scope="shop") == (-32602, {"path": "scope"})


def test_sync_names_what_moves_where(dispatcher: Dispatcher) -> None:
    tree = result(dispatcher, "smp/merkle/tree")
    files = leaves(tree["tree"])
    same = result(dispatcher, "smp/sync", client_root_hash=tree["root_hash"][:12], file_hashes=files)
    assert (same["in_sync"], same["diff"]["unchanged"]) == (True, 3)
    client = {"./shop/cart.py": "0" * 64, "shop/money.py": files["shop/money.py"], "new.py": "1" * 64}
    got = result(dispatcher, "smp/sync", client_root_hash="2" * 64, file_hashes=client)["diff"]
    assert [item["file"] for item in got["stale_on_server"]] == ["new.py", "shop/cart.py"]
    assert got["missing_on_client"] == [
        {"file": "shop/__init__.py", "server_hash": files["shop/__init__.py"], "action": "pull"}
    ]
    assert got["unchanged"] == 1


def test_sync_knows_what_the_server_deleted(dispatcher: Dispatcher) -> None:
    result(dispatcher, "smp/update", file_path="shop/tax.py", content=NEW, change_type="created")
    result(dispatcher, "smp/update", file_path="shop/tax.py", change_type="deleted")
    tree = result(dispatcher, "smp/merkle/tree")
    client = leaves(tree["tree"]) | {"shop/tax.py": "4" * 64}
    got = result(dispatcher, "smp/sync", client_root_hash="3" * 64, file_hashes=client)["diff"]
    assert got["deleted_on_server"] == [{"file": "shop/tax.py", "action": "remove_from_graph"}]
    assert got["stale_on_server"] == []


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"client_root_hash": "abc", "file_hashes": {}}, "client_root_hash"),
        ({"client_root_hash": "a" * 8, "file_hashes": {"../x": "a" * 8}}, "file_hashes.../x"),
        ({"client_root_hash": "a" * 8}, "file_hashes"),
    ],
)
def test_bad_syncs_say_which_parameter(dispatcher: Dispatcher, params: dict[str, object], path: str) -> None:
    assert failure(dispatcher, "smp/sync", **params) == (-32602, {"path": path})


def test_a_diff_is_structural_and_stores_nothing(dispatcher: Dispatcher) -> None:
    before = result(dispatcher, "smp/merkle/tree")["root_hash"]
    proposed = (
        "from shop.money import round_cents\n\n\ndef total(prices):\n    if not prices:\n        return none()\n"
        "    return round_cents(sum(prices))\n\n\ndef none():\n    return 0\n"
    )
    got = result(dispatcher, "smp/diff", file_path="shop/cart.py", proposed_content=proposed)
    assert [node["id"] for node in got["nodes_added"]] == ["function:shop/cart.py#none"]
    assert got["nodes_removed"] == []
    assert got["nodes_modified"] == [
        {
            "id": "function:shop/cart.py#total",
            "changes": {
                "signature_changed": False,
                "body_changed": True,
                "complexity_delta": 1,
                "calls_added": ["function:shop/cart.py#none"],
                "calls_removed": [],
            },
        }
    ]
    assert {"edge": "CALLS_STATIC", "from": "function:shop/cart.py#total", "to": "function:shop/cart.py#none"} in got[
        "relationships_added"
    ]
    assert result(dispatcher, "smp/merkle/tree")["root_hash"] == before


def test_a_diff_with_itself_is_empty(dispatcher: Dispatcher, repo: Path) -> None:
    same = (repo / "shop/cart.py").read_text("utf-8")
    got = result(dispatcher, "smp/diff", file_path="shop/cart.py", proposed_content=same, session_id="ses_open")
    assert got.pop("index_state")["stale"] == []
    assert got == {
        "nodes_added": [],
        "nodes_removed": [],
        "nodes_modified": [],
        "relationships_added": [],
        "relationships_removed": [],
    }
