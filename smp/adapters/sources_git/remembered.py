"""What one process found in a working tree, kept for the next: it looks at stamps instead of reading every file, as git does.

Kept in the data directory beside the index, replaced as a whole. It is believed only where all that it rests on is as it
was: the stamps of every file and folder, and the rules by which this version of the program lists. Whatever is wrong with
the file makes it as good as absent.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from pathlib import Path

import msgspec
from msgspec import Struct

from smp.adapters.sources_git.unchanged import Look, Stamp
from smp.domain.ids import CommitSha, ContentHash, FilePath
from smp.ports.source_tree import Listing

FILE_NAME = "look.msgpack"
_SUM_BYTES = 4


class Seen(Struct, frozen=True, array_like=True):
    """What a file looked like when its hash was made; hash: None where it is skipped for a reason, or without one."""

    stamp: Stamp
    hash: ContentHash | None
    reason: str | None


class Remembered(Struct, frozen=True, array_like=True):
    """Attributes:
    key: By which rules, of whom, and where the tree was listed; a look of another key is none.
    seen: Every file that was looked at.
    head: What the files of HEAD said, and the commit that it was.
    dirty: Files that differ from that commit; None where it was not asked.
    """

    key: str
    look: Look
    listing: Listing
    seen: dict[FilePath, Seen]
    head: tuple[bytes, CommitSha | None] | None
    dirty: tuple[FilePath, ...] | None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Remembered).decode


def recall(data_dir: Path, key: str) -> Remembered | None:
    """What the last process left; None where there is nothing of this key, or it cannot be read."""
    try:
        content = (data_dir / FILE_NAME).read_bytes()
        body = memoryview(content)[_SUM_BYTES:]
        if zlib.crc32(body) != int.from_bytes(content[:_SUM_BYTES], "big"):
            return None
        found = _decode(body)
    except (OSError, msgspec.DecodeError, ValueError):
        return None
    return found if found.key == key else None


def remember(data_dir: Path, found: Remembered) -> None:
    """Replace what is kept. Nothing where it cannot be written, or there is no data directory (yet): it only saves time."""
    if not data_dir.is_dir():
        return
    try:
        body = _encode(found)
    except UnicodeEncodeError:  # names that are no UTF-8
        return
    fresh = data_dir / f".{FILE_NAME}.{os.getpid()}.{threading.get_ident()}"
    with contextlib.suppress(OSError):
        try:
            fresh.write_bytes(zlib.crc32(body).to_bytes(_SUM_BYTES, "big") + body)
            fresh.replace(data_dir / FILE_NAME)
        finally:
            fresh.unlink(missing_ok=True)
