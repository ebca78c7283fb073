"""Enrichment: metadata extracted from source, and what people and agents add to it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from smp.domain.errors import Invalid, SmpError
from smp.domain.graph import Node, NodeKind, Scope
from smp.domain.ids import FilePath
from smp.domain.metadata import EnrichmentStatus
from smp.query import enrichment as state
from smp.query.resolve import resolve_node, resolve_scope
from smp.query.search import SEARCHED_FIELDS, search, searched_nodes
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.pages import Cursor, cursor_after, page_start
from smp.rpc.reading import given, graph_of, note_read, rfc3339, wire
from smp.rpc.wire import NodeRef, Params, QueryText, Result, ScopeText, SessionRef, Tag, Text, TopK

Tags = Annotated[tuple[Tag, ...], Meta(description="Unique.")]


class EnrichParams(Params, frozen=True, kw_only=True):
    """force: read again although the source has not changed."""

    node_id: NodeRef
    force: bool = False


class CommentResult(Result, frozen=True, kw_only=True):
    line: int
    text: str


class AnnotationsResult(Result, frozen=True, kw_only=True):
    """params: annotated parameters only, without the receiver. throws: names raised in the body."""

    params: dict[str, str]
    returns: str | None
    throws: tuple[str, ...]


class EnrichedResult(Result, frozen=True, kw_only=True, tag_field="status", tag="enriched"):
    """Metadata as the source has it. source_hash: SHA-256 of the node's own source."""

    node_id: str
    docstring: str | None
    inline_comments: tuple[CommentResult, ...]
    decorators: tuple[str, ...]
    annotations: AnnotationsResult
    tags: tuple[str, ...]
    source_hash: str
    enriched_at: str


class SkippedResult(Result, frozen=True, kw_only=True, tag_field="status", tag="skipped"):
    """Nothing to do."""

    node_id: str
    reason: str


class NoMetadataResult(Result, frozen=True, kw_only=True, tag_field="status", tag="no_metadata"):
    """Nothing can be extracted; smp/annotate can add a description."""

    node_id: str
    reason: str


@rpc_method("smp/enrich")
def enrich(params: EnrichParams, ctx: RequestContext) -> EnrichedResult | SkippedResult | NoMetadataResult:
    """Read docstring, comments, decorators and annotations of one node off its source."""
    node = resolve_node(graph_of(ctx), params.node_id, path="node_id")
    now = rfc3339(ctx.services.clock.now())
    outcome = state.enrich(ctx.services.metadata, (node,), now=now, force=params.force)[node.id]
    if outcome.status is EnrichmentStatus.NO_METADATA:
        return NoMetadataResult(node_id=node.id, reason="no docstring, decorators, or type annotations found")
    if outcome.fresh:
        return SkippedResult(node_id=node.id, reason="source_hash unchanged")
    found = node.metadata
    return EnrichedResult(
        node_id=node.id,
        docstring=found.docstring,
        inline_comments=tuple(CommentResult(line=comment.line, text=comment.text) for comment in found.comments),
        decorators=found.decorators,
        annotations=AnnotationsResult(
            params={item.name: item.type for item in found.annotations}, returns=found.returns, throws=found.throws
        ),
        tags=outcome.enrichment.tags,
        source_hash=node.source_hash,
        enriched_at=outcome.enrichment.enriched_at or now,
    )


class BatchParams(Params, frozen=True, kw_only=True):
    """force: read again although the source has not changed."""

    scope: ScopeText
    force: bool = False


class BatchResult(Result, frozen=True, kw_only=True):
    """no_metadata_nodes: candidates for smp/annotate."""

    enriched: int
    skipped: int
    no_metadata: int
    failed: int
    no_metadata_nodes: tuple[str, ...]


@rpc_method("smp/enrich/batch")
def enrich_batch(params: BatchParams, ctx: RequestContext) -> BatchResult:
    """Enrich every node of a scope."""
    graph = graph_of(ctx)
    scope = resolve_scope(graph, params.scope)
    now = rfc3339(ctx.services.clock.now())
    outcome = state.enrich_scope(graph, ctx.services.metadata, scope, now=now, force=params.force)
    return BatchResult(
        enriched=outcome.enriched,
        skipped=outcome.skipped,
        no_metadata=len(outcome.no_metadata),
        failed=0,  # extraction happened when the file was indexed: what did not parse has no node to fail on
        no_metadata_nodes=outcome.no_metadata,
    )


class ScopeParams(Params, frozen=True, kw_only=True):
    """The part of the repository to look at."""

    scope: ScopeText


class StaleNodeResult(Result, frozen=True, kw_only=True):
    """last_enriched and enriched_hash are null for a node that never was enriched."""

    node_id: str
    file: str
    last_enriched: str | None
    current_hash: str
    enriched_hash: str | None


class StaleResult(Result, frozen=True, kw_only=True):
    stale_count: int
    stale_nodes: tuple[StaleNodeResult, ...]


@rpc_method("smp/enrich/stale")
def enrich_stale(params: ScopeParams, ctx: RequestContext) -> StaleResult:
    """Nodes whose source has moved on since they were enriched."""
    graph = graph_of(ctx)
    found = state.stale_nodes(graph, ctx.services.metadata, resolve_scope(graph, params.scope))
    return StaleResult(stale_count=len(found), stale_nodes=tuple(wire(item, StaleNodeResult) for item in found))


class StatusResult(Result, frozen=True, kw_only=True):
    """coverage_pct: share of nodes that have metadata of any kind, to one decimal."""

    total_nodes: int
    has_docstring: int
    has_annotations: int
    has_tags: int
    manually_annotated: int
    no_metadata: int
    stale: int
    coverage_pct: float


@rpc_method("smp/enrich/status", dated=False)
def enrich_status(params: ScopeParams, ctx: RequestContext) -> StatusResult:
    """How much of a scope has metadata."""
    graph = graph_of(ctx)
    scope = resolve_scope(graph, params.scope)
    return wire(state.count_enrichment(graph, ctx.services.metadata, scope), StatusResult)


class AnnotateParams(Params, frozen=True, kw_only=True):
    """force: also where the source documents the node already; its docstring is kept.

    session_id: the node's file has to be in that session's scope, and its audit tells of it; an agent with a token needs one.
    """

    node_id: NodeRef
    description: Text
    tags: Tags = ()
    force: bool = False
    session_id: SessionRef | UnsetType = UNSET


class AnnotateResult(Result, frozen=True, kw_only=True):
    node_id: str
    status: Literal["annotated"]
    manually_set: Literal[True]
    annotated_at: str


@rpc_method("smp/annotate")
def annotate(params: AnnotateParams, ctx: RequestContext) -> AnnotateResult:
    """Describe a node by hand, and tag it."""
    now = _annotate(ctx, params, given(params.session_id), method="smp/annotate")
    return AnnotateResult(node_id=now[0], status="annotated", manually_set=True, annotated_at=now[1])


class AnnotationItem(Params, frozen=True, kw_only=True):
    """Like the parameters of smp/annotate."""

    node_id: NodeRef
    description: Text
    tags: Tags = ()
    force: bool = False


class BulkParams(Params, frozen=True, kw_only=True):
    """A failing item is counted and does not stop the others. session_id: as for smp/annotate."""

    annotations: Annotated[tuple[AnnotationItem, ...], Meta(min_length=1)]
    session_id: SessionRef | UnsetType = UNSET


class FailureResult(Result, frozen=True, kw_only=True):
    """index: position in the request, from 0."""

    index: int
    message: str


class BulkResult(Result, frozen=True, kw_only=True):
    annotated: int
    failed: int
    failures: tuple[FailureResult, ...]


@rpc_method("smp/annotate/bulk")
def annotate_bulk(params: BulkParams, ctx: RequestContext) -> BulkResult:
    """Describe many nodes by hand."""
    failures: list[FailureResult] = []
    for index, item in enumerate(params.annotations):
        try:
            _annotate(ctx, item, given(params.session_id), method="smp/annotate/bulk")
        except SmpError as error:
            failures.append(FailureResult(index=index, message=error.message))
    return BulkResult(annotated=len(params.annotations) - len(failures), failed=len(failures), failures=tuple(failures))


class TagParams(Params, frozen=True, kw_only=True):
    """Tags of every node in a scope. session_id: as for smp/annotate; every file with a node there has to be in its scope."""

    scope: ScopeText
    tags: Tags
    action: Literal["add", "remove", "replace"]
    session_id: SessionRef | UnsetType = UNSET


class TagResult(Result, frozen=True, kw_only=True):
    """nodes_affected: nodes whose tags changed."""

    nodes_affected: int
    action: Literal["add", "remove", "replace"]
    scope: str


@rpc_method("smp/tag")
def tag(params: TagParams, ctx: RequestContext) -> TagResult:
    """Add, remove or replace tags on every node of a scope."""
    tags = _unique(params.tags, path="tags")
    graph = graph_of(ctx)
    scope = resolve_scope(graph, params.scope)
    session = given(params.session_id)
    if session is not None:
        files = state.files_of(graph, scope)
        ctx.services.sessions.describe(session, files, method="smp/tag", what=params.scope)
    changed = state.tag_scope(graph, ctx.services.metadata, scope, tags=tags, action=params.action)
    return TagResult(nodes_affected=changed, action=params.action, scope=params.scope)


class SearchFilter(Params, frozen=True, kw_only=True):
    """tags: a match carries all of them."""

    node_types: tuple[NodeKind, ...] = ()
    tags: Tags = ()
    scope: ScopeText = "full"


class SearchParams(Params, frozen=True, kw_only=True):
    """match: every word, or any of them."""

    query: QueryText
    match: Literal["all", "any"] = "all"
    filter: SearchFilter = SearchFilter()
    top_k: TopK = 10
    session_id: SessionRef | UnsetType = UNSET
    cursor: Cursor | UnsetType = UNSET


class MatchResult(Result, frozen=True, kw_only=True):
    """matched_on: fields that hold a word of the query."""

    node_id: str
    node_type: NodeKind
    file: str
    docstring: str | None
    description: str | None
    tags: tuple[str, ...]
    matched_on: tuple[str, ...]
    bm25_score: float


class SearchResult(Result, frozen=True, kw_only=True):
    """total counts matches beyond top_k too. scope_node_count is given where nothing matches. truncated: more matches follow,
    with `next_cursor`."""

    matches: tuple[MatchResult, ...]
    total: int
    searched_fields: tuple[str, ...]
    scope_node_count: int | UnsetType = UNSET
    truncated: bool = False
    next_cursor: str | UnsetType = UNSET


@rpc_method("smp/search")
def search_metadata(params: SearchParams, ctx: RequestContext) -> SearchResult:
    """Ranked full-text search over docstrings, descriptions and tags."""
    graph = graph_of(ctx, params.session_id)
    note_read(ctx, params.session_id, method="smp/search")
    wanted = params.filter
    scope = resolve_scope(graph, wanted.scope, path="filter.scope") if wanted.scope != "full" else Scope()
    generation = ctx.services.indexer.generation()
    offset = page_start(params, given(params.cursor), generation=generation)
    answer = search(
        ctx.services.metadata,
        params.query,
        match=params.match,
        node_types=wanted.node_types,
        tags=_unique(wanted.tags, path="filter.tags"),
        scope=scope,
        limit=offset + params.top_k,
    )
    more = answer.total > offset + params.top_k
    counted = UNSET if answer.total else searched_nodes(graph, node_types=wanted.node_types, scope=scope)
    return SearchResult(
        matches=tuple(
            MatchResult(
                node_id=match.node.id,
                node_type=match.node.kind,
                file=match.node.file or match.node.qualname,
                docstring=match.node.metadata.docstring,
                description=match.enrichment.description,
                tags=match.enrichment.tags,
                matched_on=match.matched_on,
                bm25_score=match.bm25,
            )
            for match in answer.matches[offset:]
        ),
        total=answer.total,
        searched_fields=SEARCHED_FIELDS,
        scope_node_count=counted,
        truncated=more,
        next_cursor=cursor_after(params, offset + params.top_k, generation=generation) if more else UNSET,
    )


def _annotate(
    ctx: RequestContext, item: AnnotateParams | AnnotationItem, session: str | None, *, method: str
) -> tuple[str, str]:
    """The node's id, and when it was annotated."""
    tags = _unique(item.tags, path="tags")
    node = resolve_node(graph_of(ctx), item.node_id, path="node_id")
    state.refuse_documented(node, force=item.force)
    if session is not None:
        ctx.services.sessions.describe(session, (_place_of(node),), method=method, what=node.id)
    now = rfc3339(ctx.services.clock.now())
    state.annotate(ctx.services.metadata, node, description=item.description, tags=tags, force=item.force, now=now)
    return node.id, now


def _place_of(node: Node) -> FilePath:
    """What a session's scope has to hold for it to describe a node."""
    if node.file is not None:
        return node.file
    if node.kind is NodeKind.PACKAGE:
        return FilePath(f"{node.qualname}/")
    raise Invalid(f"{node.id!r} lies in no file, so in no session's scope; leave it to the operator", path="node_id")


def _unique(tags: tuple[str, ...], *, path: str) -> tuple[str, ...]:
    if len(set(tags)) != len(tags):
        raise Invalid("a tag is named twice; name each tag once", path=path)
    return tags


METHODS = (
    enrich,
    enrich_batch,
    enrich_stale,
    enrich_status,
    annotate,
    annotate_bulk,
    tag,
    search_metadata,
)
