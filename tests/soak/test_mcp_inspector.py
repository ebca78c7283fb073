"""`smp mcp` as the protocol's own inspector sees it, over standard input and output."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.builders.command_line import Checkout, command
from tests.builders.npm_packages import installed
from tests.builders.served_shop import FILES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")]
INSPECTOR = "@modelcontextprotocol/inspector@0.15.0"
TOOLS = ["find", "explain", "trace", "impact", "map", "session", "plan", "check", "edit", "run", "verify", "hand_off"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Checkout(tmp_path_factory.mktemp("inspected") / "shop", FILES).root


def inspected(shop: Path, *arguments: str) -> dict[str, Any]:
    """What the inspector prints."""
    program = installed(INSPECTOR) / "@modelcontextprotocol" / "inspector" / "cli" / "build" / "cli.js"
    server = command("mcp", repo=shop)
    done = subprocess.run(
        ["node", str(program), "--cli", *server, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_it_lists_the_tools_with_what_they_take(shop: Path) -> None:
    tools = inspected(shop, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in tools)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("find", ["query=round"], "round_half_up"),
        ("explain", ["target=shop/money.py"], "total"),
        ("trace", ["start=shop/money.py#round_half_up"], "shop/cart.py"),
        ("impact", ["target=shop/money.py#round_half_up"], "shop/cart.py"),
        ("map", [], "shop"),
    ],
)
def test_it_calls_the_tools_that_read(shop: Path, tool: str, arguments: list[str], says: str) -> None:
    given = [word for one in arguments for word in ("--tool-arg", one)]
    answer = inspected(shop, "--method", "tools/call", "--tool-name", tool, *given)
    assert not answer.get("isError"), answer
    assert says in answer["content"][0]["text"]
    assert answer["structuredContent"]


def test_it_lists_the_resources(shop: Path) -> None:
    found = inspected(shop, "--method", "resources/list")["resources"]
    assert [one["uri"] for one in found] == ["smp://index-state", "smp://map", "smp://notifications"]
