"""A run of JavaScript settles what its source leaves open, by `smp/linker/runtime` and `report`; a changed end takes it back."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smp.bootstrap import build_platform
from smp.domain.ids import AgentId
from smp.domain.session_steps import OpenSession
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import linker, sandbox
from smp.rpc.registry import MethodRegistry
from smp.services import Services
from smp.settings import load_settings

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
]

FILES = {
    "shop.js": (
        "export function price(x) {\n  return x;\n}\n\nexport function unused() {}\n\n"
        "export function use(services, name) {\n  if (name === 'never') unused();\n  return services[name](2);\n}\n"
    ),
    "shop.test.js": (
        "import test from 'node:test';\nimport { price, use } from './shop.js';\n\n"
        "test('uses', () => {\n  const made = JSON.parse('{}');\n  Reflect.set(made, ['pr', 'ice'].join(''), price);\n"
        "  use(made, 'price');\n});\n"
    ),
    "package.json": '{"type": "module"}\n',
}


@pytest.fixture
def services(tmp_path: Path) -> Services:
    repo = tmp_path / "repo"
    repo.mkdir()
    for name, text in FILES.items():
        (repo / name).write_text(text)
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm1"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    return build_platform(load_settings(repo))


@pytest.fixture
def ask(services: Services) -> Callable[..., Any]:
    dispatcher = Dispatcher(MethodRegistry([sandbox, linker]), services)

    def call(method: str, **params: object) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": f"smp/{method}", "params": params}
        raw = dispatcher.handle_bytes(json.dumps(request).encode())
        assert raw is not None
        return json.loads(raw)["result"]

    return call


def test_a_run_shows_what_was_open_and_what_never_ran(services: Services, ask: Callable[..., Any]) -> None:
    opened = services.sessions.open(OpenSession(agent_id=AgentId("a"), task="t", scope=("shop.js",)))
    box = ask("sandbox/spawn", session_id=opened.session.id)
    done = ask("sandbox/execute", sandbox_id=box["sandbox_id"], command="node --test")
    assert done["exit_code"] == 0, done
    seen = {(edge["from"], edge["to"]): edge["call_count"] for edge in done["calls_runtime_injected"]}
    assert seen == {
        ("function:shop.js#use", "function:shop.js#price"): 1,
        ("test:shop.test.js#uses", "function:shop.js#use"): 1,
    }
    shown = ask("linker/runtime", node_id="function:shop.js#use")
    (callee,) = shown["runtime_callees"]
    assert (callee["node_id"], callee["was_static_unresolved"]) == ("function:shop.js#price", True)
    assert shown["static_only_callees"] == ["function:shop.js#unused"]
    assert [one["answers"] for one in shown["settled"]] == [["function:shop.js#price"]]

    changed = FILES["shop.js"].replace("return x;", "return x + 1;")
    (services.settings.repo / "shop.js").write_text(changed)
    services.indexer.refresh()
    assert ask("linker/runtime", node_id="function:shop.js#use")["runtime_callees"] == []
