"""The write side: working tree and pushed content → stored graph, incrementally.

    list → which files differ → analyse those → link what they touch → one transaction

The transaction holds graph, enrichments, hashes, analyses, telemetry and the record of which tree it all is, so that a
kill at any moment leaves the old state or the new one. What needs the whole graph (ranks, communities, vectors) follows
lazily: `ensure_ranked`, `ensure_embedded`.

Several processes may index one repository. Each works out its change on the generation it has read and, inside the
transaction, looks whether that is still the present one; if not, it starts over on the newer graph.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TypeVar

import msgspec

from smp.domain.communities import Partition
from smp.domain.errors import Unavailable
from smp.domain.graph import DeltaCounts, EdgeKind, Node
from smp.domain.ids import AgentId, ContentHash, FilePath, SessionId
from smp.domain.merkle import MerkleTree
from smp.domain.source import ANALYSIS_FORMAT
from smp.indexing.capture import Adoption, Capture, add_observations, divergence, is_whole, known_analyses, stage_whole
from smp.indexing.changes import NodeChanges, compare_nodes, notification_of, telemetry_of
from smp.indexing.churn import churn_of
from smp.indexing.collector import collector_paused
from smp.indexing.difference import Difference, concern_all, difference, difference_below
from smp.indexing.fill import VectorRepair
from smp.indexing.follow import Followers, SearchState
from smp.indexing.freshness import IndexFreshness, at_once
from smp.indexing.keep_up import keeping_up
from smp.indexing.keeping import enrich_staged, keep_staged, tree_after
from smp.indexing.link import LINK_FORMAT, Linker
from smp.indexing.merkle import build_tree
from smp.indexing.moves import written_on_moved
from smp.indexing.overlay import OverlayGraphStore
from smp.indexing.progress import Progress, tell
from smp.indexing.records import (
    NODE_COUNT,
    IndexRecord,
    Pushed,
    load_pushed,
    load_record,
    save_pushed,
    save_record,
    timestamp,
)
from smp.indexing.reports import (
    FileChange,
    Freshness,
    GraphPreview,
    IndexReport,
    IndexState,
    ParseError,
    UpdateReport,
)
from smp.indexing.requests import Target, content_hash, resolve, target_of, validate
from smp.indexing.staging import (
    Link,
    Memory,
    Overtaken,
    Staged,
    analysed_nodes,
    keeps_content,
    load_memory,
    no_memory,
    nodes_of,
    stage,
    stored_as,
)
from smp.indexing.workers import Analyse, Analysed, analyse_files, split_batches
from smp.ports.clock import Clock
from smp.ports.embedder import Embedder
from smp.ports.graph_analytics import GraphAnalytics
from smp.ports.graph_store import GraphStore
from smp.ports.index_cache import IndexCache
from smp.ports.link_archive import LinkArchives
from smp.ports.metadata_store import MetadataStore
from smp.ports.notifier import Notifier
from smp.ports.source_tree import Listing, SourceFile, SourceTree
from smp.ports.telemetry_store import TelemetryStore
from smp.ports.vector_index import VectorIndex
from smp.settings import Settings

__all__ = [
    "FileChange",
    "GraphPreview",
    "IndexReport",
    "IndexState",
    "Indexer",
    "ParseError",
    "UpdateReport",
]


ATTEMPTS = 4
"""Times that a change is worked out anew because another process was faster."""
READ_CHUNK = 64
FORMAT = ANALYSIS_FORMAT * 1_000 + LINK_FORMAT
"""An index made by another version of analysis or linking is made anew."""


_Made = TypeVar("_Made")
_Outcome = tuple[DeltaCounts, NodeChanges, Staged | None]
"""What was stored, which nodes that changed, and the change; None where nothing was to do."""


class Indexer:
    """One per repository and process; every method may be called from any thread."""

    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        sources: SourceTree,
        graph: GraphStore,
        metadata: MetadataStore,
        cache: IndexCache,
        telemetry: TelemetryStore,
        vectors: VectorIndex,
        embedder: Embedder,
        analytics: GraphAnalytics,
        notifier: Notifier,
        archives: LinkArchives | None = None,
        link: Link | None = None,
        analyse: Analyse | None = None,
    ) -> None:
        """
        Args:
            cache: Its transactions must cover `graph`, `metadata` and `telemetry`.
            archives: Where the link is kept for the next process.
            link: Defaults to a `smp.indexing.link.Linker` of its own.
            analyse: Replaces `smp.indexing.analyse.analyse`, and runs in this process.
        """
        self._settings = settings
        self._clock = clock
        self._sources = sources
        self._graph = graph
        self._metadata = metadata
        self._cache = cache
        self._telemetry = telemetry
        self._notifier = notifier
        self._link = link or Linker(archives)
        self._analyse = analyse
        self._lock = threading.RLock()
        self._following = threading.RLock()
        self._changed = threading.Event()
        self._memory: Memory | None = None
        self._tree: tuple[int, MerkleTree] | None = None
        self._freshness = IndexFreshness(cache, sources)
        self._followers = Followers(
            clock=clock,
            graph=graph,
            metadata=metadata,
            cache=cache,
            vectors=vectors,
            embedder=embedder,
            analytics=analytics,
        )

    def refresh(self, progress: Progress | None = None) -> IndexReport:
        """Bring the index up to the working tree; builds it when there is none.

        Pushed content stands until the file on disk has changed since.

        Raises:
            Invalid: The folder is no git repository.
            Unavailable: The store cannot be written, or a parser process died.
        """
        started = self._clock.now()
        with self._lock, collector_paused():
            listing = self._sources.list()
            counts, _, staged = self._retrying(lambda: self._refresh_once(listing, progress))
            record = load_record(self._cache)
            assert record is not None, "a refresh leaves a record"
            size = self._graph.size()
        return IndexReport(
            files=len(self._cache.file_hashes()),
            parsed=len(staged.analysed) if staged else 0,
            removed=len(staged.removed) if staged else 0,
            skipped=listing.skipped,
            nodes=size.nodes,
            edges=size.edges,
            unresolved=size.unresolved,
            duration_ms=(self._clock.now() - started).total_seconds() * 1000,
            root_hash=record.root_hash,
            commit_sha=record.commit_sha,
            counts=counts,
            parse_errors=staged.parse_errors if staged else (),
        )

    def adopt(self, capture: Capture) -> Adoption:
        """Bring the index up to the working tree, taking what another index knows of equal files instead of reading them.

        Files of the capture's scope that differ here are indexed anew from the tree, all or nothing, as a refresh does.
        Repeating it is harmless. Raises what `refresh` raises.
        """
        with self._lock, collector_paused():
            listing = self._sources.list()
            _, _, staged = self._retrying(lambda: self._refresh_once(listing, None, capture))
            files = self._cache.file_hashes()
        made = [p for p, one in staged.analysed.items() if capture.files.get(p) != one.hash] if staged else []
        return Adoption(diverging=divergence(capture, files), re_indexed=tuple(sorted(made)))

    def wanted_root(self) -> ContentHash:
        """The root hash that the index has once it is fresh; indexes nothing."""
        return build_tree(self._target(self._sources.list()).files).hash

    def begin_answer(self) -> None:
        """A question begins on this thread: what it sees of the tree, it sees anew, and once."""
        self._freshness.begin()

    def answering_at_once(self) -> AbstractContextManager[bool]:
        """A question begins on this thread that must not wait: false where it might (see `at_once`)."""
        return at_once(self._lock, self._cache, self._freshness, FORMAT)

    def ensure_fresh(self) -> None:
        """Index what has changed on disk since; cheap when nothing has (one look at each file and folder)."""
        with self._lock:
            if self._freshness.holds(FORMAT):
                return
            listing = self._sources.list()
            with collector_paused():
                self._retrying(lambda: self._refresh_once(listing, None))

    def stale_among(self, paths: Iterable[FilePath]) -> tuple[FilePath, ...]:
        """Files that are these paths, or lie below them, and are not as they are indexed; costs no more than that."""
        with self._lock:
            record = load_record(self._cache)
            indexed = self._remembered(record).files if record else {}
            found = self._below(frozenset(paths), indexed)
        return tuple(sorted({*found.changed, *found.gone}))

    def follow(self, paths: Iterable[FilePath]) -> None:
        """Index what has changed on disk at these paths, or below them, without looking at all others.

        A commit, a rule of what is ignored, or very many paths are a reason to look at everything. Raises what `refresh` raises.
        """
        with self._lock, collector_paused():
            self._retrying(lambda: self._follow_once(frozenset(paths)))

    def update(
        self, changes: Iterable[FileChange], *, agent: AgentId | None = None, session: SessionId | None = None
    ) -> UpdateReport:
        """Index pushed content, or what lies on disk; all of the changes or none. Never writes the working tree.

        Raises:
            Invalid: A path leaves the repository or is no file's, a change type is unknown, or a file to be read from
                disk is not there or excluded; `path` names the change.
            TooLarge: Content beyond `index.max_file_bytes`.
        """
        with self._lock:
            wanted = validate(changes, max_file_bytes=self._settings.index.max_file_bytes)
            contents, pushes = self._resolved(wanted)
            counts, node_changes, staged = self._retrying(
                lambda: self._update_once(contents, pushes, agent=agent, session=session)
            )
        errors = staged.parse_errors if staged else ()
        return UpdateReport(
            status="partial" if errors else "success",
            counts=counts,
            parse_errors=errors,
            files=tuple(sorted({*staged.analysed, *staged.removed})) if staged else (),
            changed_nodes=node_changes.ids,
        )

    def preview(self, changes: Iterable[FileChange]) -> GraphPreview:
        """What an update would do; stores nothing. Raises what `update` raises."""
        with self._lock:
            staged = self._staged(changes)
            files = tuple(sorted({*staged.analysed, *staged.removed}))
            overlay = OverlayGraphStore(self._graph, staged.delta)
            before = nodes_of(self._graph, files)
            after = nodes_of(overlay, files)
            linked = nodes_of(self._graph, staged.relinked)
            return GraphPreview(
                files=files,
                relinked=staged.relinked,
                before_nodes=before,
                after_nodes=after,
                before_edges=self._graph.edges(node.id for node in (*before, *linked)),
                after_edges=overlay.edges(node.id for node in (*after, *linked)),
                parse_errors=staged.parse_errors,
            )

    def view(self, changes: Iterable[FileChange]) -> GraphStore:
        """The shared graph as it would be with these changes; read only. Raises what `update` raises."""
        with self._lock:
            return OverlayGraphStore(self._graph, self._staged(changes).delta)

    def merkle(self) -> MerkleTree:
        """The hash tree of the indexed files, with the number of nodes of each."""
        with self._lock:
            record = load_record(self._cache)
            generation = record.generation if record else 0
            if self._tree is None or self._tree[0] != generation:
                files = self._cache.file_hashes()
                counts = {FilePath(p): int(n) for p, n in self._cache.blobs(NODE_COUNT, files).items()}
                self._tree = (generation, build_tree(files, counts))
            return self._tree[1]

    def state(self) -> IndexState:
        """Which tree the graph was built from, and which files have changed since."""
        return self._freshness.state()

    def freshness(self) -> Freshness:
        """What an answer that is given now is made from."""
        return self._freshness.of_answer()

    def content(self, path: FilePath) -> bytes | None:
        """The bytes that the graph's nodes of a file were made from; None when it is not indexed, or has changed since."""
        indexed = self._cache.file_hashes().get(path)
        if indexed is None:
            return None
        pushed = load_pushed(self._cache).get(path)
        if pushed is not None and pushed.content is not None and content_hash(pushed.content) == indexed:
            return pushed.content
        on_disk = self._sources.read([path])
        return on_disk[0].content if on_disk and on_disk[0].hash == indexed else None

    def ensure_ranked(self) -> None:
        """PageRank and communities of the present graph; nothing to do while it is unchanged."""
        with self._following:
            self._followers.rank()

    def ensure_embedded(self, progress: Progress | None = None) -> None:
        """Vectors of all that is new or has changed its text; a kill loses one batch."""
        self._followers.embed(progress)

    def repair_vectors(self, progress: Progress | None = None) -> VectorRepair:
        """Hold every vector against the graph and make both agree, with the centroids."""
        with self._following:
            return self._followers.repair(progress)

    def embed_nodes(self, nodes: Iterable[Node], progress: Progress | None = None) -> None:
        """See that these nodes have vectors of their present text; costs what is missing."""
        self._followers.fill.embed(nodes, progress)

    def generation(self) -> int:
        """Rises with every change of the graph by any process."""
        return record.generation if (record := load_record(self._cache)) else 0

    def ready_to_search(self) -> SearchState:
        """Communities and vectors as they are; made first where the repository is small or has none."""
        if not self._followers.usable():
            with self._following:
                self._followers.catch_up()
        return self._followers.search_state()

    def keeping_up(self) -> AbstractContextManager[None]:
        """Ranks, communities and vectors follow the graph in a thread of its own while the context is open."""
        return keeping_up(self._followers, self._following, self._changed)

    def detect_communities(
        self,
        *,
        levels: tuple[tuple[int, float], ...] | None = None,
        relationship_types: tuple[EdgeKind, ...] | None = None,
        min_community_size: int | None = None,
    ) -> Partition:
        """Detect anew and store.

        Args:
            levels: (level, resolution) pairs; levels left out keep their default resolution.
            relationship_types: Edges that hold communities together; default CALLS_STATIC, CALLS_RUNTIME, IMPORTS.
            min_community_size: Smaller ones are merged into the neighbour they are closest to.
        """
        with self._following:
            return self._followers.detect(
                levels=levels, relationship_types=relationship_types, min_community_size=min_community_size
            )

    def partition(self) -> Partition:
        """The communities of the present graph, detected now if need be."""
        with self._following:
            self._followers.rank()
            return self._followers.partition()

    def _retrying(self, attempt: Callable[[], _Made]) -> _Made:
        for _ in range(ATTEMPTS):
            try:
                return attempt()
            except Overtaken:
                self._memory = None
        raise Unavailable("other processes keep changing the index; repeat the call", backend="index")

    def _refresh_once(self, listing: Listing, progress: Progress | None, given: Capture | None = None) -> _Outcome:
        record = load_record(self._cache)
        known = self._cache.file_hashes()
        pushes = load_pushed(self._cache)
        anew = frozenset(divergence(given, target_of(listing, pushes).files)) if given else frozenset()
        indexed = known if record and record.format == FORMAT else {}
        found = difference(listing, pushes, indexed, known=known, anew=anew)
        return self._take(record, found, progress, given)

    def _follow_once(self, paths: frozenset[FilePath]) -> _Outcome:
        record = load_record(self._cache)
        known = record is not None and record.format == FORMAT and record.commit_sha == self._sources.head()
        if not known or concern_all(paths):
            return self._refresh_once(self._sources.list(), None)
        return self._take(record, self._below(paths, self._remembered(record).files), None)

    def _below(self, paths: frozenset[FilePath], indexed: Mapping[FilePath, ContentHash]) -> Difference:
        return difference_below(paths, self._sources.list_below(paths), load_pushed(self._cache), indexed)

    def _take(
        self, record: IndexRecord | None, found: Difference, progress: Progress | None, given: Capture | None = None
    ) -> _Outcome:
        """Index a difference."""
        target, changed, gone, overtaken = found
        if record and record.format == FORMAT and not changed and not gone:
            self._touch(record, overtaken)
            if given is not None:
                with self._cache.transaction():
                    add_observations(given, self._graph, self._metadata)
            return DeltaCounts(), NodeChanges(), None
        whole = given is not None and is_whole(given, target.files)
        wanted = list(target.files) if whole else changed
        known = known_analyses(given, self._contents(wanted, target)) if given else {}
        if given is not None and whole and len(known) == len(wanted):
            kept = self._kept(target.files, target)
            staged = stage_whole(given, self._remembered(record), kept, gone, analysed=known)
        else:
            unread = [path for path in changed if path not in known]
            analysed, configs = self._analyse_files(self._contents(unread, target), len(unread), progress)
            analysed, configs = known | analysed, self._kept(known, target) | configs
            vanished = [path for path in changed if path not in analysed]
            tell(progress, "link", 0, 1)
            memory = self._remembered(record)
            staged = stage(memory, analysed, [*gone, *vanished], configs=configs, link=self._link)
            tell(progress, "link", 1, 1)
        first = record is None
        before = () if first else nodes_of(self._graph, [*staged.analysed, *staged.removed])
        changes = compare_nodes(before, () if first else analysed_nodes(staged))
        tell(progress, "store", 0, 1)
        counts = self._commit(staged, changes, pushes=overtaken, agent=None, session=None, first=first, given=given)
        tell(progress, "store", 1, 1)
        return counts, changes, staged

    def _update_once(
        self,
        contents: dict[FilePath, bytes | None],
        pushes: dict[FilePath, Pushed | None],
        *,
        agent: AgentId | None,
        session: SessionId | None,
    ) -> _Outcome:
        staged = self._stage_contents(contents)
        if not staged.analysed and not staged.removed:
            with self._cache.transaction():
                save_pushed(self._cache, pushes)
            return DeltaCounts(), NodeChanges(), None
        changes = compare_nodes(nodes_of(self._graph, [*staged.analysed, *staged.removed]), analysed_nodes(staged))
        counts = self._commit(staged, changes, pushes=pushes, agent=agent, session=session, first=False)
        return counts, changes, staged

    def _staged(self, changes: Iterable[FileChange]) -> Staged:
        contents, _ = self._resolved(validate(changes, max_file_bytes=self._settings.index.max_file_bytes))
        return self._retrying(lambda: self._stage_contents(contents))

    def _resolved(
        self, wanted: dict[FilePath, FileChange]
    ) -> tuple[dict[FilePath, bytes | None], dict[FilePath, Pushed | None]]:
        disk = {file.path: file for file in self._sources.read(wanted)}
        record = load_record(self._cache)
        indexed = self._remembered(record).files if record else self._cache.file_hashes()
        return resolve(wanted, self._sources.list_below(wanted), disk=disk, indexed=indexed)

    def _stage_contents(self, contents: dict[FilePath, bytes | None]) -> Staged:
        """Stage new contents; those that are indexed already are left out."""
        record = load_record(self._cache)
        if record is None or record.format != FORMAT:
            self._refresh_once(self._sources.list(), None)
            record = load_record(self._cache)
        memory = self._remembered(record)
        files = [
            SourceFile(path=path, content=content, hash=content_hash(content))
            for path, content in sorted(contents.items())
            if content is not None and memory.files.get(path) != content_hash(content)
        ]
        analysed, configs = self._analyse_files(iter(files), len(files), None)
        removed = [path for path, content in contents.items() if content is None]
        return stage(memory, analysed, removed, configs=configs, link=self._link)

    def _commit(
        self,
        staged: Staged,
        changes: NodeChanges,
        *,
        pushes: dict[FilePath, Pushed | None],
        agent: AgentId | None,
        session: SessionId | None,
        first: bool,
        given: Capture | None = None,
    ) -> DeltaCounts:
        now = self._clock.now()
        files = tuple(sorted({*staged.analysed, *staged.removed}))
        days = self._settings.index.history_days if first else 0
        history = self._sources.history(since_days=days) if days > 0 else ()
        touched = {path for commit in history for path in commit.files} & staged.analysed.keys()
        churn = churn_of(history, {path: staged.analysed[path].nodes for path in touched}, now=now)
        with self._cache.transaction():
            record = load_record(self._cache)
            present = record.generation if record else 0
            if present != staged.memory.generation:
                raise Overtaken
            carried = written_on_moved(changes, self._metadata)
            counts = self._graph.apply(staged.delta)
            enrich_staged(self._metadata, staged, carried, at=timestamp(now))
            if given is not None:
                add_observations(given, self._graph, self._metadata)
            keep_staged(self._cache, staged, state=self._memory.state if self._memory else None)
            save_pushed(self._cache, pushes)
            known_tree = self._tree[1] if self._tree is not None and self._tree[0] == present else None
            tree = tree_after(self._cache, staged, known_tree)
            self._telemetry.record((*telemetry_of(changes, at=timestamp(now), agent=agent, session=session), *churn))
            save_record(
                self._cache,
                IndexRecord(
                    format=FORMAT,
                    generation=present + 1,
                    commit_sha=self._sources.head(),
                    root_hash=tree.hash,
                    built_at=timestamp(now),
                ),
            )
        self._memory = stored_as(staged.memory, present + 1)
        self._tree = (present + 1, tree)
        self._changed.set()
        if not first:
            self._notifier.publish(notification_of(files, changes))
        return counts

    def _touch(self, record: IndexRecord, overtaken: dict[FilePath, Pushed | None]) -> None:
        """The tree is the indexed one; only which commit it belongs to, or which pushes are void, may be new."""
        head = self._sources.head()
        if head == record.commit_sha and not overtaken:
            return
        with self._cache.transaction():
            save_pushed(self._cache, overtaken)
            latest = load_record(self._cache) or record
            save_record(self._cache, msgspec.structs.replace(latest, commit_sha=head))

    def _remembered(self, record: IndexRecord | None) -> Memory:
        generation = record.generation if record else 0
        if self._memory is None or self._memory.generation != generation:
            if record is None or record.format != FORMAT:
                return no_memory(self._cache, generation)
            wanted = [path for path in self._cache.file_hashes() if keeps_content(path)]
            configs = {path: body for path in wanted if (body := self.content(path)) is not None}
            self._memory = load_memory(self._cache, generation=generation, configs=configs)
        return self._memory

    def _target(self, listing: Listing) -> Target:
        return target_of(listing, load_pushed(self._cache))

    def _contents(self, paths: list[FilePath], target: Target) -> Iterator[SourceFile]:
        for start in range(0, len(paths), READ_CHUNK):
            chunk = paths[start : start + READ_CHUNK]
            disk = {file.path: file for file in self._sources.read(p for p in chunk if p not in target.pushed)}
            for path in chunk:
                pushed = target.pushed.get(path)
                if pushed is not None and pushed.content is not None:
                    yield SourceFile(path=path, content=pushed.content, hash=content_hash(pushed.content))
                elif path in disk:
                    yield disk[path]

    def _kept(self, paths: Iterable[FilePath], target: Target) -> dict[FilePath, bytes]:
        """Content of those of these files that linking reads itself."""
        wanted = [path for path in paths if keeps_content(path)]
        return {file.path: file.content for file in self._contents(wanted, target)}

    def _analyse_files(
        self, files: Iterator[SourceFile], total: int, progress: Progress | None
    ) -> tuple[dict[FilePath, Analysed], dict[FilePath, bytes]]:
        configs: dict[FilePath, bytes] = {}

        def kept() -> Iterator[SourceFile]:
            for file in files:
                if keeps_content(file.path):
                    configs[file.path] = file.content
                yield file

        analysed: dict[FilePath, Analysed] = {}
        workers = self._settings.index.workers
        for one in analyse_files(split_batches(kept()), workers=workers, inline=self._analyse):
            analysed[one.analysis.path] = one
            tell(progress, "parse", len(analysed), total)
        return analysed, configs
