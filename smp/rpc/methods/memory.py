"""Memory: keep the graph in step with the files, and compare two copies of them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from smp.domain.errors import Invalid
from smp.domain.graph import Scope
from smp.domain.ids import FilePath
from smp.domain.merkle import MerkleLeaf, MerkleTree
from smp.domain.paths import repository_path
from smp.indexing.reports import FileChange, UpdateReport
from smp.query.resolve import resolve_path
from smp.query.sync import compare, narrow
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.wire import HashPrefix, Params, Path, Result, ScopeText, SessionRef

ChangeType = Literal["modified", "created", "deleted"]


class UpdateParams(Params, frozen=True, kw_only=True):
    """One change of a file. Without content the file is read from disk; the working tree is never written."""

    type: Literal["file_change"] = "file_change"
    file_path: Path
    content: str | UnsetType = UNSET
    change_type: ChangeType
    session_id: SessionRef | UnsetType = UNSET


class ParseErrorResult(Result, frozen=True, kw_only=True):
    """A part of a file that could not be read; line is 1-based."""

    file: str
    line: int
    message: str


class UpdateResult(Result, frozen=True, kw_only=True):
    """status: `partial` when a part of a file did not parse; the rest of it counts."""

    status: Literal["success", "partial"]
    nodes_added: int
    nodes_updated: int
    nodes_removed: int
    relationships_updated: int
    parse_errors: tuple[ParseErrorResult, ...] = ()


@rpc_method("smp/update")
def update(params: UpdateParams, ctx: RequestContext) -> UpdateResult:
    """Tell the memory that a file was created, modified or deleted."""
    change = _change(params.file_path, params.content, params.change_type, path="file_path")
    return _apply(ctx, (change,), params.session_id, method="smp/update")


class ChangeItem(Params, frozen=True, kw_only=True):
    """Like the parameters of smp/update."""

    type: Literal["file_change"] = "file_change"
    file_path: Path
    content: str | UnsetType = UNSET
    change_type: ChangeType


class BatchUpdateParams(Params, frozen=True, kw_only=True):
    """Changes of distinct files. All or nothing."""

    changes: Annotated[tuple[ChangeItem, ...], Meta(min_length=1)]
    session_id: SessionRef | UnsetType = UNSET


@rpc_method("smp/batch_update")
def batch_update(params: BatchUpdateParams, ctx: RequestContext) -> UpdateResult:
    """Tell the memory of several changed files at once; one invalid change refuses them all."""
    changes: dict[FilePath, FileChange] = {}
    for index, item in enumerate(params.changes):
        path = f"changes[{index}].file_path"
        change = _change(item.file_path, item.content, item.change_type, path=path)
        if change.path in changes:
            raise Invalid(f"{change.path!r} is changed twice; send one change a file", path=path)
        changes[change.path] = change
    return _apply(ctx, tuple(changes.values()), params.session_id, method="smp/batch_update")


class SyncParams(Params, frozen=True, kw_only=True):
    """Hashes may be prefixes of at least 8 digits. A path that ends with a slash is a folder: its hash says all below at once."""

    client_root_hash: HashPrefix
    file_hashes: dict[Annotated[str, Meta(min_length=1)], HashPrefix]


class StaleResult(Result, frozen=True, kw_only=True):
    """server_hash is null for what only the client has; a folder (its path ends with a slash): name what is in it."""

    file: str
    client_hash: str
    server_hash: str | None
    action: Literal["push"] = "push"


class MissingResult(Result, frozen=True, kw_only=True):
    file: str
    server_hash: str
    action: Literal["pull"] = "pull"


class DeletedResult(Result, frozen=True, kw_only=True):
    file: str
    action: Literal["remove_from_graph"] = "remove_from_graph"


class SyncDiffResult(Result, frozen=True, kw_only=True):
    stale_on_server: tuple[StaleResult, ...]
    missing_on_client: tuple[MissingResult, ...]
    deleted_on_server: tuple[DeletedResult, ...]
    unchanged: int


class SyncResult(Result, frozen=True, kw_only=True):
    server_root_hash: str
    in_sync: bool
    diff: SyncDiffResult


@rpc_method("smp/sync")
def sync(params: SyncParams, ctx: RequestContext) -> SyncResult:
    """Compare a client's files and folders with the server's by hash: what to push, what to pull, what is gone.

    A folder (its path ends with a slash) of the server's hash is not entered. One that differs, and in which nothing is
    named, comes back in stale_on_server: name what is in it with the next call.
    """
    client = {repository_path(file, path=f"file_hashes.{file}"): digest for file, digest in params.file_hashes.items()}
    ctx.services.indexer.ensure_fresh()
    found = compare(
        ctx.services.indexer.merkle(), ctx.services.telemetry, client_root_hash=params.client_root_hash, client=client
    )
    return SyncResult(
        server_root_hash=found.server_root_hash,
        in_sync=found.in_sync,
        diff=SyncDiffResult(
            stale_on_server=tuple(
                StaleResult(file=item.file, client_hash=item.client_hash, server_hash=item.server_hash)
                for item in found.stale_on_server
            ),
            missing_on_client=tuple(
                MissingResult(file=item.file, server_hash=item.server_hash) for item in found.missing_on_client
            ),
            deleted_on_server=tuple(DeletedResult(file=file) for file in found.deleted_on_server),
            unchanged=found.unchanged,
        ),
    )


class MerkleParams(Params, frozen=True, kw_only=True):
    """The part of the tree to show; hashes stay those of the whole."""

    scope: ScopeText = "full"


class MerkleNode(Result, frozen=True, kw_only=True):
    """A directory (children by name) or a file (node_count: nodes it defines, itself included)."""

    hash: str
    children: dict[str, MerkleNode] | UnsetType = UNSET
    node_count: int | UnsetType = UNSET


class MerkleResult(Result, frozen=True, kw_only=True):
    root_hash: str
    tree: dict[str, MerkleNode]


@rpc_method("smp/merkle/tree")
def merkle_tree(params: MerkleParams, ctx: RequestContext) -> MerkleResult:
    """The hash tree over all indexed files, for comparison without a connection."""
    ctx.services.indexer.ensure_fresh()
    tree = ctx.services.indexer.merkle()
    kind, _, written = params.scope.partition(":")
    shown = tree if kind == "full" else narrow(tree, Scope(kind=kind, prefix=_prefix(written)))
    return MerkleResult(root_hash=tree.hash, tree=_children(shown))


def _prefix(written: str) -> str:
    return resolve_path(written.rstrip("/") or written, path="scope")


def _children(tree: MerkleTree) -> dict[str, MerkleNode]:
    return {name: _node(child) for name, child in tree.children.items()}


def _node(entry: MerkleTree | MerkleLeaf) -> MerkleNode:
    if isinstance(entry, MerkleLeaf):
        return MerkleNode(hash=entry.hash, node_count=entry.node_count)
    return MerkleNode(hash=entry.hash, children=_children(entry))


def _change(file_path: str, content: str | UnsetType, change_type: ChangeType, *, path: str) -> FileChange:
    """A lone surrogate in the text is kept as it came: refusing it would lose the rest of the file."""
    raw = None if isinstance(content, UnsetType) else content.encode("utf-8", "surrogatepass")
    return FileChange(
        path=resolve_path(file_path, path=path),
        content=None if change_type == "deleted" else raw,
        change_type=change_type,
    )


def _apply(
    ctx: RequestContext, changes: tuple[FileChange, ...], session_id: SessionRef | UnsetType, *, method: str
) -> UpdateResult:
    sessions = ctx.services.sessions
    report: UpdateReport
    if isinstance(session_id, UnsetType):
        # Saying what lies on disk is always welcome; pushing other content would write past the holder of a lock.
        sessions.refuse_locked(tuple(change.path for change in changes if change.content is not None))
        report = ctx.services.indexer.update(changes)
    else:
        report = sessions.update(session_id, changes, method=method)
    return UpdateResult(
        status="partial" if report.status == "partial" else "success",
        nodes_added=report.counts.nodes_added,
        nodes_updated=report.counts.nodes_updated,
        nodes_removed=report.counts.nodes_removed,
        relationships_updated=report.counts.relationships_updated,
        parse_errors=tuple(
            ParseErrorResult(file=error.file, line=error.line, message=error.message) for error in report.parse_errors
        ),
    )


METHODS = (update, batch_update, sync, merkle_tree)
