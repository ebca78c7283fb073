"""Group `operations`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.operations import (
    MapParams,
    MapResult,
    SessionsParams,
    SessionsResult,
    SourceParams,
    SourceResult,
    StepsParams,
    StepsResult,
)

_OPERATIONS_MAP: msgspec.json.Decoder[MapResult] = msgspec.json.Decoder(MapResult)

_OPERATIONS_SOURCE: msgspec.json.Decoder[SourceResult] = msgspec.json.Decoder(SourceResult)

_OPERATIONS_SESSIONS: msgspec.json.Decoder[SessionsResult] = msgspec.json.Decoder(SessionsResult)

_OPERATIONS_STEPS: msgspec.json.Decoder[StepsResult] = msgspec.json.Decoder(StepsResult)


class OperationsMethods(Caller):
    """Calls of group `operations`."""

    def operations_map(
        self,
    ) -> MapResult:
        """Every file with its size, community and heat, and how the communities touch: a map to draw."""
        return self._call("smp/operations/map", MapParams(), _OPERATIONS_MAP)

    def operations_source(self, *, file_path: str, first: int = 1, last: int = 10000000) -> SourceResult:
        """Lines of a file as it is now."""
        return self._call(
            "smp/operations/source", SourceParams(file_path=file_path, first=first, last=last), _OPERATIONS_SOURCE
        )

    def operations_sessions(self, *, limit: int = 100) -> SessionsResult:
        """Sessions with their locks, boxes and phases; an agent's token sees its own."""
        return self._call("smp/operations/sessions", SessionsParams(limit=limit), _OPERATIONS_SESSIONS)

    def operations_steps(self, *, session_id: str | UnsetType = UNSET) -> StepsResult:
        """What a session did, step by step, also while it is open."""
        return self._call("smp/operations/steps", StepsParams(session_id=self._session(session_id)), _OPERATIONS_STEPS)


class AsyncOperationsMethods(AsyncCaller):
    """Calls of group `operations`, awaited."""

    async def operations_map(
        self,
    ) -> MapResult:
        """Every file with its size, community and heat, and how the communities touch: a map to draw."""
        return await self._call("smp/operations/map", MapParams(), _OPERATIONS_MAP)

    async def operations_source(self, *, file_path: str, first: int = 1, last: int = 10000000) -> SourceResult:
        """Lines of a file as it is now."""
        return await self._call(
            "smp/operations/source", SourceParams(file_path=file_path, first=first, last=last), _OPERATIONS_SOURCE
        )

    async def operations_sessions(self, *, limit: int = 100) -> SessionsResult:
        """Sessions with their locks, boxes and phases; an agent's token sees its own."""
        return await self._call("smp/operations/sessions", SessionsParams(limit=limit), _OPERATIONS_SESSIONS)

    async def operations_steps(self, *, session_id: str | UnsetType = UNSET) -> StepsResult:
        """What a session did, step by step, also while it is open."""
        return await self._call(
            "smp/operations/steps", StepsParams(session_id=self._session(session_id)), _OPERATIONS_STEPS
        )
