"""Call sites, imports and bases of many files → edges. A pure function of the files' analyses and configuration.

Files are linked by family: languages that import each other form one program (`smp.languages.base`). The order of files,
of processes, and of hash seeds does not show in the result.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from smp.domain.graph import Edge
from smp.domain.ids import ContentHash, FilePath
from smp.domain.source import ANALYSIS_FORMAT, FileAnalysis
from smp.indexing.analyses import Analyses
from smp.indexing.collector import collector_paused
from smp.indexing.families import Families, Family, Place
from smp.indexing.packed_edges import NONE, Packed, PackedEdges, pack
from smp.languages.base import Language
from smp.languages.registry import languages
from smp.ports.link_archive import DamagedArchive, LinkArchives

if TYPE_CHECKING:
    from smp.indexing.linking.preserving import Head
    from smp.indexing.linking.revision import Revision


_LOG = logging.getLogger(__name__)


class LinkResult(Struct, frozen=True, kw_only=True):
    """What linking found.

    Attributes:
        edges: Per reading file its outgoing edges, sorted. When `changed` was given, only files that are among them or
            whose edges are not those that are known.
        state: To be given to the next call; opaque.
        digests: Of the edges of every file.
    """

    edges: Mapping[FilePath, tuple[Edge, ...]]
    state: bytes = b""
    digests: dict[FilePath, bytes] = {}


LINK_FORMAT = 21
"""Raised whenever the same analyses would give other edges; a state of another format is as none."""
KEEP_FROM = 100
"""Fewer files are linked as fast as an archive is read."""


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
    must not overlap. What a process has linked whole it leaves in an archive for the next one.
    """

    def __init__(self, archives: LinkArchives | None = None, *, keep_from: int = KEEP_FROM) -> None:
        """keep_from: Files of a family that are worth an archive."""
        self._archives = archives
        self._keep_from = keep_from
        self._held: dict[str, Revision] = {}
        self._digests: dict[FilePath, bytes] = {}
        self._families = Families()
        self._is_first = True
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
            before = digests if changed is not None and state == _STATE else None
            if self._is_first and before is not None and isinstance(files, Analyses):
                self._recall()
            self._is_first = False
            try:
                made, edges = self._link_all(files, configs, changed or frozenset(), before)
            except DamagedArchive as error:
                _LOG.warning("what was kept of the last link is damaged, everything is linked anew: %s", error)
                self._held, self._digests = {}, {}
                made, edges = self._link_all(files, configs, changed or frozenset(), before)
        return LinkResult(edges=edges, state=_STATE, digests=made)

    def _link_all(
        self,
        files: Mapping[FilePath, FileAnalysis],
        configs: Mapping[FilePath, bytes],
        changed: frozenset[FilePath],
        before: Mapping[FilePath, bytes] | None,
    ) -> tuple[dict[FilePath, bytes], PackedEdges]:
        """Digests of the edges of all files; and the edges that are asked for."""
        families = self._families.sort(files)
        held, self._held = self._held, {}
        known, self._digests = self._digests, {}
        self.linked_anew = 0
        kept: dict[str, Revision] = {}
        owners: dict[FilePath, Revision] = {}
        made: dict[FilePath, bytes] = dict.fromkeys(files, NONE.digest)
        fresh: dict[FilePath, Packed] = {}
        marks = files.marks if isinstance(files, Analyses) else None
        for name, family in families.items():
            wanted = {path: configs[path] for path in sorted(configs) if family.language.wants_config(path)}
            own = {path: marks[path] for path in family.summaries} if marks is not None else None
            revision, again = self._link(held.pop(name, None), family, wanted, own)
            for path in family.summaries:
                if again is not None and path not in again and path in known:
                    made[path] = known[path]
                else:
                    fresh[path] = pack(revision.edges(path))
                    made[path] = fresh[path].digest
            if again is None and self._keep(name, revision, made):
                # What was written down is taken up again by parts: most of it is never asked for.
                revision.dismantle()
                recalled = self._recalled(name, family.language)
                revision = recalled[0] if recalled is not None else self._anew(family, wanted, own)
            kept[name] = revision
            owners |= dict.fromkeys(family.summaries, revision)
        for revision in held.values():
            revision.close()
        self._held, self._digests = kept, made
        edges = {
            path: fresh[path] if path in fresh else pack(owners[path].edges(path)) if path in owners else NONE
            for path in sorted(files)
            if before is None or path in changed or before.get(path) != made[path]
        }
        return made, PackedEdges(edges)

    def _link(
        self,
        held: Revision | None,
        family: Family,
        configs: Mapping[FilePath, bytes],
        marks: Mapping[FilePath, ContentHash] | None,
    ) -> tuple[Revision, set[FilePath] | None]:
        """The link of a family, and the files whose edges were made anew; None: all of them."""
        from smp.indexing.linking.revision import TooWide  # half of what a question would have to load

        if held is not None:
            try:
                return held, held.advance(family.summaries, configs, family.tests, marks)
            except TooWide:
                held.close()
                del held
                gc.collect()  # what was held is full of circles, and as large as what comes now
        self.linked_anew += 1
        return self._anew(family, configs, marks), None

    def _anew(
        self, family: Family, configs: Mapping[FilePath, bytes], marks: Mapping[FilePath, ContentHash] | None
    ) -> Revision:
        from smp.indexing.linking.revision import Revision

        return Revision(family.language, family.summaries, configs, family.tests, marks=marks)

    # Between processes -----------------------------------------------------------------------------------------------

    def _keep(self, name: str, revision: Revision, digests: Mapping[FilePath, bytes]) -> bool:
        """Leaves the link of a family, which was linked as a whole, for the next process; whether that was done."""
        if self._archives is None:
            return False
        entries = revision.preserved(digests) if len(revision.paths) >= self._keep_from else None
        if entries is not None:
            return self._archives.write(name, _STAMP, entries)
        self._archives.drop(name)
        return False

    def _recall(self) -> None:
        """Takes up what an earlier process has left."""
        for name, language in {one.family: one for one in reversed(languages())}.items():
            recalled = self._recalled(name, language)
            if recalled is None:
                continue
            self._held[name], head = recalled
            self._digests |= dict(zip(head.paths, head.digests, strict=True))
            tests = frozenset(head.tests)
            for path, mark in zip(head.paths, head.marks, strict=True):
                self._families.know(mark, path, Place(name, language.name, path in tests))

    def _recalled(self, name: str, language: Language) -> tuple[Revision, Head] | None:
        archive = self._archives.open(name, _STAMP) if self._archives is not None else None
        if archive is None:
            return None
        from smp.indexing.linking.kept import Kept
        from smp.indexing.linking.revision import Revision

        try:
            kept = Kept(archive)
            head = kept.head
            marks = dict(zip(head.paths, head.marks, strict=True))
            return Revision(language, {}, head.configs, frozenset(head.tests), marks=marks, kept=kept), head
        except DamagedArchive as error:
            _LOG.warning("what was kept of the last link is damaged, everything is linked anew: %s", error)
            archive.close()
            return None


_STATE = msgspec.msgpack.encode(LINK_FORMAT)
_STAMP = f"{ANALYSIS_FORMAT}.{LINK_FORMAT}"
