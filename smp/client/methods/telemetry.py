"""Group `telemetry`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.telemetry import HotParams, HotResult, NodeParams, NodeResult

_TELEMETRY_HOT: msgspec.json.Decoder[HotResult] = msgspec.json.Decoder(HotResult)

_TELEMETRY_NODE: msgspec.json.Decoder[NodeResult] = msgspec.json.Decoder(NodeResult)


class TelemetryMethods(Caller):
    """Calls of group `telemetry`."""

    def telemetry_hot(
        self,
        *,
        scope: str = "full",
        window_days: int | UnsetType = UNSET,
        min_changes: int | UnsetType = UNSET,
        min_callers: int | UnsetType = UNSET,
    ) -> HotResult:
        """Nodes that change often while many call them."""
        return self._call(
            "smp/telemetry/hot",
            HotParams(scope=scope, window_days=window_days, min_changes=min_changes, min_callers=min_callers),
            _TELEMETRY_HOT,
        )

    def telemetry_node(self, *, node_id: str, window_days: int | UnsetType = UNSET) -> NodeResult:
        """The recorded changes of one node within the window."""
        return self._call("smp/telemetry/node", NodeParams(node_id=node_id, window_days=window_days), _TELEMETRY_NODE)


class AsyncTelemetryMethods(AsyncCaller):
    """Calls of group `telemetry`, awaited."""

    async def telemetry_hot(
        self,
        *,
        scope: str = "full",
        window_days: int | UnsetType = UNSET,
        min_changes: int | UnsetType = UNSET,
        min_callers: int | UnsetType = UNSET,
    ) -> HotResult:
        """Nodes that change often while many call them."""
        return await self._call(
            "smp/telemetry/hot",
            HotParams(scope=scope, window_days=window_days, min_changes=min_changes, min_callers=min_callers),
            _TELEMETRY_HOT,
        )

    async def telemetry_node(self, *, node_id: str, window_days: int | UnsetType = UNSET) -> NodeResult:
        """The recorded changes of one node within the window."""
        return await self._call(
            "smp/telemetry/node", NodeParams(node_id=node_id, window_days=window_days), _TELEMETRY_NODE
        )
