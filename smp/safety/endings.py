"""A session that ends is remembered, also when the process dies between its end and the record of it.

What it wrote is noted as a document before it ends, since its box is gone afterwards. Whoever ended it has the episode
written and drops the note; where that one died, the next sweep or a repeat of the step does. Writing it twice is harmless.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from smp.domain.ids import FilePath, SessionId
from smp.domain.sessions import AuditEvent, Session, SessionStatus
from smp.ports.artifact_store import ArtifactStore
from smp.ports.session_store import SessionStore

ENDING = "ending"

_encode = msgspec.json.Encoder().encode
_written = msgspec.json.Decoder(tuple[FilePath, ...]).decode


class Endings:
    """See the module. `write` is called with each session that has ended, its events, and the files it changed."""

    def __init__(self, store: SessionStore, artifacts: ArtifactStore) -> None:
        self._store = store
        self._artifacts = artifacts
        self.write: Callable[[Session, tuple[AuditEvent, ...], tuple[FilePath, ...]], None] = lambda *ended: None

    def note(self, session_id: SessionId, written: tuple[FilePath, ...]) -> None:
        """Before a session ends: what it has changed."""
        self._artifacts.put(ENDING, session_id, _encode(written), session_id=session_id)

    def remember(self, session_id: SessionId) -> None:
        """Have a session written down, if it has ended and was not yet."""
        body, session = self._artifacts.get(ENDING, session_id), self._store.get(session_id)
        if body is None or session is None or session.status is SessionStatus.ACTIVE:
            return
        self.write(session, self._store.events(session_id), _written(body))
        self._artifacts.delete(ENDING, session_id)

    def remember_all(self) -> None:
        """Those whose end nobody lived to write down."""
        for key, _ in self._artifacts.list(ENDING):
            self.remember(SessionId(key))
