// Written by infra/typescript_types.py from the server's structs; do not edit.

/** One change of a file. Without content the file is read from disk; the working tree is never written. */
export interface UpdateParams {
  readonly type?: "file_change";
  readonly file_path: string;
  readonly content?: string;
  readonly change_type: "created" | "deleted" | "modified";
  readonly session_id?: string;
}

/** Changes of distinct files. All or nothing. */
export interface BatchUpdateParams {
  readonly changes: readonly (ChangeItem)[];
  readonly session_id?: string;
}

/** Like the parameters of smp/update. */
export interface ChangeItem {
  readonly type?: "file_change";
  readonly file_path: string;
  readonly content?: string;
  readonly change_type: "created" | "deleted" | "modified";
}

/** Hashes may be prefixes of at least 8 digits. A path that ends with a slash is a folder: its hash says all below at once. */
export interface SyncParams {
  readonly client_root_hash: string;
  readonly file_hashes: Record<string, string>;
}

/** The part of the tree to show; hashes stay those of the whole. */
export interface MerkleParams {
  readonly scope?: string;
}

/** What to export, and with which of the server's own keys to sign; without one, with the one that it has. */
export interface ExportParams {
  readonly scope?: string;
  readonly signing_key_id?: string;
}

/**
 * A snapshot that lies in the server's data directory, and the root hash of it or of the tree that it is to serve.
 *
 * source_url: `smp://snapshots/<snapshot_id>.tar.zst`; nothing is fetched from elsewhere. verify_signature: false takes
 * what no trusted key has signed.
 */
export interface ImportParams {
  readonly snapshot_id: string;
  readonly source_url?: string;
  readonly expected_root_hash?: string;
  readonly verify_signature?: boolean;
}

/** Where the calls are made. */
export interface ReportParams {
  readonly scope?: string;
}

/** The caller; with commit_sha only what was observed at that commit. */
export interface RuntimeParams {
  readonly node_id: string;
  readonly commit_sha?: string;
}

/** force: read again although the source has not changed. */
export interface EnrichParams {
  readonly node_id: string;
  readonly force?: boolean;
}

/** force: read again although the source has not changed. */
export interface BatchParams {
  readonly scope: string;
  readonly force?: boolean;
}

/** The part of the repository to look at. */
export interface ScopeParams {
  readonly scope: string;
}

/**
 * force: also where the source documents the node already; its docstring is kept.
 *
 * session_id: the node's file has to be in that session's scope, and its audit tells of it; an agent with a token needs one.
 */
export interface AnnotateParams {
  readonly node_id: string;
  readonly description: string;
  readonly tags?: readonly (string)[];
  readonly force?: boolean;
  readonly session_id?: string;
}

/** A failing item is counted and does not stop the others. session_id: as for smp/annotate. */
export interface BulkParams {
  readonly annotations: readonly (AnnotationItem)[];
  readonly session_id?: string;
}

/** Like the parameters of smp/annotate. */
export interface AnnotationItem {
  readonly node_id: string;
  readonly description: string;
  readonly tags?: readonly (string)[];
  readonly force?: boolean;
}

/** Tags of every node in a scope. session_id: as for smp/annotate; every file with a node there has to be in its scope. */
export interface TagParams {
  readonly scope: string;
  readonly tags: readonly (string)[];
  readonly action: "add" | "remove" | "replace";
  readonly session_id?: string;
}

/** match: every word, or any of them. */
export interface SearchParams {
  readonly query: string;
  readonly match?: "all" | "any";
  readonly filter?: SearchFilter;
  readonly top_k?: number;
  readonly session_id?: string;
  readonly cursor?: string;
}

/** tags: a match carries all of them. */
export interface SearchFilter {
  readonly node_types?: readonly ("Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community")[];
  readonly tags?: readonly (string)[];
  readonly scope?: string;
}

/** Defaults: calls and imports, resolution 0.5 (coarse) and 1.5 (fine), at least 5 members. */
export interface DetectParams {
  readonly algorithm?: "louvain";
  readonly relationship_types?: readonly ("CONTAINS" | "IMPORTS" | "DEFINES" | "CALLS_STATIC" | "CALLS_RUNTIME" | "CALLS_UNRESOLVED" | "INHERITS" | "IMPLEMENTS" | "DEPENDS_ON" | "TESTS" | "USES" | "REFERENCES" | "MEMBER_OF" | "BRIDGES" | "CHILD_OF")[];
  readonly levels?: readonly (LevelOption)[];
  readonly min_community_size?: number;
}

/** resolution: higher gives more and smaller communities. */
export interface LevelOption {
  readonly level: 0 | 1;
  readonly resolution: number;
  readonly label?: string;
}

/** Both levels where none is given. */
export interface ListParams {
  readonly level?: 0 | 1;
}

/** node_types: of the members listed. include_bridges: also the edges that cross its border. */
export interface GetParams {
  readonly community_id: string;
  readonly node_types?: readonly ("Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community")[];
  readonly include_bridges?: boolean;
}

/** Pairs below min_coupling are left out. */
export interface BoundariesParams {
  readonly level: 0 | 1;
  readonly min_coupling?: number;
}

/** Find one definition. */
export interface NavigateParams {
  readonly query: string;
  readonly include_relationships?: boolean;
  readonly session_id?: string;
}

/** Follow one relationship; `CALLS` is static and runtime calls. */
export interface TraceParams {
  readonly start: string;
  readonly relationship: "BRIDGES" | "CALLS" | "CALLS_RUNTIME" | "CALLS_STATIC" | "CALLS_UNRESOLVED" | "CHILD_OF" | "CONTAINS" | "DEFINES" | "DEPENDS_ON" | "IMPLEMENTS" | "IMPORTS" | "INHERITS" | "MEMBER_OF" | "REFERENCES" | "TESTS" | "USES";
  readonly depth?: number;
  readonly direction?: "incoming" | "outgoing";
  readonly session_id?: string;
}

/**
 * The file to be edited, as a path or a definition in it.
 *
 * `depth`: how many imports away a dependent file is still listed. `debug` and `review` add `attention`.
 */
export interface ContextParams {
  readonly file_path: string;
  readonly scope?: "create" | "debug" | "edit" | "review";
  readonly depth?: number;
  readonly session_id?: string;
  readonly max_tokens?: number;
}

/** The entity to be changed, and how. */
export interface ImpactParams {
  readonly entity: string;
  readonly change_type: "delete" | "move" | "signature_change";
  readonly session_id?: string;
  readonly max_tokens?: number;
}

/** Proposed content of a file, which need not exist yet. Nothing is stored. */
export interface DiffParams {
  readonly file_path: string;
  readonly proposed_content: string;
  readonly session_id?: string;
}

/**
 * A description in plain words.
 *
 * `node_types` default to classes, functions and interfaces. `community_id` forces a community; null routes by itself.
 * `ranking`: `composite` is the weighted sum of similarity, rank and heat; `fusion` joins words, similarity, names, graph
 * and heat.
 */
export interface LocateParams {
  readonly query: string;
  readonly seed_k?: number;
  readonly hops?: number;
  readonly top_k?: number;
  readonly node_types?: readonly ("Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community")[];
  readonly community_id?: string | null;
  readonly ranking?: "composite" | "fusion";
  readonly session_id?: string;
  readonly max_tokens?: number;
  readonly cursor?: string;
}

/** flow_type: `execution` follows calls, `data` also what is used and referred to. */
export interface FlowParams {
  readonly start: string;
  readonly end: string;
  readonly flow_type?: "data" | "execution";
  readonly session_id?: string;
}

/** The dependent node and what it may depend on. */
export interface WhyParams {
  readonly from: string;
  readonly to: string;
  readonly session_id?: string;
}

/** Files that a session means to write; those that do not exist yet are new files. */
export interface PlanParams {
  readonly session_id: string;
  readonly task: string;
  readonly intended_writes: readonly (string)[];
}

/** Two open sessions. */
export interface ConflictParams {
  readonly session_a: string;
  readonly session_b: string;
}

/**
 * What an agent is about to do.
 *
 * Attributes:
 *     scope: Files, or folders ending in `/`, that it may write; they need not exist yet.
 *     commit_sha: The commit that an mvcc session works on; HEAD when left out.
 *     concurrency: `mvcc` works in its own sandbox and blocks nobody; `exclusive` in the working tree, under locks.
 *     ttl_seconds: Life without a call; every call extends it.
 */
export interface OpenParams {
  readonly agent_id: string;
  readonly task: string;
  readonly scope: readonly (string)[];
  readonly mode: "read" | "write";
  readonly commit_sha?: string;
  readonly concurrency?: "mvcc" | "exclusive";
  readonly ttl_seconds?: number;
}

/** agent_id: who opened the session. */
export interface RecoverParams {
  readonly session_id: string;
  readonly agent_id: string;
}

/** status: how the work ended. */
export interface CloseParams {
  readonly session_id: string;
  readonly status: "aborted" | "completed" | "rolled_back";
}

/**
 * A file that is about to be written.
 *
 * Attributes:
 *     intended_change: `modify_function:NAME`, `add_…`, `delete_…`, `rename_function:NAME->NEW`; the whole file when left
 *         out.
 *     coverage_report: An lcov tracefile or Cobertura XML inside the repository (or the session's sandbox).
 */
export interface GuardParams {
  readonly session_id: string;
  readonly target: string;
  readonly intended_change?: string;
  readonly coverage_report?: string;
}

/** The content that a file would have. */
export interface DryrunParams {
  readonly session_id: string;
  readonly file_path: string;
  readonly proposed_content: string;
  readonly change_summary?: string;
}

/** Files of the session's scope. */
export interface FilesParams {
  readonly session_id: string;
  readonly files: readonly (string)[];
}

/** A checkpoint of this session. */
export interface RollbackParams {
  readonly session_id: string;
  readonly checkpoint_id: string;
}

/** From smp/session/close. */
export interface AuditParams {
  readonly audit_log_id: string;
}

/** Limits default to the settings (`[safety]` hot_changes, hot_callers, hot_window_days). */
export interface HotParams {
  readonly scope?: string;
  readonly window_days?: number;
  readonly min_changes?: number;
  readonly min_callers?: number;
}

/** One node; the window defaults to the settings (`[safety]` hot_window_days). */
export interface NodeParams {
  readonly node_id: string;
  readonly window_days?: number;
}

/**
 * A box for a session.
 *
 * `commit_sha` is the session's by default. `image` and `services` that the driver cannot honour are refused.
 * `inject_ebpf`: trace calls, with the tracer that `[sandbox] tracer` names. `cow_fs_clone`: the checkout is always copy-on-write.
 */
export interface SpawnParams {
  readonly session_id: string;
  readonly commit_sha?: string;
  readonly image?: string;
  readonly services?: readonly (string)[];
  readonly cow_fs_clone?: boolean;
  readonly inject_ebpf?: boolean;
}

/** `timeout_ms` is the setting `[sandbox] timeout_ms` by default; `session_id` may be left out. */
export interface ExecuteParams {
  readonly sandbox_id: string;
  readonly command: string;
  readonly timeout_ms?: number;
  readonly session_id?: string;
}

/** A part of what a command wrote. offset, limit: bytes. */
export interface LogParams {
  readonly session_id: string;
  readonly execution_id: string;
  readonly stream?: "stderr" | "stdout";
  readonly offset?: number;
  readonly limit?: number;
}

/** A box and the session that owns it. */
export interface DestroyParams {
  readonly sandbox_id: string;
  readonly session_id: string;
}

/** One target and the test file that vouches for it, as both lie in the box. */
export interface IntegrityParams {
  readonly sandbox_id: string;
  readonly target_file: string;
  readonly test_file: string;
}

/** A survivor, by its number in a verdict, that no test could tell from the original; and why. */
export interface MarkParams {
  readonly verify_result_id: string;
  readonly mutant: number;
  readonly reason: string;
}

/** Publish a box's change set. `base_sha` is the box's commit; `verify_result_id` the verdict relied on. */
export interface PullRequestParams {
  readonly sandbox_id: string;
  readonly session_id: string;
  readonly title: string;
  readonly base_sha?: string;
  readonly issue_refs?: readonly (string)[];
  readonly include?: IncludeParams;
  readonly verify_result_id?: string;
}

/** Parts of the document; all by default. */
export interface IncludeParams {
  readonly structural_diff?: boolean;
  readonly runtime_edges?: boolean;
  readonly mutation_score?: boolean;
  readonly execution_log?: boolean;
}

/** Hand a verified box to a reviewer. */
export interface ReviewParams {
  readonly sandbox_id: string;
  readonly session_id: string;
  readonly reviewer_agent: string;
  readonly verify_result_id: string;
}

/**
 * The reviewer's decision.
 *
 * Attributes:
 *     session_id: The reviewer's session; may be left out where the token says who calls.
 */
export interface DecideParams {
  readonly handoff_id: string;
  readonly decision: "approve" | "reject" | "request_changes";
  readonly comments?: string;
  readonly session_id?: string;
}

/** The whole repository. */
export interface MapParams {

}

/** Lines are 1-based and inclusive; the whole file where they are left out. */
export interface SourceParams {
  readonly file_path: string;
  readonly first?: number;
  readonly last?: number;
}

/** The newest first. */
export interface SessionsParams {
  readonly limit?: number;
}

/** An open or an ended session. */
export interface StepsParams {
  readonly session_id: string;
}

/** An open or an ended session. */
export interface EvidenceParams {
  readonly session_id: string;
}

/** The newest first. */
export interface SwarmsParams {
  readonly limit?: number;
}

export interface SwarmParams {
  readonly swarm_id: string;
}

/** status: `partial` when a part of a file did not parse; the rest of it counts. */
export interface MemoryUpdateResult {
  readonly index_state?: IndexStateResult;
  readonly status: "partial" | "success";
  readonly nodes_added: number;
  readonly nodes_updated: number;
  readonly nodes_removed: number;
  readonly relationships_updated: number;
  readonly parse_errors: readonly (ParseErrorResult)[];
}

/**
 * What an answer was made from.
 *
 * commit: checked out when the index was brought up to date. dirty: files that differ from it, the answer is of their
 * present text. stale: files that have changed since they were indexed; what the answer says of them is of before. Of
 * both lists the first hundred are named, the counts are of all.
 */
export interface IndexStateResult {
  readonly commit: string | null;
  readonly dirty: readonly (string)[];
  readonly stale: readonly (string)[];
  readonly dirty_count: number;
  readonly stale_count: number;
}

/** A part of a file that could not be read; line is 1-based. */
export interface ParseErrorResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface SyncResult {
  readonly index_state?: IndexStateResult;
  readonly server_root_hash: string;
  readonly in_sync: boolean;
  readonly diff: SyncDiffResult;
}

export interface SyncDiffResult {
  readonly index_state?: IndexStateResult;
  readonly stale_on_server: readonly (MemoryStaleResult)[];
  readonly missing_on_client: readonly (MissingResult)[];
  readonly deleted_on_server: readonly (DeletedResult)[];
  readonly unchanged: number;
}

/** server_hash is null for what only the client has; a folder (its path ends with a slash): name what is in it. */
export interface MemoryStaleResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly client_hash: string;
  readonly server_hash: string | null;
  readonly action: "push";
}

export interface MissingResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly server_hash: string;
  readonly action: "pull";
}

export interface DeletedResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly action: "remove_from_graph";
}

export interface MerkleResult {
  readonly index_state?: IndexStateResult;
  readonly root_hash: string;
  readonly tree: Record<string, MerkleNode>;
}

/** A directory (children by name) or a file (node_count: nodes it defines, itself included). */
export interface MerkleNode {
  readonly index_state?: IndexStateResult;
  readonly hash: string;
  readonly children?: Record<string, MerkleNode>;
  readonly node_count?: number;
}

/** A snapshot. root_hash: of the whole tree, whatever the scope. signature: `ed25519:…` over its manifest. */
export interface ExportResult {
  readonly index_state?: IndexStateResult;
  readonly snapshot_id: string;
  readonly root_hash: string;
  readonly scope: string;
  readonly node_count: number;
  readonly edge_count: number;
  readonly signed_at: string;
  readonly signature: string;
  readonly export_url: string;
}

/** Every file of the snapshot's scope is here as it is there. */
export interface ImportedResult {
  readonly status: "imported";
  readonly index_state?: IndexStateResult;
  readonly root_hash_verified: boolean;
  readonly signature_verified: boolean;
  readonly nodes_imported: number;
  readonly edges_imported: number;
  readonly re_indexed_files: number;
  readonly duration_ms: number;
}

/**
 * The working tree differs from the snapshot; the differing files were indexed again.
 *
 * diverging_packages: the directories of differing files, `.` for the root.
 */
export interface PartialImportResult {
  readonly status: "partial_import";
  readonly index_state?: IndexStateResult;
  readonly root_hash_verified: boolean;
  readonly signature_verified: boolean;
  readonly nodes_imported: number;
  readonly edges_imported: number;
  readonly diverging_packages: readonly (string)[];
  readonly re_indexed_files: number;
  readonly duration_ms: number;
}

/** Calls that leave the project (standard library, third party) are counted in external_count and not listed. */
export interface ReportResult {
  readonly index_state?: IndexStateResult;
  readonly unresolved_count: number;
  readonly external_count: number;
  readonly unresolved: readonly (UnresolvedResult)[];
  readonly not_linked: readonly (NotLinkedResult)[];
}

/**
 * A call without a proved target. candidates: ids of definitions it may mean; lines: where, 1-based.
 *
 * settled_by: ids that its caller was seen to call in traced runs and that this call can have been.
 */
export interface UnresolvedResult {
  readonly index_state?: IndexStateResult;
  readonly caller: string;
  readonly file: string;
  readonly to_name: string;
  readonly reason: "ambiguous" | "dynamic" | "not_in_imports";
  readonly candidates: readonly (string)[];
  readonly action: string;
  readonly action_target: string;
  readonly lines: readonly (number)[];
  readonly settled_by: readonly (string)[];
}

/** Files of a language of which definitions are known and no calls: that nothing calls them says nothing. */
export interface NotLinkedResult {
  readonly index_state?: IndexStateResult;
  readonly language: string;
  readonly files: number;
}

/**
 * static_only_callees: what the source says and no run has shown. unresolved_remaining: unresolved calls of the node that no
 * observation settles; settled: the others. ran: a run was seen to enter or leave the node.
 */
export interface RuntimeResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly runtime_callees: readonly (RuntimeCalleeResult)[];
  readonly static_only_callees: readonly (string)[];
  readonly unresolved_remaining: number;
  readonly settled: readonly (SettledCallResult)[];
  readonly ran: boolean;
}

/** was_static_unresolved: the source alone does not give this callee. runs: per commit, oldest first. */
export interface RuntimeCalleeResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly file: string;
  readonly call_count: number;
  readonly was_static_unresolved: boolean;
  readonly runs: readonly (ObservedAtResult)[];
}

/** Calls seen at one commit; sandbox_id and first_seen are of the first run that saw them. */
export interface ObservedAtResult {
  readonly index_state?: IndexStateResult;
  readonly commit_sha: string | null;
  readonly sandbox_id: string | null;
  readonly first_seen: string | null;
  readonly call_count: number;
}

/** An unresolved call, and the ids of what it can have been of what was seen. */
export interface SettledCallResult {
  readonly index_state?: IndexStateResult;
  readonly to_name: string;
  readonly reason: "ambiguous" | "dynamic" | "not_in_imports";
  readonly lines: readonly (number)[];
  readonly answers: readonly (string)[];
}

/** Metadata as the source has it. source_hash: SHA-256 of the node's own source. */
export interface EnrichedResult {
  readonly status: "enriched";
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly docstring: string | null;
  readonly inline_comments: readonly (CommentResult)[];
  readonly decorators: readonly (string)[];
  readonly annotations: AnnotationsResult;
  readonly tags: readonly (string)[];
  readonly source_hash: string;
  readonly enriched_at: string;
}

export interface CommentResult {
  readonly index_state?: IndexStateResult;
  readonly line: number;
  readonly text: string;
}

/** params: annotated parameters only, without the receiver. throws: names raised in the body. */
export interface AnnotationsResult {
  readonly index_state?: IndexStateResult;
  readonly params: Record<string, string>;
  readonly returns: string | null;
  readonly throws: readonly (string)[];
}

/** Nothing to do. */
export interface SkippedResult {
  readonly status: "skipped";
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly reason: string;
}

/** Nothing can be extracted; smp/annotate can add a description. */
export interface NoMetadataResult {
  readonly status: "no_metadata";
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly reason: string;
}

/** no_metadata_nodes: candidates for smp/annotate. */
export interface BatchResult {
  readonly index_state?: IndexStateResult;
  readonly enriched: number;
  readonly skipped: number;
  readonly no_metadata: number;
  readonly failed: number;
  readonly no_metadata_nodes: readonly (string)[];
}

export interface EnrichmentStaleResult {
  readonly index_state?: IndexStateResult;
  readonly stale_count: number;
  readonly stale_nodes: readonly (StaleNodeResult)[];
}

/** last_enriched and enriched_hash are null for a node that never was enriched. */
export interface StaleNodeResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly file: string;
  readonly last_enriched: string | null;
  readonly current_hash: string;
  readonly enriched_hash: string | null;
}

/** coverage_pct: share of nodes that have metadata of any kind, to one decimal. */
export interface StatusResult {
  readonly index_state?: IndexStateResult;
  readonly total_nodes: number;
  readonly has_docstring: number;
  readonly has_annotations: number;
  readonly has_tags: number;
  readonly manually_annotated: number;
  readonly no_metadata: number;
  readonly stale: number;
  readonly coverage_pct: number;
}

export interface AnnotateResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly status: "annotated";
  readonly manually_set: true;
  readonly annotated_at: string;
}

export interface BulkResult {
  readonly index_state?: IndexStateResult;
  readonly annotated: number;
  readonly failed: number;
  readonly failures: readonly (FailureResult)[];
}

/** index: position in the request, from 0. */
export interface FailureResult {
  readonly index_state?: IndexStateResult;
  readonly index: number;
  readonly message: string;
}

/** nodes_affected: nodes whose tags changed. */
export interface TagResult {
  readonly index_state?: IndexStateResult;
  readonly nodes_affected: number;
  readonly action: "add" | "remove" | "replace";
  readonly scope: string;
}

/**
 * total counts matches beyond top_k too. scope_node_count is given where nothing matches. truncated: more matches follow,
 * with `next_cursor`.
 */
export interface SearchResult {
  readonly index_state?: IndexStateResult;
  readonly matches: readonly (MatchResult)[];
  readonly total: number;
  readonly searched_fields: readonly (string)[];
  readonly scope_node_count?: number;
  readonly truncated: boolean;
  readonly next_cursor?: string;
}

/** matched_on: fields that hold a word of the query. */
export interface MatchResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly node_type: "Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community";
  readonly file: string;
  readonly docstring: string | null;
  readonly description: string | null;
  readonly tags: readonly (string)[];
  readonly matched_on: readonly (string)[];
  readonly bm25_score: number;
}

/** nodes_assigned: nodes in a community. bridge_edges: pairs of communities that touch, at both levels. */
export interface DetectResult {
  readonly index_state?: IndexStateResult;
  readonly nodes_assigned: number;
  readonly bridge_edges: number;
  readonly levels: Record<string, LevelResult>;
  readonly coarse_communities: readonly (CoarseResult)[];
  readonly fine_communities: readonly (FineResult)[];
}

export interface LevelResult {
  readonly index_state?: IndexStateResult;
  readonly communities_found: number;
  readonly modularity: number;
}

/** fine_children: fine communities of which it holds most. */
export interface CoarseResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly label: string;
  readonly member_count: number;
  readonly fine_children: number;
}

export interface FineResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly parent: string;
  readonly label: string;
  readonly member_count: number;
}

/** By level, falling size, id. */
export interface ListResult {
  readonly index_state?: IndexStateResult;
  readonly total: number;
  readonly communities: readonly (CommunityResult)[];
}

/** modularity_score: its own share. bridge_communities: those it touches. */
export interface CommunityResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly level: number;
  readonly parent_community: string | null;
  readonly label: string;
  readonly majority_path_prefix: string;
  readonly top_tags: readonly (string)[];
  readonly member_count: number;
  readonly file_count: number;
  readonly internal_edge_count: number;
  readonly external_edge_count: number;
  readonly modularity_score: number;
  readonly bridge_communities: readonly (string)[];
}

/** member_count counts all members, also those that node_types leaves out. */
export interface GetResult {
  readonly index_state?: IndexStateResult;
  readonly community_id: string;
  readonly level: number;
  readonly parent_community: string | null;
  readonly label: string;
  readonly member_count: number;
  readonly members: readonly (MemberResult)[];
  readonly bridge_edges?: readonly (BridgeEdgeResult)[];
}

export interface MemberResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly type: "Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community";
  readonly name: string;
  readonly file: string | null;
  readonly pagerank: number;
  readonly heat_score: number;
}

/** An edge in its own direction; to_community: the other side. */
export interface BridgeEdgeResult {
  readonly index_state?: IndexStateResult;
  readonly from: string;
  readonly to: string;
  readonly edge_type: "CONTAINS" | "IMPORTS" | "DEFINES" | "CALLS_STATIC" | "CALLS_RUNTIME" | "CALLS_UNRESOLVED" | "INHERITS" | "IMPLEMENTS" | "DEPENDS_ON" | "TESTS" | "USES" | "REFERENCES" | "MEMBER_OF" | "BRIDGES" | "CHILD_OF";
  readonly to_community: string;
  readonly coupling_weight: number;
}

/** Strongest first; each pair once. */
export interface BoundariesResult {
  readonly index_state?: IndexStateResult;
  readonly level: number;
  readonly boundaries: readonly (BoundaryResult)[];
}

/** coupling_weight: edges between the two over edges of the smaller, in [0, 1]. */
export interface BoundaryResult {
  readonly index_state?: IndexStateResult;
  readonly from_community: string;
  readonly to_community: string;
  readonly edge_count: number;
  readonly coupling_weight: number;
  readonly bridge_nodes: readonly (BridgeNodeResult)[];
}

/** side: label of its community; degrees count edges to and from the other one. */
export interface BridgeNodeResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly type: "Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community";
  readonly side: string;
  readonly in_degree_from_peer: number;
  readonly out_degree_to_peer: number;
}

/** relationships only where they were asked for. */
export interface NavigateResult {
  readonly index_state?: IndexStateResult;
  readonly entity: EntityResult;
  readonly relationships?: RelationshipsResult;
}

/** A node. purpose: its docstring, else its description; lines are 1-based and inclusive. */
export interface EntityResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly type: "Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community";
  readonly name: string;
  readonly file: string | null;
  readonly signature: string | null;
  readonly purpose: string | null;
  readonly start_line: number;
  readonly end_line: number;
}

/** Qualified names, sorted. */
export interface RelationshipsResult {
  readonly index_state?: IndexStateResult;
  readonly calls: readonly (string)[];
  readonly called_by: readonly (string)[];
  readonly depends_on: readonly (string)[];
}

/** tree: qualified names for people; nodes: the same flat, each once, the start left out. */
export interface TraceResult {
  readonly index_state?: IndexStateResult;
  readonly root: string;
  readonly tree: Record<string, unknown>;
  readonly nodes: readonly (TracedNodeResult)[];
}

/** name: qualified; depth: smallest distance from the start. */
export interface TracedNodeResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly name: string;
  readonly file: string | null;
  readonly depth: number;
}

/**
 * reach: files that import this one, directly or within `depth` imports, nearest first. omitted: entries cut from the
 * end of each list, for `max_tokens`; truncated where there are any.
 */
export interface ContextResult {
  readonly index_state?: IndexStateResult;
  readonly summary: SummaryResult;
  readonly self: SelfResult;
  readonly imports: readonly (ImportResult)[];
  readonly imported_by: readonly (ImporterResult)[];
  readonly defines: DefinesResult;
  readonly structurally_similar: readonly (SimilarResult)[];
  readonly entry_points: readonly (string)[];
  readonly data_flow_in: readonly (FlowInResult)[];
  readonly data_flow_out: readonly (FlowOutResult)[];
  readonly reach: readonly (ReachResult)[];
  readonly attention?: AttentionResult;
  readonly known?: KnownResult;
  readonly truncated: boolean;
  readonly omitted?: Record<string, number>;
}

/** Read this first: counts and lists derived from the graph alone. */
export interface SummaryResult {
  readonly index_state?: IndexStateResult;
  readonly role: "config" | "core_utility" | "endpoint" | "isolated" | "module" | "service" | "test";
  readonly blast_radius: number;
  readonly api_layer_callers: number;
  readonly api_layer_total: number;
  readonly avg_complexity: number;
  readonly max_complexity: number;
  readonly exported_symbols: number;
  readonly has_tests: boolean;
  readonly test_files: readonly (string)[];
  readonly is_hot_node: boolean;
  readonly heat_score: number;
  readonly risk_level: "high" | "low" | "medium";
}

export interface SelfResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly path: string;
  readonly language: string | null;
  readonly lines: number;
  readonly source_hash: string;
}

export interface ImportResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly items: readonly (string)[];
}

export interface ImporterResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
}

export interface DefinesResult {
  readonly index_state?: IndexStateResult;
  readonly functions: readonly (FunctionResult)[];
  readonly classes: readonly (ClassResult)[];
}

export interface FunctionResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly name: string;
  readonly complexity: number;
  readonly exported: boolean;
  readonly signature: string | null;
  readonly start_line: number;
}

export interface ClassResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly name: string;
  readonly method_count: number;
  readonly exported: boolean;
  readonly start_line: number;
}

export interface SimilarResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly shared_imports: number;
  readonly shared_node_types: readonly ("Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community")[];
}

/** carries: annotated types of what is handed in. */
export interface FlowInResult {
  readonly index_state?: IndexStateResult;
  readonly from: string;
  readonly via: string;
  readonly carries: string | null;
}

/** carries: annotated type of what comes back. */
export interface FlowOutResult {
  readonly index_state?: IndexStateResult;
  readonly to: string;
  readonly via: string;
  readonly carries: string | null;
}

/** A file that imports this one over `depth` imports. */
export interface ReachResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly depth: number;
}

/** without_direct_test: functions that no test calls itself. recent_changes: newest first, at most ten. */
export interface AttentionResult {
  readonly index_state?: IndexStateResult;
  readonly unresolved: readonly (OpenCallResult)[];
  readonly without_direct_test: readonly (string)[];
  readonly recent_changes: readonly (RecentChangeResult)[];
}

/** A call without a proved target; lines are 1-based. */
export interface OpenCallResult {
  readonly index_state?: IndexStateResult;
  readonly caller: string;
  readonly to_name: string;
  readonly reason: string;
  readonly lines: readonly (number)[];
}

export interface RecentChangeResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly event: string;
  readonly at: string;
  readonly agent: string | null;
}

/** What earlier sessions met in this file. fixed_by: failure class → rules that resolved it; seen_counts: in how many episodes. */
export interface KnownResult {
  readonly index_state?: IndexStateResult;
  readonly episodes: readonly (string)[];
  readonly failures: readonly (string)[];
  readonly file: string;
  readonly fixed_by: Record<string, readonly (string)[]>;
  readonly node: string;
  readonly rules: readonly (string)[];
  readonly seen_counts: Record<string, number>;
}

/**
 * transitive_functions, transitive_files: what depends on the entity further away. omitted: entries cut from the end of
 * each list, for `max_tokens`; truncated where there are any.
 */
export interface ImpactResult {
  readonly index_state?: IndexStateResult;
  readonly affected_files: readonly (string)[];
  readonly affected_functions: readonly (AffectedResult)[];
  readonly severity: "high" | "low" | "medium" | "none";
  readonly required_updates: readonly (ChangeUpdateResult)[];
  readonly transitive_functions: number;
  readonly transitive_files: number;
  readonly truncated: boolean;
  readonly omitted?: Record<string, number>;
}

/** relationship: CALLS, TESTS, INHERITS, IMPLEMENTS, USES, OVERRIDES, or MAY_CALL (through an overridden method). */
export interface AffectedResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly file: string;
  readonly relationship: string;
}

/** function is null for module-level code and import lines. */
export interface ChangeUpdateResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly function: string | null;
  readonly reason: string;
  readonly change_type: "delete" | "move" | "signature_change";
}

/** All lists by id. */
export interface DiffResult {
  readonly index_state?: IndexStateResult;
  readonly nodes_added: readonly (ChangeNodeResult)[];
  readonly nodes_removed: readonly (ChangeNodeResult)[];
  readonly nodes_modified: readonly (ModifiedResult)[];
  readonly relationships_added: readonly (LinkResult)[];
  readonly relationships_removed: readonly (LinkResult)[];
}

export interface ChangeNodeResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly type: "Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community";
  readonly name: string;
}

export interface ModifiedResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly changes: ChangesResult;
}

/** calls as node ids. */
export interface ChangesResult {
  readonly index_state?: IndexStateResult;
  readonly signature_changed: boolean;
  readonly body_changed: boolean;
  readonly complexity_delta: number;
  readonly calls_added: readonly (string)[];
  readonly calls_removed: readonly (string)[];
}

export interface LinkResult {
  readonly index_state?: IndexStateResult;
  readonly edge: "CONTAINS" | "IMPORTS" | "DEFINES" | "CALLS_STATIC" | "CALLS_RUNTIME" | "CALLS_UNRESOLVED" | "INHERITS" | "IMPLEMENTS" | "DEPENDS_ON" | "TESTS" | "USES" | "REFERENCES" | "MEMBER_OF" | "BRIDGES" | "CHILD_OF";
  readonly from: string;
  readonly to: string;
}

/**
 * results by falling score; routed_community is null where all were searched. embedding: how many of the nodes have
 * their vector by now; until all have, similarity finds less than words and graph do. truncated: more results follow, with
 * `next_cursor`.
 */
export interface LocateResult {
  readonly index_state?: IndexStateResult;
  readonly query: string;
  readonly routed_community: RoutedResult | null;
  readonly seed_count: number;
  readonly total_walked: number;
  readonly results: readonly (RankedResult)[];
  readonly structural_map: readonly (StructuralLinkResult)[];
  readonly embedding: EmbeddingResult;
  readonly truncated: boolean;
  readonly next_cursor?: string;
}

/** The community that the search for seeds was narrowed to. confidence in [0, 1]. */
export interface RoutedResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly label: string;
  readonly confidence: number;
  readonly searched_nodes: number;
}

/** reachable_from: the seeds that reach a node; itself for a seed. */
export interface RankedResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly node_type: "Repository" | "Package" | "File" | "Class" | "Function" | "Variable" | "Interface" | "Test" | "Config" | "Community";
  readonly name: string;
  readonly file: string | null;
  readonly community_id: string | null;
  readonly signature: string | null;
  readonly docstring: string | null;
  readonly tags: readonly (string)[];
  readonly final_score: number;
  readonly vector_score: number;
  readonly pagerank: number;
  readonly heat_score: number;
  readonly is_seed: boolean;
  readonly reachable_from: readonly (string)[];
  readonly start_line: number;
  readonly end_line: number;
}

/** A true edge between two results; bridge names the communities it joins. */
export interface StructuralLinkResult {
  readonly index_state?: IndexStateResult;
  readonly from: string;
  readonly to: string;
  readonly edge_type: "CONTAINS" | "IMPORTS" | "DEFINES" | "CALLS_STATIC" | "CALLS_RUNTIME" | "CALLS_UNRESOLVED" | "INHERITS" | "IMPLEMENTS" | "DEPENDS_ON" | "TESTS" | "USES" | "REFERENCES" | "MEMBER_OF" | "BRIDGES" | "CHILD_OF";
  readonly hop: number;
  readonly is_bridge: boolean;
  readonly bridge?: string;
}

/** embedded: nodes with a vector, of the total that are to have one. */
export interface EmbeddingResult {
  readonly index_state?: IndexStateResult;
  readonly embedded: number;
  readonly total: number;
}

/** Both lists are empty where there is no way. */
export interface FlowResult {
  readonly index_state?: IndexStateResult;
  readonly path: readonly (FlowStepResult)[];
  readonly type_transitions: readonly (TransitionResult)[];
}

/** type: endpoint, method, function, class, test, file … */
export interface FlowStepResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly node: string;
  readonly type: string;
  readonly file: string | null;
}

/** Types as annotated; `unknown` for a parameter without one. */
export interface TransitionResult {
  readonly index_state?: IndexStateResult;
  readonly from_node: string;
  readonly to_node: string;
  readonly param_types: readonly (string)[];
  readonly return_type: string | null;
}

/** path_length counts nodes; null with an empty chain where there is no path. */
export interface WhyResult {
  readonly index_state?: IndexStateResult;
  readonly path_length: number | null;
  readonly chain: readonly (ChainResult)[];
  readonly readable: string;
}

/** Node ids and the edge between them. */
export interface ChainResult {
  readonly index_state?: IndexStateResult;
  readonly node: string;
  readonly edge: "CONTAINS" | "IMPORTS" | "DEFINES" | "CALLS_STATIC" | "CALLS_RUNTIME" | "CALLS_UNRESOLVED" | "INHERITS" | "IMPLEMENTS" | "DEPENDS_ON" | "TESTS" | "USES" | "REFERENCES" | "MEMBER_OF" | "BRIDGES" | "CHILD_OF";
  readonly target: string;
}

/** Dependencies first, then low risk first. external_files_at_risk: importers outside the plan. */
export interface PlanResult {
  readonly index_state?: IndexStateResult;
  readonly execution_order: readonly (PlanningStepResult)[];
  readonly inter_file_conflicts: readonly (CycleResult)[];
  readonly external_files_at_risk: readonly (string)[];
}

/** depends_on_steps: steps whose files this one imports. */
export interface PlanningStepResult {
  readonly index_state?: IndexStateResult;
  readonly step: number;
  readonly file: string;
  readonly dependants_in_plan: number;
  readonly dependencies_in_plan: number;
  readonly depends_on_steps: readonly (number)[];
  readonly blast_radius: number;
  readonly is_hot_node: boolean;
  readonly heat_score: number;
  readonly risk_level: "high" | "low" | "medium";
  readonly is_new_file: boolean;
}

/** Files that import one another. */
export interface CycleResult {
  readonly index_state?: IndexStateResult;
  readonly files: readonly (string)[];
  readonly message: string;
}

/**
 * conflict: they share files and at least one writes; the rest is given only then.
 *
 * Attributes:
 *     session_modes: By session id. write_session: the one that writes; null when both do.
 */
export interface PlanningConflictResult {
  readonly index_state?: IndexStateResult;
  readonly conflict: boolean;
  readonly overlapping_files?: readonly (string)[];
  readonly overlapping_nodes?: readonly (string)[];
  readonly session_modes?: Record<string, "read" | "write">;
  readonly write_session?: string | null;
}

/** safety_level: `elevated` when the scope holds a hot node; the steps must then be taken in sequence. */
export interface SafetyOpenResult {
  readonly index_state?: IndexStateResult;
  readonly session_id: string;
  readonly commit_sha: string | null;
  readonly concurrency: "mvcc" | "exclusive";
  readonly granted_scope: readonly (string)[];
  readonly denied_scope: readonly (string)[];
  readonly scope_analysis: Record<string, ScopeEntryResult>;
  readonly safety_level: "standard" | "elevated";
  readonly hot_nodes_in_scope: readonly (SafetyHotNodeResult)[];
  readonly expires_at: string;
}

/** blast_radius: files that import it. */
export interface ScopeEntryResult {
  readonly index_state?: IndexStateResult;
  readonly blast_radius: number;
  readonly is_hot_node: boolean;
  readonly heat_score: number;
  readonly risk_level: "high" | "low" | "medium";
}

export interface SafetyHotNodeResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly heat_score: number;
  readonly caller_count: number;
  readonly changes_in_window: number;
}

/** The session is intact. */
export interface RecoveredResult {
  readonly status: "recovered";
  readonly index_state?: IndexStateResult;
  readonly session_id: string;
  readonly scope: readonly (string)[];
  readonly locks_held: readonly (string)[];
  readonly checkpoints: readonly (string)[];
  readonly events_so_far: number;
  readonly expires_at: string;
}

/** The session expired meanwhile: open a new one. */
export interface ExpiredResult {
  readonly status: "expired";
  readonly index_state?: IndexStateResult;
  readonly reason: "ttl_elapsed";
  readonly last_checkpoint: string | null;
  readonly last_checkpoint_at: string | null;
  readonly files_snapshotted: readonly (string)[];
}

/** audit_log_id: for smp/audit/get. */
export interface CloseResult {
  readonly index_state?: IndexStateResult;
  readonly session_id: string;
  readonly files_written: readonly (string)[];
  readonly files_read: readonly (string)[];
  readonly duration_ms: number;
  readonly audit_log_id: string;
}

/** Safe to proceed to smp/dryrun. */
export interface ClearResult {
  readonly verdict: "clear";
  readonly index_state?: IndexStateResult;
  readonly target: string;
  readonly checks: ChecksResult;
  readonly safety_level: "standard" | "elevated";
  readonly known?: KnownResult;
}

/** function_coverage: by qualified name. */
export interface ChecksResult {
  readonly index_state?: IndexStateResult;
  readonly in_declared_scope: boolean;
  readonly locked_by_other_agent: boolean;
  readonly is_hot_node: boolean;
  readonly heat_score: number;
  readonly has_tests: boolean;
  readonly test_files: readonly (string)[];
  readonly function_coverage: Record<string, CoverageResult>;
  readonly caller_count: number;
  readonly blast_radius: number;
  readonly is_public_api: boolean;
}

/** coverage_pct: null when no report measures the function; `covered` then says whether a test reaches it. */
export interface CoverageResult {
  readonly index_state?: IndexStateResult;
  readonly covered: boolean;
  readonly coverage_pct: number | null;
}

/** High risk, remediable: meet the conditions and check again; writes are refused until then. */
export interface RedAlertResult {
  readonly verdict: "red_alert";
  readonly index_state?: IndexStateResult;
  readonly target: string;
  readonly checks: ChecksResult;
  readonly safety_level: "standard" | "elevated";
  readonly blocking: readonly (BlockingResult)[];
  readonly unblock_conditions: readonly (ConditionResult)[];
  readonly known?: KnownResult;
}

/** code: ZERO_COVERAGE, or HOT_NODE beside it. */
export interface BlockingResult {
  readonly index_state?: IndexStateResult;
  readonly code: string;
  readonly node_id: string;
  readonly complexity: number | null;
  readonly coverage_pct: number | null;
  readonly heat_score: number | null;
  readonly caller_count: number | null;
}

/** What unblocks: tests for the node, up to this coverage. */
export interface ConditionResult {
  readonly index_state?: IndexStateResult;
  readonly code: string;
  readonly action: string;
  readonly target_node: string;
  readonly min_coverage_pct: number;
}

/** A hard stop. */
export interface SafetyBlockedResult {
  readonly verdict: "blocked";
  readonly index_state?: IndexStateResult;
  readonly target: string;
  readonly reasons: readonly (string)[];
  readonly known?: KnownResult;
}

export interface DryrunResult {
  readonly index_state?: IndexStateResult;
  readonly structural_delta: DeltaResult;
  readonly impact: DryrunImpactResult;
  readonly verdict: "breaking" | "safe";
  readonly risks: readonly (RiskResult)[];
}

export interface DeltaResult {
  readonly index_state?: IndexStateResult;
  readonly nodes_added: number;
  readonly nodes_modified: number;
  readonly nodes_removed: number;
  readonly signature_changed: boolean;
}

export interface DryrunImpactResult {
  readonly index_state?: IndexStateResult;
  readonly affected_files: readonly (string)[];
  readonly broken_callers: readonly (BrokenResult)[];
  readonly broken_tests: readonly (BrokenResult)[];
  readonly test_coverage_delta: string;
}

/** because: what about the change breaks it. The return types are given when they are why. */
export interface BrokenResult {
  readonly index_state?: IndexStateResult;
  readonly function: string;
  readonly file: string;
  readonly because: string;
  readonly expected_return_type: string | null;
  readonly actual_return_type: string | null;
}

/** What changes for callers that the repository does not know. */
export interface RiskResult {
  readonly index_state?: IndexStateResult;
  readonly code: string;
  readonly message: string;
  readonly node_id: string | null;
  readonly file: string | null;
  readonly line: number | null;
}

export interface CheckpointResult {
  readonly index_state?: IndexStateResult;
  readonly checkpoint_id: string;
  readonly files_snapshotted: readonly (string)[];
  readonly snapshot_at: string;
}

export interface RollbackResult {
  readonly index_state?: IndexStateResult;
  readonly status: "rolled_back";
  readonly files_restored: readonly (string)[];
  readonly memory_resynced: true;
}

export interface SafetyLockResult {
  readonly index_state?: IndexStateResult;
  readonly granted: readonly (string)[];
  readonly denied: readonly (DeniedResult)[];
}

export interface DeniedResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly held_by_session: string;
  readonly held_by_agent: string;
}

export interface UnlockResult {
  readonly index_state?: IndexStateResult;
  readonly released: readonly (string)[];
  readonly not_held: readonly (string)[];
}

export interface AuditResult {
  readonly index_state?: IndexStateResult;
  readonly audit_log_id: string;
  readonly agent_id: string;
  readonly task: string;
  readonly session_id: string;
  readonly opened_at: string;
  readonly closed_at: string;
  readonly status: "active" | "completed" | "aborted" | "rolled_back" | "expired";
  readonly events: readonly (EventResult)[];
}

/** One line. t: when, RFC 3339. hash: SHA-256 over the previous line's hash and this line. */
export interface EventResult {
  readonly index_state?: IndexStateResult;
  readonly t: string;
  readonly method: string;
  readonly target: string | null;
  readonly file: string | null;
  readonly files: readonly (string)[];
  readonly result: string | null;
  readonly checkpoint_id: string | null;
  readonly detail: string | null;
  readonly hash: string;
}

/** Hottest first; only nodes with a recorded change. */
export interface HotResult {
  readonly index_state?: IndexStateResult;
  readonly hot_nodes: readonly (TelemetryHotNodeResult)[];
}

/** heat_score: min(100, changes x callers). last_changed_by: null for an edit outside any session. */
export interface TelemetryHotNodeResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly file: string;
  readonly changes_in_window: number;
  readonly caller_count: number;
  readonly heat_score: number;
  readonly last_changed_by: string | null;
  readonly last_changed_at: string;
}

/** history: newest first; heat_score over the window asked for. */
export interface TelemetryNodeResult {
  readonly index_state?: IndexStateResult;
  readonly node_id: string;
  readonly total_changes: number;
  readonly unique_agents: readonly (string)[];
  readonly history: readonly (ChangeResult)[];
  readonly heat_score: number;
  readonly stability: "moderate" | "stable" | "unstable";
}

/** agent and session are null for an edit outside any session. */
export interface ChangeResult {
  readonly index_state?: IndexStateResult;
  readonly timestamp: string;
  readonly agent: string | null;
  readonly session: string | null;
  readonly event: string;
}

/** ebpf_injected: a tracer is attached; `tracer` names it. */
export interface SpawnResult {
  readonly index_state?: IndexStateResult;
  readonly sandbox_id: string;
  readonly status: "ready";
  readonly commit_sha: string;
  readonly services_started: readonly (string)[];
  readonly network: NetworkResult;
  readonly ebpf_injected: boolean;
  readonly tracer: "ebpf" | "monitoring" | null;
  readonly spawned_at: string;
}

/** egress_policy: `none` or `registry_only`. */
export interface NetworkResult {
  readonly index_state?: IndexStateResult;
  readonly egress_policy: string;
  readonly allowed_registries: readonly (string)[];
}

/**
 * Of each stream head and tail are kept when `truncated`; `smp/sandbox/log` gives the whole by `execution_id`.
 *
 * Calls are those of this execution, new or not.
 */
export interface ExecuteResult {
  readonly index_state?: IndexStateResult;
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly duration_ms: number;
  readonly calls_runtime_injected: readonly (RuntimeEdge)[];
  readonly network_blocks: readonly (NetworkBlockResult)[];
  readonly timed_out: boolean;
  readonly truncated: boolean;
  readonly traced: TracedResult | null;
  readonly execution_id: string | null;
}

/** call_count: in this execution; `lower_bound`: at least so many. */
export interface RuntimeEdge {
  readonly index_state?: IndexStateResult;
  readonly from: string;
  readonly to: string;
  readonly call_count: number;
  readonly lower_bound: boolean;
}

/** host: the name asked for, or the address when none was. */
export interface NetworkBlockResult {
  readonly index_state?: IndexStateResult;
  readonly host: string;
  readonly address: string | null;
  readonly port: number;
  readonly reason: string;
}

/**
 * How complete the calls are.
 *
 * `missed_processes`: interpreters that ran without the tracer; `lost_calls`: calls that were seen and could not be kept;
 * `failed`: why there is no trace, where the tracer broke.
 */
export interface TracedResult {
  readonly index_state?: IndexStateResult;
  readonly tracer: "ebpf" | "monitoring";
  readonly processes: number;
  readonly missed_processes: number;
  readonly lost_calls: number;
  readonly failed: string;
}

/** next_offset: where to go on; None at the end. text: UTF-8 with replacement; a character may be cut at its ends. */
export interface LogResult {
  readonly index_state?: IndexStateResult;
  readonly text: string;
  readonly offset: number;
  readonly next_offset: number | null;
  readonly total_bytes: number;
}

export interface DestroyResult {
  readonly index_state?: IndexStateResult;
  readonly sandbox_id: string;
  readonly status: "destroyed";
  readonly destroyed_at: string;
  readonly resources_freed: ResourcesFreed;
}

export interface ResourcesFreed {
  readonly index_state?: IndexStateResult;
  readonly filesystem_mb: number;
  readonly services_stopped: readonly (string)[];
}

/**
 * mutants_timed_out: part of the killed ones. mutants_equivalent, mutants_not_covered: not in the total.
 *
 * marked_equivalent: survivors that somebody declared equivalent; left out when there are none.
 */
export interface PassedResult {
  readonly status: "passed";
  readonly verify_result_id: string;
  readonly coverage_delta_pct: number | null;
  readonly ast_assert_check: "passed";
  readonly mutation_score: number;
  readonly mutants_total: number;
  readonly mutants_killed: number;
  readonly mutants_survived: number;
  readonly mutants_timed_out: number;
  readonly mutants_equivalent: number;
  readonly mutants_not_covered: number;
  readonly marked_equivalent: readonly (MarkedResult)[];
}

/** A survivor that somebody declared equivalent (smp/verify/mark_equivalent); not in the total. */
export interface MarkedResult {
  readonly mutant: number;
  readonly node_id: string;
  readonly file: string;
  readonly line: number;
  readonly original_op: string;
  readonly mutated_op: string;
  readonly reason: string;
}

/** failure_code decides which of the others are there. */
export interface FailedResult {
  readonly status: "failed";
  readonly failure_code: "MISSING_AST_ASSERT" | "SURVIVING_MUTANT" | "TESTS_FAILING";
  readonly verify_result_id: string;
  readonly ast_assert_check: "failed" | "passed" | null;
  readonly mutation_score: number | null;
  readonly mutants_total: number | null;
  readonly mutants_killed: number | null;
  readonly mutants_survived: number | null;
  readonly mutants_timed_out: number | null;
  readonly mutants_equivalent: number | null;
  readonly mutants_not_covered: number | null;
  readonly survivors: readonly (SurvivorResult)[];
  readonly marked_equivalent: readonly (MarkedResult)[];
  readonly missing_assert_for: readonly (MissingAssertResult)[];
  readonly tests_failed: number | null;
  readonly test_output: string | null;
}

/** A mutant that no test noticed. surviving_test: the first test that runs the line; mutant: its number. */
export interface SurvivorResult {
  readonly mutant: number;
  readonly node_id: string;
  readonly file: string;
  readonly line: number;
  readonly original_op: string;
  readonly mutated_op: string;
  readonly surviving_test: string;
  readonly operator: string;
}

/** A function that `test` calls without any of its results reaching an assertion. */
export interface MissingAssertResult {
  readonly node_id: string;
  readonly output_type: string | null;
  readonly test: string;
}

/** A published branch. document: the Markdown file with everything that is known of the change. */
export interface HandoffOpenResult {
  readonly status: "open";
  readonly pr_id: string;
  readonly branch: string;
  readonly url: string;
  readonly base_sha: string;
  readonly head_sha: string;
  readonly files_changed: readonly (string)[];
  readonly structural_diff: StructuralDiffResult;
  readonly test_summary: TestSummaryResult;
  readonly document: string;
}

/** Counts; the document names each. */
export interface StructuralDiffResult {
  readonly nodes_added: number;
  readonly nodes_modified: number;
  readonly nodes_removed: number;
  readonly signature_changed: boolean;
  readonly calls_runtime_added: number;
}

/** Over all verdicts on the present content. */
export interface TestSummaryResult {
  readonly coverage_delta_pct: number | null;
  readonly mutation_score: number;
}

/** No pull request: the base branch has changed the same lines. The branch is pushed, for people to merge. */
export interface ConflictsResult {
  readonly status: "conflict";
  readonly base_sha: string;
  readonly branch: string;
  readonly head_sha: string;
  readonly conflicts: readonly (HandoffConflictResult)[];
}

export interface HandoffConflictResult {
  readonly file: string;
  readonly hunks: readonly (HunkResult)[];
}

/** Two versions of the same lines; start_line in the base file. */
export interface HunkResult {
  readonly start_line: number;
  readonly ours: string;
  readonly theirs: string;
}

/** The reviewer's own session on the same box: it reads only, and its first call accepts the handoff. */
export interface ReviewResult {
  readonly handoff_id: string;
  readonly reviewer_agent: string;
  readonly sandbox_id: string;
  readonly status: "pending_review";
  readonly reviewer_session: string;
  readonly verify_result_id: string;
}

/** What is on record; the first decision on a handoff stands. */
export interface DecideResult {
  readonly handoff_id: string;
  readonly reviewer_agent: string;
  readonly sandbox_id: string;
  readonly status: "pending_review" | "approved" | "changes_requested" | "rejected";
  readonly comments: string;
  readonly decided_at: string;
}

/** What the console draws. repository: its folder's name. */
export interface MapResult {
  readonly index_state?: IndexStateResult;
  readonly repository: string;
  readonly files: readonly (MapFileResult)[];
  readonly communities: readonly (MapCommunityResult)[];
  readonly bridges: readonly (MapBridgeResult)[];
}

/** community: of the coarse level; null where the file is in none. heat: of its hottest definition, 0 to 100. */
export interface MapFileResult {
  readonly index_state?: IndexStateResult;
  readonly path: string;
  readonly language: string | null;
  readonly role: string;
  readonly community: string | null;
  readonly lines: number;
  readonly definitions: number;
  readonly heat: number;
}

export interface MapCommunityResult {
  readonly index_state?: IndexStateResult;
  readonly id: string;
  readonly label: string;
  readonly member_count: number;
}

/** Edges between two communities. */
export interface MapBridgeResult {
  readonly index_state?: IndexStateResult;
  readonly source: string;
  readonly target: string;
  readonly edge_count: number;
}

/** Present text of the working tree, undecodable bytes replaced. truncated: there are more lines than an answer holds. */
export interface SourceResult {
  readonly index_state?: IndexStateResult;
  readonly file_path: string;
  readonly first: number;
  readonly lines: readonly (string)[];
  readonly truncated: boolean;
}

/** total: of all sessions that the caller may see. runs_known: Temporal answered, so that phases are told. */
export interface SessionsResult {
  readonly index_state?: IndexStateResult;
  readonly sessions: readonly (SessionResult)[];
  readonly total: number;
  readonly runs_known: boolean;
}

/** A session as it stands. phase: of its durable run, last announced; null without one (or without Temporal). */
export interface SessionResult {
  readonly index_state?: IndexStateResult;
  readonly session_id: string;
  readonly agent_id: string;
  readonly task: string;
  readonly status: "active" | "completed" | "aborted" | "rolled_back" | "expired";
  readonly mode: "read" | "write";
  readonly concurrency: "mvcc" | "exclusive";
  readonly scope: readonly (string)[];
  readonly commit_sha: string | null;
  readonly opened_at: string;
  readonly expires_at: string;
  readonly closed_at: string | null;
  readonly sandbox_id: string | null;
  readonly audit_log_id: string;
  readonly phase: string | null;
  readonly locks: readonly (OperationsLockResult)[];
}

export interface OperationsLockResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly expires_at: string;
}

/** In the order in which they were taken. */
export interface StepsResult {
  readonly index_state?: IndexStateResult;
  readonly session: SessionResult;
  readonly steps: readonly (OperationsStepResult)[];
}

/** One entry of the audit. result: the verdict, where there was one. */
export interface OperationsStepResult {
  readonly index_state?: IndexStateResult;
  readonly seq: number;
  readonly at: string;
  readonly method: string;
  readonly target: string | null;
  readonly files: readonly (string)[];
  readonly result: string | null;
  readonly detail: string | null;
}

/**
 * run_page: in Temporal's own pages, where a durable run drives the session. diff: lines; of the box while it is there,
 * afterwards of the branch that was handed off. pull_request: its address, once there is one.
 */
export interface EvidenceResult {
  readonly index_state?: IndexStateResult;
  readonly run_page: string | null;
  readonly pull_request: string | null;
  readonly commands: readonly (CommandResult)[];
  readonly verdicts: readonly (VerdictResult)[];
  readonly diff: readonly (string)[];
  readonly diff_truncated: boolean;
}

/** A command in a box. calls: between definitions, that were seen; new_calls: of these, for the first time at the commit. */
export interface CommandResult {
  readonly index_state?: IndexStateResult;
  readonly execution_id: string;
  readonly sandbox_id: string;
  readonly command: string;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly exit_code: number;
  readonly ending: string;
  readonly calls: number;
  readonly new_calls: number;
  readonly network_blocks: readonly (EvidenceBlockedResult)[];
}

/** An attempt to leave the box. */
export interface EvidenceBlockedResult {
  readonly index_state?: IndexStateResult;
  readonly host: string;
  readonly port: number;
  readonly address: string | null;
  readonly protocol: string | null;
  readonly process: string | null;
  readonly reason: string;
}

/** One run of the gate. functions: those of which no result reaches an assertion. */
export interface VerdictResult {
  readonly index_state?: IndexStateResult;
  readonly verify_result_id: string;
  readonly target_file: string;
  readonly test_file: string;
  readonly status: string;
  readonly failure_code: string | null;
  readonly verified_at: string;
  readonly tests_passed: number;
  readonly tests_failed: number;
  readonly mutants_killed: number;
  readonly mutants_total: number;
  readonly coverage_delta_pct: number | null;
  readonly functions: readonly (string)[];
  readonly mutants: readonly (MutantResult)[];
}

/** test: the one that noticed, or that should have. */
export interface MutantResult {
  readonly index_state?: IndexStateResult;
  readonly line: number;
  readonly operator: string;
  readonly original: string;
  readonly mutated: string;
  readonly status: string;
  readonly test: string | null;
  readonly reason: string | null;
}

export interface SwarmsResult {
  readonly index_state?: IndexStateResult;
  readonly swarms: readonly (SwarmRunResult)[];
}

/** status: Temporal's word for the run. */
export interface SwarmRunResult {
  readonly index_state?: IndexStateResult;
  readonly swarm_id: string;
  readonly status: string;
  readonly started_at: string;
  readonly closed_at: string | null;
  readonly run_page: string;
}

/** phase: `running`, `merging` or `closed`. merge_order and conflicts: once it has ended. */
export interface SwarmResult {
  readonly index_state?: IndexStateResult;
  readonly swarm_id: string;
  readonly phase: string;
  readonly status: string;
  readonly run_page: string;
  readonly rows: readonly (SwarmRowResult)[];
  readonly merge_order: readonly (string)[];
  readonly conflicts: readonly (SwarmConflictResult)[];
}

/** loops: times that it was sent back. known: this repository has its session. */
export interface SwarmRowResult {
  readonly index_state?: IndexStateResult;
  readonly number: number;
  readonly name: string;
  readonly session_id: string;
  readonly status: string;
  readonly phase: string | null;
  readonly loops: number;
  readonly reason: string;
  readonly branch: string | null;
  readonly known: boolean;
}

export interface SwarmConflictResult {
  readonly index_state?: IndexStateResult;
  readonly file: string;
  readonly sessions: readonly (string)[];
}

export interface MemoryUpdated {
  readonly type: "memory_updated";
  readonly changes: Changes;
}

export interface Changes {
  readonly files_affected: readonly (string)[];
  readonly structural_changes: readonly (string)[];
  readonly semantic_changes: readonly (string)[];
}

export interface ConflictDetected {
  readonly type: "conflict_detected";
  readonly file: string;
  readonly message: string;
  readonly severity: string;
}

export interface LockConflicted {
  readonly type: "lock_conflict";
  readonly file: string;
  readonly held_by_session: string;
  readonly held_by_agent: string;
  readonly severity: string;
}

export interface ScopeViolated {
  readonly type: "scope_violation";
  readonly session_id: string;
  readonly attempted_file: string;
  readonly declared_scope: readonly (string)[];
  readonly severity: string;
}

export interface SessionExpiredNotice {
  readonly type: "session_expired";
  readonly session_id: string;
  readonly expired_at: string;
  readonly locks_released: readonly (string)[];
  readonly severity: string;
}

/** `address`: where the name led to; `process`: name of the one that tried first. */
export interface NetworkBlocked {
  readonly type: "network_blocked";
  readonly sandbox_id: string;
  readonly blocked_host: string;
  readonly blocked_port: number;
  readonly address: string | null;
  readonly protocol: string | null;
  readonly process: string | null;
  readonly severity: string;
}

export interface HandoffAccepted {
  readonly type: "handoff_accepted";
  readonly handoff_id: string;
  readonly reviewer_agent: string;
  readonly sandbox_id: string;
  readonly severity: string;
}

/** What the server tells on its own; told apart by `type`. */
export type Notification = MemoryUpdated | ConflictDetected | LockConflicted | ScopeViolated | SessionExpiredNotice | NetworkBlocked | HandoffAccepted;

/** Parameters and result of each method. */
export interface Methods {
  "smp/update": { params: UpdateParams; result: MemoryUpdateResult };
  "smp/batch_update": { params: BatchUpdateParams; result: MemoryUpdateResult };
  "smp/sync": { params: SyncParams; result: SyncResult };
  "smp/merkle/tree": { params: MerkleParams; result: MerkleResult };
  "smp/index/export": { params: ExportParams; result: ExportResult };
  "smp/index/import": { params: ImportParams; result: ImportedResult | PartialImportResult };
  "smp/linker/report": { params: ReportParams; result: ReportResult };
  "smp/linker/runtime": { params: RuntimeParams; result: RuntimeResult };
  "smp/enrich": { params: EnrichParams; result: EnrichedResult | SkippedResult | NoMetadataResult };
  "smp/enrich/batch": { params: BatchParams; result: BatchResult };
  "smp/enrich/stale": { params: ScopeParams; result: EnrichmentStaleResult };
  "smp/enrich/status": { params: ScopeParams; result: StatusResult };
  "smp/annotate": { params: AnnotateParams; result: AnnotateResult };
  "smp/annotate/bulk": { params: BulkParams; result: BulkResult };
  "smp/tag": { params: TagParams; result: TagResult };
  "smp/search": { params: SearchParams; result: SearchResult };
  "smp/community/detect": { params: DetectParams; result: DetectResult };
  "smp/community/list": { params: ListParams; result: ListResult };
  "smp/community/get": { params: GetParams; result: GetResult };
  "smp/community/boundaries": { params: BoundariesParams; result: BoundariesResult };
  "smp/navigate": { params: NavigateParams; result: NavigateResult };
  "smp/trace": { params: TraceParams; result: TraceResult };
  "smp/context": { params: ContextParams; result: ContextResult };
  "smp/impact": { params: ImpactParams; result: ImpactResult };
  "smp/diff": { params: DiffParams; result: DiffResult };
  "smp/locate": { params: LocateParams; result: LocateResult };
  "smp/flow": { params: FlowParams; result: FlowResult };
  "smp/graph/why": { params: WhyParams; result: WhyResult };
  "smp/plan": { params: PlanParams; result: PlanResult };
  "smp/conflict": { params: ConflictParams; result: PlanningConflictResult };
  "smp/session/open": { params: OpenParams; result: SafetyOpenResult };
  "smp/session/recover": { params: RecoverParams; result: RecoveredResult | ExpiredResult };
  "smp/session/close": { params: CloseParams; result: CloseResult };
  "smp/guard/check": { params: GuardParams; result: ClearResult | RedAlertResult | SafetyBlockedResult };
  "smp/dryrun": { params: DryrunParams; result: DryrunResult };
  "smp/checkpoint": { params: FilesParams; result: CheckpointResult };
  "smp/rollback": { params: RollbackParams; result: RollbackResult };
  "smp/lock": { params: FilesParams; result: SafetyLockResult };
  "smp/unlock": { params: FilesParams; result: UnlockResult };
  "smp/audit/get": { params: AuditParams; result: AuditResult };
  "smp/telemetry/hot": { params: HotParams; result: HotResult };
  "smp/telemetry/node": { params: NodeParams; result: TelemetryNodeResult };
  "smp/sandbox/spawn": { params: SpawnParams; result: SpawnResult };
  "smp/sandbox/execute": { params: ExecuteParams; result: ExecuteResult };
  "smp/sandbox/log": { params: LogParams; result: LogResult };
  "smp/sandbox/destroy": { params: DestroyParams; result: DestroyResult };
  "smp/verify/integrity": { params: IntegrityParams; result: PassedResult | FailedResult };
  "smp/verify/mark_equivalent": { params: MarkParams; result: PassedResult | FailedResult };
  "smp/handoff/pr": { params: PullRequestParams; result: HandoffOpenResult | ConflictsResult };
  "smp/handoff/review": { params: ReviewParams; result: ReviewResult };
  "smp/handoff/decide": { params: DecideParams; result: DecideResult };
  "smp/operations/map": { params: MapParams; result: MapResult };
  "smp/operations/source": { params: SourceParams; result: SourceResult };
  "smp/operations/sessions": { params: SessionsParams; result: SessionsResult };
  "smp/operations/steps": { params: StepsParams; result: StepsResult };
  "smp/operations/evidence": { params: EvidenceParams; result: EvidenceResult };
  "smp/operations/swarms": { params: SwarmsParams; result: SwarmsResult };
  "smp/operations/swarm": { params: SwarmParams; result: SwarmResult };
}

/** Methods that change nothing, and may be sent again when a connection breaks. */
export const READING: ReadonlySet<string> = new Set<string>([
  "smp/audit/get",
  "smp/community/boundaries",
  "smp/community/get",
  "smp/community/list",
  "smp/conflict",
  "smp/context",
  "smp/diff",
  "smp/enrich/stale",
  "smp/enrich/status",
  "smp/flow",
  "smp/graph/why",
  "smp/impact",
  "smp/linker/report",
  "smp/linker/runtime",
  "smp/locate",
  "smp/merkle/tree",
  "smp/navigate",
  "smp/operations/evidence",
  "smp/operations/map",
  "smp/operations/sessions",
  "smp/operations/source",
  "smp/operations/steps",
  "smp/search",
  "smp/sync",
  "smp/telemetry/hot",
  "smp/telemetry/node",
  "smp/trace",
]);

/** Methods that take the id of a session. */
export const OF_A_SESSION: ReadonlySet<string> = new Set<string>([
  "smp/update",
  "smp/batch_update",
  "smp/annotate",
  "smp/annotate/bulk",
  "smp/tag",
  "smp/search",
  "smp/navigate",
  "smp/trace",
  "smp/context",
  "smp/impact",
  "smp/diff",
  "smp/locate",
  "smp/flow",
  "smp/graph/why",
  "smp/plan",
  "smp/session/recover",
  "smp/session/close",
  "smp/guard/check",
  "smp/dryrun",
  "smp/checkpoint",
  "smp/rollback",
  "smp/lock",
  "smp/unlock",
  "smp/sandbox/spawn",
  "smp/sandbox/execute",
  "smp/sandbox/log",
  "smp/sandbox/destroy",
  "smp/handoff/pr",
  "smp/handoff/review",
  "smp/handoff/decide",
  "smp/operations/steps",
  "smp/operations/evidence",
]);

type Without<P, K extends PropertyKey> = Omit<P, K> & Partial<Pick<P, K & keyof P>>;

/** One method a method of the protocol. K: parameters that every call is given anyway. */
export abstract class Calls<K extends PropertyKey = never> {
  abstract call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]>;

  /** Tell the memory that a file was created, modified or deleted. */
  update(params: UpdateParams): Promise<MemoryUpdateResult> {
    return this.call("smp/update", params);
  }

  /** Tell the memory of several changed files at once; one invalid change refuses them all. */
  batchUpdate(params: BatchUpdateParams): Promise<MemoryUpdateResult> {
    return this.call("smp/batch_update", params);
  }

  /**
   * Compare a client's files and folders with the server's by hash: what to push, what to pull, what is gone.
   *
   * A folder (its path ends with a slash) of the server's hash is not entered. One that differs, and in which nothing is
   * named, comes back in stale_on_server: name what is in it with the next call.
   */
  sync(params: SyncParams): Promise<SyncResult> {
    return this.call("smp/sync", params);
  }

  /** The hash tree over all indexed files, for comparison without a connection. */
  merkleTree(params: MerkleParams = {}): Promise<MerkleResult> {
    return this.call("smp/merkle/tree", params);
  }

  /** Package the index as a signed, portable snapshot: `<data_dir>/snapshots/<snapshot_id>.tar.zst`. */
  indexExport(params: ExportParams = {}): Promise<ExportResult> {
    return this.call("smp/index/export", params);
  }

  /** Load a signed snapshot; verified before anything is stored, and all or nothing. The working tree wins. */
  indexImport(params: ImportParams): Promise<ImportedResult | PartialImportResult> {
    return this.call("smp/index/import", params);
  }

  /** Every call whose target is not proved, why, and what would settle it. */
  linkerReport(params: ReportParams = {}): Promise<ReportResult> {
    return this.call("smp/linker/report", params);
  }

  /** What a node was seen to call in traced runs, beside what its source says. */
  linkerRuntime(params: RuntimeParams): Promise<RuntimeResult> {
    return this.call("smp/linker/runtime", params);
  }

  /** Read docstring, comments, decorators and annotations of one node off its source. */
  enrich(params: EnrichParams): Promise<EnrichedResult | SkippedResult | NoMetadataResult> {
    return this.call("smp/enrich", params);
  }

  /** Enrich every node of a scope. */
  enrichBatch(params: BatchParams): Promise<BatchResult> {
    return this.call("smp/enrich/batch", params);
  }

  /** Nodes whose source has moved on since they were enriched. */
  enrichStale(params: ScopeParams): Promise<EnrichmentStaleResult> {
    return this.call("smp/enrich/stale", params);
  }

  /** How much of a scope has metadata. */
  enrichStatus(params: ScopeParams): Promise<StatusResult> {
    return this.call("smp/enrich/status", params);
  }

  /** Describe a node by hand, and tag it. */
  annotate(params: AnnotateParams): Promise<AnnotateResult> {
    return this.call("smp/annotate", params);
  }

  /** Describe many nodes by hand. */
  annotateBulk(params: BulkParams): Promise<BulkResult> {
    return this.call("smp/annotate/bulk", params);
  }

  /** Add, remove or replace tags on every node of a scope. */
  tag(params: TagParams): Promise<TagResult> {
    return this.call("smp/tag", params);
  }

  /** Ranked full-text search over docstrings, descriptions and tags. */
  search(params: SearchParams): Promise<SearchResult> {
    return this.call("smp/search", params);
  }

  /** Find the communities anew, at two resolutions, and store them. */
  communityDetect(params: DetectParams = {}): Promise<DetectResult> {
    return this.call("smp/community/detect", params);
  }

  /** The communities of a level, or of both. */
  communityList(params: ListParams = {}): Promise<ListResult> {
    return this.call("smp/community/list", params);
  }

  /** One community with its members, highest rank first. */
  communityGet(params: GetParams): Promise<GetResult> {
    return this.call("smp/community/get", params);
  }

  /** Which communities depend on one another, how strongly, and through which nodes. */
  communityBoundaries(params: BoundariesParams): Promise<BoundariesResult> {
    return this.call("smp/community/boundaries", params);
  }

  /** Find a definition by id, path, `path#qualname` or unique name, and what stands next to it. */
  navigate(params: NavigateParams): Promise<NavigateResult> {
    return this.call("smp/navigate", params);
  }

  /** Everything that a node reaches, or that reaches it, over one relationship. */
  trace(params: TraceParams): Promise<TraceResult> {
    return this.call("smp/trace", params);
  }

  /** What a programmer keeps in mind about a file: role, risk, imports, definitions, tests, data flow. */
  context(params: ContextParams): Promise<ContextResult> {
    return this.call("smp/context", params);
  }

  /** What breaks when an entity changes its signature, is deleted or moved, and which places need an edit. */
  impact(params: ImpactParams): Promise<ImpactResult> {
    return this.call("smp/impact", params);
  }

  /** Compare a file's present graph with that of proposed content, node by node. */
  diff(params: DiffParams): Promise<DiffResult> {
    return this.call("smp/diff", params);
  }

  /** Nodes that answer a description: route to a community, seed by similarity, walk the graph, rank. */
  locate(params: LocateParams): Promise<LocateResult> {
    return this.call("smp/locate", params);
  }

  /** The shortest way of execution or data from one node to another, with the types it takes. */
  flow(params: FlowParams): Promise<FlowResult> {
    return this.call("smp/flow", params);
  }

  /** The shortest chain of dependencies from one node to another. */
  graphWhy(params: WhyParams): Promise<WhyResult> {
    return this.call("smp/graph/why", params);
  }

  /** The order in which the files of a task are best written, with the risk of each. */
  plan(params: Without<PlanParams, K>): Promise<PlanResult> {
    return this.call("smp/plan", params as PlanParams);
  }

  /** Whether the scopes of two sessions overlap while at least one of them writes. */
  conflict(params: ConflictParams): Promise<PlanningConflictResult> {
    return this.call("smp/conflict", params);
  }

  /** Declare intent before touching the code. */
  sessionOpen(params: OpenParams): Promise<SafetyOpenResult> {
    return this.call("smp/session/open", params);
  }

  /** Come back to a session after a restart or crash. */
  sessionRecover(params: Without<RecoverParams, K>): Promise<RecoveredResult | ExpiredResult> {
    return this.call("smp/session/recover", params as RecoverParams);
  }

  /** End a session: its sandbox is destroyed, its locks are released, its audit log is complete. */
  sessionClose(params: Without<CloseParams, K>): Promise<CloseResult> {
    return this.call("smp/session/close", params as CloseParams);
  }

  /** Whether a file may be written now: scope, locks, heat, and the coverage of what is about to change. */
  guardCheck(params: Without<GuardParams, K>): Promise<ClearResult | RedAlertResult | SafetyBlockedResult> {
    return this.call("smp/guard/check", params as GuardParams);
  }

  /** What a write would change and break; nothing is written. */
  dryrun(params: Without<DryrunParams, K>): Promise<DryrunResult> {
    return this.call("smp/dryrun", params as DryrunParams);
  }

  /** Save files as they are, so that smp/rollback can bring them back; absent files are saved as absent. */
  checkpoint(params: Without<FilesParams, K>): Promise<CheckpointResult> {
    return this.call("smp/checkpoint", params as FilesParams);
  }

  /** Bring files and memory back to a checkpoint. */
  rollback(params: Without<RollbackParams, K>): Promise<RollbackResult> {
    return this.call("smp/rollback", params as RollbackParams);
  }

  /** Claim exclusive write access; exclusive sessions only. What another session holds is listed, not raised. */
  lock(params: Without<FilesParams, K>): Promise<SafetyLockResult> {
    return this.call("smp/lock", params as FilesParams);
  }

  /** Give locks back; closing the session does so too. */
  unlock(params: Without<FilesParams, K>): Promise<UnlockResult> {
    return this.call("smp/unlock", params as FilesParams);
  }

  /** The record of a session that has ended: what it asked, wrote, was refused, took back. */
  auditGet(params: AuditParams): Promise<AuditResult> {
    return this.call("smp/audit/get", params);
  }

  /** Nodes that change often while many call them. */
  telemetryHot(params: HotParams = {}): Promise<HotResult> {
    return this.call("smp/telemetry/hot", params);
  }

  /** The recorded changes of one node within the window. */
  telemetryNode(params: NodeParams): Promise<TelemetryNodeResult> {
    return this.call("smp/telemetry/node", params);
  }

  /** Make a box for a session: the files of a commit and what the session has pushed, no network, limits on all. */
  sandboxSpawn(params: Without<SpawnParams, K>): Promise<SpawnResult> {
    return this.call("smp/sandbox/spawn", params as SpawnParams);
  }

  /** Run a shell command in a box; nothing that it started is alive afterwards, and files stay for the next one. */
  sandboxExecute(params: ExecuteParams): Promise<ExecuteResult> {
    return this.call("smp/sandbox/execute", params);
  }

  /** Read what a command of the session wrote, whole (32 MB of each stream), also after its box is gone. */
  sandboxLog(params: Without<LogParams, K>): Promise<LogResult> {
    return this.call("smp/sandbox/log", params as LogParams);
  }

  /** End a box and drop what it changed; a box of another session is unknown. */
  sandboxDestroy(params: Without<DestroyParams, K>): Promise<DestroyResult> {
    return this.call("smp/sandbox/destroy", params as DestroyParams);
  }

  /** Check that results reach assertions, then run the tests against mutants of the target, all in the box. */
  verifyIntegrity(params: IntegrityParams): Promise<PassedResult | FailedResult> {
    return this.call("smp/verify/integrity", params);
  }

  /** Declare a surviving mutant equivalent: it holds the verdict back no longer; audit and pull request tell of it. */
  verifyMarkEquivalent(params: MarkParams): Promise<PassedResult | FailedResult> {
    return this.call("smp/verify/mark_equivalent", params);
  }

  /** Publish a verified box as a branch with a pull-request document, or say where it conflicts with its base. */
  handoffPr(params: Without<PullRequestParams, K>): Promise<HandoffOpenResult | ConflictsResult> {
    return this.call("smp/handoff/pr", params as PullRequestParams);
  }

  /** Hand a verified box to a reviewer agent, who gets a session of its own; smp/handoff/pr then waits for approval. */
  handoffReview(params: Without<ReviewParams, K>): Promise<ReviewResult> {
    return this.call("smp/handoff/review", params as ReviewParams);
  }

  /** Approve a handed-over change, ask for changes, or reject it; the reviewer only. */
  handoffDecide(params: DecideParams): Promise<DecideResult> {
    return this.call("smp/handoff/decide", params);
  }

  /** Every file with its size, community and heat, and how the communities touch: a map to draw. */
  operationsMap(params: MapParams = {}): Promise<MapResult> {
    return this.call("smp/operations/map", params);
  }

  /** Lines of a file as it is now. */
  operationsSource(params: SourceParams): Promise<SourceResult> {
    return this.call("smp/operations/source", params);
  }

  /** Sessions with their locks, boxes and phases; an agent's token sees its own. */
  operationsSessions(params: SessionsParams = {}): Promise<SessionsResult> {
    return this.call("smp/operations/sessions", params);
  }

  /** What a session did, step by step, also while it is open. */
  operationsSteps(params: Without<StepsParams, K>): Promise<StepsResult> {
    return this.call("smp/operations/steps", params as StepsParams);
  }

  /** Commands with what they were refused, verdicts with each mutant, and the change itself, of one session. */
  operationsEvidence(params: Without<EvidenceParams, K>): Promise<EvidenceResult> {
    return this.call("smp/operations/evidence", params as EvidenceParams);
  }

  /** Swarms of this repository that Temporal knows; -32014 where it does not answer. */
  operationsSwarms(params: SwarmsParams = {}): Promise<SwarmsResult> {
    return this.call("smp/operations/swarms", params);
  }

  /** The board of one swarm: each task with its session, and at the end how the branches merge. */
  operationsSwarm(params: SwarmParams): Promise<SwarmResult> {
    return this.call("smp/operations/swarm", params);
  }
}
