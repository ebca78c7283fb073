"""Call sites, imports and bases of many files → edges. A pure function of the files' analyses and configuration.

Files are linked by family: languages that import each other form one program (`smp.languages.base`). The order of files,
of processes, and of hash seeds does not show in the result.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from smp.domain.graph import Edge
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary
from smp.indexing.collector import collector_paused
from smp.languages.base import Language
from smp.languages.registry import language_named

if TYPE_CHECKING:
    from smp.indexing.linking.revision import Revision


class LinkResult(Struct, frozen=True, kw_only=True):
    """What linking found.

    Attributes:
        edges: Per reading file its outgoing edges, sorted. When `changed` was given, only files that are among them or
            whose edges are not those that are known.
        state: To be given to the next call; opaque.
        digests: Of the edges of every file.
    """

    edges: dict[FilePath, tuple[Edge, ...]]
    state: bytes = b""
    digests: dict[FilePath, bytes] = {}


LINK_FORMAT = 15
"""Raised whenever the same analyses would give other edges; a state of another format is as none."""


def link(
    files: Mapping[FilePath, FileAnalysis],
    *,
    configs: Mapping[FilePath, bytes],
    changed: frozenset[FilePath] | None = None,
    state: bytes | None = None,
    digests: Mapping[FilePath, bytes] | None = None,
) -> LinkResult:
    """Links files to each other, all of them anew.

    Args:
        files: All files of the repository, changed or not.
        configs: Contents of the configuration files that `analyse.wants_config` asks for.
        changed: Paths added, changed or removed since `state` was made; None asks for the edges of all files.
        state: The state of the link before. digests: Of the edges of every file as they are known from it.

    Returns:
        For each file the edges that a link of everything gives, byte for byte.
    """
    return Linker()(files, configs=configs, changed=changed, state=state, digests=digests)


class Linker:
    """`link` with a memory: the next link solves and emits only what differs from the last one, with the same result.

    It compares what it is given with what it holds, so that any earlier state, and the writes of other processes, do. Calls
    must not overlap.
    """

    def __init__(self) -> None:
        self._families: dict[str, Revision] = {}
        self._digests: dict[FilePath, bytes] = {}
        self._sorted = _Sorted()
        self.linked_anew = 0
        """Families that were linked as a whole by the last call."""

    def __call__(
        self,
        files: Mapping[FilePath, FileAnalysis],
        *,
        configs: Mapping[FilePath, bytes],
        changed: frozenset[FilePath] | None = None,
        state: bytes | None = None,
        digests: Mapping[FilePath, bytes] | None = None,
    ) -> LinkResult:
        """As `link`."""
        with collector_paused():
            families, test_files = self._sorted.take(files)
            held, self._families = self._families, {}
            known, self._digests = self._digests, {}
            self.linked_anew = 0
            kept: dict[str, Revision] = {}
            owners: dict[FilePath, Revision] = {}
            made: dict[FilePath, bytes] = dict.fromkeys(files, _NO_EDGES)
            fresh: dict[FilePath, tuple[Edge, ...]] = {}
            for family, (language, summaries) in sorted(families.items()):
                wanted = {path: configs[path] for path in sorted(configs) if language.wants_config(path)}
                revision, again = self._link(held.pop(family, None), language, summaries, wanted, test_files)
                kept[family] = revision
                owners |= dict.fromkeys(summaries, revision)
                for path in summaries:
                    if again is not None and path not in again and path in known:
                        made[path] = known[path]
                    else:
                        fresh[path] = revision.edges(path)
                        made[path] = _digest(fresh[path])
            self._families, self._digests = kept, made
        before = digests if changed is not None and state == _STATE else None
        edges = {
            path: fresh[path] if path in fresh else owners[path].edges(path) if path in owners else ()
            for path in sorted(files)
            if before is None or changed is None or path in changed or before.get(path) != made[path]
        }
        return LinkResult(edges=edges, state=_STATE, digests=made)

    def _link(
        self,
        held: Revision | None,
        language: Language,
        summaries: Mapping[FilePath, FileSummary],
        configs: Mapping[FilePath, bytes],
        test_files: frozenset[FilePath],
    ) -> tuple[Revision, set[FilePath] | None]:
        """The link of a family, and the files whose edges were made anew; None: all of them."""
        from smp.indexing.linking.revision import Revision, TooWide  # half of what a question would have to load

        if held is not None:
            try:
                return held, held.advance(summaries, configs, test_files)
            except TooWide:
                del held
                gc.collect()  # what was held is full of circles, and as large as what comes now
        self.linked_anew += 1
        return Revision(language, summaries, configs, test_files), None


def _digest(edges: tuple[Edge, ...]) -> bytes:
    return hashlib.blake2b(msgspec.msgpack.encode(edges), digest_size=16).digest()


_NO_EDGES = _digest(())
_STATE = msgspec.msgpack.encode(LINK_FORMAT)


class _Sorted:
    """Summaries by family, and which files are tests; kept, so that only what differs is looked at."""

    def __init__(self) -> None:
        self._seen: dict[FilePath, FileAnalysis] = {}
        self._families: dict[str, tuple[Language, dict[FilePath, FileSummary]]] = {}
        self._tests: frozenset[FilePath] = frozenset()

    def take(
        self, files: Mapping[FilePath, FileAnalysis]
    ) -> tuple[dict[str, tuple[Language, dict[FilePath, FileSummary]]], frozenset[FilePath]]:
        """Languages and summaries, sorted by path; and the tests."""
        seen = self._seen
        differing = [path for path, found in files.items() if seen.get(path) is not found]
        gone = [path for path in seen if path not in files]
        tests = set(self._tests)
        families = {name: (language, dict(summaries)) for name, (language, summaries) in self._families.items()}
        for path in (*gone, *differing):
            tests.discard(path)
            seen.pop(path, None)
        for path in gone:
            for _, summaries in families.values():
                summaries.pop(path, None)
        unsorted: set[str] = set()
        for path in differing:
            found = seen[path] = files[path]
            language = language_named(found.language) if found.language is not None else None
            family = language.family if language is not None and found.summary is not None else None
            for name, (_, summaries) in families.items():
                if name != family:
                    summaries.pop(path, None)
            if language is not None and found.summary is not None:
                summaries = families.setdefault(language.family, (language, {}))[1]
                if path not in summaries:
                    unsorted.add(language.family)
                summaries[path] = found.summary
            if found.nodes and found.nodes[0].role == "test":
                tests.add(path)
        for name in unsorted:
            families[name] = (families[name][0], dict(sorted(families[name][1].items())))
        self._families = {name: entry for name, entry in families.items() if entry[1]}
        self._tests = frozenset(tests)
        return self._families, self._tests
