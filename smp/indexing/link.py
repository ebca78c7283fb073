"""Call sites, imports and bases of many files → edges. A pure function of the files' analyses and configuration.

Files are linked by family: languages that import each other form one program (`smp.languages.base`). The order of files,
of processes, and of hash seeds does not show in the result.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from smp.domain.graph import Edge, EdgeKind, Resolution
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary
from smp.indexing.linking.candidates import Candidates
from smp.indexing.linking.emission import Emission
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.program import Program
from smp.indexing.linking.rules import Rules
from smp.indexing.linking.structure import TestEdges, hierarchy_edges, import_edges
from smp.indexing.linking.types import Types
from smp.languages.base import Language
from smp.languages.registry import language_named


class LinkResult(Struct, frozen=True, kw_only=True):
    """What linking found.

    Attributes:
        edges: Per reading file its outgoing edges, sorted. When `changed` was given, only files that are among them or
            whose edges are not those that the state before describes.
        state: To be given to the next call; opaque.
    """

    edges: dict[FilePath, tuple[Edge, ...]]
    state: bytes = b""


class _State(Struct, frozen=True, array_like=True):
    """What the next link compares with: the format, and a digest of each file's edges."""

    format: int
    digests: dict[str, bytes]


LINK_FORMAT = 1
"""Raised whenever the same analyses would give other edges; a state of another format is as none."""


def link(
    files: Mapping[FilePath, FileAnalysis],
    *,
    configs: Mapping[FilePath, bytes],
    changed: frozenset[FilePath] | None = None,
    state: bytes | None = None,
) -> LinkResult:
    """Links files to each other.

    Args:
        files: All files of the repository, changed or not.
        configs: Contents of the configuration files that `analyse.wants_config` asks for.
        changed: Paths added, changed or removed since `state` was made; None links everything.
        state: The state of the link before.

    Returns:
        For each file the edges that a link of everything gives, byte for byte.
    """
    with _collection_paused():
        edges = _link_all(files, configs)
    digests: dict[str, bytes] = {path: _digest(found) for path, found in edges.items()}
    before = _known_digests(state) if changed is not None else None
    if before is not None and changed is not None:
        edges = {path: found for path, found in edges.items() if path in changed or before.get(path) != digests[path]}
    return LinkResult(edges=edges, state=msgspec.msgpack.encode(_State(LINK_FORMAT, digests)))


def _digest(edges: tuple[Edge, ...]) -> bytes:
    return hashlib.blake2b(msgspec.msgpack.encode(edges), digest_size=16).digest()


def _known_digests(state: bytes | None) -> dict[str, bytes] | None:
    if not state:
        return None
    try:
        known = msgspec.msgpack.decode(state, type=_State)
    except msgspec.DecodeError:
        return None
    return known.digests if known.format == LINK_FORMAT else None


@contextlib.contextmanager
def _collection_paused() -> Iterator[None]:
    """A link makes millions of objects and no garbage in cycles; looking for some doubles its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _link_all(
    files: Mapping[FilePath, FileAnalysis], configs: Mapping[FilePath, bytes]
) -> dict[FilePath, tuple[Edge, ...]]:
    families: dict[str, tuple[Language, dict[FilePath, FileSummary]]] = {}
    test_files = frozenset(
        path for path, analysis in files.items() if analysis.nodes and analysis.nodes[0].role == "test"
    )
    for path in sorted(files):
        analysis = files[path]
        language = language_named(analysis.language) if analysis.language is not None else None
        if language is not None and analysis.summary is not None:
            families.setdefault(language.family, (language, {}))[1][path] = analysis.summary
    edges: dict[FilePath, tuple[Edge, ...]] = dict.fromkeys(sorted(files), ())
    for family in sorted(families):
        language, summaries = families[family]
        edges.update(link_program(language, summaries, configs, test_files))
    return edges


def link_program(
    language: Language,
    summaries: Mapping[FilePath, FileSummary],
    configs: Mapping[FilePath, bytes],
    test_files: frozenset[FilePath],
) -> dict[FilePath, tuple[Edge, ...]]:
    """Links the files of one family."""
    wanted = {path: configs[path] for path in sorted(configs) if language.wants_config(path)}
    program = Program(summaries, language.resolver(summaries, wanted), language.tables())
    flow = Rules(program, Lookup(program), Types(program))
    flow.bind_rules()
    flow.scan_stores()
    flow.run()
    flow.note_given_back()
    candidates = Candidates(program)
    gathered: dict[FilePath, list[Edge]] = {}
    calls: dict[str, list[tuple[str, int]]] = {}
    for unit in program.units:
        emission = Emission(program, flow, candidates, unit, flow.states[unit.index])
        emission.run()
        edges = emission.edges()
        for source, target, line in _written_calls(edges):
            calls.setdefault(source, []).append((target, line))
        gathered[unit.path] = edges + import_edges(program, unit) + hierarchy_edges(program, unit)
    tests = TestEdges(program, flow, calls, frozenset(test_files))
    return {unit.path: tuple(sorted(gathered[unit.path] + tests.of(unit), key=_order)) for unit in program.units}


def _written_calls(edges: list[Edge]) -> list[tuple[str, str, int]]:
    """(source, target, line) of calls, without the wrapper that runs where a decorated name is called: a test is about the
    name that it writes."""
    decorated = {(e.source, line) for e in edges if e.resolution is Resolution.DECORATED for line in e.lines}
    return [
        (edge.source, edge.target, line)
        for edge in edges
        if edge.kind is EdgeKind.CALLS_STATIC and edge.target is not None
        for line in edge.lines
        if edge.resolution is not Resolution.FLOW or (edge.source, line) not in decorated
    ]


def _order(edge: Edge) -> tuple[str, str, str, str, str]:
    return (edge.kind, edge.source, edge.target or "", edge.to_name or "", edge.reason or "")
