"""The activity that lets work out: push the branch, write the pull request. The point of no return of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import activity

from activities import contract
from smp.domain.handoffs import FileConflict
from smp.domain.runs import Verdict
from smp.handoff.pull_request import PullRequestRequest

if TYPE_CHECKING:
    from smp.services import Services

NAMED = 20
"""Conflicts that are worded one by one; the rest is counted."""


class HandoffActivities:
    """Idempotent by the branch's name, a function of the session's id, and by content: a repeat finds its own branch."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=contract.HANDOFF_PULL_REQUEST, no_thread_cancel_exception=True)
    def pull_request(self, step: contract.HandoffStep) -> contract.HandedOff:
        """Publish the box's change set; a merge conflict is a verdict, not an error, and publishes nothing."""
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/handoff/pr")
        box = self._services.sandboxes.get(step.sandbox_id, session_id=step.session_id)
        request = PullRequestRequest(title=step.title, issue_refs=step.issue_refs, verify_id=step.verify_id)
        result = self._services.handoff.pull_request(session, box, request, key=step.key)
        published = result.pull_request
        if published is None:
            return contract.HandedOff(verdict=Verdict.CONFLICT, detail=_conflict_words(result.conflicts))
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
