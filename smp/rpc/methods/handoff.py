"""What leaves a session: a pull request with the structural diff, what was seen at run time, and what was proved."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from smp.domain.handoffs import ReviewStatus
from smp.domain.ids import AgentId, VerifyId
from smp.handoff.document import Sections
from smp.handoff.pull_request import PullRequestRequest, PullRequestResult
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.reading import given, rfc3339
from smp.rpc.wire import AnyRef, Commit, Params, SessionRef, Text

Title = Annotated[str, Meta(min_length=1, max_length=500)]


class IncludeParams(Params, frozen=True, kw_only=True):
    """Parts of the document; all by default."""

    structural_diff: bool = True
    runtime_edges: bool = True
    mutation_score: bool = True
    execution_log: bool = True


class PullRequestParams(Params, frozen=True, kw_only=True):
    """Publish a box's change set. `base_sha` is the box's commit; `verify_result_id` the verdict relied on."""

    sandbox_id: AnyRef
    session_id: SessionRef
    title: Title
    base_sha: Commit | UnsetType = UNSET
    issue_refs: tuple[Text, ...] = ()
    include: IncludeParams = IncludeParams()
    verify_result_id: AnyRef | UnsetType = UNSET


class StructuralDiffResult(Struct, frozen=True, kw_only=True):
    """Counts; the document names each."""

    nodes_added: int
    nodes_modified: int
    nodes_removed: int
    signature_changed: bool
    calls_runtime_added: int


class TestSummaryResult(Struct, frozen=True, kw_only=True):
    """Over all verdicts on the present content."""

    __test__ = False

    coverage_delta_pct: float | None
    mutation_score: float


class OpenResult(Struct, frozen=True, kw_only=True, tag_field="status", tag="open"):
    """A published branch. document: the Markdown file with everything that is known of the change."""

    pr_id: str
    branch: str
    url: str
    base_sha: str
    head_sha: str
    files_changed: tuple[str, ...]
    structural_diff: StructuralDiffResult
    test_summary: TestSummaryResult
    document: str


class HunkResult(Struct, frozen=True, kw_only=True):
    """Two versions of the same lines; start_line in the base file."""

    start_line: int
    ours: str
    theirs: str


class ConflictResult(Struct, frozen=True, kw_only=True):
    file: str
    hunks: tuple[HunkResult, ...]


class ConflictsResult(Struct, frozen=True, kw_only=True, tag_field="status", tag="conflict"):
    """No pull request: the base branch has changed the same lines. The branch is pushed, for people to merge."""

    base_sha: str
    branch: str
    head_sha: str
    conflicts: tuple[ConflictResult, ...]


class ReviewParams(Params, frozen=True, kw_only=True):
    """Hand a verified box to a reviewer."""

    sandbox_id: AnyRef
    session_id: SessionRef
    reviewer_agent: Annotated[str, Meta(min_length=1, max_length=200)]
    verify_result_id: AnyRef


class ReviewResult(Struct, frozen=True, kw_only=True):
    """The reviewer's own session on the same box: it reads only, and its first call accepts the handoff."""

    handoff_id: str
    reviewer_agent: str
    sandbox_id: str
    status: Literal["pending_review"]
    reviewer_session: str
    verify_result_id: str


class DecideParams(Params, frozen=True, kw_only=True):
    """The reviewer's decision.

    Attributes:
        session_id: The reviewer's session; may be left out where the token says who calls.
    """

    handoff_id: AnyRef
    decision: Literal["approve", "request_changes", "reject"]
    comments: Annotated[str, Meta(max_length=20_000)] = ""
    session_id: SessionRef | UnsetType = UNSET


class DecideResult(Struct, frozen=True, kw_only=True):
    """What is on record; the first decision on a handoff stands."""

    handoff_id: str
    reviewer_agent: str
    sandbox_id: str
    status: ReviewStatus
    comments: str
    decided_at: str


@rpc_method("smp/handoff/pr")
def pull_request(params: PullRequestParams, ctx: RequestContext) -> OpenResult | ConflictsResult:
    """Publish a verified box as a branch with a pull-request document, or say where it conflicts with its base."""
    services = ctx.services
    session = services.sessions.require(params.session_id, method="smp/handoff/pr")
    box = services.sandboxes.get(params.sandbox_id, session_id=session.id)
    verify_id = given(params.verify_result_id)
    request = PullRequestRequest(
        title=params.title,
        base_sha=given(params.base_sha),
        issue_refs=params.issue_refs,
        include=Sections(
            structural_diff=params.include.structural_diff,
            runtime_edges=params.include.runtime_edges,
            mutation_score=params.include.mutation_score,
            execution_log=params.include.execution_log,
        ),
        verify_id=VerifyId(verify_id) if verify_id is not None else None,
    )
    services.indexer.ensure_fresh()
    return pull_request_result(services.handoff.pull_request(session, box, request))


@rpc_method("smp/handoff/review")
def review(params: ReviewParams, ctx: RequestContext) -> ReviewResult:
    """Hand a verified box to a reviewer agent, who gets a session of its own; smp/handoff/pr then waits for approval."""
    services = ctx.services
    session = services.sessions.require(params.session_id, method="smp/handoff/review")
    box = services.sandboxes.get(params.sandbox_id, session_id=session.id)
    services.indexer.ensure_fresh()
    asked = services.reviews.request(session, box, AgentId(params.reviewer_agent), VerifyId(params.verify_result_id))
    return ReviewResult(
        handoff_id=asked.id,
        reviewer_agent=asked.reviewer_agent,
        sandbox_id=asked.sandbox_id,
        status=ReviewStatus.PENDING.value,
        reviewer_session=asked.reviewer_session,
        verify_result_id=asked.verify_result_id,
    )


@rpc_method("smp/handoff/decide")
def decide(params: DecideParams, ctx: RequestContext) -> DecideResult:
    """Approve a handed-over change, ask for changes, or reject it; the reviewer only."""
    decided = ctx.services.reviews.decide(
        params.handoff_id,
        params.decision,
        params.comments,
        session_id=given(params.session_id),
        agent_id=ctx.grant.agent_id if ctx.grant is not None else None,
    )
    assert decided.decided_at is not None, "what is decided has its time"
    return DecideResult(
        handoff_id=decided.id,
        reviewer_agent=decided.reviewer_agent,
        sandbox_id=decided.sandbox_id,
        status=decided.status,
        comments=decided.comments,
        decided_at=rfc3339(decided.decided_at),
    )


def pull_request_result(result: PullRequestResult) -> OpenResult | ConflictsResult:
    """A handoff as it goes onto the wire."""
    if result.pull_request is None:
        assert result.pushed is not None, "what conflicts is pushed"
        return ConflictsResult(
            base_sha=result.base_sha,
            branch=result.pushed.branch,
            head_sha=result.pushed.head_sha,
            conflicts=tuple(
                ConflictResult(
                    file=conflict.file,
                    hunks=tuple(
                        HunkResult(start_line=hunk.start_line, ours=hunk.ours, theirs=hunk.theirs)
                        for hunk in conflict.hunks
                    ),
                )
                for conflict in result.conflicts
            ),
        )
    published = result.pull_request
    return OpenResult(
        pr_id=published.id,
        branch=published.branch,
        url=published.url,
        base_sha=published.base_sha,
        head_sha=published.head_sha,
        files_changed=published.files_changed,
        structural_diff=StructuralDiffResult(
            nodes_added=len(result.diff.added),
            nodes_modified=len(result.diff.modified),
            nodes_removed=len(result.diff.removed),
            signature_changed=bool(result.diff.signatures),
            calls_runtime_added=result.calls_runtime_added,
        ),
        test_summary=TestSummaryResult(
            coverage_delta_pct=result.coverage_delta_pct, mutation_score=result.mutation_score
        ),
        document=result.document,
    )


METHODS = (pull_request, review, decide)
