"""Tools that look: find, explain, trace, impact, map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from smp.domain.graph import NodeKind
from smp.rpc.mcp.tool import DEFAULT_BUDGET, Budget, Call, SessionId, Target, Tool, ToolParams, given

Limit = Annotated[int, Meta(ge=1, le=200, description="How many results.")]


class FindParams(ToolParams, frozen=True, kw_only=True):
    """What is looked for."""

    query: Annotated[str, Meta(min_length=1, max_length=4096, description="A question or a few words.")]
    by: Annotated[
        Literal["meaning", "words"],
        Meta(
            description="`meaning`: ranked by vectors, words and the call graph. `words`: names and texts that hold the words."
        ),
    ] = "meaning"
    limit: Limit = 10
    session_id: SessionId | None = None
    max_tokens: Budget = DEFAULT_BUDGET


def _find(params: FindParams, call: Call) -> Mapping[str, object]:
    if params.by == "words":
        asked = given(query=params.query, match="all", top_k=params.limit, session_id=params.session_id)
        found = call("smp/search", asked)
        if not found.matches:
            found = call("smp/search", asked | {"match": "any"})
        return {"search": found}
    return {
        "locate": call(
            "smp/locate",
            given(query=params.query, top_k=params.limit, ranking="fusion", session_id=params.session_id),
        )
    }


class ExplainParams(ToolParams, frozen=True, kw_only=True):
    """A file or a definition."""

    target: Target
    session_id: SessionId | None = None
    max_tokens: Budget = DEFAULT_BUDGET


def _explain(params: ExplainParams, call: Call) -> Mapping[str, object]:
    asked = given(query=params.target, include_relationships=True, session_id=params.session_id)
    entity = call("smp/navigate", asked)
    found: dict[str, object] = {"entity": entity}
    node = entity.entity
    if node.type is NodeKind.FILE:
        found["context"] = call("smp/context", given(file_path=node.id, session_id=params.session_id))
    elif node.file is not None:
        if node.start_line:
            found["source"] = call.lines(node.file, node.start_line, node.end_line, session_id=params.session_id)
        found["context"] = call("smp/context", given(file_path=node.file, session_id=params.session_id))
    return found


class TraceParams(ToolParams, frozen=True, kw_only=True):
    """Which edges to follow, from where."""

    start: Target
    direction: Annotated[
        Literal["outgoing", "incoming"],
        Meta(description="`incoming`: who calls or uses it. `outgoing`: what it calls."),
    ] = "incoming"
    relationship: Annotated[
        Literal["CALLS", "IMPORTS", "INHERITS", "IMPLEMENTS", "TESTS", "USES", "REFERENCES"],
        Meta(description="Kind of edge; CALLS takes what was seen at run time too."),
    ] = "CALLS"
    depth: Annotated[int, Meta(ge=1, le=6, description="How many steps.")] = 2
    end: Annotated[
        Target | None, Meta(description="Give it to get the path from start to this, instead of everything around.")
    ] = None
    session_id: SessionId | None = None
    max_tokens: Budget = DEFAULT_BUDGET


def _trace(params: TraceParams, call: Call) -> Mapping[str, object]:
    if params.end is not None:
        return {
            "why": call("smp/graph/why", {"from": params.start, "to": params.end} | given(session_id=params.session_id))
        }
    asked = given(
        start=params.start,
        relationship=params.relationship,
        direction=params.direction,
        depth=params.depth,
        session_id=params.session_id,
    )
    return {"trace": call("smp/trace", asked)}


class ImpactParams(ToolParams, frozen=True, kw_only=True):
    """What is going to change."""

    target: Target
    change: Annotated[Literal["signature_change", "delete", "move"], Meta(description="What kind of change it is.")] = (
        "signature_change"
    )
    session_id: SessionId | None = None
    max_tokens: Budget = DEFAULT_BUDGET


def _impact(params: ImpactParams, call: Call) -> Mapping[str, object]:
    return {
        "impact": call(
            "smp/impact", given(entity=params.target, change_type=params.change, session_id=params.session_id)
        )
    }


class MapParams(ToolParams, frozen=True, kw_only=True):
    """How much of the map."""

    area: Annotated[str | None, Meta(description="A community's id, for its members; left out: all areas.")] = None
    max_tokens: Budget = DEFAULT_BUDGET


def map_of(params: MapParams, call: Call) -> Mapping[str, object]:
    """The results behind the tool `map`, which is a resource too."""
    if params.area is not None:
        return {"area": call("smp/community/get", {"community_id": params.area, "include_bridges": True})}
    return {
        "areas": call("smp/community/list", {"level": 0}),
        "hot": call("smp/telemetry/hot", {}),
        "unresolved": call("smp/linker/report", {}),
    }


READING_TOOLS = (
    Tool(
        name="find",
        title="Find code",
        params=FindParams,
        description=(
            "Find the code that does something. Use it instead of grep or reading files whenever you know what the code "
            "does but not where it is ('where are refunds rounded'): it ranks functions and classes by meaning, words and "
            "the call graph, and gives file, lines and signature. by='words' for a name or text that you know."
        ),
        answer=_find,
        reads=True,
    ),
    Tool(
        name="explain",
        title="Explain a file or definition",
        params=ExplainParams,
        description=(
            "Everything to know before touching a file, class or function: its text, signature, callers, callees, tests that reach "
            "it, imports, role, risk, data flow, and what broke here in earlier sessions. Use it before you open a file."
        ),
        answer=_explain,
        reads=True,
    ),
    Tool(
        name="trace",
        title="Follow calls and uses",
        params=TraceParams,
        description=(
            "Who calls this (direction='incoming'), what it calls ('outgoing'), who inherits, imports or tests it, several "
            "steps deep; or, with `end`, how one definition leads to another. The edges are resolved calls, not text "
            "matches: use it instead of grepping for a name. Calls that could not be resolved are said as such."
        ),
        answer=_trace,
        reads=True,
    ),
    Tool(
        name="impact",
        title="What a change would touch",
        params=ImpactParams,
        description=(
            "Which files, functions and tests must be updated when this definition changes its signature, is deleted or "
            "moved. Use it before renaming or removing anything."
        ),
        answer=_impact,
        reads=True,
    ),
    Tool(
        name="map",
        title="Map of the repository",
        params=MapParams,
        description=(
            "The areas of the code (communities of files that belong together), the definitions that change most, and how "
            "much of the call graph is resolved. Use it first in a repository that you do not know."
        ),
        answer=map_of,
        reads=True,
    ),
)
