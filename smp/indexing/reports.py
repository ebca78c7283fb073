"""What goes into the indexer and what it reports."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.graph import DeltaCounts, Edge, Node
from smp.domain.ids import CommitSha, ContentHash, FilePath, NodeId
from smp.ports.source_tree import SkippedFile


class FileChange(Struct, frozen=True, kw_only=True):
    """New content of one file.

    Attributes:
        content: None and not deleted: what lies on disk.
        change_type: `created`, `modified` or `deleted`; the first two mean the same.
    """

    path: FilePath
    content: bytes | None = None
    change_type: str = "modified"


class ParseError(Struct, frozen=True, kw_only=True):
    """A part of a file that could not be read; the rest of the file counts."""

    file: FilePath
    line: int
    message: str


class UpdateReport(Struct, frozen=True, kw_only=True):
    """What an update did.

    Attributes:
        status: `success`, or `partial` when a part did not parse.
        files: Files whose content changed, sorted.
        changed_nodes: Nodes added, changed in their own source, or removed; sorted.
    """

    status: str
    counts: DeltaCounts = DeltaCounts()
    parse_errors: tuple[ParseError, ...] = ()
    files: tuple[FilePath, ...] = ()
    changed_nodes: tuple[NodeId, ...] = ()


class IndexReport(Struct, frozen=True, kw_only=True):
    """What a refresh did, and what the index holds now.

    Attributes:
        files: Indexed files. parsed: those that were read anew.
        nodes, edges: In the whole graph; edges without CALLS_UNRESOLVED, which `unresolved` counts.
    """

    files: int
    parsed: int
    removed: int
    skipped: tuple[SkippedFile, ...]
    nodes: int
    edges: int
    unresolved: int
    duration_ms: float
    root_hash: ContentHash
    commit_sha: CommitSha | None
    counts: DeltaCounts = DeltaCounts()
    parse_errors: tuple[ParseError, ...] = ()


class IndexState(Struct, frozen=True, kw_only=True):
    """Which tree the graph was built from.

    Attributes:
        stale: Files whose content differs from what was indexed, sorted; empty when the graph is up to date.
    """

    commit_sha: CommitSha | None
    root_hash: ContentHash
    files: int
    built_at: str | None
    stale: tuple[FilePath, ...] = ()


class Freshness(Struct, frozen=True, kw_only=True):
    """What an answer was made from.

    Attributes:
        commit_sha: Checked out when the index was brought up to date.
        dirty: Files of the working tree that differ from that commit.
        stale: Files that have changed since they were indexed: what the answer says of them is of before.
    """

    commit_sha: CommitSha | None
    dirty: tuple[FilePath, ...]
    stale: tuple[FilePath, ...]


class GraphPreview(Struct, frozen=True, kw_only=True):
    """What a change would do to the graph; nothing is stored.

    Attributes:
        files: Files whose content would change. relinked: further files whose links would.
        before_nodes, after_nodes: Of `files`. before_edges, after_edges: leaving nodes of `files` and `relinked`.
    """

    files: tuple[FilePath, ...]
    relinked: tuple[FilePath, ...] = ()
    before_nodes: tuple[Node, ...] = ()
    after_nodes: tuple[Node, ...] = ()
    before_edges: tuple[Edge, ...] = ()
    after_edges: tuple[Edge, ...] = ()
    parse_errors: tuple[ParseError, ...] = ()
