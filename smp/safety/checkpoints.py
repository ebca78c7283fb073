"""Checkpoints: the state of some files at one moment, and the journal that makes going back to it atomic.

A rollback first writes its journal, then restores files and graph, then records itself under the journal's key and drops
the journal. Whatever process touches the session after a crash finds the journal and does the same again; restoring is
repeatable and the key lets only one line into the audit.
"""

from __future__ import annotations

import hashlib
from datetime import datetime

import msgspec
from msgspec import Struct

from smp.domain.errors import TooLarge
from smp.domain.ids import CheckpointId, ContentHash, SessionId
from smp.domain.sessions import Checkpoint, FileSnapshot

JOURNAL = "rollback"
"""Kind of the artifact; its key is the session id."""
MAX_CHECKPOINT_BYTES = 128_000_000


class Journal(Struct, frozen=True, kw_only=True):
    """A rollback that has begun."""

    checkpoint_id: CheckpointId
    key: str


def taken(
    checkpoint_id: CheckpointId, session_id: SessionId, files: tuple[FileSnapshot, ...], *, at: datetime
) -> Checkpoint:
    """A checkpoint of these snapshots.

    Raises:
        TooLarge: More than `MAX_CHECKPOINT_BYTES` in all.
    """
    size = sum(len(file.content or b"") for file in files)
    if size > MAX_CHECKPOINT_BYTES:
        raise TooLarge(
            f"the files have {size} bytes together, a checkpoint holds {MAX_CHECKPOINT_BYTES}; take several",
            limit=MAX_CHECKPOINT_BYTES,
        )
    return Checkpoint(
        id=checkpoint_id, session_id=session_id, files=files, snapshot_at=at, content_hash=content_hash(files)
    )


def content_hash(files: tuple[FileSnapshot, ...]) -> ContentHash:
    """SHA-256 over path, kind, permission bits and content of each file, in order of their paths."""
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        kind = "absent" if file.content is None else f"link {file.link}" if file.link is not None else "file"
        content = hashlib.sha256(file.content or b"").hexdigest()
        digest.update(msgspec.json.encode([file.path, kind, file.mode, content]))
    return ContentHash(digest.hexdigest())
