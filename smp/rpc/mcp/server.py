"""The MCP server: tools, resources and instructions over the dispatcher. Source: https://modelcontextprotocol.io/specification."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import anyio
import mcp.types as types
import msgspec
import structlog
from anyio import to_thread
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server

from smp.domain.access import Grant
from smp.domain.errors import SmpError
from smp.domain.ids import FilePath
from smp.rpc.dispatcher import Dispatcher, path_of, words_of
from smp.rpc.errors import INTERNAL_ERROR, INVALID_PARAMS, code_of
from smp.rpc.gate import grant_of
from smp.rpc.mcp import resources
from smp.rpc.mcp.answers import as_text, fitted
from smp.rpc.mcp.reading_tools import READING_TOOLS
from smp.rpc.mcp.tool import DEFAULT_BUDGET, Tool
from smp.rpc.mcp.working_tools import WORKING_TOOLS
from smp.services import Services

TOOLS: tuple[Tool, ...] = (*READING_TOOLS, *WORKING_TOOLS)
INSTRUCTIONS = """\
This server knows the repository as a graph: files, classes, functions and their true calls, kept up to date with every edit.

To understand code: `map` in a repository that is new to you, `find` instead of grep, `explain` before you open a file, `trace` for \
callers and callees, `impact` before you rename or remove.
To change code: `session` (open, with the files that you may write), `plan` when there are several, `check` before each edit, `edit`, \
`run` the tests in the sandbox, `verify` that the tests would notice a fault, `hand_off` as a pull request, `session` (complete).

An edge is a resolved call; what could not be resolved is said as unresolved, with candidates. Line ranges are those of the present \
text. An answer that was cut says under `left_out` how much is missing: ask narrower, or raise max_tokens."""
TICK_SECONDS = 1.0

_log = structlog.get_logger(__name__)


class McpServer:
    """The handlers. Each tool call runs on a worker thread and reports progress while it does."""

    def __init__(self, services: Services, dispatcher: Dispatcher) -> None:
        self._services = services
        self._dispatcher = dispatcher
        self._tools = {tool.name: tool for tool in TOOLS}
        self.server: Server[dict[str, Any]] = Server(
            "smp",
            version=version("smp"),
            title="Structural Memory Protocol",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def _list_tools(
        self, _: ServerRequestContext[dict[str, Any]], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def _call_tool(
        self, ctx: ServerRequestContext[dict[str, Any]], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            return _failed(INVALID_PARAMS, f"no tool {params.name[:200]!r}; there are {', '.join(self._tools)}", {})
        started = time.monotonic()
        async with anyio.create_task_group() as group:

            async def tick() -> None:
                while True:
                    await anyio.sleep(TICK_SECONDS)
                    elapsed = time.monotonic() - started
                    await ctx.session.report_progress(elapsed, None, f"{tool.name}: {elapsed:.0f} s")

            group.start_soon(tick)
            grant = grant_of(ctx.request.scope) if ctx.request is not None else None
            result = await to_thread.run_sync(self.answer, tool, params.arguments or {}, grant)
            group.cancel_scope.cancel()
        return result

    def answer(self, tool: Tool, arguments: Mapping[str, object], grant: Grant | None = None) -> types.CallToolResult:
        """Call a tool. Never raises: a failure is a result that says what to do."""
        desk = _Desk(self._services, self._dispatcher, grant)
        try:
            params = msgspec.convert(arguments, tool.params)
            results = tool.answer(params, desk)
        except msgspec.ValidationError as error:
            return _failed(INVALID_PARAMS, words_of(error, tool.params), {"path": path_of(error)})
        except SmpError as error:
            return _failed(code_of(error), error.message, error.data())
        except Exception:  # noqa: BLE001 - the edge of the process: an agent must get an answer, the operator the cause
            reference = self._services.clock.fresh_id("err")
            _log.exception("tool failed", tool=tool.name, reference=reference)
            return _failed(INTERNAL_ERROR, f"internal error; the server's log has it under {reference}", {})
        budget = getattr(params, "max_tokens", DEFAULT_BUDGET)
        plain = fitted(results, budget)
        text = types.TextContent(type="text", text=as_text(results, plain, budget))
        return types.CallToolResult(content=[text], structured_content=plain)

    async def _list_resources(
        self, _: ServerRequestContext[dict[str, Any]], __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=list(resources.LISTED))

    async def _list_templates(
        self, _: ServerRequestContext[dict[str, Any]], __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def _read_resource(
        self, ctx: ServerRequestContext[dict[str, Any]], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        grant = grant_of(ctx.request.scope) if ctx.request is not None else None

        def text() -> str:
            return resources.read(uri, self._services, lambda: _Desk(self._services, self._dispatcher, grant))

        found = await to_thread.run_sync(text)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="application/json", text=found)]
        )


class _Desk:
    """`Call` of the tools: in process, through the dispatcher's own handlers."""

    def __init__(self, services: Services, dispatcher: Dispatcher, grant: Grant | None) -> None:
        self._services = services
        self._dispatcher = dispatcher
        self._grant = grant

    def __call__(self, method: str, params: Mapping[str, object], /) -> Any:
        return self._dispatcher.call(method, params, caller=self._grant)

    def lines(self, file: str, first: int, last: int, *, session_id: str | None) -> str:
        path = FilePath(file)
        if session_id is not None:
            content = self._services.sessions.content(session_id, path)
        else:
            content = next((found.content for found in self._services.sources.read((path,))), None)
        if content is None:
            return ""
        return b"\n".join(content.splitlines()[first - 1 : last]).decode("utf-8", "replace")


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema(),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads,
            destructive_hint=tool.destroys,
            open_world_hint=False,
        ),
    )


def _failed(code: int, message: str, data: Mapping[str, object]) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=message)],
        structured_content={"error": {"code": code, "message": message, "data": dict(data)}},
        is_error=True,
    )
