"""Group `index`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.index import ExportParams, ExportResult, ImportedResult, ImportParams, PartialImportResult

_INDEX_EXPORT: msgspec.json.Decoder[ExportResult] = msgspec.json.Decoder(ExportResult)

_INDEX_IMPORT: msgspec.json.Decoder[ImportedResult | PartialImportResult] = msgspec.json.Decoder(
    ImportedResult | PartialImportResult
)


class IndexMethods(Caller):
    """Calls of group `index`."""

    def index_export(self, *, scope: str = "full", signing_key_id: str | UnsetType = UNSET) -> ExportResult:
        """Package the index as a signed, portable snapshot: `<data_dir>/snapshots/<snapshot_id>.tar.zst`."""
        return self._call("smp/index/export", ExportParams(scope=scope, signing_key_id=signing_key_id), _INDEX_EXPORT)

    def index_import(
        self,
        *,
        snapshot_id: str,
        source_url: str | UnsetType = UNSET,
        expected_root_hash: str | UnsetType = UNSET,
        verify_signature: bool = True,
    ) -> ImportedResult | PartialImportResult:
        """Load a signed snapshot; verified before anything is stored, and all or nothing. The working tree wins."""
        return self._call(
            "smp/index/import",
            ImportParams(
                snapshot_id=snapshot_id,
                source_url=source_url,
                expected_root_hash=expected_root_hash,
                verify_signature=verify_signature,
            ),
            _INDEX_IMPORT,
        )


class AsyncIndexMethods(AsyncCaller):
    """Calls of group `index`, awaited."""

    async def index_export(self, *, scope: str = "full", signing_key_id: str | UnsetType = UNSET) -> ExportResult:
        """Package the index as a signed, portable snapshot: `<data_dir>/snapshots/<snapshot_id>.tar.zst`."""
        return await self._call(
            "smp/index/export", ExportParams(scope=scope, signing_key_id=signing_key_id), _INDEX_EXPORT
        )

    async def index_import(
        self,
        *,
        snapshot_id: str,
        source_url: str | UnsetType = UNSET,
        expected_root_hash: str | UnsetType = UNSET,
        verify_signature: bool = True,
    ) -> ImportedResult | PartialImportResult:
        """Load a signed snapshot; verified before anything is stored, and all or nothing. The working tree wins."""
        return await self._call(
            "smp/index/import",
            ImportParams(
                snapshot_id=snapshot_id,
                source_url=source_url,
                expected_root_hash=expected_root_hash,
                verify_signature=verify_signature,
            ),
            _INDEX_IMPORT,
        )
