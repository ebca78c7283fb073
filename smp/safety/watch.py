"""The watcher: external edits reach the graph, and the sessions that they concern hear of them.

A change on disk whose bytes the index has already (a checkpoint's rollback, a push that was then written) is none. A
changed or deleted file in the scope of an open write session is reported as `conflict_detected` before it is indexed.
Expired sessions are closed here too, so that their locks go and their holders hear of it without anyone calling.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from smp.domain.errors import SmpError
from smp.domain.ids import FilePath
from smp.domain.notifications import ConflictDetected
from smp.domain.paths import covers
from smp.domain.sessions import SessionMode
from smp.indexing.pipeline import Indexer
from smp.ports.notifier import Notifier
from smp.ports.source_tree import SourceTree
from smp.safety.sessions import SessionService

_SWEEP_SECONDS = 0.5


class Watcher:
    """Watches one repository while its context is open."""

    def __init__(self, *, sources: SourceTree, indexer: Indexer, sessions: SessionService, notifier: Notifier) -> None:
        self._sources = sources
        self._indexer = indexer
        self._sessions = sessions
        self._notifier = notifier
        self._stop = threading.Event()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Watch until the context ends."""
        sweeper = threading.Thread(target=self._sweep, name="session-expiry", daemon=True)
        sweeper.start()
        try:
            with self._sources.watch(self.on_change):
                yield
        finally:
            self._stop.set()
            sweeper.join()

    def on_change(self, paths: frozenset[FilePath]) -> None:
        """Handle paths that changed on disk."""
        try:
            external = self._indexer.stale_among(paths)
            if not external and paths:
                return
            for path in external:
                if self._in_write_scope(path):
                    self._notifier.publish(ConflictDetected(file=path))
            if external:
                self._indexer.follow(external)
            else:
                self._indexer.ensure_fresh()
        except SmpError as error:
            _warn("external edit not indexed", error)

    def _in_write_scope(self, path: FilePath) -> bool:
        return any(
            session.mode is SessionMode.WRITE and covers(session.scope, path) for session in self._sessions.active()
        )

    def _sweep(self) -> None:
        while not self._stop.wait(_SWEEP_SECONDS):
            try:
                self._sessions.expire_due()
            except SmpError as error:
                _warn("expiry not recorded", error)


def _warn(what: str, error: SmpError) -> None:
    import structlog  # loaded by whoever has something to say

    structlog.get_logger(__name__).warning(what, error=error.message)
