"""`smp/context`, `smp/impact`, `smp/diff`: before a file is edited."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field, structs

from smp.domain.graph import EdgeKind, NodeKind
from smp.indexing.reports import FileChange
from smp.query.attention import attention
from smp.query.context import file_context
from smp.query.diff import diff_versions, read_version
from smp.query.impact import impact
from smp.query.resolve import resolve_file, resolve_node, resolve_path
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.pages import MaxTokens, shortened
from smp.rpc.reading import graph_of, hot_rule, note_read, wire
from smp.rpc.wire import KnownResult, NodeRef, Params, Path, Result, Risk, SessionRef

CONTEXT_LISTS = (
    "imports",
    "imported_by",
    "defines.functions",
    "defines.classes",
    "structurally_similar",
    "entry_points",
    "data_flow_in",
    "data_flow_out",
    "reach",
    "attention.unresolved",
    "attention.without_direct_test",
    "attention.recent_changes",
)
IMPACT_LISTS = ("affected_files", "affected_functions", "required_updates")
ChangeType = Literal["signature_change", "delete", "move"]


class ContextParams(Params, frozen=True, kw_only=True):
    """The file to be edited, as a path or a definition in it.

    `depth`: how many imports away a dependent file is still listed. `debug` and `review` add `attention`.
    """

    file_path: NodeRef
    scope: Literal["edit", "create", "debug", "review"] = "edit"
    depth: Annotated[int, Meta(ge=1, le=10)] = 2
    session_id: SessionRef | UnsetType = UNSET
    max_tokens: MaxTokens | UnsetType = UNSET


class SummaryResult(Result, frozen=True, kw_only=True):
    """Read this first: counts and lists derived from the graph alone."""

    role: Literal["test", "config", "endpoint", "service", "core_utility", "isolated", "module"]
    blast_radius: int
    api_layer_callers: int
    api_layer_total: int
    avg_complexity: float
    max_complexity: int
    exported_symbols: int
    has_tests: bool
    test_files: tuple[str, ...]
    is_hot_node: bool
    heat_score: int
    risk_level: Risk


class SelfResult(Result, frozen=True, kw_only=True):
    id: str
    path: str
    language: str | None
    lines: int
    source_hash: str


class ImportResult(Result, frozen=True, kw_only=True):
    file: str
    items: tuple[str, ...]


class ImporterResult(Result, frozen=True, kw_only=True):
    file: str


class FunctionResult(Result, frozen=True, kw_only=True):
    id: str
    name: str
    complexity: int
    exported: bool
    signature: str | None
    start_line: int


class ClassResult(Result, frozen=True, kw_only=True):
    id: str
    name: str
    method_count: int
    exported: bool
    start_line: int


class DefinesResult(Result, frozen=True, kw_only=True):
    functions: tuple[FunctionResult, ...]
    classes: tuple[ClassResult, ...]


class SimilarResult(Result, frozen=True, kw_only=True):
    file: str
    shared_imports: int
    shared_node_types: tuple[NodeKind, ...]


class FlowInResult(Result, frozen=True, kw_only=True):
    """carries: annotated types of what is handed in."""

    source: str = field(name="from")
    via: str
    carries: str | None


class FlowOutResult(Result, frozen=True, kw_only=True):
    """carries: annotated type of what comes back."""

    target: str = field(name="to")
    via: str
    carries: str | None


class ReachResult(Result, frozen=True, kw_only=True):
    """A file that imports this one over `depth` imports."""

    file: str
    depth: int


class OpenCallResult(Result, frozen=True, kw_only=True):
    """A call without a proved target; lines are 1-based."""

    caller: str
    to_name: str
    reason: str
    lines: tuple[int, ...]


class RecentChangeResult(Result, frozen=True, kw_only=True):
    node_id: str
    event: str
    at: str
    agent: str | None


class AttentionResult(Result, frozen=True, kw_only=True):
    """without_direct_test: functions that no test calls itself. recent_changes: newest first, at most ten."""

    unresolved: tuple[OpenCallResult, ...]
    without_direct_test: tuple[str, ...]
    recent_changes: tuple[RecentChangeResult, ...]


class ContextResult(Result, frozen=True, kw_only=True):
    """reach: files that import this one, directly or within `depth` imports, nearest first. omitted: entries cut from the
    end of each list, for `max_tokens`; truncated where there are any."""

    summary: SummaryResult
    file: SelfResult = field(name="self")
    imports: tuple[ImportResult, ...]
    imported_by: tuple[ImporterResult, ...]
    defines: DefinesResult
    structurally_similar: tuple[SimilarResult, ...]
    entry_points: tuple[str, ...]
    data_flow_in: tuple[FlowInResult, ...]
    data_flow_out: tuple[FlowOutResult, ...]
    reach: tuple[ReachResult, ...]
    attention: AttentionResult | UnsetType = UNSET
    known: KnownResult | UnsetType = UNSET
    truncated: bool = False
    omitted: dict[str, int] | UnsetType = UNSET


@rpc_method("smp/context")
def context(params: ContextParams, ctx: RequestContext) -> ContextResult:
    """What a programmer keeps in mind about a file: role, risk, imports, definitions, tests, data flow."""
    graph = graph_of(ctx, params.session_id)
    file = resolve_file(graph, params.file_path, path="file_path")
    note_read(ctx, params.session_id, file, method="smp/context")
    telemetry = ctx.services.telemetry
    found = file_context(graph, telemetry, file, hot=hot_rule(ctx), depth=params.depth)
    known = ctx.services.records.known(file.qualname)
    closer = params.scope in ("debug", "review")
    result = ContextResult(
        summary=wire(found.summary, SummaryResult),
        file=SelfResult(
            id=file.id, path=file.qualname, language=file.language, lines=file.lines, source_hash=file.source_hash
        ),
        imports=tuple(wire(item, ImportResult) for item in found.imports),
        imported_by=tuple(ImporterResult(file=path) for path in found.imported_by),
        defines=DefinesResult(
            functions=tuple(wire(item, FunctionResult) for item in found.functions),
            classes=tuple(wire(item, ClassResult) for item in found.classes),
        ),
        structurally_similar=tuple(wire(item, SimilarResult) for item in found.structurally_similar),
        entry_points=found.entry_points,
        data_flow_in=tuple(
            FlowInResult(source=item.other, via=item.via, carries=item.carries) for item in found.data_flow_in
        ),
        data_flow_out=tuple(
            FlowOutResult(target=item.other, via=item.via, carries=item.carries) for item in found.data_flow_out
        ),
        reach=tuple(wire(item, ReachResult) for item in found.reach),
        attention=wire(attention(graph, telemetry, file), AttentionResult) if closer else UNSET,
        known=wire(known, KnownResult) if known is not None else UNSET,
    )
    if isinstance(params.max_tokens, UnsetType):
        return result
    result, omitted = shortened(result, params.max_tokens, CONTEXT_LISTS)
    return structs.replace(result, truncated=True, omitted=omitted) if omitted else result


class ImpactParams(Params, frozen=True, kw_only=True):
    """The entity to be changed, and how."""

    entity: NodeRef
    change_type: ChangeType
    session_id: SessionRef | UnsetType = UNSET
    max_tokens: MaxTokens | UnsetType = UNSET


class AffectedResult(Result, frozen=True, kw_only=True):
    """relationship: CALLS, TESTS, INHERITS, IMPLEMENTS, USES, OVERRIDES, or MAY_CALL (through an overridden method)."""

    id: str
    file: str
    relationship: str


class UpdateResult(Result, frozen=True, kw_only=True):
    """function is null for module-level code and import lines."""

    file: str
    function: str | None
    reason: str
    change_type: ChangeType


class ImpactResult(Result, frozen=True, kw_only=True):
    """transitive_functions, transitive_files: what depends on the entity further away. omitted: entries cut from the end of
    each list, for `max_tokens`; truncated where there are any."""

    affected_files: tuple[str, ...]
    affected_functions: tuple[AffectedResult, ...]
    severity: Literal["none", "low", "medium", "high"]
    required_updates: tuple[UpdateResult, ...]
    transitive_functions: int
    transitive_files: int
    truncated: bool = False
    omitted: dict[str, int] | UnsetType = UNSET


@rpc_method("smp/impact")
def assess_impact(params: ImpactParams, ctx: RequestContext) -> ImpactResult:
    """What breaks when an entity changes its signature, is deleted or moved, and which places need an edit."""
    graph = graph_of(ctx, params.session_id)
    entity = resolve_node(graph, params.entity, path="entity")
    note_read(ctx, params.session_id, entity, method="smp/impact")
    result = wire(impact(graph, entity, change_type=params.change_type), ImpactResult)
    if isinstance(params.max_tokens, UnsetType):
        return result
    result, omitted = shortened(result, params.max_tokens, IMPACT_LISTS)
    return structs.replace(result, truncated=True, omitted=omitted) if omitted else result


class DiffParams(Params, frozen=True, kw_only=True):
    """Proposed content of a file, which need not exist yet. Nothing is stored."""

    file_path: Path
    proposed_content: str
    session_id: SessionRef | UnsetType = UNSET


class NodeResult(Result, frozen=True, kw_only=True):
    id: str
    type: NodeKind
    name: str


class ChangesResult(Result, frozen=True, kw_only=True):
    """calls as node ids."""

    signature_changed: bool
    body_changed: bool
    complexity_delta: int
    calls_added: tuple[str, ...]
    calls_removed: tuple[str, ...]


class ModifiedResult(Result, frozen=True, kw_only=True):
    id: str
    changes: ChangesResult


class LinkResult(Result, frozen=True, kw_only=True):
    edge: EdgeKind
    source: str = field(name="from")
    target: str = field(name="to")


class DiffResult(Result, frozen=True, kw_only=True):
    """All lists by id."""

    nodes_added: tuple[NodeResult, ...]
    nodes_removed: tuple[NodeResult, ...]
    nodes_modified: tuple[ModifiedResult, ...]
    relationships_added: tuple[LinkResult, ...]
    relationships_removed: tuple[LinkResult, ...]


@rpc_method("smp/diff")
def diff(params: DiffParams, ctx: RequestContext) -> DiffResult:
    """Compare a file's present graph with that of proposed content, node by node."""
    path = resolve_path(params.file_path, path="file_path")
    graph = graph_of(ctx, params.session_id)
    note_read(ctx, params.session_id, *graph.find(path), method="smp/diff")
    indexer, sessions = ctx.services.indexer, ctx.services.sessions
    pushed = () if isinstance(params.session_id, UnsetType) else sessions.overlay(params.session_id)
    own = next((change for change in pushed if change.path == path), None)
    present = indexer.content(path) if own is None else own.content
    proposed = params.proposed_content.encode("utf-8", "surrogatepass")
    others = tuple(change for change in pushed if change.path != path)
    after = indexer.view((*others, FileChange(path=path, content=proposed)))
    found = diff_versions(read_version(graph, path, present), read_version(after, path, proposed))
    return DiffResult(
        nodes_added=tuple(NodeResult(id=node.id, type=node.kind, name=node.name) for node in found.added),
        nodes_removed=tuple(NodeResult(id=node.id, type=node.kind, name=node.name) for node in found.removed),
        nodes_modified=tuple(
            ModifiedResult(id=item.after.id, changes=wire(item.changes, ChangesResult)) for item in found.modified
        ),
        relationships_added=tuple(
            LinkResult(edge=link.kind, source=link.source, target=link.target) for link in found.links_added
        ),
        relationships_removed=tuple(
            LinkResult(edge=link.kind, source=link.source, target=link.target) for link in found.links_removed
        ),
    )


METHODS = (context, assess_impact, diff)
