"""Call sites, imports and bases of many files → edges. A pure function of the files' analyses and configuration.

Files are linked by family: languages that import each other form one program (`smp.languages.base`). The order of files,
of processes, and of hash seeds does not show in the result.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from smp.domain.graph import Edge, EdgeKind
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
        edges: Per reading file its outgoing edges, sorted. With `changed`, only files whose edges differ from those that
            `state` describes, or that changed themselves; files that are gone are left out.
        state: To be given to the next call; opaque.
    """

    edges: dict[FilePath, tuple[Edge, ...]]
    state: bytes = b""


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
        The same edges for a file, whether it was linked alone or with all others.
    """
    families: dict[str, tuple[Language, dict[FilePath, FileSummary]]] = {}
    for path in sorted(files):
        analysis = files[path]
        language = language_named(analysis.language) if analysis.language is not None else None
        if language is not None and analysis.summary is not None:
            families.setdefault(language.family, (language, {}))[1][path] = analysis.summary
    edges: dict[FilePath, tuple[Edge, ...]] = {path: () for path in sorted(files)}
    for family in sorted(families):
        language, summaries = families[family]
        edges.update(link_program(language, summaries, configs))
    return LinkResult(edges=edges)


def link_program(
    language: Language, summaries: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]
) -> dict[FilePath, tuple[Edge, ...]]:
    """Links the files of one family."""
    wanted = {path: configs[path] for path in sorted(configs) if language.wants_config(path)}
    program = Program(summaries, language.resolver(summaries, wanted), language.tables())
    flow = Rules(program, Lookup(program), Types(program))
    flow.bind_rules()
    flow.scan_stores()
    flow.run()
    candidates = Candidates(program)
    gathered: dict[FilePath, list[Edge]] = {}
    calls: dict[str, list[tuple[str, int]]] = {}
    for unit in program.units:
        emission = Emission(program, flow, candidates, unit, flow.states[unit.index])
        emission.run()
        edges = emission.edges()
        for edge in edges:
            if edge.kind is EdgeKind.CALLS_STATIC and edge.target is not None:
                calls.setdefault(edge.source, []).extend((edge.target, line) for line in edge.lines)
        gathered[unit.path] = edges + import_edges(program, unit) + hierarchy_edges(program, unit)
    tests = TestEdges(program, flow, calls)
    return {unit.path: tuple(sorted(gathered[unit.path] + tests.of(unit), key=_order)) for unit in program.units}


def _order(edge: Edge) -> tuple[str, str, str, str, str]:
    return (edge.kind.value, edge.source, edge.target or "", edge.to_name or "", edge.reason or "")
