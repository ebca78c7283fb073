"""Group `evidence`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.evidence import (
    EvidenceParams,
    EvidenceResult,
    SwarmParams,
    SwarmResult,
    SwarmsParams,
    SwarmsResult,
)

_OPERATIONS_EVIDENCE: msgspec.json.Decoder[EvidenceResult] = msgspec.json.Decoder(EvidenceResult)

_OPERATIONS_SWARMS: msgspec.json.Decoder[SwarmsResult] = msgspec.json.Decoder(SwarmsResult)

_OPERATIONS_SWARM: msgspec.json.Decoder[SwarmResult] = msgspec.json.Decoder(SwarmResult)


class EvidenceMethods(Caller):
    """Calls of group `evidence`."""

    def operations_evidence(self, *, session_id: str | UnsetType = UNSET) -> EvidenceResult:
        """Commands with what they were refused, verdicts with each mutant, and the change itself, of one session."""
        return self._call(
            "smp/operations/evidence", EvidenceParams(session_id=self._session(session_id)), _OPERATIONS_EVIDENCE
        )

    def operations_swarms(self, *, limit: int = 100) -> SwarmsResult:
        """Swarms of this repository that Temporal knows; -32014 where it does not answer."""
        return self._call("smp/operations/swarms", SwarmsParams(limit=limit), _OPERATIONS_SWARMS)

    def operations_swarm(self, *, swarm_id: str) -> SwarmResult:
        """The board of one swarm: each task with its session, and at the end how the branches merge."""
        return self._call("smp/operations/swarm", SwarmParams(swarm_id=swarm_id), _OPERATIONS_SWARM)


class AsyncEvidenceMethods(AsyncCaller):
    """Calls of group `evidence`, awaited."""

    async def operations_evidence(self, *, session_id: str | UnsetType = UNSET) -> EvidenceResult:
        """Commands with what they were refused, verdicts with each mutant, and the change itself, of one session."""
        return await self._call(
            "smp/operations/evidence", EvidenceParams(session_id=self._session(session_id)), _OPERATIONS_EVIDENCE
        )

    async def operations_swarms(self, *, limit: int = 100) -> SwarmsResult:
        """Swarms of this repository that Temporal knows; -32014 where it does not answer."""
        return await self._call("smp/operations/swarms", SwarmsParams(limit=limit), _OPERATIONS_SWARMS)

    async def operations_swarm(self, *, swarm_id: str) -> SwarmResult:
        """The board of one swarm: each task with its session, and at the end how the branches merge."""
        return await self._call("smp/operations/swarm", SwarmParams(swarm_id=swarm_id), _OPERATIONS_SWARM)
