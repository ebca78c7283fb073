"""Index: signed snapshots, out and in. Of a later release; the parameters are checked already."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from smp.domain.errors import Planned
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.wire import AnyRef, HashPrefix, Params, Result, Text


class ExportParams(Params, frozen=True, kw_only=True):
    """What to export, and with which key to sign."""

    scope: Annotated[str, Meta(pattern=r"^(full|package:[^\x00]+)$", description="full or package:<path>")] = "full"
    signing_key_id: Text | UnsetType = UNSET


class ExportResult(Result, frozen=True, kw_only=True):
    """A snapshot. signature: `ed25519:…` over its manifest."""

    snapshot_id: str
    root_hash: str
    scope: str
    node_count: int
    edge_count: int
    signed_at: str
    signature: str
    export_url: str


@rpc_method("smp/index/export", planned=True)
def export_index(params: ExportParams, ctx: RequestContext) -> ExportResult:
    """Package the index as a signed, portable snapshot."""
    raise Planned("smp/index/export")


class ImportParams(Params, frozen=True, kw_only=True):
    """A snapshot and what it is expected to hold."""

    snapshot_id: AnyRef
    source_url: Annotated[str, Meta(min_length=1, max_length=4096)] | UnsetType = UNSET
    expected_root_hash: HashPrefix | UnsetType = UNSET
    verify_signature: bool = True


class ImportedResult(Result, frozen=True, kw_only=True, tag_field="status", tag="imported"):
    """The snapshot holds this tree: nothing was indexed again."""

    root_hash_verified: bool
    signature_verified: bool
    nodes_imported: int
    edges_imported: int
    re_indexed_files: int
    duration_ms: float


class PartialImportResult(Result, frozen=True, kw_only=True, tag_field="status", tag="partial_import"):
    """The working tree differs from the snapshot; the differing files were indexed again."""

    root_hash_verified: bool
    signature_verified: bool
    nodes_imported: int
    edges_imported: int
    diverging_packages: tuple[str, ...]
    re_indexed_files: int
    duration_ms: float


@rpc_method("smp/index/import", planned=True)
def import_index(params: ImportParams, ctx: RequestContext) -> ImportedResult | PartialImportResult:
    """Load a signed snapshot; verified before anything is stored."""
    raise Planned("smp/index/import")


METHODS = (export_index, import_index)
