"""Index: signed snapshots, out and in."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from smp.domain.errors import Invalid
from smp.domain.graph import Scope
from smp.query.resolve import resolve_path
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.wire import AnyRef, HashPrefix, Params, Result, Text

URL = "smp://snapshots/{}.tar.zst"


class ExportParams(Params, frozen=True, kw_only=True):
    """What to export, and with which of the server's own keys to sign; without one, with the one that it has."""

    scope: Annotated[str, Meta(pattern=r"^(full|package:[^\x00]+)$", description="full or package:<path>")] = "full"
    signing_key_id: Text | UnsetType = UNSET


class ExportResult(Result, frozen=True, kw_only=True):
    """A snapshot. root_hash: of the whole tree, whatever the scope. signature: `ed25519:…` over its manifest."""

    snapshot_id: str
    root_hash: str
    scope: str
    node_count: int
    edge_count: int
    signed_at: str
    signature: str
    export_url: str


@rpc_method("smp/index/export")
def export_index(params: ExportParams, ctx: RequestContext) -> ExportResult:
    """Package the index as a signed, portable snapshot: `<data_dir>/snapshots/<snapshot_id>.tar.zst`."""
    kind, _, written = params.scope.partition(":")
    prefix = resolve_path(written.rstrip("/") or written, path="scope") if written else ""
    key_id = None if isinstance(params.signing_key_id, UnsetType) else params.signing_key_id
    made = ctx.services.snapshots.export(Scope(kind=kind, prefix=prefix), key_id=key_id)
    return ExportResult(
        snapshot_id=made.manifest.snapshot_id,
        root_hash=made.manifest.root_hash,
        scope=made.manifest.scope,
        node_count=made.manifest.node_count,
        edge_count=made.manifest.edge_count,
        signed_at=made.manifest.signed_at,
        signature=f"ed25519:{made.signature.hex()}",
        export_url=URL.format(made.manifest.snapshot_id),
    )


class ImportParams(Params, frozen=True, kw_only=True):
    """A snapshot that lies in the server's data directory, and the root hash of it or of the tree that it is to serve.

    source_url: `smp://snapshots/<snapshot_id>.tar.zst`; nothing is fetched from elsewhere. verify_signature: false takes
    what no trusted key has signed.
    """

    snapshot_id: AnyRef
    source_url: Annotated[str, Meta(min_length=1, max_length=4096)] | UnsetType = UNSET
    expected_root_hash: HashPrefix | UnsetType = UNSET
    verify_signature: bool = True


class ImportedResult(Result, frozen=True, kw_only=True, tag_field="status", tag="imported"):
    """Every file of the snapshot's scope is here as it is there."""

    root_hash_verified: bool
    signature_verified: bool
    nodes_imported: int
    edges_imported: int
    re_indexed_files: int
    duration_ms: float


class PartialImportResult(Result, frozen=True, kw_only=True, tag_field="status", tag="partial_import"):
    """The working tree differs from the snapshot; the differing files were indexed again.

    diverging_packages: the directories of differing files, `.` for the root.
    """

    root_hash_verified: bool
    signature_verified: bool
    nodes_imported: int
    edges_imported: int
    diverging_packages: tuple[str, ...]
    re_indexed_files: int
    duration_ms: float


@rpc_method("smp/index/import")
def import_index(params: ImportParams, ctx: RequestContext) -> ImportedResult | PartialImportResult:
    """Load a signed snapshot; verified before anything is stored, and all or nothing. The working tree wins."""
    wanted = URL.format(params.snapshot_id)
    if not isinstance(params.source_url, UnsetType) and params.source_url != wanted:
        raise Invalid(
            f"source_url must be {wanted!r}; put the file of another server into the snapshots folder of the data "
            "directory first",
            path="source_url",
        )
    expected = None if isinstance(params.expected_root_hash, UnsetType) else params.expected_root_hash
    done = ctx.services.snapshots.take_over(
        params.snapshot_id, expected_root_hash=expected, verify_signature=params.verify_signature
    )
    if not done.diverging_packages:
        return ImportedResult(
            root_hash_verified=True,
            signature_verified=done.signature_verified,
            nodes_imported=done.nodes,
            edges_imported=done.edges,
            re_indexed_files=len(done.re_indexed),
            duration_ms=done.duration_ms,
        )
    return PartialImportResult(
        root_hash_verified=False,
        signature_verified=done.signature_verified,
        nodes_imported=done.nodes,
        edges_imported=done.edges,
        diverging_packages=done.diverging_packages,
        re_indexed_files=len(done.re_indexed),
        duration_ms=done.duration_ms,
    )


METHODS = (export_index, import_index)
