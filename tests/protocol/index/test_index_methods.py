"""The group `index` over the dispatcher, on the wired platform: one pair per method and per documented error."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smp.bootstrap import build_platform
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.settings import load_settings

ROOT = Path(__file__).resolve().parents[3]
FILES = {
    "shop/__init__.py": "",
    "shop/money.py": "def round_cents(value: float) -> int:\n    return int(value + 0.5)\n",
    "shop/cart.py": "from shop.money import round_cents\n\n\ndef total(prices):\n    return round_cents(sum(prices))\n",
    "main.py": "from shop.cart import total\n\nprint(total([1.0]))\n",
}
UNKNOWN = "snap_0000000000000000"


class Server:
    """A repository and the platform over it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, content in FILES.items():
            self.write(name, content)
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.com")
        for arguments in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "first")):
            subprocess.run(("git", "-C", str(root), *arguments), check=True)
        self.services = build_platform(load_settings(root, environ={"SMP_INDEX_WORKERS": "1"}))
        self._dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), self.services)

    def write(self, name: str, content: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    def snapshot(self, snapshot_id: str) -> Path:
        return self.root / ".smp" / "snapshots" / f"{snapshot_id}.tar.zst"

    def answer(self, method: str, params: dict[str, object]) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        raw = self._dispatcher.handle_bytes(json.dumps(request).encode())
        assert raw is not None
        found: dict[str, Any] = json.loads(raw)
        return found

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        result: dict[str, Any] = self.answer(method, params)["result"]
        return result

    def refused(self, method: str, **params: object) -> tuple[int, dict[str, Any]]:
        error = self.answer(method, params)["error"]
        return error["code"], error.get("data", {})

    def root_hash(self) -> str:
        return str(self.ask("smp/merkle/tree")["root_hash"])


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path / "here")


def test_an_export_describes_the_index_and_an_import_answers_for_it(server: Server) -> None:
    out = server.ask("smp/index/export", scope="full")
    assert server.snapshot(out["snapshot_id"]).is_file()
    assert (out["scope"], out["root_hash"]) == ("full", server.root_hash())
    assert out["export_url"] == f"smp://snapshots/{out['snapshot_id']}.tar.zst"
    assert out["signature"].startswith("ed25519:")
    assert len(out["signature"]) == len("ed25519:") + 128
    size = server.services.graph.size()
    assert (out["node_count"], out["edge_count"]) == (size.nodes, size.edges)
    got = server.ask(
        "smp/index/import",
        snapshot_id=out["snapshot_id"],
        source_url=out["export_url"],
        expected_root_hash=out["root_hash"],
        verify_signature=True,
    )
    assert got.pop("duration_ms") >= 0
    assert got.pop("index_state")["stale"] == []
    assert got == {
        "status": "imported",
        "root_hash_verified": True,
        "signature_verified": True,
        "nodes_imported": out["node_count"],
        "edges_imported": out["edge_count"],
        "re_indexed_files": 0,
    }


def test_an_import_into_another_tree_is_partial(server: Server) -> None:
    out = server.ask("smp/index/export")
    server.write("shop/cart.py", FILES["shop/cart.py"] + "\n\ndef empty():\n    return total([])\n")
    got = server.ask("smp/index/import", snapshot_id=out["snapshot_id"], expected_root_hash=server.root_hash())
    assert (got["status"], got["root_hash_verified"], got["signature_verified"]) == ("partial_import", False, True)
    assert (got["diverging_packages"], got["re_indexed_files"]) == (["shop"], 1)
    assert 0 < got["nodes_imported"] < out["node_count"]
    assert server.ask("smp/navigate", query="empty")["entity"]["file"] == "shop/cart.py"


def test_a_package_is_exported_alone(server: Server) -> None:
    whole, part = server.ask("smp/index/export"), server.ask("smp/index/export", scope="package:shop/")
    assert (part["scope"], part["root_hash"]) == ("package:shop", whole["root_hash"])
    assert 0 < part["node_count"] < whole["node_count"]
    assert server.refused("smp/index/export", scope="package:no/such")[0] == -32001
    assert server.refused("smp/index/export", scope="file:main.py")[0] == -32602


def test_an_unknown_signing_key_is_a_wrong_parameter(server: Server) -> None:
    assert server.refused("smp/index/export", signing_key_id="key_prod_01") == (-32602, {"path": "signing_key_id"})
    assert not (server.root / ".smp" / "snapshots").exists()


def test_an_unknown_snapshot_is_invalid(server: Server) -> None:
    assert server.refused("smp/index/import", snapshot_id=UNKNOWN) == (-32011, {"snapshot_id": UNKNOWN})
    assert server.refused("smp/index/import", snapshot_id="../../x")[0] == -32011


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://127.0.0.1:1/x.tar.zst",
        "smp://snapshots/../../../etc/passwd",
        "smp://snapshots/snap_another.tar.zst",
        f"smp://snapshots/{UNKNOWN}.tar.zst?x",
    ],
)
def test_no_other_source_is_read(server: Server, url: str) -> None:
    refused = server.refused("smp/index/import", snapshot_id=UNKNOWN, source_url=url)
    assert refused == (-32602, {"path": "source_url"})


def test_a_damaged_snapshot_is_refused_and_the_index_stands(server: Server) -> None:
    out = server.ask("smp/index/export")
    file, before = server.snapshot(out["snapshot_id"]), server.root_hash()
    raw = file.read_bytes()
    for damaged in (b"", raw[: len(raw) // 2], raw[: len(raw) // 2] + b"\0" + raw[len(raw) // 2 + 1 :], b"x" + raw[1:]):
        file.write_bytes(damaged)
        assert server.refused("smp/index/import", snapshot_id=out["snapshot_id"])[0] in (-32010, -32011)
    assert server.root_hash() == before
    assert server.ask("smp/navigate", query="total")["entity"]["file"] == "shop/cart.py"


def test_a_signature_of_a_stranger_is_invalid(server: Server, tmp_path: Path) -> None:
    there = Server(tmp_path / "there")
    out = there.ask("smp/index/export")
    server.ask("smp/index/export")
    shutil.copy(there.snapshot(out["snapshot_id"]), server.snapshot(out["snapshot_id"]))
    code, data = server.refused("smp/index/import", snapshot_id=out["snapshot_id"])
    (key,) = (there.root / ".smp" / "keys").glob("*.key")
    assert (code, data) == (-32010, {"snapshot_id": out["snapshot_id"], "key_id": key.stem})
    got = server.ask("smp/index/import", snapshot_id=out["snapshot_id"], verify_signature=False)
    assert (got["status"], got["signature_verified"]) == ("imported", False)


def test_another_root_than_expected_is_invalid(server: Server) -> None:
    out = server.ask("smp/index/export")
    code, data = server.refused("smp/index/import", snapshot_id=out["snapshot_id"], expected_root_hash="0" * 64)
    assert (code, data["server_root_hash"]) == (-32011, out["root_hash"])


KILLED = """
import os, signal, sys
from pathlib import Path
from smp.bootstrap import build_platform
from smp.settings import load_settings

services = build_platform(load_settings(Path(sys.argv[1]), environ={"SMP_INDEX_WORKERS": "1"}))
write, calls = getattr(services.graph, sys.argv[3]), int(sys.argv[4])

def dying(*given, **named):
    global calls
    write(*given, **named)
    calls -= 1
    if calls == 0:
        os.kill(os.getpid(), signal.SIGKILL)

setattr(services.graph, sys.argv[3], dying)
services.snapshots.take_over(sys.argv[2], verify_signature=False)
"""


@pytest.mark.parametrize(("write", "call"), [("apply", 1), ("observe_calls", 1), ("put_blobs", 4)])
def test_a_kill_at_any_write_of_an_import_leaves_the_old_index(
    server: Server, tmp_path: Path, write: str, call: int
) -> None:
    there = Server(tmp_path / "there")
    there.write("shop/money.py", "def older():\n    return 1\n")
    old = there.ask("smp/index/export")
    for name, content in FILES.items():
        there.write(name, content)
    out = server.ask("smp/index/export")
    shutil.copy(server.snapshot(out["snapshot_id"]), there.snapshot(out["snapshot_id"]))
    command = [sys.executable, "-c", KILLED, str(there.root), out["snapshot_id"], write, str(call)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    indexer = there.services.indexer
    assert indexer.merkle().hash == old["root_hash"]
    assert [node.id for node in there.services.graph.find("older")] == ["function:shop/money.py#older"]
    got = there.ask("smp/index/import", snapshot_id=out["snapshot_id"], verify_signature=False)
    assert (got["status"], got["nodes_imported"]) == ("imported", out["node_count"])
    assert (indexer.merkle().hash, there.services.graph.find("older")) == (out["root_hash"], ())
