"""Activities that let work out: hand it to a reviewer, push the branch, write the pull request (the point of no return)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities import contract
from smp.domain.handoffs import FileConflict, ReviewStatus
from smp.domain.runs import Verdict
from smp.handoff.pull_request import PullRequestRequest

if TYPE_CHECKING:
    from smp.services import Services

NAMED = 20
"""Conflicts that are worded one by one; the rest is counted."""
LOOK_AGAIN = timedelta(seconds=1)
"""Between two looks at whether a reviewer has decided; an attempt leaves no event in the history."""
WORDS = {
    ReviewStatus.APPROVED: Verdict.APPROVED,
    ReviewStatus.CHANGES_REQUESTED: Verdict.CHANGES_REQUESTED,
    ReviewStatus.REJECTED: Verdict.REJECTED,
}


class HandoffActivities:
    """Idempotent by the branch's name, a function of the session's id, and by content: a repeat finds its own branch."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=contract.HANDOFF_REVIEW, no_thread_cancel_exception=True)
    def review(self, step: contract.ReviewStep) -> contract.ReviewAsked:
        """Hand the verified box to a reviewer. Idempotent by content: asking again finds the same handoff."""
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/handoff/review")
        box = self._services.sandboxes.get(step.sandbox_id, session_id=step.session_id)
        self._services.indexer.ensure_fresh()
        asked = self._services.reviews.request(session, box, step.reviewer, step.verify_id)
        return contract.ReviewAsked(handoff_id=asked.id, reviewer_session=asked.reviewer_session)

    @activity.defn(name=contract.HANDOFF_DECIDE, no_thread_cancel_exception=True)
    def decide(self, step: contract.DecideStep) -> contract.Done:
        """Record a word that came by Update. Idempotent: the first word on a handoff stands."""
        decided = self._services.reviews.decide(
            step.handoff_id, step.decision, step.comments, session_id=step.reviewer_session, agent_id=None
        )
        return contract.Done(detail=decided.status.value)

    @activity.defn(name=contract.HANDOFF_DECISION, no_thread_cancel_exception=True)
    def decision(self, step: contract.DecisionStep) -> contract.Judgement:
        """What the reviewer has said, however it came; fails, to be tried again, until there is something. Reads only."""
        request = self._services.reviews.find(step.handoff_id)
        if request.status not in WORDS:
            raise undecided(step.handoff_id)
        return contract.Judgement(verdict=WORDS[request.status], detail=contract.shortened(request.comments or ""))

    @activity.defn(name=contract.HANDOFF_PULL_REQUEST, no_thread_cancel_exception=True)
    def pull_request(self, step: contract.HandoffStep) -> contract.HandedOff:
        """Publish the box's change set; a merge conflict is a verdict, not an error, and opens none: the branch is left for people."""
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/handoff/pr")
        box = self._services.sandboxes.get(step.sandbox_id, session_id=step.session_id)
        request = PullRequestRequest(title=step.title, issue_refs=step.issue_refs, verify_id=step.verify_id)
        self._services.indexer.ensure_fresh()
        result = self._services.handoff.pull_request(session, box, request, key=step.key)
        published = result.pull_request
        if published is None:
            left = result.pushed
            return contract.HandedOff(
                verdict=Verdict.CONFLICT,
                branch=left.branch if left else None,
                head_sha=left.head_sha if left else None,
                detail=_conflict_words(result.conflicts),
            )
        runtime = f"{result.calls_runtime_added} calls seen for the first time"
        return contract.HandedOff(
            verdict=Verdict.PUBLISHED,
            branch=published.branch,
            pull_request=published.url,
            head_sha=published.head_sha,
            report=result.document,
            detail=f"{published.status}: {published.branch} at {published.head_sha[:12]}; {runtime}",
        )


def _conflict_words(conflicts: tuple[FileConflict, ...]) -> str:
    lines = [
        f"{conflict.file}: conflicts at lines {', '.join(str(hunk.start_line) for hunk in conflict.hunks[:NAMED])}"
        for conflict in conflicts[:NAMED]
    ]
    more = len(conflicts) - len(lines)
    return contract.shortened(
        "\n".join(["the branch does not merge into its base:", *lines, *([f"and {more} more"] if more > 0 else [])])
    )


def undecided(handoff_id: str) -> ApplicationError:
    """What asks Temporal to look again soon; benign, so that no log fills with it."""
    return ApplicationError(
        f"no word on {handoff_id!r} yet",
        type="Undecided",
        category=ApplicationErrorCategory.BENIGN,
        next_retry_delay=LOOK_AGAIN,
    )
