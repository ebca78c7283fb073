"""A change of some files → what it would do to the graph. Stores nothing: update, preview and overlay share it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from smp.domain.graph import OWNER_STRUCTURE, Edge, GraphDelta, GraphPart, NodeKind, Owner
from smp.domain.ids import ContentHash, FilePath, NodeId, mint_node_id
from smp.domain.places import edge_order
from smp.domain.source import FileSummary
from smp.indexing.analyse import wants_config
from smp.indexing.records import StoredAnalysis, load_analyses
from smp.indexing.reports import ParseError
from smp.indexing.structure import repository_name, structure_part, wanted_manifests
from smp.indexing.workers import Analysed
from smp.languages.nodes import is_config
from smp.languages.registry import language_of
from smp.ports.index_cache import IndexCache


class Linked(Protocol):
    """Result of a link: edges by file, and what the next link starts from."""

    @property
    def edges(self) -> Mapping[FilePath, tuple[Edge, ...]]: ...
    @property
    def state(self) -> object: ...


class Link(Protocol):
    """`smp.indexing.link.link`, as the indexer calls it."""

    def __call__(
        self,
        files: Mapping[FilePath, FileSummary],
        *,
        configs: Mapping[FilePath, bytes],
        changed: frozenset[FilePath] | None,
        state: object | None,
    ) -> Linked: ...


class Memory(Struct, frozen=True, kw_only=True):
    """What linking needs of the whole repository, held between changes.

    Attributes:
        generation: Of the graph that it belongs to.
        files: Content hash of every indexed file.
        state: Opaque; what `link` returned.
    """

    generation: int
    files: dict[FilePath, ContentHash]
    summaries: dict[FilePath, FileSummary]
    configs: dict[FilePath, bytes]
    state: object | None


class Staged(Struct, frozen=True, kw_only=True):
    """A change, worked out.

    Attributes:
        memory: For the graph after the change; its generation is the one that the change is based on.
        analysed: Files that were read. removed: files that are gone.
        relinked: Files whose content is unchanged and whose edges are given anew.
    """

    delta: GraphDelta
    memory: Memory
    analysed: dict[FilePath, Analysed]
    removed: tuple[FilePath, ...]
    relinked: tuple[FilePath, ...]
    parse_errors: tuple[ParseError, ...]


def load_memory(cache: IndexCache, *, generation: int, configs: Mapping[FilePath, bytes]) -> Memory:
    """The memory of an index that another process (or an earlier run of this one) has built; costs a read of all of it."""
    files = cache.file_hashes()
    stored = load_analyses(cache, files)
    summaries = {path: one.summary for path, one in stored.items() if one.summary is not None}
    return Memory(generation=generation, files=files, summaries=summaries, configs=dict(configs), state=None)


def stage(
    memory: Memory,
    analysed: dict[FilePath, Analysed],
    removed: Iterable[FilePath],
    *,
    configs: Mapping[FilePath, bytes],
    link: Link,
    cache: IndexCache,
) -> Staged:
    """Work out a change.

    Args:
        memory: Of the graph before; untouched.
        configs: Content of those changed files that `link` or the repository's name depend on.
        cache: Holds the structural edges of files that are only relinked.
    """
    gone = tuple(sorted(set(removed) & memory.files.keys()))
    changed = frozenset(analysed) | frozenset(gone)
    after = _after(memory, analysed, gone, configs)
    state = memory.state
    result = link(after.summaries, configs=after.configs, changed=None if state is None else changed, state=state)
    relinked = tuple(sorted(path for path in result.edges if path not in analysed and path in after.files))
    structural = load_analyses(cache, relinked)
    parts = [_whole_part(one, result.edges.get(path, ())) for path, one in sorted(analysed.items())]
    parts += [_edges_part(path, structural[path], result.edges[path]) for path in relinked if path in structural]
    first = memory.generation == 0
    if first or after.files.keys() != memory.files.keys() or any(path in configs for path in wanted_manifests(configs)):
        parts.insert(0, _structure(after))
    return Staged(
        delta=GraphDelta(parts=tuple(parts), removed=tuple(Owner(path) for path in gone)),
        memory=Memory(
            generation=memory.generation,
            files=after.files,
            summaries=after.summaries,
            configs=after.configs,
            state=result.state,
        ),
        analysed=analysed,
        removed=gone,
        relinked=relinked,
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


def _after(
    memory: Memory,
    analysed: Mapping[FilePath, Analysed],
    gone: tuple[FilePath, ...],
    configs: Mapping[FilePath, bytes],
) -> Memory:
    files, summaries, contents = dict(memory.files), dict(memory.summaries), dict(memory.configs)
    for path in (*gone, *analysed):
        files.pop(path, None)
        summaries.pop(path, None)
        contents.pop(path, None)
    for path, one in analysed.items():
        files[path] = one.hash
        if one.analysis.summary is not None:
            summaries[path] = one.analysis.summary
    contents.update((path, body) for path, body in configs.items() if path in files)
    return Memory(
        generation=memory.generation,
        files=dict(sorted(files.items())),
        summaries=dict(sorted(summaries.items())),
        configs=dict(sorted(contents.items())),
        state=memory.state,
    )


def _whole_part(one: Analysed, linked: tuple[Edge, ...]) -> GraphPart:
    edges = tuple(sorted((*one.analysis.edges, *linked), key=edge_order))
    return GraphPart(owner=Owner(one.analysis.path), nodes=one.analysis.nodes, edges=edges)


def _edges_part(path: FilePath, stored: StoredAnalysis, linked: tuple[Edge, ...]) -> GraphPart:
    return GraphPart(owner=Owner(path), nodes=None, edges=tuple(sorted((*stored.edges, *linked), key=edge_order)))


def _structure(after: Memory) -> GraphPart:
    part = structure_part({path: own_node_id(path) for path in after.files}, name=repository_name(after.configs))
    assert part.owner == OWNER_STRUCTURE
    return part
