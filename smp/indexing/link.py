"""Call sites, imports and bases of many files → edges. A pure function of the files' analyses and configuration.

Files are linked by family: languages that import each other form one program (`smp.languages.base`). The order of files,
of processes, and of hash seeds does not show in the result.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from smp.domain.graph import Edge
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary
from smp.languages.base import Language
from smp.languages.registry import language_named

if TYPE_CHECKING:
    from smp.indexing.linking.revision import Revision


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


LINK_FORMAT = 7
"""Raised whenever the same analyses would give other edges; a state of another format is as none."""


def link(
    files: Mapping[FilePath, FileAnalysis],
    *,
    configs: Mapping[FilePath, bytes],
    changed: frozenset[FilePath] | None = None,
    state: bytes | None = None,
) -> LinkResult:
    """Links files to each other, all of them anew.

    Args:
        files: All files of the repository, changed or not.
        configs: Contents of the configuration files that `analyse.wants_config` asks for.
        changed: Paths added, changed or removed since `state` was made; None asks for the edges of all files.
        state: The state of the link before.

    Returns:
        For each file the edges that a link of everything gives, byte for byte.
    """
    return Linker()(files, configs=configs, changed=changed, state=state)


class Linker:
    """`link` with a memory: the next link solves and emits only what differs from the last one, with the same result.

    It compares what it is given with what it holds, so that any earlier state, and the writes of other processes, do. Calls
    must not overlap.
    """

    def __init__(self) -> None:
        self._families: dict[str, tuple[Revision, dict[FilePath, bytes]]] = {}
        """Per family the link that is held, and the digests of its files' edges."""
        self.linked_anew = 0
        """Families that were linked as a whole by the last call."""

    def __call__(
        self,
        files: Mapping[FilePath, FileAnalysis],
        *,
        configs: Mapping[FilePath, bytes],
        changed: frozenset[FilePath] | None = None,
        state: bytes | None = None,
    ) -> LinkResult:
        """As `link`."""
        with _collection_paused():
            families, test_files = _families(files)
            held, self._families = self._families, {}
            self.linked_anew = 0
            kept: dict[str, tuple[Revision, dict[FilePath, bytes]]] = {}
            for family, (language, summaries) in sorted(families.items()):
                wanted = {path: configs[path] for path in sorted(configs) if language.wants_config(path)}
                kept[family] = self._link(held.pop(family, None), language, summaries, wanted, test_files)
            self._families = kept
        return self._result(files, changed, state)

    def _link(
        self,
        held: tuple[Revision, dict[FilePath, bytes]] | None,
        language: Language,
        summaries: Mapping[FilePath, FileSummary],
        configs: Mapping[FilePath, bytes],
        test_files: frozenset[FilePath],
    ) -> tuple[Revision, dict[FilePath, bytes]]:
        from smp.indexing.linking.revision import Revision, TooWide  # half of what a question would have to load

        if held is not None:
            revision, digests = held
            try:
                again = revision.advance(summaries, configs, test_files)
            except TooWide:
                del revision, held
                gc.collect()  # what was held is full of circles, and as large as what comes now
            else:
                digests = {path: digests[path] for path in summaries if path in digests and path not in again}
                return revision, digests | {path: _digest(revision.edges(path)) for path in again}
        self.linked_anew += 1
        made = Revision(language, summaries, configs, test_files)
        return made, {path: _digest(made.edges(path)) for path in summaries}

    def _result(
        self, files: Mapping[FilePath, FileAnalysis], changed: frozenset[FilePath] | None, state: bytes | None
    ) -> LinkResult:
        owners = {path: revision for revision, digests in self._families.values() for path in digests}
        digests: dict[FilePath, bytes] = dict.fromkeys(files, _NO_EDGES)
        for _, known in self._families.values():
            digests.update(known)
        before = _known_digests(state) if changed is not None else None
        edges = {
            path: owners[path].edges(path) if path in owners else ()
            for path in sorted(files)
            if before is None or changed is None or path in changed or before.get(path) != digests[path]
        }
        return LinkResult(
            edges=edges,
            state=msgspec.msgpack.encode(_State(LINK_FORMAT, {str(path): one for path, one in digests.items()})),
        )


def _digest(edges: tuple[Edge, ...]) -> bytes:
    return hashlib.blake2b(msgspec.msgpack.encode(edges), digest_size=16).digest()


_NO_EDGES = _digest(())


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


def _families(
    files: Mapping[FilePath, FileAnalysis],
) -> tuple[dict[str, tuple[Language, dict[FilePath, FileSummary]]], frozenset[FilePath]]:
    """Languages and summaries by family; and which files are tests."""
    families: dict[str, tuple[Language, dict[FilePath, FileSummary]]] = {}
    for path in sorted(files):
        analysis = files[path]
        language = language_named(analysis.language) if analysis.language is not None else None
        if language is not None and analysis.summary is not None:
            families.setdefault(language.family, (language, {}))[1][path] = analysis.summary
    tests = frozenset(path for path, found in files.items() if found.nodes and found.nodes[0].role == "test")
    return families, tests
