"""A change of some files → what it would do to the graph. Stores nothing: update, preview and overlay share it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Protocol

import msgspec
from msgspec import Struct

from smp.domain.graph import OWNER_STRUCTURE, Edge, GraphDelta, GraphPart, Node, NodeKind, Owner, Part, Scope
from smp.domain.ids import ContentHash, FilePath, NodeId, mint_node_id
from smp.domain.places import edge_order
from smp.domain.source import FileAnalysis
from smp.indexing.analyse import wants_config
from smp.indexing.analyses import Analyses
from smp.indexing.collector import return_memory
from smp.indexing.packed_edges import edge_digests
from smp.indexing.records import LINK_DIGEST, load_analyses, load_link_state, load_record
from smp.indexing.reports import ParseError
from smp.indexing.structure import repository_name, structure_part, wanted_manifests
from smp.indexing.workers import Analysed
from smp.languages.nodes import is_config
from smp.languages.registry import language_of
from smp.ports.graph_store import GraphStore
from smp.ports.index_cache import IndexCache


class Overtaken(Exception):
    """Another process has changed the index since this change was worked out; it is to be worked out anew."""


class Linked(Protocol):
    """Result of a link: edges by file, and what the next link starts from."""

    @property
    def edges(self) -> Mapping[FilePath, tuple[Edge, ...]]: ...
    @property
    def state(self) -> bytes: ...


class Link(Protocol):
    """`smp.indexing.link.link`, as the indexer calls it."""

    def __call__(
        self,
        files: Mapping[FilePath, FileAnalysis],
        *,
        configs: Mapping[FilePath, bytes],
        changed: frozenset[FilePath] | None,
        state: bytes | None,
        digests: Mapping[FilePath, bytes] | None,
    ) -> Linked: ...


class Memory(Struct, frozen=True, kw_only=True):
    """What linking needs of the whole repository, held between changes.

    Attributes:
        generation: Of the graph that it belongs to.
        files: Content hash of every indexed file.
        analyses: Of every indexed file, with its first node alone: the others are in the graph.
        configs: Content of the files that linking reads itself.
        digests: Of each file's linked edges as stored, so that only edges that differ are written.
        state: Opaque; what `link` returned.
    """

    generation: int
    files: dict[FilePath, ContentHash]
    analyses: Analyses
    configs: dict[FilePath, bytes]
    digests: dict[FilePath, bytes]
    state: bytes | None


class Staged(Struct, frozen=True, kw_only=True):
    """A change, worked out.

    Attributes:
        memory: For the graph after the change; its generation is the one that the change is based on.
        analysed: Files that were read. removed: files that are gone.
        relinked: Files whose content is unchanged and whose edges differ.
        digests: New digests of the linked edges of `analysed` and `relinked`.
    """

    delta: GraphDelta
    memory: Memory
    analysed: dict[FilePath, Analysed]
    removed: tuple[FilePath, ...]
    relinked: tuple[FilePath, ...]
    digests: dict[FilePath, bytes]
    parse_errors: tuple[ParseError, ...]


def no_memory(cache: IndexCache, generation: int) -> Memory:
    """The memory of an index of which nothing but the list of files is of use."""
    analyses = Analyses({}, {}, partial(_analysis, cache))
    return Memory(
        generation=generation, files=cache.file_hashes(), analyses=analyses, configs={}, digests={}, state=None
    )


def load_memory(cache: IndexCache, *, generation: int, configs: Mapping[FilePath, bytes]) -> Memory:
    """The memory of an index that another process (or an earlier run of this one) has built. Its analyses are read when they
    are asked for, and say then if they were overtaken."""
    files = cache.file_hashes()
    return Memory(
        generation=generation,
        files=files,
        analyses=Analyses(files, {}, partial(_analysis, cache), generation),
        configs=dict(configs),
        digests={FilePath(path): digest for path, digest in cache.blobs(LINK_DIGEST, files).items()},
        state=load_link_state(cache),
    )


def _analysis(cache: IndexCache, path: FilePath, generation: int) -> FileAnalysis:
    """Raises `Overtaken`: the index is of another generation by now."""
    found = load_analyses(cache, [path]).get(path)
    record = load_record(cache)  # after the analysis: what was written before it was read shows here
    if found is None or record is None or record.generation != generation:
        raise Overtaken
    return found


def stored_as(memory: Memory, generation: int) -> Memory:
    """A memory that the index has now, as this generation."""
    return msgspec.structs.replace(memory, generation=generation, analyses=memory.analyses.stored_as(generation))


def stage(
    memory: Memory,
    analysed: dict[FilePath, Analysed],
    removed: Iterable[FilePath],
    *,
    configs: Mapping[FilePath, bytes],
    link: Link,
) -> Staged:
    """Work out a change.

    Args:
        memory: Of the graph before; untouched.
        configs: Content of those changed files that `link` or the repository's name depend on.
    """
    gone = tuple(sorted(set(removed) & memory.files.keys()))
    after = _after(memory, analysed, gone, configs)
    changed = frozenset(analysed) | frozenset(gone)
    state = memory.state
    if state is None:
        return_memory()  # what reading all files has left
    result = link(
        after.analyses,
        configs=after.configs,
        changed=None if state is None else changed,
        state=state,
        digests=memory.digests,
    )
    digests = {path: digest for path, digest in edge_digests(result.edges).items() if path in after.files}
    differing = {path: digest for path, digest in digests.items() if memory.digests.get(path) != digest}
    relinked = tuple(sorted(path for path in differing if path not in analysed))
    parts: list[Part] = [_WholePart(one, result.edges) for path, one in sorted(analysed.items())]
    parts += [_edges_part(after.analyses[path], result.edges[path]) for path in relinked]
    known = {**memory.digests, **differing}
    for path in gone:
        known.pop(path, None)
    first = memory.generation == 0
    if first or after.files.keys() != memory.files.keys() or wanted_manifests(configs):
        parts.insert(0, structure_of(after))
    return Staged(
        delta=GraphDelta(parts=tuple(parts), removed=tuple(Owner(path) for path in gone)),
        memory=msgspec.structs.replace(
            after,
            digests=known,
            state=result.state,
        ),
        analysed=analysed,
        removed=gone,
        relinked=relinked,
        digests=differing,
        parse_errors=parse_errors(analysed.values()),
    )


def keeps_content(path: FilePath) -> bool:
    """Whether `stage` wants the bytes of this file in `configs`."""
    return wants_config(path) or bool(wanted_manifests([path]))


def parse_errors(analysed: Iterable[Analysed]) -> tuple[ParseError, ...]:
    """What could not be read, by file and line."""
    return tuple(
        ParseError(file=one.analysis.path, line=damage.line, message=damage.message)
        for one in sorted(analysed, key=lambda one: one.analysis.path)
        for damage in one.analysis.damage
    )


def own_node_id(path: FilePath) -> NodeId:
    """The id of the node that stands for a file itself."""
    config = language_of(path) is None and is_config(path)
    return mint_node_id((NodeKind.CONFIG if config else NodeKind.FILE).value.lower(), path)


def structure_of(after: Memory) -> GraphPart:
    """Repository and packages above the files of a memory."""
    part = structure_part({path: own_node_id(path) for path in after.files}, name=repository_name(after.configs))
    assert part.owner == OWNER_STRUCTURE
    return part


def _after(
    memory: Memory,
    analysed: Mapping[FilePath, Analysed],
    gone: tuple[FilePath, ...],
    configs: Mapping[FilePath, bytes],
) -> Memory:
    files, contents = dict(memory.files), dict(memory.configs)
    read: dict[FilePath, FileAnalysis] = {}
    for path in gone:
        del files[path]
    for path in (*gone, *analysed):
        contents.pop(path, None)
    for path, one in analysed.items():
        files[path] = one.hash
        # Linking asks for the role of the file alone, which its first node says.
        read[path] = msgspec.structs.replace(one.analysis, nodes=one.analysis.nodes[:1], bodies={})
    contents.update((path, body) for path, body in configs.items() if path in files)
    if not files.keys() <= memory.files.keys():
        files = dict(sorted(files.items()))
    return msgspec.structs.replace(
        memory,
        files=files,
        analyses=memory.analyses.after(read, gone, files),
        configs=dict(sorted(contents.items())),
    )


class _WholePart:
    """What a file contributes, unpacked when asked for: all files at once would fill the memory."""

    def __init__(self, one: Analysed, linked: Mapping[FilePath, tuple[Edge, ...]]) -> None:
        self.owner = Owner(one.analysis.path)
        self._one = one
        self._linked = linked

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self._one.nodes

    @property
    def bodies(self) -> dict[NodeId, str]:
        return self._one.bodies

    @property
    def edges(self) -> tuple[Edge, ...]:
        return tuple(sorted((*self._one.edges, *self._linked.get(self._one.analysis.path, ())), key=edge_order))


def _edges_part(analysis: FileAnalysis, linked: tuple[Edge, ...]) -> GraphPart:
    edges = tuple(sorted((*analysis.edges, *linked), key=edge_order))
    return GraphPart(owner=Owner(analysis.path), nodes=None, edges=edges)


def nodes_of(graph: GraphStore, files: Iterable[FilePath]) -> tuple[Node, ...]:
    """The nodes that a graph has of some files, by file."""
    return tuple(node for path in sorted(set(files)) for node in graph.scan(Scope(kind="file", prefix=path)))


def analysed_nodes(staged: Staged) -> list[Node]:
    """The nodes of the files that were read."""
    return [node for one in staged.analysed.values() for node in one.nodes]
