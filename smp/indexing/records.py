"""What the indexer keeps in the index cache beside hashes, and how it is encoded.

Blob kinds by path: `analysis`, `pushed`, `node_count`, `link_digest`; kind `meta` has single ones by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from smp.domain.ids import CommitSha, ContentHash, FilePath
from smp.domain.source import FileAnalysis
from smp.ports.index_cache import IndexCache

ANALYSIS = "analysis"
PUSHED = "pushed"
NODE_COUNT = "node_count"
LINK_DIGEST = "link_digest"
META = "meta"
INDEX_KEY = "index"
LINK_STATE_KEY = "link_state"


class Pushed(Struct, frozen=True, kw_only=True):
    """Content that a client pushed; it stands for the file until the file on disk changes.

    Attributes:
        content: None: the client deleted the file.
        disk: Hash of the file on disk when it was pushed; None when there was none.
    """

    content: bytes | None
    disk: ContentHash | None


class IndexRecord(Struct, frozen=True, kw_only=True):
    """Which tree the graph was built from.

    Attributes:
        format: Version of the analysis and linking that made the index.
        generation: Rises with every change of the graph by any process.
        commit_sha: What was checked out; None before the first commit.
        built_at: RFC 3339 UTC.
    """

    format: int
    generation: int
    commit_sha: CommitSha | None
    root_hash: ContentHash
    built_at: str


_encode = msgspec.msgpack.Encoder().encode
_decode_analysis = msgspec.msgpack.Decoder(FileAnalysis).decode
_decode_pushed = msgspec.msgpack.Decoder(Pushed).decode
_decode_record = msgspec.msgpack.Decoder(IndexRecord).decode


def encode_analysis(analysis: FileAnalysis) -> bytes:
    """The blob of a file's analysis, without its nodes and their words: those are in the graph. The first node stays, for
    linking asks for the role of the file."""
    return _encode(msgspec.structs.replace(analysis, nodes=analysis.nodes[:1], bodies={}))


def load_analyses(cache: IndexCache, paths: Iterable[FilePath]) -> dict[FilePath, FileAnalysis]:
    """Stored analyses of these files, with the first of their nodes; files never indexed are left out."""
    return {FilePath(path): _decode_analysis(blob) for path, blob in cache.blobs(ANALYSIS, paths).items()}


def load_link_state(cache: IndexCache) -> bytes | None:
    """What the last link returned for the next one."""
    return cache.blobs(META, [LINK_STATE_KEY]).get(LINK_STATE_KEY)


def save_link_state(cache: IndexCache, state: bytes | None) -> None:
    """Replace it; None forgets it."""
    if state is None:
        cache.drop_blobs(META, [LINK_STATE_KEY])
    else:
        cache.put_blobs(META, {LINK_STATE_KEY: state})


def load_pushed(cache: IndexCache) -> dict[FilePath, Pushed]:
    """Everything that clients have pushed and that still stands."""
    return {FilePath(path): _decode_pushed(blob) for path, blob in cache.blobs(PUSHED, cache.keys(PUSHED)).items()}


def save_pushed(cache: IndexCache, pushed: Mapping[FilePath, Pushed | None]) -> None:
    """Write (or, for None, forget) pushed content."""
    cache.put_blobs(PUSHED, {path: _encode(entry) for path, entry in pushed.items() if entry is not None})
    cache.drop_blobs(PUSHED, [path for path, entry in pushed.items() if entry is None])


def load_record(cache: IndexCache) -> IndexRecord | None:
    """The record of the present index; None before the first."""
    blob = cache.blobs(META, [INDEX_KEY]).get(INDEX_KEY)
    return _decode_record(blob) if blob is not None else None


def save_record(cache: IndexCache, record: IndexRecord) -> None:
    """Replace the record."""
    cache.put_blobs(META, {INDEX_KEY: _encode(record)})


def timestamp(moment: datetime) -> str:
    """A moment as the stores keep it: UTC, to the microsecond, so that texts sort as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
