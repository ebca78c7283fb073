"""Group `planning`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.planning import ConflictParams, ConflictResult, PlanParams, PlanResult

_PLAN: msgspec.json.Decoder[PlanResult] = msgspec.json.Decoder(PlanResult)

_CONFLICT: msgspec.json.Decoder[ConflictResult] = msgspec.json.Decoder(ConflictResult)


class PlanningMethods(Caller):
    """Calls of group `planning`."""

    def plan(self, *, session_id: str | UnsetType = UNSET, task: str, intended_writes: tuple[str, ...]) -> PlanResult:
        """The order in which the files of a task are best written, with the risk of each."""
        return self._call(
            "smp/plan",
            PlanParams(session_id=self._session(session_id), task=task, intended_writes=intended_writes),
            _PLAN,
        )

    def conflict(self, *, session_a: str, session_b: str) -> ConflictResult:
        """Whether the scopes of two sessions overlap while at least one of them writes."""
        return self._call("smp/conflict", ConflictParams(session_a=session_a, session_b=session_b), _CONFLICT)


class AsyncPlanningMethods(AsyncCaller):
    """Calls of group `planning`, awaited."""

    async def plan(
        self, *, session_id: str | UnsetType = UNSET, task: str, intended_writes: tuple[str, ...]
    ) -> PlanResult:
        """The order in which the files of a task are best written, with the risk of each."""
        return await self._call(
            "smp/plan",
            PlanParams(session_id=self._session(session_id), task=task, intended_writes=intended_writes),
            _PLAN,
        )

    async def conflict(self, *, session_a: str, session_b: str) -> ConflictResult:
        """Whether the scopes of two sessions overlap while at least one of them writes."""
        return await self._call("smp/conflict", ConflictParams(session_a=session_a, session_b=session_b), _CONFLICT)
