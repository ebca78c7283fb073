"""A capture as a file and back; and everything that is not exactly such a file."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from smp.domain.errors import SignatureInvalid, SnapshotInvalid
from smp.domain.graph import Edge, EdgeKind, Node, NodeKind, Scope, UnresolvedReason
from smp.domain.ids import CommitSha, ContentHash, FilePath, NodeId, mint_node_id
from smp.domain.metadata import Enrichment
from smp.domain.source import FileAnalysis
from smp.indexing.capture import Capture
from smp.indexing.merkle import build_tree
from smp.indexing.snapshot import MANIFEST, MEMBERS, SIGNATURE, SIGNED, Manifest, Member, Snapshot, pack, unpack

ID = "snap_0000000000000000"
names = st.text("abcdefgh", min_size=1, max_size=4)
texts = st.text(max_size=20)


def toy_sign(message: bytes) -> bytes:
    return hashlib.sha512(b"secret" + message).digest()


def toy_verify(key_id: str, message: bytes, signature: bytes) -> None:
    if key_id != "key_a" or signature != toy_sign(message):
        raise SignatureInvalid("the signature does not verify", key_id=key_id)


def capture_of(files: Mapping[str, str], *, notes: Mapping[str, str] | None = None) -> Capture:
    """A file a path with one function in it, which calls something unknown."""
    hashes = {FilePath(path): ContentHash(hashlib.sha256(text.encode()).hexdigest()) for path, text in files.items()}
    analyses = []
    edges = []
    for path in sorted(hashes):
        own = Node(id=mint_node_id("file", path), kind=NodeKind.FILE, name=path, qualname=path, file=path)
        function = Node(
            id=mint_node_id("function", path, "f"), kind=NodeKind.FUNCTION, name="f", qualname="f", file=path
        )
        analyses.append(FileAnalysis(path=path, language="toy", nodes=(own, function)))
        edges.append(Edge(kind=EdgeKind.DEFINES, source=own.id, target=function.id))
        edges.append(
            Edge(
                kind=EdgeKind.CALLS_UNRESOLVED,
                source=function.id,
                to_name=files[path],
                reason=UnresolvedReason.DYNAMIC,
            )
        )
    return Capture(
        scope=Scope(),
        root_hash=build_tree(hashes).hash,
        commit_sha=CommitSha("c" * 40),
        files=hashes,
        analyses=tuple(analyses),
        structure=(Node(id=NodeId("repository:r"), kind=NodeKind.REPOSITORY, name="r", qualname="r"),),
        edges=tuple(edges),
        observed=(),
        annotations={
            NodeId(key): Enrichment(description=text, manually_set=True) for key, text in (notes or {}).items()
        },
        digests=dict.fromkeys(hashes, b"\1" * 16),
        link_state=b"state",
    )


def draft_of(capture: Capture) -> Manifest:
    return Manifest(
        format=1,
        index_format=7,
        snapshot_id=ID,
        scope="full",
        root_hash=capture.root_hash,
        commit_sha=capture.commit_sha,
        node_count=len(capture.nodes),
        edge_count=len(capture.relations),
        signed_at="2026-02-15T12:00:00Z",
        key_id="key_a",
    )


def packed(capture: Capture, **changes: Any) -> bytes:
    out = io.BytesIO()
    pack(msgspec.structs.replace(draft_of(capture), **changes), capture, out, sign=toy_sign)
    return out.getvalue()


def read(raw: bytes, **changes: Any) -> Snapshot:
    given: dict[str, Any] = {"snapshot_id": ID, "index_format": 7, "verify": toy_verify, **changes}
    return unpack(io.BytesIO(raw), **given)


SMALL = capture_of({"a.py": "g", "pkg/b.py": "h"}, notes={"file:a.py": "what it is for"})


@given(st.dictionaries(names, texts, max_size=6), st.dictionaries(names, texts, max_size=3))
def test_what_is_packed_comes_out_as_it_was(files: dict[str, str], notes: dict[str, str]) -> None:
    capture = capture_of(files, notes=notes)
    assert read(packed(capture)).capture == capture


def test_equal_captures_are_equal_bytes() -> None:
    backwards = capture_of({"pkg/b.py": "h", "a.py": "g"}, notes={"file:a.py": "what it is for"})
    assert packed(SMALL) == packed(backwards)


def test_the_manifest_lists_the_hash_of_every_member() -> None:
    with tarfile.open(fileobj=io.BytesIO(zstandard.ZstdDecompressor().stream_reader(packed(SMALL)).read())) as archive:
        bodies = {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]
    manifest = msgspec.json.decode(bodies[MANIFEST], type=Manifest)
    assert list(bodies) == [MANIFEST, SIGNATURE, *MEMBERS]
    assert {one.name: one.sha256 for one in manifest.members} == {
        name: hashlib.sha256(bodies[name]).hexdigest() for name in MEMBERS
    }
    toy_verify("key_a", SIGNED + bodies[MANIFEST], bodies[SIGNATURE])


@given(st.integers(0, len(packed(SMALL)) - 1), st.integers(1, 255))
def test_no_changed_byte_changes_what_is_read(position: int, flip: int) -> None:
    raw = bytearray(packed(SMALL))
    raw[position] ^= flip
    try:
        found = read(bytes(raw)).capture
    except (SnapshotInvalid, SignatureInvalid):
        return
    assert found == SMALL


@pytest.mark.parametrize("part", [0.0, 0.01, 0.3, 2 / 3, 0.99])
def test_what_is_cut_off_is_refused(part: float) -> None:
    raw = packed(SMALL)
    with pytest.raises(SnapshotInvalid):
        read(raw[: int(len(raw) * part)])


def test_a_snapshot_under_another_id_is_refused() -> None:
    with pytest.raises(SnapshotInvalid, match="under another name"):
        read(packed(SMALL, snapshot_id="snap_other"))


def test_a_snapshot_of_another_version_is_refused() -> None:
    with pytest.raises(SnapshotInvalid, match="another version"):
        read(packed(SMALL), index_format=8)


def test_a_strange_key_is_refused_and_the_error_names_it() -> None:
    with pytest.raises(SignatureInvalid) as caught:
        read(packed(SMALL, key_id="key_b"))
    assert caught.value.fields == {"key_id": "key_b", "snapshot_id": ID}


def test_an_unchecked_signature_leaves_the_hashes_checked() -> None:
    assert read(packed(SMALL, key_id="key_b"), verify=None).capture == SMALL
    with pytest.raises(SnapshotInvalid, match="not what the manifest lists"):
        read(rebuilt(lambda name, body: body[:-1] + b"\x7f" if name == "linking" else body), verify=None)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"root_hash": ContentHash("0" * 64)}, "root hash"),
        ({"node_count": 1}, "as much as its manifest"),
        ({"edge_count": 99}, "as much as its manifest"),
        ({"scope": "package:pkg"}, "outside its scope"),
        ({"scope": "everything"}, "of another form"),
    ],
)
def test_a_manifest_that_is_not_true_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(SnapshotInvalid, match=says):
        read(packed(SMALL, **changes))


def test_an_index_that_contradicts_itself_is_refused() -> None:
    first, second = SMALL.analyses
    stolen = msgspec.structs.replace(second, nodes=first.nodes)
    with pytest.raises(SnapshotInvalid, match="to other files"):
        read(packed(msgspec.structs.replace(SMALL, analyses=(first, stolen))))
    with pytest.raises(SnapshotInvalid, match="not those of its files"):
        read(packed(msgspec.structs.replace(SMALL, analyses=(first,))))
    doubled = msgspec.structs.replace(first, nodes=(*first.nodes, first.nodes[1]))
    with pytest.raises(SnapshotInvalid, match="two nodes of one id"):
        read(packed(msgspec.structs.replace(SMALL, analyses=(doubled, second))))
    nested = msgspec.structs.replace(SMALL, files={**SMALL.files, FilePath("a.py/c.py"): ContentHash("0" * 64)})
    more = FileAnalysis(path=FilePath("a.py/c.py"), language=None, nodes=())
    with pytest.raises(SnapshotInvalid, match="under a file"):
        read(packed(msgspec.structs.replace(nested, analyses=(first, more, second))))


def archive_of(members: list[tuple[tarfile.TarInfo, bytes]], *, tar_format: int = tarfile.USTAR_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tar_format) as archive:
        for entry, body in members:
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
    return zstandard.ZstdCompressor().compress(out.getvalue())


def members_of(raw: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    plain = zstandard.ZstdDecompressor().stream_reader(raw).read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        return [(tarfile.TarInfo(entry.name), archive.extractfile(entry).read()) for entry in archive]  # type: ignore[union-attr]


def rebuilt(change: Callable[[str, bytes], bytes]) -> bytes:
    return archive_of([(entry, change(entry.name, body)) for entry, body in members_of(packed(SMALL))])


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "files/../analyses", "analyses/", "ANALYSES", ""])
@pytest.mark.parametrize("member", [MANIFEST, "analyses"])
def test_a_member_under_another_name_is_refused(member: str, name: str) -> None:
    members = members_of(packed(SMALL))
    for entry, _ in members:
        entry.name = name if entry.name == member else entry.name
    with pytest.raises(SnapshotInvalid, match="where that belongs"):
        read(archive_of(members))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_member_that_is_no_plain_file_is_refused(kind: bytes) -> None:
    members = members_of(packed(SMALL))
    members[0][0].type, members[0][0].linkname = kind, "/etc/passwd"
    with pytest.raises(SnapshotInvalid, match="where that belongs"):
        read(archive_of(members))


def test_extended_headers_are_refused() -> None:
    members = members_of(packed(SMALL))
    members[0][0].pax_headers = {"path": MANIFEST, "comment": "x" * 4096}
    with pytest.raises(SnapshotInvalid, match="where that belongs"):
        read(archive_of(members, tar_format=tarfile.PAX_FORMAT))


def test_further_missing_and_exchanged_members_are_refused() -> None:
    members = members_of(packed(SMALL))
    for wrong in (
        [*members, (tarfile.TarInfo("more"), b"")],
        members[:-1],
        [*members[:2], members[3], members[2], *members[4:]],
        [members[1], members[0], *members[2:]],
    ):
        with pytest.raises(SnapshotInvalid):
            read(archive_of(wrong))


def test_a_manifest_that_lists_other_members_is_refused_although_signed() -> None:
    def listing(*extra: Member) -> bytes:
        manifest = msgspec.json.decode(members_of(packed(SMALL))[0][1], type=Manifest)
        written = msgspec.json.encode(msgspec.structs.replace(manifest, members=(*manifest.members, *extra)))
        bodies = {MANIFEST: written, SIGNATURE: toy_sign(SIGNED + written)}
        return rebuilt(lambda name, body: bodies.get(name, body))

    assert read(listing()).capture == SMALL
    with pytest.raises(SnapshotInvalid, match="of another form"):
        read(listing(Member(name="../escape", size=0, sha256=hashlib.sha256(b"").hexdigest())))


def test_a_small_file_cannot_expand_without_limit() -> None:
    """The manifest is bounded before anything is believed; a stated size beyond the bound is refused unread."""
    entry = tarfile.TarInfo(MANIFEST)
    entry.size = 50_000_000
    bomb = zstandard.ZstdCompressor().compress(entry.tobuf(tarfile.USTAR_FORMAT) + bytes(entry.size))
    assert len(bomb) < 10_000
    with pytest.raises(SnapshotInvalid, match="does not hold manifest"):
        read(bomb)

    manifest = msgspec.json.decode(members_of(packed(SMALL))[0][1], type=Manifest)
    huge = tuple(msgspec.structs.replace(one, size=2**40) for one in manifest.members)
    written = msgspec.json.encode(msgspec.structs.replace(manifest, members=huge))
    bodies = {MANIFEST: written, SIGNATURE: toy_sign(SIGNED + written)}
    with pytest.raises(SnapshotInvalid, match="unpacks to more than"):
        read(rebuilt(lambda name, body: bodies.get(name, body)))
