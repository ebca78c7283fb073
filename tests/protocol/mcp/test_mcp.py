"""`smp mcp` as an agent meets it: the SDK's own client over stdio and over streamable HTTP, a real index behind it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent, TextResourceContents

from smp.rpc.mcp.server import TOOLS

FILES = {
    "shop/rates.py": "".join(f"def rate_{number}() -> int:\n    return {number}\n\n\n" for number in range(60)),
    "shop/prices.py": (
        'def discounted(cents: int, percent: int) -> int:\n    """A price after a discount, rounded down."""\n'
        "    return cents - cents * percent // 100\n\n\ndef cart_total(items: list[int]) -> int:\n"
        "    return sum(discounted(item, 10) for item in items)\n"
    ),
    "tests/test_prices.py": (
        "from shop.prices import discounted\n\n\ndef test_a_tenth_off() -> None:\n    assert discounted(1000, 10) == 900\n"
    ),
}
COMMAND = [str(Path(sys.executable).with_name("smp")), "mcp"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mcp") / "shop"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for step in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "shop"]):
        subprocess.run(["git", *step], cwd=root, check=True)
    return root


@asynccontextmanager
async def over_stdio(repository: Path) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "--repo", str(repository)])
    async with Client(stdio_client(parameters)) as client:
        yield client


@pytest.fixture(scope="module")
def address(repository: Path) -> Iterator[str]:
    server = subprocess.Popen(
        [*COMMAND, "--http", "--port", "0", "--repo", str(repository)], stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    lines = iter(server.stderr.readline, "")
    found = next(match for line in lines if (match := re.search(r"http://\S+/mcp", line)))
    yield found.group()
    server.terminate()
    server.communicate(timeout=30)


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[Client]:
    if request.param == "stdio":
        return over_stdio(request.getfixturevalue("repository"))
    return Client(request.getfixturevalue("address"))


async def asked(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def test_an_agent_finds_explains_and_traces(connect: AbstractAsyncContextManager[Client]) -> None:
    async def talk() -> None:
        async with connect as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
            found = await asked(client, "find", query="price after a discount", limit=3)
            assert found["locate"]["results"][0]["name"] == "discounted"
            explained = await asked(client, "explain", target="shop/prices.py#discounted")
            assert explained["source"].startswith("def discounted(cents")
            assert explained["context"]["summary"]["has_tests"] is True
            traced = await asked(client, "trace", start="discounted")
            assert "cart_total" in str(traced)

    anyio.run(talk)


def test_a_failure_is_a_result_that_says_what_to_do(connect: AbstractAsyncContextManager[Client]) -> None:
    async def talk() -> None:
        async with connect as client:
            result = await client.call_tool("explain", {"target": "shop/prices.py#nothing"})
            assert result.is_error
            assert result.structured_content is not None
            assert result.structured_content["error"]["code"] == -32001
            wrong = await client.call_tool("find", {"query": "x", "limit": 0})
            assert wrong.is_error
            assert wrong.structured_content is not None
            assert wrong.structured_content["error"]["data"]["path"] == "limit"

    anyio.run(talk)


def test_the_map_and_the_state_of_the_index_are_resources(connect: AbstractAsyncContextManager[Client]) -> None:
    async def talk() -> None:
        async with connect as client:
            uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
            assert uris == ["smp://index-state", "smp://map", "smp://notifications"]
            bodies = [(await client.read_resource(uri)).contents[0] for uri in uris]
            assert '"files":3' in str(bodies[0])
            assert "areas" in str(bodies[1])

    anyio.run(talk)


def test_what_has_happened_can_be_read_on_from_a_cursor(repository: Path) -> None:
    async def talk() -> None:
        async with over_stdio(repository) as client:
            session = (await asked(client, "session", action="open", agent_id="n", task="t", scope=["shop/prices.py"]))[
                "opened"
            ]["session_id"]
            for name in ("one.py", "two.py"):
                files = [{"file": name, "content": ""}]
                assert (await client.call_tool("edit", {"session_id": session, "files": files})).is_error

            async def read(uri: str) -> list[dict[str, Any]]:
                body = (await client.read_resource(uri)).contents[0]
                assert isinstance(body, TextResourceContents)
                found: list[dict[str, Any]] = json.loads(body.text)
                return [one for one in found if one["type"] == "scope_violation"]

            everything = await read("smp://notifications")
            assert [one["attempted_file"] for one in everything][-2:] == ["one.py", "two.py"]
            later = await read(f"smp://notifications/{everything[-2]['cursor']}")
            assert [one["attempted_file"] for one in later] == ["two.py"]
            await asked(client, "session", action="abort", session_id=session)

    anyio.run(talk)


def test_an_answer_keeps_to_its_budget_and_counts_what_it_leaves_out(repository: Path) -> None:
    async def talk() -> None:
        async with over_stdio(repository) as client:
            whole = await client.call_tool("explain", {"target": "shop/rates.py"})
            small = await client.call_tool("explain", {"target": "shop/rates.py", "max_tokens": 200})
            assert small.structured_content is not None
            assert small.structured_content["left_out"]
            texts = [part.text for part in (whole.content[0], small.content[0]) if isinstance(part, TextContent)]
            assert len(texts[1]) < len(texts[0])

    anyio.run(talk)


def test_an_agent_changes_a_file_under_guard_and_takes_it_back(repository: Path) -> None:
    better = FILES["shop/prices.py"].replace("// 100", "// 50")

    async def talk() -> None:
        async with over_stdio(repository) as client:
            opened = await asked(
                client, "session", action="open", agent_id="coder", task="prices", scope=["shop/prices.py"]
            )
            session = opened["opened"]["session_id"]
            checked = await asked(client, "check", session_id=session, file="shop/prices.py", content=better)
            assert (checked["guard"]["verdict"], checked["dryrun"]["verdict"]) == ("clear", "safe")
            edited = await asked(
                client, "edit", session_id=session, files=[{"file": "shop/prices.py", "content": better}]
            )
            shown = await asked(client, "explain", target="shop/prices.py#discounted", session_id=session)
            assert shown["entity"]["entity"]["name"] == "discounted"
            await asked(client, "edit", session_id=session, undo_to=edited["checkpoint"]["checkpoint_id"])
            closed = await asked(client, "session", action="abort", session_id=session)
            assert closed["closed"]["audit_log_id"]

    anyio.run(talk)
    assert (repository / "shop/prices.py").read_text() == FILES["shop/prices.py"]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_stands_alone_and_refuses_what_it_does_not_know(tool: Any) -> None:
    schema = tool.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    described = [name for name, entry in schema["properties"].items() if "description" in str(entry)]
    assert described
