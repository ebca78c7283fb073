"""Group `linker`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.linker import ReportParams, ReportResult, RuntimeParams, RuntimeResult

_LINKER_REPORT: msgspec.json.Decoder[ReportResult] = msgspec.json.Decoder(ReportResult)

_LINKER_RUNTIME: msgspec.json.Decoder[RuntimeResult] = msgspec.json.Decoder(RuntimeResult)


class LinkerMethods(Caller):
    """Calls of group `linker`."""

    def linker_report(self, *, scope: str = "full") -> ReportResult:
        """Every call whose target is not proved, why, and what would settle it."""
        return self._call("smp/linker/report", ReportParams(scope=scope), _LINKER_REPORT)

    def linker_runtime(self, *, node_id: str, commit_sha: str | UnsetType = UNSET) -> RuntimeResult:
        """What a node was seen to call in traced runs, beside what its source says."""
        return self._call("smp/linker/runtime", RuntimeParams(node_id=node_id, commit_sha=commit_sha), _LINKER_RUNTIME)


class AsyncLinkerMethods(AsyncCaller):
    """Calls of group `linker`, awaited."""

    async def linker_report(self, *, scope: str = "full") -> ReportResult:
        """Every call whose target is not proved, why, and what would settle it."""
        return await self._call("smp/linker/report", ReportParams(scope=scope), _LINKER_REPORT)

    async def linker_runtime(self, *, node_id: str, commit_sha: str | UnsetType = UNSET) -> RuntimeResult:
        """What a node was seen to call in traced runs, beside what its source says."""
        return await self._call(
            "smp/linker/runtime", RuntimeParams(node_id=node_id, commit_sha=commit_sha), _LINKER_RUNTIME
        )
