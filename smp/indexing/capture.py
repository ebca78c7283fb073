"""What one index knows, taken out of its stores; and how another index takes it over.

An index is a function of the working tree, so what another one knows of a file is as good as one's own for a file of
equal content. Where every file is equal, nodes and edges are taken as they are and nothing is linked. Where some differ,
their analyses are made here and the whole is linked anew, from analyses of both origins.

What is no function of the tree comes along as well: calls that were observed, and what people and agents wrote onto
nodes. What is true of one server only (history of changes, sessions, ranks, vectors) does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from smp.domain.graph import Edge, EdgeKind, GraphDelta, GraphPart, Node, NodeKind, Owner, Scope
from smp.domain.ids import CommitSha, ContentHash, FilePath, NodeId
from smp.domain.metadata import Enrichment
from smp.domain.places import edge_order, in_scope
from smp.domain.source import FileAnalysis
from smp.indexing.analyses import Analyses
from smp.indexing.bodies import with_bodies
from smp.indexing.records import LINK_DIGEST, IndexRecord, load_analyses, load_link_state, load_record
from smp.indexing.staging import Memory, Staged, parse_errors, structure_of
from smp.indexing.workers import Analysed
from smp.ports.graph_store import GraphStore
from smp.ports.index_cache import IndexCache
from smp.ports.metadata_store import MetadataStore
from smp.ports.source_tree import SourceFile

COMMUNITY_EDGES = frozenset({EdgeKind.MEMBER_OF, EdgeKind.BRIDGES, EdgeKind.CHILD_OF})
"""Computed over the whole graph and recomputed after every change: never taken along."""
STORED_EDGES = tuple(kind for kind in EdgeKind if kind not in COMMUNITY_EDGES and kind is not EdgeKind.CALLS_RUNTIME)


class Capture(Struct, frozen=True, kw_only=True):
    """An index, or the part of it below one directory.

    Attributes:
        root_hash: Of the whole tree, whatever the scope.
        files: Path → content hash of the files of the scope.
        analyses: Of exactly these files, by path, with their nodes; the file's own node first.
        structure: Repository and packages of the scope.
        edges: That leave nodes of the scope, by `edge_order`; without observed calls and communities.
        observed: CALLS_RUNTIME that leave nodes of the scope.
        annotations: Enrichments that somebody wrote.
        digests, link_state: What incremental linking goes on from; empty for a part.
    """

    scope: Scope
    root_hash: ContentHash
    commit_sha: CommitSha | None
    files: dict[FilePath, ContentHash]
    analyses: tuple[FileAnalysis, ...]
    structure: tuple[Node, ...]
    edges: tuple[Edge, ...]
    observed: tuple[Edge, ...]
    annotations: dict[NodeId, Enrichment]
    digests: dict[FilePath, bytes]
    link_state: bytes

    @property
    def nodes(self) -> dict[NodeId, Node]:
        """Every node by id."""
        own = (node for analysis in self.analyses for node in analysis.nodes)
        return {node.id: node for node in (*self.structure, *own)}

    @property
    def relations(self) -> tuple[Edge, ...]:
        """Every edge but unresolved calls, as `GraphSize.edges` counts them."""
        return (*(edge for edge in self.edges if edge.target is not None), *self.observed)


class Adoption(Struct, frozen=True, kw_only=True):
    """What taking a capture over came to.

    Attributes:
        diverging: Files of the capture's scope that differ here, sorted.
        re_indexed: Files whose analysis was made here.
    """

    diverging: tuple[FilePath, ...]
    re_indexed: tuple[FilePath, ...]


def capture_index(
    cache: IndexCache, graph: GraphStore, metadata: MetadataStore, scope: Scope
) -> tuple[IndexRecord, Capture] | None:
    """Read an index out of its stores; None when there is none, or when it was changed meanwhile (read again then)."""
    record = load_record(cache)
    if record is None:
        return None
    files = {path: digest for path, digest in cache.file_hashes().items() if in_scope(path, scope)}
    own: dict[FilePath, list[Node]] = {path: [] for path in files}
    structure: list[Node] = []
    for node in graph.scan(scope):
        if node.file is not None:
            own.setdefault(node.file, []).append(node)
        elif node.kind is not NodeKind.COMMUNITY:
            structure.append(node)
    analyses = load_analyses(cache, files)
    ids = [node.id for nodes in own.values() for node in nodes] + [node.id for node in structure]
    whole = scope.kind == "full"
    capture = Capture(
        scope=scope,
        root_hash=record.root_hash,
        commit_sha=record.commit_sha,
        files=files,
        analyses=tuple(
            msgspec.structs.replace(analyses[path], nodes=tuple(sorted(own[path], key=_source_order)))
            for path in sorted(analyses)
        ),
        structure=tuple(structure),
        edges=tuple(sorted(graph.scan_edges(scope, STORED_EDGES), key=edge_order)),
        observed=tuple(graph.scan_edges(scope, (EdgeKind.CALLS_RUNTIME,))),
        annotations={one: value for one, value in metadata.enrichments(ids).items() if _written(value)},
        digests={FilePath(path): blob for path, blob in cache.blobs(LINK_DIGEST, files).items()} if whole else {},
        link_state=(load_link_state(cache) or b"") if whole else b"",
    )
    return (record, capture) if load_record(cache) == record and own.keys() == analyses.keys() else None


def divergence(capture: Capture, files: Mapping[FilePath, ContentHash]) -> tuple[FilePath, ...]:
    """The paths of a capture's scope at which a tree differs from it, sorted."""
    inside = {path for path in files if in_scope(path, capture.scope)}
    return tuple(sorted(p for p in inside | capture.files.keys() if files.get(p) != capture.files.get(p)))


def is_whole(capture: Capture, files: Mapping[FilePath, ContentHash]) -> bool:
    """Whether the capture is of exactly this tree, and all of it."""
    return capture.scope.kind == "full" and capture.files == files and bool(capture.link_state)


def known_analyses(capture: Capture, files: Iterable[SourceFile]) -> dict[FilePath, Analysed]:
    """The capture's analyses of those of these files whose content is the one it was made from.

    Args:
        files: As they lie here: a capture has no text to take the words of bodies from.
    """
    by_path = {one.path: one for one in capture.analyses}
    return {
        file.path: Analysed(file.hash, with_bodies(by_path[file.path], file.content))
        for file in files
        if capture.files.get(file.path) == file.hash
    }


def stage_whole(
    capture: Capture,
    memory: Memory,
    configs: Mapping[FilePath, bytes],
    gone: Iterable[FilePath],
    *,
    analysed: Mapping[FilePath, Analysed],
) -> Staged:
    """A capture of exactly the wanted tree as a change of what is stored; nothing is linked.

    Args:
        memory: Of the graph before.
        analysed: The capture's analyses, with the words of their bodies.
        configs: Content of those files that `keeps_content` names.
        gone: Files that are stored and no longer wanted.
    """
    after = Memory(
        generation=memory.generation,
        files=dict(sorted(capture.files.items())),
        analyses=Analyses(
            dict(sorted(capture.files.items())),
            {
                path: msgspec.structs.replace(one.analysis, nodes=one.analysis.nodes[:1], bodies={})
                for path, one in analysed.items()
            },
        ),
        configs=dict(sorted(configs.items())),
        digests=dict(capture.digests),
        state=capture.link_state,
    )
    home = {node.id: one.path for one in capture.analyses for node in one.nodes}
    leaving: dict[FilePath, list[Edge]] = {path: [] for path in analysed}
    for edge in capture.edges:
        if edge.source in home:
            leaving[home[edge.source]].append(edge)
    parts = [structure_of(after)]
    parts += [
        GraphPart(
            owner=Owner(path),
            nodes=one.nodes,
            edges=tuple(sorted(leaving[path], key=edge_order)),
            bodies=one.bodies,
        )
        for path, one in sorted(analysed.items())
    ]
    removed = tuple(sorted(gone))
    return Staged(
        delta=GraphDelta(parts=tuple(parts), removed=tuple(Owner(path) for path in removed)),
        memory=after,
        analysed=dict(analysed),
        removed=removed,
        relinked=(),
        digests=dict(capture.digests),
        parse_errors=parse_errors(analysed.values()),
    )


def add_observations(capture: Capture, graph: GraphStore, metadata: MetadataStore) -> None:
    """Store what was observed and written elsewhere, of nodes that are here; part of the transaction that is open.

    A call that is on record here keeps its count, so that taking a capture over twice counts nothing twice. What was
    written here stands against what was written there.
    """
    known = {edge_order(edge) for edge in graph.scan_edges(Scope(), (EdgeKind.CALLS_RUNTIME,))}
    captured = capture.nodes
    present_texts = {node.id: node.source_hash for node in graph.nodes(captured)}
    changed = {one for one, node in captured.items() if present_texts.get(one, node.source_hash) != node.source_hash}
    graph.observe_calls(
        edge
        for edge in capture.observed
        if edge_order(edge) not in known and edge.source not in changed and edge.target not in changed
    )
    present = {node.id for node in graph.nodes(capture.annotations)}
    ours = metadata.enrichments(present)
    put: dict[NodeId, Enrichment] = {}
    for node_id, theirs in capture.annotations.items():
        own = ours.get(node_id, Enrichment())
        if node_id in present and not _written(own):
            put[node_id] = msgspec.structs.replace(
                own,
                description=theirs.description,
                tags=theirs.tags,
                manually_set=theirs.manually_set,
                annotated_at=theirs.annotated_at,
            )
    metadata.put_enrichments(put)


def held_counts(capture: Capture, graph: GraphStore) -> tuple[int, int]:
    """How many of a capture's nodes and edges (unresolved calls left out) the graph holds exactly as they are in it."""
    nodes = capture.nodes
    held = sum(1 for node in graph.scan(capture.scope) if nodes.get(node.id) == node)
    stored = {edge_order(edge) for edge in graph.scan_edges(capture.scope) if edge.target is not None}
    return held, sum(1 for edge in capture.relations if edge_order(edge) in stored)


def _written(enrichment: Enrichment) -> bool:
    return bool(enrichment.manually_set or enrichment.description or enrichment.tags)


def _source_order(node: Node) -> tuple[bool, int, int, str]:
    return (node.qualname != node.file, node.start_byte, -node.end_byte, node.id)
