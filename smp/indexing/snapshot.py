"""A captured index as one signed file, and back. Pure: bytes in, bytes out.

A snapshot is a zstandard-compressed tar (`.tar.zst`) of regular files under fixed names, in this order:

    manifest.json   what it is, and name, size and SHA-256 of every member after the signature
    manifest.sig    Ed25519 over `smp snapshot 1 NEWLINE` and the bytes of the manifest, 64 bytes
    then `MEMBERS`, in MessagePack

Nothing is believed before it is checked: the manifest is bounded, then its signature must hold, then each member must
have the name, size and hash that it states, then the whole must be consistent. Names are compared, never used as paths,
and nothing is written to disk, so a crafted archive has nowhere to point. No member is read beyond its stated size, and
the stated sizes together are bounded, so that a small file cannot expand without limit.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections.abc import Callable
from typing import BinaryIO, TypeVar

import msgspec
import zstandard
from msgspec import Struct

from smp.domain.errors import SignatureInvalid, SnapshotInvalid, TooLarge
from smp.domain.graph import Edge, Node, Scope
from smp.domain.ids import CommitSha, ContentHash, FilePath, NodeId
from smp.domain.metadata import Enrichment
from smp.domain.places import in_scope
from smp.domain.source import FileAnalysis
from smp.indexing.capture import Capture
from smp.indexing.merkle import build_tree
from smp.indexing.structure import folders_of

SNAPSHOT_FORMAT = 1
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
MEMBERS = ("files", "analyses", "structure", "edges", "observed", "annotations", "linking")
SIGNED = b"smp snapshot 1\n"
"""Goes before the manifest, so that a signature made for anything else is none of a snapshot."""
MANIFEST_BYTES = 64 * 1024
MAX_BYTES = 2 * 1024**3
"""Of all members together, unpacked. Measured: 68 thousand lines of source in 574 files take 17 MB."""
WINDOW_BYTES = 8 * 1024**2
"""What a decoder must be able to hold by RFC 8878, section 3.1.1.1.2; more is refused."""
LEVEL = 3
BLOCK = 512
SCOPE = re.compile(r"full|package:[^\x00]+")

Verify = Callable[[str, bytes, bytes], None]
"""Called with key id, message, signature; raises `SignatureInvalid`."""
_T = TypeVar("_T")


class Member(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of a snapshot; size in bytes, unpacked."""

    name: str
    size: int
    sha256: str


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a snapshot holds.

    Attributes:
        format: Of the file. index_format: of what is in it; an index of another version cannot take it over.
        scope: `full` or `package:<path>`. root_hash: of the whole tree, whatever the scope.
        edge_count: Without unresolved calls.
        signed_at: RFC 3339 UTC.
        key_id: Of the key that signed this.
    """

    format: int
    index_format: int
    snapshot_id: str
    scope: str
    root_hash: ContentHash
    commit_sha: CommitSha | None
    node_count: int
    edge_count: int
    signed_at: str
    key_id: str
    members: tuple[Member, ...] = ()


class Snapshot(Struct, frozen=True, kw_only=True):
    """A snapshot that has been checked."""

    manifest: Manifest
    capture: Capture


class _Linking(Struct, frozen=True, kw_only=True):
    digests: dict[FilePath, bytes]
    state: bytes


def scope_text(scope: Scope) -> str:
    """`full` or `package:<path>`."""
    return scope.kind if scope.kind == "full" else f"{scope.kind}:{scope.prefix}"


def pack(draft: Manifest, capture: Capture, out: BinaryIO, *, sign: Callable[[bytes], bytes]) -> tuple[Manifest, bytes]:
    """Write a capture as a snapshot.

    Args:
        draft: The manifest without members.
        out: Written sequentially.

    Returns:
        The manifest as written, and its signature.

    Raises:
        TooLarge: The capture is beyond `MAX_BYTES`; export package by package.
    """
    bodies = _bodies(capture)
    size = sum(map(len, bodies.values()))
    if size > MAX_BYTES:
        raise TooLarge(f"the index takes {size} bytes; export it package by package", limit=MAX_BYTES, size=size)
    members = tuple(
        Member(name=name, size=len(body), sha256=hashlib.sha256(body).hexdigest()) for name, body in bodies.items()
    )
    manifest = msgspec.structs.replace(draft, members=members)
    written = msgspec.json.encode(manifest)
    signature = sign(SIGNED + written)
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    with (
        compressor.stream_writer(out, closefd=False) as compressed,
        tarfile.open(fileobj=compressed, mode="w|", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, body in {MANIFEST: written, SIGNATURE: signature, **bodies}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
    return manifest, signature


def unpack(source: BinaryIO, *, snapshot_id: str, index_format: int, verify: Verify | None) -> Snapshot:
    """Read and check a snapshot.

    Args:
        snapshot_id: The one it must be.
        verify: None leaves the signature unchecked; all other checks are made.

    Raises:
        SnapshotInvalid: Damaged, cut off, inconsistent, another snapshot, or of another version.
        SignatureInvalid: What `verify` raises, with the snapshot's id.
    """
    archive = _Archive(source, snapshot_id)
    written = archive.member(MANIFEST, limit=MANIFEST_BYTES)
    manifest = archive.decoded(MANIFEST, lambda: msgspec.json.decode(written, type=Manifest))
    signature = archive.member(SIGNATURE, limit=BLOCK)
    if verify is not None:
        try:
            verify(manifest.key_id, SIGNED + written, signature)
        except SignatureInvalid as error:
            raise SignatureInvalid(error.message, **{**error.fields, "snapshot_id": snapshot_id}) from error
    if manifest.snapshot_id != snapshot_id:
        raise archive.invalid(f"it is {manifest.snapshot_id!r} under another name")
    if (manifest.format, manifest.index_format) != (SNAPSHOT_FORMAT, index_format):
        raise archive.invalid("it was made by another version of the program; export it anew with this one")
    if tuple(member.name for member in manifest.members) != MEMBERS or SCOPE.fullmatch(manifest.scope) is None:
        raise archive.invalid("its manifest is of another form")
    if any(member.size < 0 for member in manifest.members) or sum(m.size for m in manifest.members) > MAX_BYTES:
        raise archive.invalid(f"it unpacks to more than {MAX_BYTES} bytes")
    bodies: dict[str, bytes] = {}
    for member in manifest.members:
        body = archive.member(member.name, limit=member.size)
        if len(body) != member.size or hashlib.sha256(body).hexdigest() != member.sha256:
            raise archive.invalid(f"{member.name} is not what the manifest lists")
        bodies[member.name] = body
    archive.end()
    capture = _capture(manifest, bodies, archive)
    problem = _inconsistency(manifest, capture)
    if problem is not None:
        raise archive.invalid(problem)
    return Snapshot(manifest=manifest, capture=capture)


def stated_id(source: BinaryIO) -> str:
    """The id that a snapshot's manifest states; nothing of it is believed, `unpack` checks the whole.

    Raises:
        SnapshotInvalid: It is no snapshot, or damaged.
    """
    archive = _Archive(source, "of this file")
    written = archive.member(MANIFEST, limit=MANIFEST_BYTES)
    return archive.decoded(MANIFEST, lambda: msgspec.json.decode(written, type=Manifest)).snapshot_id


class _Archive:
    """A compressed tar, read strictly forwards, of which only plain members of expected names are accepted."""

    def __init__(self, source: BinaryIO, snapshot_id: str) -> None:
        self._snapshot_id = snapshot_id
        self._stream = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES).stream_reader(source, closefd=False)

    def invalid(self, why: str) -> SnapshotInvalid:
        """The error that says why this snapshot is refused."""
        return SnapshotInvalid(f"snapshot {self._snapshot_id!r} is refused: {why}", snapshot_id=self._snapshot_id)

    def member(self, name: str, *, limit: int) -> bytes:
        """The next member, which must be a regular file of this name and at most so many bytes."""
        try:
            header = tarfile.TarInfo.frombuf(self._read(BLOCK), "utf-8", "strict")
        except (tarfile.TarError, ValueError) as error:
            raise self.invalid("it is damaged; copy or export it anew") from error
        if header.type != tarfile.REGTYPE or header.name != name or not 0 <= header.size <= limit:
            raise self.invalid(f"it does not hold {name} where that belongs")
        body = self._read(header.size)
        self._read(-header.size % BLOCK)
        return body

    def end(self) -> None:
        """Nothing may follow but the end marker."""
        if any(self._read(2 * BLOCK)) or any(self._read_some(tarfile.RECORDSIZE)) or self._read_some(1):
            raise self.invalid("something follows its last member")

    def decoded(self, name: str, decode: Callable[[], _T]) -> _T:
        """What `decode` returns; a member that does not decode makes the snapshot invalid."""
        try:
            return decode()
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self.invalid(f"{name} does not decode") from error

    def _read(self, size: int) -> bytes:
        body = self._read_some(size)
        if len(body) < size:
            raise self.invalid("it is cut off; copy or export it anew")
        return body

    def _read_some(self, size: int) -> bytes:
        """Up to so many bytes; less only at the end."""
        pieces: list[bytes] = []
        left = size
        try:
            while left and (piece := self._stream.read(min(left, 1024**2))):
                pieces.append(piece)
                left -= len(piece)
        except zstandard.ZstdError as error:
            raise self.invalid("it is damaged; copy or export it anew") from error
        return b"".join(pieces)


def _bodies(capture: Capture) -> dict[str, bytes]:
    encode = msgspec.msgpack.Encoder(order="sorted").encode
    contents = (
        capture.files,
        capture.analyses,
        capture.structure,
        capture.edges,
        capture.observed,
        capture.annotations,
        _Linking(digests=capture.digests, state=capture.link_state),
    )
    return {name: encode(content) for name, content in zip(MEMBERS, contents, strict=True)}


def _capture(manifest: Manifest, bodies: dict[str, bytes], archive: _Archive) -> Capture:
    def read(name: str, kind: type[_T]) -> _T:
        return archive.decoded(name, lambda: msgspec.msgpack.decode(bodies[name], type=kind))

    kind, _, prefix = manifest.scope.partition(":")
    linking = read("linking", _Linking)
    return Capture(
        scope=Scope(kind=kind, prefix=prefix),
        root_hash=manifest.root_hash,
        commit_sha=manifest.commit_sha,
        files=read("files", dict[FilePath, ContentHash]),
        analyses=read("analyses", tuple[FileAnalysis, ...]),
        structure=read("structure", tuple[Node, ...]),
        edges=read("edges", tuple[Edge, ...]),
        observed=read("observed", tuple[Edge, ...]),
        annotations=read("annotations", dict[NodeId, Enrichment]),
        digests=linking.digests,
        link_state=linking.state,
    )


def _inconsistency(manifest: Manifest, capture: Capture) -> str | None:
    """What is wrong with members that are all as listed: the parts must be of one index."""
    files = capture.files
    if [one.path for one in capture.analyses] != sorted(files):
        return "its analyses are not those of its files"
    if any(folder in files for path in files for folder in folders_of(path)):
        return "a path of it lies under a file"
    if not all(in_scope(path, capture.scope) for path in files):
        return "it holds files outside its scope"
    if any(not one.nodes or any(node.file != one.path for node in one.nodes) for one in capture.analyses):
        return "it attributes nodes to other files"
    nodes = capture.nodes
    if len(nodes) != len(capture.structure) + sum(len(one.nodes) for one in capture.analyses):
        return "it holds two nodes of one id"
    if (len(nodes), len(capture.relations)) != (manifest.node_count, manifest.edge_count):
        return "it does not hold as much as its manifest states"
    if capture.scope.kind == "full" and build_tree(files).hash != manifest.root_hash:
        return "its files do not have its root hash"
    return None
