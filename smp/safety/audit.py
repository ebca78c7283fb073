"""The hash chain of a session's record: each event carries the hash of the one before, so that edits show.

Pure; stores seal events with it as they append, and `verify` reads a chain back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from smp.domain.ids import ContentHash
from smp.domain.sessions import AuditEvent

_encode = msgspec.json.Encoder(order="deterministic").encode


def seal(event: AuditEvent, *, seq: int, previous: ContentHash) -> AuditEvent:
    """The event at its place in the chain.

    Args:
        seq: Its position, from 1.
        previous: Hash of the event before; empty for the first.
    """
    bare = msgspec.structs.replace(event, seq=seq, hash=ContentHash(""))
    return msgspec.structs.replace(bare, hash=_digest(bare, previous))


def verify(events: Iterable[AuditEvent]) -> int | None:
    """Check a chain.

    Returns:
        The position of the first event that does not follow from those before it; None when all do.
    """
    previous = ContentHash("")
    for position, event in enumerate(events, start=1):
        bare = msgspec.structs.replace(event, hash=ContentHash(""))
        if event.seq != position or event.hash != _digest(bare, previous):
            return position
        previous = event.hash
    return None


def _digest(bare: AuditEvent, previous: ContentHash) -> ContentHash:
    return ContentHash(hashlib.sha256(previous.encode() + b"\n" + _encode(bare)).hexdigest())
