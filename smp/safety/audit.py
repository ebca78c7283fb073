"""The hash chain of a session's record: each event carries the hash of the one before, so that edits show.

Pure; stores seal events with it as they append, and `verify` reads a chain back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from smp.domain.ids import ContentHash, FilePath
from smp.domain.sessions import AuditEvent

FILE_WRITE = "FILE_WRITE"
"""Files written into a box on the session's behalf, before the memory is told of them."""
_WRITES = frozenset({"smp/update", "smp/batch_update", FILE_WRITE})
_NO_READS = (
    "smp/session/",
    "smp/guard/",
    "smp/dryrun",
    "smp/checkpoint",
    "smp/rollback",
    "smp/lock",
    "smp/unlock",
    "smp/sandbox/",
    "smp/verify/",
    "smp/handoff/",
    "smp/annotate",
    "smp/tag",
)
"""Steps that name files without reading them for the agent."""

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


class Touched(Struct, frozen=True, kw_only=True):
    """Files that a session wrote, and files that it asked about, each sorted."""

    written: tuple[FilePath, ...]
    read: tuple[FilePath, ...]


def files_touched(events: Iterable[AuditEvent]) -> Touched:
    """What a session's record says about files."""
    written: set[FilePath] = set()
    read: set[FilePath] = set()
    for event in events:
        if event.method in _WRITES:
            written.update(event.files)
        elif not event.method.isupper() and not event.method.startswith(_NO_READS):
            read.update(event.files or _file_of(event.target))
    return Touched(written=tuple(sorted(written)), read=tuple(sorted(read)))


def _file_of(target: str | None) -> tuple[FilePath, ...]:
    """The file in a node id or reference (`kind:path#name`, `path#name`, path); none in a bare name."""
    if target is None:
        return ()
    place = re.sub(r"^[a-z]+:", "", target).partition("#")[0]
    return (FilePath(place),) if "/" in place or "." in place else ()


def _digest(bare: AuditEvent, previous: ContentHash) -> ContentHash:
    return ContentHash(hashlib.sha256(previous.encode() + b"\n" + _encode(bare)).hexdigest())
