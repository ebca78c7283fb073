"""SwarmWorkflow: many sessions at once, each a child run of its own, then the order in which their branches merge.

It takes a `SwarmRequest` and gives a `SwarmOutcome`. A session that fails is a row of the outcome, never a failure of the
swarm. A cancel reaches the children that are to be cancelled with it, and waits until they have undone what they did.
"""

from __future__ import annotations

import asyncio

import msgspec.structs
from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError, is_cancelled_exception
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

from activities import contract
from smp.domain.runs import SESSION_WORKFLOW, STATE_QUERY, SessionOutcome, workflow_id_of
from smp.domain.swarms import (
    ABANDON,
    COMPLETED,
    RUNNING,
    SWARM_WORKFLOW,
    WAITING,
    SwarmBranch,
    SwarmOutcome,
    SwarmRequest,
    SwarmRow,
    SwarmSession,
    SwarmState,
    status_of,
)
from workflows import options
from workflows.endings import cause_of

STATUS = SearchAttributeKey.for_keyword("SmpStatus")
ROW_CHARACTERS = 400
"""Of a session's last words that its row keeps; all of them are in the session's own outcome."""


@workflow.defn(name=SWARM_WORKFLOW)
class SwarmWorkflow:
    """See the module's docstring."""

    @workflow.init
    def __init__(self, request: SwarmRequest) -> None:
        self._request = request
        self._phase = RUNNING
        self._started = 0
        self._rows = {row.session_id: row for row in request.ended}
        taken = {row.number for row in request.ended}
        free = (number for number in range(1, len(taken) + len(request.sessions) + 1) if number not in taken)
        for number, session in zip(free, request.sessions, strict=True):
            asked = session.request
            self._rows[asked.session_id] = SwarmRow(
                number=number, name=session.name, session_id=asked.session_id, base_sha=asked.commit_sha
            )
        self._gate = asyncio.Semaphore(request.limit)

    @workflow.query(name=STATE_QUERY)
    def state(self) -> SwarmState:
        """Where each session stands; a snapshot that waits for nothing, and works after the end too."""
        return SwarmState(phase=self._phase, rows=self._sorted())

    @workflow.run
    async def run(self, request: SwarmRequest) -> SwarmOutcome:
        """Run every session, then plan the merges.

        Raises:
            CancelledError: The swarm was cancelled; its children have undone what they did, unless they are to go on.
        """
        self._announce()
        # Without `return_exceptions` a cancel would leave at the first child that ended, the others still undoing.
        await asyncio.gather(*map(self._run_session, request.sessions), return_exceptions=True)
        waiting = tuple(one for one in request.sessions if self._row(one).status == WAITING)
        if waiting:
            ended = tuple(row for row in self._sorted() if row.status != WAITING)
            workflow.continue_as_new(msgspec.structs.replace(request, sessions=waiting, ended=ended))
        self._phase = "merging"
        merged, detail = await self._plan_merges()
        outcome = SwarmOutcome(
            swarm_id=request.swarm_id,
            status=status_of(self._sorted(), merged.conflicts),
            rows=self._sorted(),
            merge_order=merged.order,
            conflicts=merged.conflicts,
            detail=detail,
        )
        self._phase = "closed"
        workflow.upsert_search_attributes([STATUS.value_set(outcome.status)])
        return outcome

    async def _run_session(self, session: SwarmSession) -> None:
        async with self._gate:
            if self._started >= self._request.continue_after or workflow.info().is_continue_as_new_suggested():
                return  # waits for the next run of this swarm, whose history is empty again
            self._started += 1
            self._set(session, status=RUNNING)
            try:
                outcome: SessionOutcome = await self._child(session)
            except ChildWorkflowError as error:
                self._failed(session, error)
            except asyncio.CancelledError:
                if session.parent_close != ABANDON:
                    self._set(session, status="cancelled", reason="cancelled")
                raise
            else:
                self._ended(session, outcome)

    async def _child(self, session: SwarmSession) -> SessionOutcome:
        request = session.request
        abandon = session.parent_close == ABANDON
        keyword = SearchAttributeKey.for_keyword
        answer: SessionOutcome = await workflow.execute_child_workflow(
            SESSION_WORKFLOW,
            request,
            id=workflow_id_of(request.session_id),
            task_queue=request.task_queue,
            result_type=SessionOutcome,
            # Never `terminate`: that runs no code in the child, and would leave its box to the reaper.
            parent_close_policy=ParentClosePolicy.ABANDON if abandon else ParentClosePolicy.REQUEST_CANCEL,
            cancellation_type=(
                ChildWorkflowCancellationType.ABANDON
                if abandon
                else ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED
            ),
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            search_attributes=TypedSearchAttributes(
                [
                    SearchAttributePair(keyword("SmpRepository"), request.repository),
                    SearchAttributePair(keyword("SmpAgent"), request.agent_id),
                    SearchAttributePair(keyword("SmpCommit"), request.commit_sha),
                    SearchAttributePair(keyword("SmpSwarm"), self._request.swarm_id),
                    SearchAttributePair(STATUS, "open"),
                    SearchAttributePair(SearchAttributeKey.for_int("SmpAttempts"), 0),
                ]
            ),
            memo={"task": request.task[:1000]},
            static_summary=f"{session.name}: {request.title or request.task}"[:200],
        )
        return answer

    def _ended(self, session: SwarmSession, outcome: SessionOutcome) -> None:
        self._set(
            session,
            status=outcome.status,
            reason=outcome.reason,
            detail="" if outcome.status == COMPLETED else contract.shortened(outcome.detail, ROW_CHARACTERS),
            branch=outcome.branch,
            head_sha=outcome.head_sha,
            files=outcome.files,
            attempts=sum(outcome.attempts.values()),
        )

    def _failed(self, session: SwarmSession, error: ChildWorkflowError) -> None:
        if is_cancelled_exception(error):
            self._set(session, status="cancelled", reason="cancelled")
            return
        origin = cause_of(error.cause) or error.cause
        reason = origin.type if isinstance(origin, ApplicationError) else type(origin).__name__
        words = contract.shortened(str(origin), ROW_CHARACTERS)
        self._set(session, status="failed", reason=reason or "", detail=words)

    async def _plan_merges(self) -> tuple[contract.Merged, str]:
        """The order and the conflicts of what was pushed; a failure is worded, since the branches are there anyway."""
        branches = tuple(
            SwarmBranch(session_id=row.session_id, base_sha=row.base_sha, head_sha=row.head_sha, files=row.files)
            for row in self._sorted()
            if row.status == COMPLETED and row.head_sha is not None
        )
        if not branches:
            return contract.Merged(), ""
        config = options.merge(self._request.patience)
        config["task_queue"] = self._request.task_queue
        config["summary"] = f"merge order of {len(branches)} branches"
        step = contract.MergeStep(key=f"{workflow.info().workflow_id}:{contract.SWARM_MERGE}", branches=branches)
        try:
            merged: contract.Merged = await workflow.execute_activity(
                contract.SWARM_MERGE, step, result_type=contract.Merged, **config
            )
        except ActivityError as error:
            origin = cause_of(error)
            if is_cancelled_exception(error) or origin is None:
                raise
            order = tuple(branch.session_id for branch in branches)
            return contract.Merged(order=order), f"the merge order is that of the tasks: {origin.message}"
        return merged, ""

    def _row(self, session: SwarmSession) -> SwarmRow:
        return self._rows[session.request.session_id]

    def _set(self, session: SwarmSession, **changes: object) -> None:
        self._rows[session.request.session_id] = msgspec.structs.replace(self._row(session), **changes)
        self._announce()

    def _announce(self) -> None:
        counts: dict[str, int] = {}
        for row in self._sorted():
            counts[row.status] = counts.get(row.status, 0) + 1
        words = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        workflow.set_current_details(words)

    def _sorted(self) -> tuple[SwarmRow, ...]:
        return tuple(sorted(self._rows.values(), key=lambda row: row.number))
