"""The files of a session, and the graph as it sees them.

An exclusive session has the working tree and the shared graph. An mvcc session has its box (once spawned) and what it has
pushed: an *overlay* that only its own questions see. The overlay is a log of documents, one per push or rollback, folded
in order; a document is written whole or not at all, and contents are blobs, so that a push of many files is atomic.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from smp.domain.errors import Invalid, SandboxNotFound, SmpError
from smp.domain.graph import DeltaCounts, Direction, Edge, EdgeKind, Node, Scope
from smp.domain.ids import ContentHash, FilePath, NodeId, SessionId
from smp.domain.sandboxes import ChangedFile, Sandbox, SandboxStatus
from smp.domain.session_steps import PushedFile
from smp.domain.sessions import Concurrency, FileSnapshot, Session
from smp.domain.telemetry import NodeChange
from smp.indexing.changes import compare_nodes, telemetry_of
from smp.indexing.pipeline import Indexer
from smp.indexing.reports import FileChange, ParseError, UpdateReport
from smp.ports.artifact_store import SANDBOX, ArtifactStore
from smp.ports.clock import Clock
from smp.ports.graph_store import GraphStore
from smp.ports.sandbox_driver import SandboxDriver
from smp.ports.source_tree import SourceTree
from smp.ports.telemetry_store import TelemetryStore
from smp.safety.ledger import timestamp
from smp.safety.working_tree import WorkingTree

OVERLAY = "overlay"
DELETED = "deleted"
_VIEWS = 16
"""Overlay graphs kept ready, the most recently used."""

_encode = msgspec.json.Encoder().encode
_pushed = msgspec.json.Decoder(tuple[PushedFile, ...]).decode
_sandbox = msgspec.json.Decoder(Sandbox).decode


class Workspace:
    """See the module. Safe to use from several threads; steps of one session come one at a time (`SessionService`)."""

    def __init__(
        self,
        *,
        tree: WorkingTree,
        sources: SourceTree,
        artifacts: ArtifactStore,
        indexer: Indexer,
        graph: GraphStore,
        telemetry: TelemetryStore,
        driver: SandboxDriver,
        clock: Clock,
    ) -> None:
        self._tree = tree
        self._sources = sources
        self._artifacts = artifacts
        self._indexer = indexer
        self._graph = graph
        self._telemetry = telemetry
        self._driver = driver
        self._clock = clock
        self._views: OrderedDict[tuple[ContentHash, tuple[PushedFile, ...]], GraphStore] = OrderedDict()
        self._guard = threading.Lock()

    # The graph

    def overlay(self, session_id: SessionId) -> tuple[FileChange, ...]:
        """What the session has pushed and not taken back, by path."""
        return tuple(self._change(file) for file in self._overlay(session_id))

    def graph_of(self, session: Session) -> GraphStore:
        """The graph as the session sees it."""
        pushed = self._overlay(session.id) if session.concurrency is Concurrency.MVCC else ()
        return self._view(pushed)

    def after(self, session: Session, changes: tuple[FileChange, ...]) -> GraphStore:
        """The graph as the session would see it after these changes; nothing is stored."""
        return self._indexer.view(self._together(session, changes))

    def parse_errors(self, session: Session, changes: tuple[FileChange, ...]) -> tuple[ParseError, ...]:
        """What of the changed files would not parse."""
        files = {change.path for change in changes}
        found = self._indexer.preview(self._together(session, changes)).parse_errors
        return tuple(error for error in found if error.file in files)

    def new_parse_errors(self, session: Session, changes: tuple[FileChange, ...]) -> tuple[ParseError, ...]:
        """Errors in those changed files that parse now and would not any more."""
        errors = self.parse_errors(session, changes)
        if not errors:
            return ()
        # A preview tells only of files that differ, so the present content is asked about with one more line end.
        present = {file: self._content(session, file) for file in sorted({error.file for error in errors})}
        probes = tuple(
            FileChange(path=file, content=content + b"\n") for file, content in present.items() if content is not None
        )
        damaged = {error.file for error in self.parse_errors(session, probes)} if probes else set()
        return tuple(error for error in errors if error.file not in damaged)

    def _content(self, session: Session, file: FilePath) -> bytes | None:
        """What the session's graph was made from."""
        pushed = {entry.path: entry for entry in self._overlay(session.id)}.get(file)
        return self._indexer.content(file) if pushed is None else self._change(pushed).content

    def changed_by(self, session: Session, ids: Iterable[NodeId]) -> frozenset[NodeId]:
        """Those of these nodes whose newest change is the session's own."""
        newest = self._telemetry.last(ids)
        return frozenset(node_id for node_id, change in newest.items() if change.session == session.id)

    # Files

    def is_folder(self, path: FilePath) -> bool:
        return self._tree.is_folder(path)

    def read(self, session: Session, file: FilePath, *, path: str) -> bytes | None:
        """A file as the session has it on disk: in its box, if it has one, else in the working tree."""
        box = self.box(session)
        if box is None:
            return self._tree.read(file, path=path)
        (found,) = self._driver.read(box, (file,))
        if found.link is not None:
            raise Invalid(f"{file!r} is a link; name the file itself", path=path)
        return found.content

    def snapshot(self, session: Session, file: FilePath) -> FileSnapshot:
        """A file as the session has it now, for `restore`."""
        if session.concurrency is Concurrency.EXCLUSIVE:
            return self._tree.snapshot(file)
        pushed = {entry.path: entry for entry in self._overlay(session.id)}.get(file)
        box = self.box(session)
        if box is not None:
            (found,) = self._driver.read(box, (file,))
            return FileSnapshot(
                path=file,
                content=found.content,
                mode=found.mode,
                link=found.link,
                pushed=pushed is not None,
            )
        if pushed is not None:
            return FileSnapshot(path=file, content=self._change(pushed).content, pushed=True)
        if session.commit_sha is None:
            return FileSnapshot(path=file, content=None)
        found_at = self._sources.read_at(session.commit_sha, (file,))
        return FileSnapshot(path=file, content=found_at[0].content if found_at else None)

    def restore(self, session: Session, files: tuple[FileSnapshot, ...]) -> None:
        """Put files and their part of the graph back. Repeating is harmless."""
        if session.concurrency is Concurrency.EXCLUSIVE:
            for file in files:
                self._tree.restore(file)
            # What is not listed (absent, ignored, too large) has no place in the graph, whatever was pushed for it.
            listed = self._sources.list().files
            self._indexer.update(
                tuple(
                    FileChange(path=file.path, change_type="modified" if file.path in listed else DELETED)
                    for file in files
                ),
                agent=session.agent_id,
                session=session.id,
            )
            return
        box = self.box(session)
        if box is not None:
            # A box that is gone took its files with it; there is nothing left in it to put back.
            with contextlib.suppress(SandboxNotFound):
                self._driver.write(
                    box,
                    tuple(
                        ChangedFile(path=file.path, content=file.content, mode=file.mode, link=file.link)
                        for file in files
                    ),
                )
        self._append(session.id, tuple(self._pushed_of(file) for file in files))

    def push(self, session: Session, changes: tuple[FileChange, ...]) -> UpdateReport:
        """Make these the files' content in what the session works on. All or nothing; repeating is harmless."""
        if session.concurrency is Concurrency.EXCLUSIVE:
            return self._indexer.update(changes, agent=session.agent_id, session=session.id)
        full = tuple(self._with_content(session, change) for change in changes)
        before, after = self.graph_of(session), self.after(session, full)
        errors = self.parse_errors(session, full)
        report, records = self._difference(session, full, before, after, errors)
        self._into_box(session, full)
        self._telemetry.record(records)
        self._append(session.id, tuple(self._pushed_change(change) for change in full))
        return report

    # The box

    def box(self, session: Session) -> Sandbox | None:
        """The session's box, while it lives."""
        if session.sandbox_id is None:
            return None
        body = self._artifacts.get(SANDBOX, session.sandbox_id)
        box = None if body is None else _sandbox(body)
        if box is None or box.status is SandboxStatus.DESTROYED:
            return None
        return box

    def look_into(self, session: Session) -> None:
        """Give a reviewer's session the graph of the box that it reviews: what differs there, as if it had pushed it.

        Repeating is harmless; a box that is gone leaves the graph of the commit's files.
        """
        box = self.box(session)
        if box is None:
            return
        differing = tuple(
            self._pushed_change(_change_of(file.path, file.content))
            for file in self._driver.changes(box)
            if file.link is None
        )
        if differing:
            self._append(session.id, differing)

    def box_changes(self, session: Session) -> tuple[FilePath, ...]:
        """Files that differ from the commit in the session's box; none when it cannot be asked any more."""
        box = self.box(session)
        if box is None or box.spec.session_id != session.id:
            return ()  # a reviewer looks into a box that another session has written
        try:
            return tuple(file.path for file in self._driver.changes(box))
        except SmpError:
            return ()  # what is written is known from the audit too; a lost box must not keep a session open

    def destroy_boxes(self, session: Session) -> str | None:
        """Destroy every box of a session.

        Returns:
            What could not be destroyed and why, for the audit; the reaper of the host takes it later.
        """
        failures = []
        for key, body in self._artifacts.list(SANDBOX, session_id=session.id):
            box = _sandbox(body)
            if box.status is SandboxStatus.DESTROYED:
                continue
            try:
                self._driver.destroy(box)
            except SandboxNotFound:
                pass
            except SmpError as error:
                failures.append(f"{key}: {error.message}")
                continue
            gone = replace(box, status=SandboxStatus.DESTROYED, destroyed_at=self._clock.now())
            self._artifacts.put(SANDBOX, key, _encode(gone), session_id=session.id)
        return "; ".join(failures) or None

    def _into_box(self, session: Session, changes: tuple[FileChange, ...]) -> None:
        """Write what differs into the session's box, if it has one; permission bits of what is there are kept."""
        box = self.box(session)
        if box is None:
            return
        present = {file.path: file for file in self._driver.read(box, tuple(change.path for change in changes))}
        wanted = tuple(
            ChangedFile(
                path=change.path,
                content=change.content,
                mode=_mode_of(present[change.path]),
            )
            for change in changes
            if present[change.path].content != change.content
        )
        if wanted:
            self._driver.write(box, wanted)

    # The overlay

    def _overlay(self, session_id: SessionId) -> tuple[PushedFile, ...]:
        folded: dict[FilePath, PushedFile] = {}
        for _, body in self._artifacts.list(OVERLAY, session_id=session_id):
            folded |= {entry.path: entry for entry in _pushed(body)}
        return tuple(folded[path] for path in sorted(folded) if not folded[path].reverted)

    def _append(self, session_id: SessionId, entries: tuple[PushedFile, ...]) -> None:
        # Keys sort by time; the fresh part keeps two pushes of the same microsecond apart.
        key = f"{session_id}/{self._clock.now():%Y%m%dT%H%M%S.%f}/{self._clock.fresh_id('push')}"
        self._artifacts.put(OVERLAY, key, _encode(entries), session_id=session_id)

    def _view(self, pushed: tuple[PushedFile, ...]) -> GraphStore:
        if not pushed:
            return self._graph
        # Links of an overlay are worked out against the shared files of that moment; other files, another view.
        key = (self._indexer.merkle().hash, pushed)
        with self._guard:
            view = self._views.get(key)
            if view is not None:
                self._views.move_to_end(key)
                return view
        view = self._indexer.view(tuple(self._change(file) for file in pushed))
        with self._guard:
            self._views[key] = view
            while len(self._views) > _VIEWS:
                self._views.popitem(last=False)
        return view

    def _together(self, session: Session, changes: tuple[FileChange, ...]) -> tuple[FileChange, ...]:
        """These changes on top of what the session has pushed."""
        pushed = self._overlay(session.id) if session.concurrency is Concurrency.MVCC else ()
        merged = {entry.path: self._change(entry) for entry in pushed}
        merged |= {change.path: change for change in changes}
        return tuple(merged[path] for path in sorted(merged))

    def _with_content(self, session: Session, change: FileChange) -> FileChange:
        if change.change_type == DELETED or change.content is not None:
            return change
        return _change_of(change.path, self.read(session, change.path, path="file_path"))

    def _change(self, entry: PushedFile) -> FileChange:
        if entry.digest is None:
            return FileChange(path=entry.path, change_type=DELETED)
        content = self._artifacts.blob(entry.digest)
        assert content is not None, "a blob is written before the document that names it"
        return FileChange(path=entry.path, content=content)

    def _pushed_change(self, change: FileChange) -> PushedFile:
        digest = None if change.content is None else self._artifacts.put_blob(change.content)
        return PushedFile(path=change.path, digest=digest)

    def _pushed_of(self, file: FileSnapshot) -> PushedFile:
        if not file.pushed:
            return PushedFile(path=file.path, reverted=True)
        digest = None if file.content is None else self._artifacts.put_blob(file.content)
        return PushedFile(path=file.path, digest=digest)

    def _difference(
        self,
        session: Session,
        changes: tuple[FileChange, ...],
        before: GraphStore,
        after: GraphStore,
        errors: tuple[ParseError, ...],
    ) -> tuple[UpdateReport, tuple[NodeChange, ...]]:
        files = tuple(sorted(change.path for change in changes))
        old, new = nodes_in(before, files), nodes_in(after, files)
        changed = compare_nodes(old, new)
        edges = len(_edges(before, old) ^ _edges(after, new))
        report = UpdateReport(
            status="partial" if errors else "success",
            counts=DeltaCounts(
                nodes_added=len(changed.created),
                nodes_updated=len(changed.modified),
                nodes_removed=len(changed.deleted),
                relationships_updated=edges,
            ),
            parse_errors=errors,
            files=files,
            changed_nodes=changed.ids,
        )
        at = timestamp(self._clock.now())
        return report, telemetry_of(changed, at=at, agent=session.agent_id, session=session.id)


def nodes_in(graph: GraphStore, files: Iterable[FilePath]) -> tuple[Node, ...]:
    """All nodes of these files."""
    return tuple(node for file in files for node in graph.scan(Scope(kind="file", prefix=file)))


def _mode_of(file: ChangedFile) -> int:
    """Permission bits that new content of a file gets: its own, unless it is absent or a link."""
    return 0o644 if file.content is None or file.link is not None else file.mode


def _edges(graph: GraphStore, nodes: tuple[Node, ...]) -> set[tuple[EdgeKind, NodeId, NodeId | None, str | None]]:
    found: tuple[Edge, ...] = graph.edges((node.id for node in nodes), direction=Direction.OUTGOING)
    return {(edge.kind, edge.source, edge.target, edge.to_name) for edge in found}


def _change_of(path: FilePath, content: bytes | None) -> FileChange:
    if content is None:
        return FileChange(path=path, change_type=DELETED)
    return FileChange(path=path, content=content)
