"""Answers of the read side: what one question about the graph yields, before it takes the shape of the wire.

All sequences are sorted as their docstring says; equal graphs give equal answers.
"""

from __future__ import annotations

from msgspec import Struct

from smp.domain.communities import Community
from smp.domain.graph import EdgeKind, Node, NodeKind, UnresolvedReason
from smp.domain.ids import AgentId, CommitSha, ContentHash, FilePath, NodeId, SandboxId


class Neighbourhood(Struct, frozen=True, kw_only=True):
    """Qualified names around a node, each list sorted and unique.

    Attributes:
        calls, called_by: Over CALLS_STATIC and CALLS_RUNTIME; module-level code is named by its path.
        depends_on: Targets of USES, DEPENDS_ON, INHERITS, IMPLEMENTS, IMPORTS, REFERENCES.
    """

    calls: tuple[str, ...] = ()
    called_by: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


class Entity(Struct, frozen=True, kw_only=True):
    """A node found by navigation; purpose: its docstring, else what was annotated."""

    node: Node
    purpose: str | None
    neighbourhood: Neighbourhood | None = None


class TracedNode(Struct, frozen=True, kw_only=True):
    """A reached node; name: qualified; depth: smallest distance, at least 1."""

    id: NodeId
    name: str
    file: FilePath | None
    depth: int


class TraceTree(Struct, frozen=True, kw_only=True):
    """One node of a trace; branches by name, sorted. A node that was expanded nearer to the root has none."""

    branches: dict[str, TraceTree] = {}


class Trace(Struct, frozen=True, kw_only=True):
    """A walk over one relationship.

    Attributes:
        label: What joins the levels: `calls`, `called_by`, `imports` …
        nodes: By depth, then id; the start left out.
    """

    root: str
    label: str
    tree: TraceTree
    nodes: tuple[TracedNode, ...]


class Dependent(Struct, frozen=True, kw_only=True):
    """A definition that a change reaches; relationship: `CALLS`, `TESTS`, `INHERITS`, `OVERRIDES` …"""

    id: NodeId
    file: FilePath
    relationship: str


class RequiredUpdate(Struct, frozen=True, kw_only=True):
    """A place that must be edited with the change; function is None for module-level code and import lines."""

    file: FilePath
    function: str | None
    reason: str
    change_type: str


class ImpactReport(Struct, frozen=True, kw_only=True):
    """What a change breaks.

    Attributes:
        affected_functions: Direct dependents, by file, id, relationship.
        severity: `none` exactly when nothing is affected.
        transitive_functions: Definitions that reach the entity over further calls; they need no edit themselves.
    """

    affected_files: tuple[FilePath, ...]
    affected_functions: tuple[Dependent, ...]
    severity: str
    required_updates: tuple[RequiredUpdate, ...]
    transitive_functions: int = 0
    transitive_files: int = 0


class ContextSummary(Struct, frozen=True, kw_only=True):
    """Counts and lists derived from the graph alone (specification, context summary)."""

    role: str
    blast_radius: int
    api_layer_callers: int
    api_layer_total: int
    avg_complexity: float
    max_complexity: int
    exported_symbols: int
    has_tests: bool
    test_files: tuple[FilePath, ...]
    is_hot_node: bool
    heat_score: int
    risk_level: str


class ImportOf(Struct, frozen=True, kw_only=True):
    file: FilePath
    items: tuple[str, ...]


class DefinedFunction(Struct, frozen=True, kw_only=True):
    """name: qualified, so that methods of two classes stay apart."""

    id: NodeId
    name: str
    complexity: int
    exported: bool
    signature: str | None = None
    start_line: int = 0


class DefinedClass(Struct, frozen=True, kw_only=True):
    id: NodeId
    name: str
    method_count: int
    exported: bool
    start_line: int = 0


class SimilarFile(Struct, frozen=True, kw_only=True):
    """A file that imports the same files; shared_node_types: kinds of definitions that both hold, sorted."""

    file: FilePath
    shared_imports: int
    shared_node_types: tuple[NodeKind, ...]


class DataFlow(Struct, frozen=True, kw_only=True):
    """A value that crosses the file's border in a call.

    Attributes:
        other: The file at the far end.
        via: Qualified name of the caller (in) or the callee (out).
        carries: Annotated type of what is handed in, or returned; None when not written.
    """

    other: FilePath
    via: str
    carries: str | None


class ReachedFile(Struct, frozen=True, kw_only=True):
    """A file that depends on another over a chain of imports; depth: number of imports, at least 1."""

    file: FilePath
    depth: int


class FileContext(Struct, frozen=True, kw_only=True):
    """The editing context of one file; reach: files that import it, nearest first."""

    file: Node
    summary: ContextSummary
    imports: tuple[ImportOf, ...]
    imported_by: tuple[FilePath, ...]
    functions: tuple[DefinedFunction, ...]
    classes: tuple[DefinedClass, ...]
    structurally_similar: tuple[SimilarFile, ...]
    entry_points: tuple[NodeId, ...]
    data_flow_in: tuple[DataFlow, ...]
    data_flow_out: tuple[DataFlow, ...]
    reach: tuple[ReachedFile, ...] = ()


class Heat(Struct, frozen=True, kw_only=True):
    """How often a node changes and how many depend on it; heat_score in 0..100."""

    node_id: NodeId
    file: FilePath | None
    changes_in_window: int
    caller_count: int
    heat_score: int
    last_changed_by: AgentId | None = None
    last_changed_at: str | None = None


class RoutedCommunity(Struct, frozen=True, kw_only=True):
    """Where the search for seeds was narrowed to; confidence in [0, 1]; searched_nodes: its size."""

    id: NodeId
    label: str
    confidence: float
    searched_nodes: int


class RankedNode(Struct, frozen=True, kw_only=True):
    """A located node; scores as decisions.md section 6 defines them."""

    node_id: NodeId
    node_type: NodeKind
    name: str
    file: FilePath | None
    community_id: NodeId | None
    signature: str | None
    docstring: str | None
    tags: tuple[str, ...]
    final_score: float
    vector_score: float
    pagerank: float
    heat_score: int
    is_seed: bool
    reachable_from: tuple[NodeId, ...]
    start_line: int = 0
    end_line: int = 0


class StructuralLink(Struct, frozen=True, kw_only=True):
    """A true edge between two results; bridge: `label → label` where it crosses communities."""

    source: NodeId
    target: NodeId
    edge_type: EdgeKind
    hop: int
    bridge: str | None = None


class Located(Struct, frozen=True, kw_only=True):
    """results by falling score, ties by id; remaining: candidates behind them; structural_map by source, target, edge_type."""

    query: str
    routed_community: RoutedCommunity | None
    seed_count: int
    total_walked: int
    results: tuple[RankedNode, ...]
    remaining: int = 0
    structural_map: tuple[StructuralLink, ...]


class PathStep(Struct, frozen=True, kw_only=True):
    """One edge of a path."""

    source: Node
    kind: EdgeKind
    target: Node


class FlowStep(Struct, frozen=True, kw_only=True):
    """type: `endpoint`, `method`, `function`, `class`, `test`, `file` …"""

    id: NodeId
    node: str
    type: str
    file: FilePath | None


class TypeTransition(Struct, frozen=True, kw_only=True):
    """What crosses from a caller to a callee; types as written, parameters without annotation as `unknown`."""

    from_node: str
    to_node: str
    param_types: tuple[str, ...]
    return_type: str | None


class Flow(Struct, frozen=True, kw_only=True):
    """path is empty where no way exists, else both ends are in it."""

    path: tuple[FlowStep, ...]
    type_transitions: tuple[TypeTransition, ...]


class NodeChanges(Struct, frozen=True, kw_only=True):
    """What became of a node between two versions; calls as node ids, sorted."""

    signature_changed: bool
    body_changed: bool
    complexity_delta: int
    calls_added: tuple[NodeId, ...]
    calls_removed: tuple[NodeId, ...]


class ModifiedNode(Struct, frozen=True, kw_only=True):
    before: Node
    after: Node
    changes: NodeChanges


class Link(Struct, frozen=True, kw_only=True):
    kind: EdgeKind
    source: NodeId
    target: NodeId


class StructuralDiff(Struct, frozen=True, kw_only=True):
    """Two versions of a file at the level of nodes; each tuple sorted by id."""

    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    modified: tuple[ModifiedNode, ...]
    links_added: tuple[Link, ...]
    links_removed: tuple[Link, ...]


class UnresolvedCall(Struct, frozen=True, kw_only=True):
    """A call without a proved target, and what would settle it.

    Attributes:
        action: `add_import`, `annotate_type` or `trace_runtime`. action_target: the file to do it in.
        lines: Where it is called, 1-based.
        settled_by: What its caller was seen to call that this call can have been; sorted.
    """

    caller: NodeId
    file: FilePath
    to_name: str
    reason: UnresolvedReason
    candidates: tuple[NodeId, ...]
    action: str
    action_target: FilePath
    lines: tuple[int, ...] = ()
    settled_by: tuple[NodeId, ...] = ()


class NotLinked(Struct, frozen=True, kw_only=True):
    """Files of a language of which definitions are known and no calls."""

    language: str
    files: int


class LinkerReport(Struct, frozen=True, kw_only=True):
    """unresolved by file, first line, name; external calls are counted only; not_linked by language."""

    unresolved: tuple[UnresolvedCall, ...]
    external_count: int
    not_linked: tuple[NotLinked, ...] = ()


class RecentChange(Struct, frozen=True, kw_only=True):
    """The newest change of a node; agent is None for an outside edit."""

    node_id: NodeId
    event: str
    at: str
    agent: AgentId | None


class Attention(Struct, frozen=True, kw_only=True):
    """What to look at in a file; recent_changes newest first, the rest sorted."""

    unresolved: tuple[UnresolvedCall, ...]
    without_direct_test: tuple[NodeId, ...]
    recent_changes: tuple[RecentChange, ...]


class ObservedAt(Struct, frozen=True, kw_only=True):
    """Calls seen at one commit; sandbox_id and first_seen are of the first run that saw them."""

    commit_sha: CommitSha | None
    sandbox_id: SandboxId | None
    first_seen: str | None
    call_count: int


class RuntimeCallee(Struct, frozen=True, kw_only=True):
    """runs: oldest first; call_count is their sum."""

    node_id: NodeId
    file: FilePath
    call_count: int
    was_static_unresolved: bool
    runs: tuple[ObservedAt, ...] = ()


class SettledCall(Struct, frozen=True, kw_only=True):
    """An unresolved call and what it can have been of what was seen; sorted."""

    to_name: str
    reason: UnresolvedReason
    lines: tuple[int, ...]
    answers: tuple[NodeId, ...]


class RuntimeReport(Struct, frozen=True, kw_only=True):
    """What a node was seen to call.

    Attributes:
        static_only_callees: What its source says that it calls and no run has shown.
        unresolved_remaining: Its unresolved calls that no observation settles. settled: the others, with their answers.
        ran: Whether any run was seen to enter or leave the node; where none was, what is not shown says nothing.
    """

    node_id: NodeId
    runtime_callees: tuple[RuntimeCallee, ...]
    static_only_callees: tuple[NodeId, ...]
    unresolved_remaining: int
    settled: tuple[SettledCall, ...] = ()
    ran: bool = False


class StaleFile(Struct, frozen=True, kw_only=True):
    """server_hash is None for a file that only the client has."""

    file: FilePath
    client_hash: str
    server_hash: ContentHash | None


class MissingFile(Struct, frozen=True, kw_only=True):
    file: FilePath
    server_hash: ContentHash


class SyncDiff(Struct, frozen=True, kw_only=True):
    """Client against server; each tuple by path."""

    server_root_hash: ContentHash
    in_sync: bool
    stale_on_server: tuple[StaleFile, ...] = ()
    missing_on_client: tuple[MissingFile, ...] = ()
    deleted_on_server: tuple[FilePath, ...] = ()
    unchanged: int = 0


class StaleNode(Struct, frozen=True, kw_only=True):
    """A node whose source moved on since it was enriched (or that never was: the last two are None)."""

    node_id: NodeId
    file: FilePath
    last_enriched: str | None
    current_hash: ContentHash
    enriched_hash: ContentHash | None


class EnrichmentCounts(Struct, frozen=True, kw_only=True):
    """coverage_pct: share of nodes with metadata of any kind, 0 to 100, one decimal; 100 for an empty scope."""

    total_nodes: int
    has_docstring: int
    has_annotations: int
    has_tags: int
    manually_annotated: int
    no_metadata: int
    stale: int
    coverage_pct: float


class CommunityMember(Struct, frozen=True, kw_only=True):
    id: NodeId
    type: NodeKind
    name: str
    file: FilePath | None
    pagerank: float
    heat_score: int


class BridgeEdge(Struct, frozen=True, kw_only=True):
    """An edge that crosses the border of a community, in its own direction."""

    source: NodeId
    target: NodeId
    edge_type: EdgeKind
    to_community: NodeId
    coupling_weight: float


class CommunityDetail(Struct, frozen=True, kw_only=True):
    """members by falling rank, ties by id."""

    community: Community
    members: tuple[CommunityMember, ...]
    bridge_edges: tuple[BridgeEdge, ...] = ()


class BridgeNode(Struct, frozen=True, kw_only=True):
    """side: label of the community it belongs to; degrees count edges to and from the other side."""

    id: NodeId
    type: NodeKind
    side: str
    in_degree_from_peer: int
    out_degree_to_peer: int


class Boundary(Struct, frozen=True, kw_only=True):
    """Two communities that touch; bridge_nodes by falling degree, ties by id, at most ten."""

    from_community: NodeId
    to_community: NodeId
    edge_count: int
    coupling_weight: float
    bridge_nodes: tuple[BridgeNode, ...]


class PlanStep(Struct, frozen=True, kw_only=True):
    """A file of a plan; depends_on_steps: earlier steps it imports from, ascending."""

    step: int
    file: FilePath
    dependants_in_plan: int
    dependencies_in_plan: int
    depends_on_steps: tuple[int, ...]
    blast_radius: int
    is_hot_node: bool
    heat_score: int
    risk_level: str
    is_new_file: bool


class PlanCycle(Struct, frozen=True, kw_only=True):
    """Files of the plan that import one another in a circle; they must be written together."""

    files: tuple[FilePath, ...]
    message: str


class TaskPlan(Struct, frozen=True, kw_only=True):
    """Dependencies first; ties by risk, low first, then path."""

    execution_order: tuple[PlanStep, ...]
    inter_file_conflicts: tuple[PlanCycle, ...]
    external_files_at_risk: tuple[FilePath, ...]


class ScopeOverlap(Struct, frozen=True, kw_only=True):
    """What two scopes share; each tuple sorted."""

    files: tuple[FilePath, ...]
    nodes: tuple[NodeId, ...]
