"""Hand an index out as a signed snapshot, and take one over.

Taking over is all or nothing: the snapshot is read and checked whole, then the index changes in one transaction. The
working tree wins over the snapshot wherever the two differ.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from typing import BinaryIO

from msgspec import Struct

from smp.domain.errors import NodeNotFound, SnapshotInvalid, Unavailable
from smp.domain.graph import Scope
from smp.domain.ids import ContentHash, FilePath
from smp.indexing.capture import Capture, capture_index, held_counts
from smp.indexing.pipeline import ATTEMPTS, FORMAT, Indexer
from smp.indexing.records import IndexRecord
from smp.indexing.snapshot import SNAPSHOT_FORMAT, Manifest, Snapshot, pack, scope_text, stated_id, unpack
from smp.ports.clock import Clock
from smp.ports.graph_store import GraphStore
from smp.ports.index_cache import IndexCache
from smp.ports.keyring import Keyring
from smp.ports.metadata_store import MetadataStore
from smp.ports.snapshot_store import SnapshotStore


class Exported(Struct, frozen=True, kw_only=True):
    """A snapshot that was made. signature: Ed25519, 64 bytes."""

    manifest: Manifest
    signature: bytes


class Imported(Struct, frozen=True, kw_only=True):
    """A snapshot that was taken over.

    Attributes:
        signature_verified: The signature was checked, and a trusted key had made it.
        nodes, edges: Those of the snapshot that the index now holds exactly as they are in it.
        diverging_packages: Directories of the files of its scope that differ here, sorted; `.` is the root. Empty: the
            tree is the snapshot's.
        re_indexed: Files whose analysis was made here.
    """

    signature_verified: bool
    nodes: int
    edges: int
    diverging_packages: tuple[str, ...]
    re_indexed: tuple[FilePath, ...]
    duration_ms: float


class SnapshotService:
    """One per repository and process; every method may be called from any thread."""

    def __init__(
        self,
        *,
        clock: Clock,
        indexer: Indexer,
        cache: IndexCache,
        graph: GraphStore,
        metadata: MetadataStore,
        store: SnapshotStore,
        keyring: Keyring,
    ) -> None:
        """
        Args:
            cache: That of the indexer, and so are graph and metadata.
        """
        self._clock = clock
        self._indexer = indexer
        self._cache = cache
        self._graph = graph
        self._metadata = metadata
        self._store = store
        self._keyring = keyring

    def export(self, scope: Scope, *, key_id: str | None = None) -> Exported:
        """Sign and store what the index knows of the working tree.

        Args:
            scope: The whole or a package.
            key_id: The key to sign with; None: the one own key, made on first use.

        Raises:
            Invalid: No own key has this id, or there are several and none was named.
            NodeNotFound: Nothing is indexed below the package.
            TooLarge: The index is beyond what a snapshot may hold.
            Unavailable: Store or keys cannot be read or written.
        """
        key = self._keyring.signing_key(key_id)
        self._indexer.ensure_fresh()
        record, capture = self._captured(scope)
        if scope.kind != "full" and not capture.files:
            raise NodeNotFound(scope_text(scope))
        draft = Manifest(
            format=SNAPSHOT_FORMAT,
            index_format=record.format,
            snapshot_id=self._clock.fresh_id("snap"),
            scope=scope_text(scope),
            root_hash=capture.root_hash,
            commit_sha=capture.commit_sha,
            node_count=len(capture.nodes),
            edge_count=len(capture.relations),
            signed_at=_stamp(self._clock.now()),
            key_id=key,
        )
        with self._store.create(draft.snapshot_id) as out:
            manifest, signature = pack(draft, capture, out, sign=lambda message: self._keyring.sign(key, message))
        return Exported(manifest=manifest, signature=signature)

    def take_over(
        self, snapshot_id: str, *, expected_root_hash: str | None = None, verify_signature: bool = True
    ) -> Imported:
        """Check a snapshot and bring the index up to the working tree with what it knows.

        Args:
            expected_root_hash: At least 8 digits of the root hash of the snapshot, or of the tree that it is to serve.
            verify_signature: False takes a snapshot that nobody trusted has signed; its hashes are checked all the same.

        Raises:
            SnapshotInvalid: Unknown, damaged, of another version, or not of the expected root.
            SignatureInvalid: Changed since it was signed, or signed by a key that is not trusted here.
            Unavailable: The index cannot be written; it is as it was.
        """
        started = self._clock.now()
        with self._store.open(snapshot_id) as source:
            snapshot = unpack(
                source,
                snapshot_id=snapshot_id,
                index_format=FORMAT,
                verify=self._keyring.verify if verify_signature else None,
            )
        self._check_root(snapshot, expected_root_hash)
        adoption = self._indexer.adopt(snapshot.capture)
        nodes, edges = held_counts(snapshot.capture, self._graph)
        return Imported(
            signature_verified=verify_signature,
            nodes=nodes,
            edges=edges,
            diverging_packages=tuple(sorted({path.rpartition("/")[0] or "." for path in adoption.diverging})),
            re_indexed=adoption.re_indexed,
            duration_ms=(self._clock.now() - started).total_seconds() * 1000,
        )

    def send(self, snapshot_id: str, out: BinaryIO) -> None:
        """Copy a snapshot's file out, to be carried to another server. Raises what the store raises."""
        with self._store.open(snapshot_id) as source:
            shutil.copyfileobj(source, out)

    def bring(self, source: BinaryIO) -> str:
        """Put a file that was carried here into the store, under the id that it states; `take_over` checks it.

        Args:
            source: Seekable; left at its end.

        Raises:
            SnapshotInvalid: It is no snapshot.
        """
        snapshot_id = stated_id(source)
        source.seek(0)
        with self._store.create(snapshot_id) as out:
            shutil.copyfileobj(source, out)
        return snapshot_id

    def _captured(self, scope: Scope) -> tuple[IndexRecord, Capture]:
        for _ in range(ATTEMPTS):
            found = capture_index(self._cache, self._graph, self._metadata, scope)
            if found is not None:
                return found
        raise Unavailable("other processes keep changing the index; repeat the call", backend="index")

    def _check_root(self, snapshot: Snapshot, expected: str | None) -> None:
        if expected is None or snapshot.manifest.root_hash.startswith(expected):
            return
        wanted: ContentHash = self._indexer.wanted_root()
        if not wanted.startswith(expected):
            raise SnapshotInvalid(
                f"{expected!r} is the root hash neither of the snapshot nor of the working tree; "
                "nothing was imported, compare with smp/merkle/tree",
                snapshot_id=snapshot.manifest.snapshot_id,
                snapshot_root_hash=snapshot.manifest.root_hash,
                server_root_hash=wanted,
            )


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
