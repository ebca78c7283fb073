"""Group `community`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.domain.graph import EdgeKind, NodeKind
from smp.rpc.methods.community import (
    BoundariesParams,
    BoundariesResult,
    DetectParams,
    DetectResult,
    GetParams,
    GetResult,
    LevelOption,
    ListParams,
    ListResult,
)

_COMMUNITY_DETECT: msgspec.json.Decoder[DetectResult] = msgspec.json.Decoder(DetectResult)

_COMMUNITY_LIST: msgspec.json.Decoder[ListResult] = msgspec.json.Decoder(ListResult)

_COMMUNITY_GET: msgspec.json.Decoder[GetResult] = msgspec.json.Decoder(GetResult)

_COMMUNITY_BOUNDARIES: msgspec.json.Decoder[BoundariesResult] = msgspec.json.Decoder(BoundariesResult)


class CommunityMethods(Caller):
    """Calls of group `community`."""

    def community_detect(
        self,
        *,
        algorithm: Literal["louvain"] = "louvain",
        relationship_types: tuple[EdgeKind, ...] | UnsetType = UNSET,
        levels: tuple[LevelOption, ...] | UnsetType = UNSET,
        min_community_size: int | UnsetType = UNSET,
    ) -> DetectResult:
        """Find the communities anew, at two resolutions, and store them."""
        return self._call(
            "smp/community/detect",
            DetectParams(
                algorithm=algorithm,
                relationship_types=relationship_types,
                levels=levels,
                min_community_size=min_community_size,
            ),
            _COMMUNITY_DETECT,
        )

    def community_list(self, *, level: Literal[0, 1] | UnsetType = UNSET) -> ListResult:
        """The communities of a level, or of both."""
        return self._call("smp/community/list", ListParams(level=level), _COMMUNITY_LIST)

    def community_get(
        self, *, community_id: str, node_types: tuple[NodeKind, ...] = (), include_bridges: bool = False
    ) -> GetResult:
        """One community with its members, highest rank first."""
        return self._call(
            "smp/community/get",
            GetParams(community_id=community_id, node_types=node_types, include_bridges=include_bridges),
            _COMMUNITY_GET,
        )

    def community_boundaries(self, *, level: Literal[0, 1], min_coupling: float = 0.05) -> BoundariesResult:
        """Which communities depend on one another, how strongly, and through which nodes."""
        return self._call(
            "smp/community/boundaries", BoundariesParams(level=level, min_coupling=min_coupling), _COMMUNITY_BOUNDARIES
        )


class AsyncCommunityMethods(AsyncCaller):
    """Calls of group `community`, awaited."""

    async def community_detect(
        self,
        *,
        algorithm: Literal["louvain"] = "louvain",
        relationship_types: tuple[EdgeKind, ...] | UnsetType = UNSET,
        levels: tuple[LevelOption, ...] | UnsetType = UNSET,
        min_community_size: int | UnsetType = UNSET,
    ) -> DetectResult:
        """Find the communities anew, at two resolutions, and store them."""
        return await self._call(
            "smp/community/detect",
            DetectParams(
                algorithm=algorithm,
                relationship_types=relationship_types,
                levels=levels,
                min_community_size=min_community_size,
            ),
            _COMMUNITY_DETECT,
        )

    async def community_list(self, *, level: Literal[0, 1] | UnsetType = UNSET) -> ListResult:
        """The communities of a level, or of both."""
        return await self._call("smp/community/list", ListParams(level=level), _COMMUNITY_LIST)

    async def community_get(
        self, *, community_id: str, node_types: tuple[NodeKind, ...] = (), include_bridges: bool = False
    ) -> GetResult:
        """One community with its members, highest rank first."""
        return await self._call(
            "smp/community/get",
            GetParams(community_id=community_id, node_types=node_types, include_bridges=include_bridges),
            _COMMUNITY_GET,
        )

    async def community_boundaries(self, *, level: Literal[0, 1], min_coupling: float = 0.05) -> BoundariesResult:
        """Which communities depend on one another, how strongly, and through which nodes."""
        return await self._call(
            "smp/community/boundaries", BoundariesParams(level=level, min_coupling=min_coupling), _COMMUNITY_BOUNDARIES
        )
