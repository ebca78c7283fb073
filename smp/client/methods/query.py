"""Group `query`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.domain.graph import NodeKind
from smp.rpc.methods.query.change import (
    ContextParams,
    ContextResult,
    DiffParams,
    DiffResult,
    ImpactParams,
    ImpactResult,
)
from smp.rpc.methods.query.find import NavigateParams, NavigateResult, TraceParams, TraceResult
from smp.rpc.methods.query.locate import LocateParams, LocateResult
from smp.rpc.methods.query.paths import FlowParams, FlowResult, WhyParams, WhyResult

_NAVIGATE: msgspec.json.Decoder[NavigateResult] = msgspec.json.Decoder(NavigateResult)

_TRACE: msgspec.json.Decoder[TraceResult] = msgspec.json.Decoder(TraceResult)

_CONTEXT: msgspec.json.Decoder[ContextResult] = msgspec.json.Decoder(ContextResult)

_IMPACT: msgspec.json.Decoder[ImpactResult] = msgspec.json.Decoder(ImpactResult)

_DIFF: msgspec.json.Decoder[DiffResult] = msgspec.json.Decoder(DiffResult)

_LOCATE: msgspec.json.Decoder[LocateResult] = msgspec.json.Decoder(LocateResult)

_FLOW: msgspec.json.Decoder[FlowResult] = msgspec.json.Decoder(FlowResult)

_GRAPH_WHY: msgspec.json.Decoder[WhyResult] = msgspec.json.Decoder(WhyResult)


class QueryMethods(Caller):
    """Calls of group `query`."""

    def navigate(
        self, *, query: str, include_relationships: bool = False, session_id: str | UnsetType = UNSET
    ) -> NavigateResult:
        """Find a definition by id, path, `path#qualname` or unique name, and what stands next to it."""
        return self._call(
            "smp/navigate",
            NavigateParams(
                query=query, include_relationships=include_relationships, session_id=self._session_if_any(session_id)
            ),
            _NAVIGATE,
        )

    def trace(
        self,
        *,
        start: str,
        relationship: Literal[
            "CALLS",
            "CONTAINS",
            "IMPORTS",
            "DEFINES",
            "CALLS_STATIC",
            "CALLS_RUNTIME",
            "CALLS_UNRESOLVED",
            "INHERITS",
            "IMPLEMENTS",
            "DEPENDS_ON",
            "TESTS",
            "USES",
            "REFERENCES",
            "MEMBER_OF",
            "BRIDGES",
            "CHILD_OF",
        ],
        depth: int = 3,
        direction: Literal["outgoing", "incoming"] = "outgoing",
        session_id: str | UnsetType = UNSET,
    ) -> TraceResult:
        """Everything that a node reaches, or that reaches it, over one relationship."""
        return self._call(
            "smp/trace",
            TraceParams(
                start=start,
                relationship=relationship,
                depth=depth,
                direction=direction,
                session_id=self._session_if_any(session_id),
            ),
            _TRACE,
        )

    def context(
        self,
        *,
        file_path: str,
        scope: Literal["edit", "create", "debug", "review"] = "edit",
        depth: int = 2,
        session_id: str | UnsetType = UNSET,
        max_tokens: int | UnsetType = UNSET,
    ) -> ContextResult:
        """What a programmer keeps in mind about a file: role, risk, imports, definitions, tests, data flow."""
        return self._call(
            "smp/context",
            ContextParams(
                file_path=file_path,
                scope=scope,
                depth=depth,
                session_id=self._session_if_any(session_id),
                max_tokens=max_tokens,
            ),
            _CONTEXT,
        )

    def impact(
        self,
        *,
        entity: str,
        change_type: Literal["signature_change", "delete", "move"],
        session_id: str | UnsetType = UNSET,
        max_tokens: int | UnsetType = UNSET,
    ) -> ImpactResult:
        """What breaks when an entity changes its signature, is deleted or moved, and which places need an edit."""
        return self._call(
            "smp/impact",
            ImpactParams(
                entity=entity,
                change_type=change_type,
                session_id=self._session_if_any(session_id),
                max_tokens=max_tokens,
            ),
            _IMPACT,
        )

    def diff(self, *, file_path: str, proposed_content: str, session_id: str | UnsetType = UNSET) -> DiffResult:
        """Compare a file's present graph with that of proposed content, node by node."""
        return self._call(
            "smp/diff",
            DiffParams(
                file_path=file_path, proposed_content=proposed_content, session_id=self._session_if_any(session_id)
            ),
            _DIFF,
        )

    def locate(
        self,
        *,
        query: str,
        seed_k: int = 3,
        hops: int = 2,
        top_k: int = 10,
        node_types: tuple[NodeKind, ...] = (NodeKind.CLASS, NodeKind.FUNCTION, NodeKind.INTERFACE),
        community_id: str | None = None,
        ranking: Literal["composite", "fusion"] = "composite",
        session_id: str | UnsetType = UNSET,
        max_tokens: int | UnsetType = UNSET,
        cursor: str | UnsetType = UNSET,
    ) -> LocateResult:
        """Nodes that answer a description: route to a community, seed by similarity, walk the graph, rank."""
        return self._call(
            "smp/locate",
            LocateParams(
                query=query,
                seed_k=seed_k,
                hops=hops,
                top_k=top_k,
                node_types=node_types,
                community_id=community_id,
                ranking=ranking,
                session_id=self._session_if_any(session_id),
                max_tokens=max_tokens,
                cursor=cursor,
            ),
            _LOCATE,
        )

    def flow(
        self,
        *,
        start: str,
        end: str,
        flow_type: Literal["data", "execution"] = "execution",
        session_id: str | UnsetType = UNSET,
    ) -> FlowResult:
        """The shortest way of execution or data from one node to another, with the types it takes."""
        return self._call(
            "smp/flow",
            FlowParams(start=start, end=end, flow_type=flow_type, session_id=self._session_if_any(session_id)),
            _FLOW,
        )

    def graph_why(self, *, source: str, target: str, session_id: str | UnsetType = UNSET) -> WhyResult:
        """The shortest chain of dependencies from one node to another."""
        return self._call(
            "smp/graph/why",
            WhyParams(source=source, target=target, session_id=self._session_if_any(session_id)),
            _GRAPH_WHY,
        )


class AsyncQueryMethods(AsyncCaller):
    """Calls of group `query`, awaited."""

    async def navigate(
        self, *, query: str, include_relationships: bool = False, session_id: str | UnsetType = UNSET
    ) -> NavigateResult:
        """Find a definition by id, path, `path#qualname` or unique name, and what stands next to it."""
        return await self._call(
            "smp/navigate",
            NavigateParams(
                query=query, include_relationships=include_relationships, session_id=self._session_if_any(session_id)
            ),
            _NAVIGATE,
        )

    async def trace(
        self,
        *,
        start: str,
        relationship: Literal[
            "CALLS",
            "CONTAINS",
            "IMPORTS",
            "DEFINES",
            "CALLS_STATIC",
            "CALLS_RUNTIME",
            "CALLS_UNRESOLVED",
            "INHERITS",
            "IMPLEMENTS",
            "DEPENDS_ON",
            "TESTS",
            "USES",
            "REFERENCES",
            "MEMBER_OF",
            "BRIDGES",
            "CHILD_OF",
        ],
        depth: int = 3,
        direction: Literal["outgoing", "incoming"] = "outgoing",
        session_id: str | UnsetType = UNSET,
    ) -> TraceResult:
        """Everything that a node reaches, or that reaches it, over one relationship."""
        return await self._call(
            "smp/trace",
            TraceParams(
                start=start,
                relationship=relationship,
                depth=depth,
                direction=direction,
                session_id=self._session_if_any(session_id),
            ),
            _TRACE,
        )

    async def context(
        self,
        *,
        file_path: str,
        scope: Literal["edit", "create", "debug", "review"] = "edit",
        depth: int = 2,
        session_id: str | UnsetType = UNSET,
        max_tokens: int | UnsetType = UNSET,
    ) -> ContextResult:
        """What a programmer keeps in mind about a file: role, risk, imports, definitions, tests, data flow."""
        return await self._call(
            "smp/context",
            ContextParams(
                file_path=file_path,
                scope=scope,
                depth=depth,
                session_id=self._session_if_any(session_id),
                max_tokens=max_tokens,
            ),
            _CONTEXT,
        )

    async def impact(
        self,
        *,
        entity: str,
        change_type: Literal["signature_change", "delete", "move"],
        session_id: str | UnsetType = UNSET,
        max_tokens: int | UnsetType = UNSET,
    ) -> ImpactResult:
        """What breaks when an entity changes its signature, is deleted or moved, and which places need an edit."""
        return await self._call(
            "smp/impact",
            ImpactParams(
                entity=entity,
                change_type=change_type,
                session_id=self._session_if_any(session_id),
                max_tokens=max_tokens,
            ),
            _IMPACT,
        )

    async def diff(self, *, file_path: str, proposed_content: str, session_id: str | UnsetType = UNSET) -> DiffResult:
        """Compare a file's present graph with that of proposed content, node by node."""
        return await self._call(
            "smp/diff",
            DiffParams(
                file_path=file_path, proposed_content=proposed_content, session_id=self._session_if_any(session_id)
            ),
            _DIFF,
        )

    async def locate(
        self,
        *,
        query: str,
        seed_k: int = 3,
        hops: int = 2,
        top_k: int = 10,
        node_types: tuple[NodeKind, ...] = (NodeKind.CLASS, NodeKind.FUNCTION, NodeKind.INTERFACE),
        community_id: str | None = None,
        ranking: Literal["composite", "fusion"] = "composite",
        session_id: str | UnsetType = UNSET,
        max_tokens: int | UnsetType = UNSET,
        cursor: str | UnsetType = UNSET,
    ) -> LocateResult:
        """Nodes that answer a description: route to a community, seed by similarity, walk the graph, rank."""
        return await self._call(
            "smp/locate",
            LocateParams(
                query=query,
                seed_k=seed_k,
                hops=hops,
                top_k=top_k,
                node_types=node_types,
                community_id=community_id,
                ranking=ranking,
                session_id=self._session_if_any(session_id),
                max_tokens=max_tokens,
                cursor=cursor,
            ),
            _LOCATE,
        )

    async def flow(
        self,
        *,
        start: str,
        end: str,
        flow_type: Literal["data", "execution"] = "execution",
        session_id: str | UnsetType = UNSET,
    ) -> FlowResult:
        """The shortest way of execution or data from one node to another, with the types it takes."""
        return await self._call(
            "smp/flow",
            FlowParams(start=start, end=end, flow_type=flow_type, session_id=self._session_if_any(session_id)),
            _FLOW,
        )

    async def graph_why(self, *, source: str, target: str, session_id: str | UnsetType = UNSET) -> WhyResult:
        """The shortest chain of dependencies from one node to another."""
        return await self._call(
            "smp/graph/why",
            WhyParams(source=source, target=target, session_id=self._session_if_any(session_id)),
            _GRAPH_WHY,
        )
