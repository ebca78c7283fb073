"""Group `handoff`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.handoff import (
    ConflictsResult,
    DecideParams,
    DecideResult,
    IncludeParams,
    OpenResult,
    PullRequestParams,
    ReviewParams,
    ReviewResult,
)

_HANDOFF_PR: msgspec.json.Decoder[OpenResult | ConflictsResult] = msgspec.json.Decoder(OpenResult | ConflictsResult)

_HANDOFF_REVIEW: msgspec.json.Decoder[ReviewResult] = msgspec.json.Decoder(ReviewResult)

_HANDOFF_DECIDE: msgspec.json.Decoder[DecideResult] = msgspec.json.Decoder(DecideResult)

_HANDOFF_PR_INCLUDE = IncludeParams()


class HandoffMethods(Caller):
    """Calls of group `handoff`."""

    def handoff_pr(
        self,
        *,
        sandbox_id: str,
        session_id: str | UnsetType = UNSET,
        title: str,
        base_sha: str | UnsetType = UNSET,
        issue_refs: tuple[str, ...] = (),
        include: IncludeParams = _HANDOFF_PR_INCLUDE,
        verify_result_id: str | UnsetType = UNSET,
    ) -> OpenResult | ConflictsResult:
        """Publish a verified box as a branch with a pull-request document, or say where it conflicts with its base."""
        return self._call(
            "smp/handoff/pr",
            PullRequestParams(
                sandbox_id=sandbox_id,
                session_id=self._session(session_id),
                title=title,
                base_sha=base_sha,
                issue_refs=issue_refs,
                include=include,
                verify_result_id=verify_result_id,
            ),
            _HANDOFF_PR,
        )

    def handoff_review(
        self, *, sandbox_id: str, session_id: str | UnsetType = UNSET, reviewer_agent: str, verify_result_id: str
    ) -> ReviewResult:
        """Hand a verified box to a reviewer agent, who gets a session of its own; smp/handoff/pr then waits for approval."""
        return self._call(
            "smp/handoff/review",
            ReviewParams(
                sandbox_id=sandbox_id,
                session_id=self._session(session_id),
                reviewer_agent=reviewer_agent,
                verify_result_id=verify_result_id,
            ),
            _HANDOFF_REVIEW,
        )

    def handoff_decide(
        self,
        *,
        handoff_id: str,
        decision: Literal["approve", "request_changes", "reject"],
        comments: str = "",
        session_id: str | UnsetType = UNSET,
    ) -> DecideResult:
        """Approve a handed-over change, ask for changes, or reject it; the reviewer only."""
        return self._call(
            "smp/handoff/decide",
            DecideParams(
                handoff_id=handoff_id, decision=decision, comments=comments, session_id=self._session_if_any(session_id)
            ),
            _HANDOFF_DECIDE,
        )


class AsyncHandoffMethods(AsyncCaller):
    """Calls of group `handoff`, awaited."""

    async def handoff_pr(
        self,
        *,
        sandbox_id: str,
        session_id: str | UnsetType = UNSET,
        title: str,
        base_sha: str | UnsetType = UNSET,
        issue_refs: tuple[str, ...] = (),
        include: IncludeParams = _HANDOFF_PR_INCLUDE,
        verify_result_id: str | UnsetType = UNSET,
    ) -> OpenResult | ConflictsResult:
        """Publish a verified box as a branch with a pull-request document, or say where it conflicts with its base."""
        return await self._call(
            "smp/handoff/pr",
            PullRequestParams(
                sandbox_id=sandbox_id,
                session_id=self._session(session_id),
                title=title,
                base_sha=base_sha,
                issue_refs=issue_refs,
                include=include,
                verify_result_id=verify_result_id,
            ),
            _HANDOFF_PR,
        )

    async def handoff_review(
        self, *, sandbox_id: str, session_id: str | UnsetType = UNSET, reviewer_agent: str, verify_result_id: str
    ) -> ReviewResult:
        """Hand a verified box to a reviewer agent, who gets a session of its own; smp/handoff/pr then waits for approval."""
        return await self._call(
            "smp/handoff/review",
            ReviewParams(
                sandbox_id=sandbox_id,
                session_id=self._session(session_id),
                reviewer_agent=reviewer_agent,
                verify_result_id=verify_result_id,
            ),
            _HANDOFF_REVIEW,
        )

    async def handoff_decide(
        self,
        *,
        handoff_id: str,
        decision: Literal["approve", "request_changes", "reject"],
        comments: str = "",
        session_id: str | UnsetType = UNSET,
    ) -> DecideResult:
        """Approve a handed-over change, ask for changes, or reject it; the reviewer only."""
        return await self._call(
            "smp/handoff/decide",
            DecideParams(
                handoff_id=handoff_id, decision=decision, comments=comments, session_id=self._session_if_any(session_id)
            ),
            _HANDOFF_DECIDE,
        )
