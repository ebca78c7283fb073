"""Documents of a session that are not the session itself: boxes, verify results, handoffs, receipts; and big payloads.

A document is the JSON of a domain struct under (kind, key). Payloads are stored by the SHA-256 of their bytes.
"""

from __future__ import annotations

import abc

from smp.domain.ids import ContentHash, SessionId

SANDBOX, EXECUTION, VERIFY = "sandbox", "execution", "verify"
"""Kinds of documents that more than one part of the platform reads."""


class ArtifactStore(abc.ABC):
    @abc.abstractmethod
    def put(self, kind: str, key: str, body: bytes, *, session_id: SessionId | None = None) -> None:
        """Write a document, replacing."""

    @abc.abstractmethod
    def put_if_absent(self, kind: str, key: str, body: bytes, *, session_id: SessionId | None = None) -> bytes:
        """Write a document unless one is there.

        Returns:
            What is stored afterwards: `body`, or the earlier document.
        """

    @abc.abstractmethod
    def get(self, kind: str, key: str) -> bytes | None: ...

    @abc.abstractmethod
    def list(self, kind: str, *, session_id: SessionId | None = None) -> tuple[tuple[str, bytes], ...]:
        """(key, body) of a kind, by key; of one session when given."""

    @abc.abstractmethod
    def delete(self, kind: str, key: str) -> None: ...

    @abc.abstractmethod
    def put_blob(self, content: bytes) -> ContentHash: ...

    @abc.abstractmethod
    def blob(self, digest: ContentHash) -> bytes | None: ...
