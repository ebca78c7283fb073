"""Group `enrichment`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.enrichment import (
    AnnotateParams,
    AnnotateResult,
    AnnotationItem,
    BatchParams,
    BatchResult,
    BulkParams,
    BulkResult,
    EnrichedResult,
    EnrichParams,
    NoMetadataResult,
    ScopeParams,
    SearchFilter,
    SearchParams,
    SearchResult,
    SkippedResult,
    StaleResult,
    StatusResult,
    TagParams,
    TagResult,
)

_ENRICH: msgspec.json.Decoder[EnrichedResult | SkippedResult | NoMetadataResult] = msgspec.json.Decoder(
    EnrichedResult | SkippedResult | NoMetadataResult
)

_ENRICH_BATCH: msgspec.json.Decoder[BatchResult] = msgspec.json.Decoder(BatchResult)

_ENRICH_STALE: msgspec.json.Decoder[StaleResult] = msgspec.json.Decoder(StaleResult)

_ENRICH_STATUS: msgspec.json.Decoder[StatusResult] = msgspec.json.Decoder(StatusResult)

_ANNOTATE: msgspec.json.Decoder[AnnotateResult] = msgspec.json.Decoder(AnnotateResult)

_ANNOTATE_BULK: msgspec.json.Decoder[BulkResult] = msgspec.json.Decoder(BulkResult)

_TAG: msgspec.json.Decoder[TagResult] = msgspec.json.Decoder(TagResult)

_SEARCH: msgspec.json.Decoder[SearchResult] = msgspec.json.Decoder(SearchResult)

_SEARCH_FILTER = SearchFilter()


class EnrichmentMethods(Caller):
    """Calls of group `enrichment`."""

    def enrich(self, *, node_id: str, force: bool = False) -> EnrichedResult | SkippedResult | NoMetadataResult:
        """Read docstring, comments, decorators and annotations of one node off its source."""
        return self._call("smp/enrich", EnrichParams(node_id=node_id, force=force), _ENRICH)

    def enrich_batch(self, *, scope: str, force: bool = False) -> BatchResult:
        """Enrich every node of a scope."""
        return self._call("smp/enrich/batch", BatchParams(scope=scope, force=force), _ENRICH_BATCH)

    def enrich_stale(self, *, scope: str) -> StaleResult:
        """Nodes whose source has moved on since they were enriched."""
        return self._call("smp/enrich/stale", ScopeParams(scope=scope), _ENRICH_STALE)

    def enrich_status(self, *, scope: str) -> StatusResult:
        """How much of a scope has metadata."""
        return self._call("smp/enrich/status", ScopeParams(scope=scope), _ENRICH_STATUS)

    def annotate(
        self,
        *,
        node_id: str,
        description: str,
        tags: tuple[str, ...] = (),
        force: bool = False,
        session_id: str | UnsetType = UNSET,
    ) -> AnnotateResult:
        """Describe a node by hand, and tag it."""
        return self._call(
            "smp/annotate",
            AnnotateParams(
                node_id=node_id,
                description=description,
                tags=tags,
                force=force,
                session_id=self._session_if_any(session_id),
            ),
            _ANNOTATE,
        )

    def annotate_bulk(
        self, *, annotations: tuple[AnnotationItem, ...], session_id: str | UnsetType = UNSET
    ) -> BulkResult:
        """Describe many nodes by hand."""
        return self._call(
            "smp/annotate/bulk",
            BulkParams(annotations=annotations, session_id=self._session_if_any(session_id)),
            _ANNOTATE_BULK,
        )

    def tag(
        self,
        *,
        scope: str,
        tags: tuple[str, ...],
        action: Literal["add", "remove", "replace"],
        session_id: str | UnsetType = UNSET,
    ) -> TagResult:
        """Add, remove or replace tags on every node of a scope."""
        return self._call(
            "smp/tag",
            TagParams(scope=scope, tags=tags, action=action, session_id=self._session_if_any(session_id)),
            _TAG,
        )

    def search(
        self,
        *,
        query: str,
        match: Literal["all", "any"] = "all",
        filter: SearchFilter = _SEARCH_FILTER,
        top_k: int = 10,
        session_id: str | UnsetType = UNSET,
        cursor: str | UnsetType = UNSET,
    ) -> SearchResult:
        """Ranked full-text search over docstrings, descriptions and tags."""
        return self._call(
            "smp/search",
            SearchParams(
                query=query,
                match=match,
                filter=filter,
                top_k=top_k,
                session_id=self._session_if_any(session_id),
                cursor=cursor,
            ),
            _SEARCH,
        )


class AsyncEnrichmentMethods(AsyncCaller):
    """Calls of group `enrichment`, awaited."""

    async def enrich(self, *, node_id: str, force: bool = False) -> EnrichedResult | SkippedResult | NoMetadataResult:
        """Read docstring, comments, decorators and annotations of one node off its source."""
        return await self._call("smp/enrich", EnrichParams(node_id=node_id, force=force), _ENRICH)

    async def enrich_batch(self, *, scope: str, force: bool = False) -> BatchResult:
        """Enrich every node of a scope."""
        return await self._call("smp/enrich/batch", BatchParams(scope=scope, force=force), _ENRICH_BATCH)

    async def enrich_stale(self, *, scope: str) -> StaleResult:
        """Nodes whose source has moved on since they were enriched."""
        return await self._call("smp/enrich/stale", ScopeParams(scope=scope), _ENRICH_STALE)

    async def enrich_status(self, *, scope: str) -> StatusResult:
        """How much of a scope has metadata."""
        return await self._call("smp/enrich/status", ScopeParams(scope=scope), _ENRICH_STATUS)

    async def annotate(
        self,
        *,
        node_id: str,
        description: str,
        tags: tuple[str, ...] = (),
        force: bool = False,
        session_id: str | UnsetType = UNSET,
    ) -> AnnotateResult:
        """Describe a node by hand, and tag it."""
        return await self._call(
            "smp/annotate",
            AnnotateParams(
                node_id=node_id,
                description=description,
                tags=tags,
                force=force,
                session_id=self._session_if_any(session_id),
            ),
            _ANNOTATE,
        )

    async def annotate_bulk(
        self, *, annotations: tuple[AnnotationItem, ...], session_id: str | UnsetType = UNSET
    ) -> BulkResult:
        """Describe many nodes by hand."""
        return await self._call(
            "smp/annotate/bulk",
            BulkParams(annotations=annotations, session_id=self._session_if_any(session_id)),
            _ANNOTATE_BULK,
        )

    async def tag(
        self,
        *,
        scope: str,
        tags: tuple[str, ...],
        action: Literal["add", "remove", "replace"],
        session_id: str | UnsetType = UNSET,
    ) -> TagResult:
        """Add, remove or replace tags on every node of a scope."""
        return await self._call(
            "smp/tag",
            TagParams(scope=scope, tags=tags, action=action, session_id=self._session_if_any(session_id)),
            _TAG,
        )

    async def search(
        self,
        *,
        query: str,
        match: Literal["all", "any"] = "all",
        filter: SearchFilter = _SEARCH_FILTER,
        top_k: int = 10,
        session_id: str | UnsetType = UNSET,
        cursor: str | UnsetType = UNSET,
    ) -> SearchResult:
        """Ranked full-text search over docstrings, descriptions and tags."""
        return await self._call(
            "smp/search",
            SearchParams(
                query=query,
                match=match,
                filter=filter,
                top_k=top_k,
                session_id=self._session_if_any(session_id),
                cursor=cursor,
            ),
            _SEARCH,
        )
