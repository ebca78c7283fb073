"""AgentSessionWorkflow: one agent session from open to close, durable, with its loops back and its undoing.

It takes a `SessionRunRequest` and gives a `SessionOutcome`. It only decides and calls: which phase follows is
`workflows/transitions.py`, every effect is an activity. Invariants: edits are guarded before they are written; after
`handoff` has begun neither a cancel nor expiry stops the run short of `close`, so a branch exists exactly when the
outcome says so; on every other way out, once `open` may have happened, rollback, destroy and close run in this order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import msgspec.structs
from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ActivityError, ApplicationError

from activities import contract
from smp.domain.runs import (
    DECIDE_UPDATE,
    PROPOSE_UPDATE,
    SESSION_WORKFLOW,
    STATE_QUERY,
    TOUCH_SIGNAL,
    Phase,
    PhaseVerdict,
    ProposalReceipt,
    Proposed,
    ReviewWord,
    SessionOutcome,
    SessionRunRequest,
    SessionRunState,
    Verdict,
)
from workflows.endings import cause_of, ending_of, uninterrupted
from workflows.session_steps import NOTE_CHARACTERS, STATUS, BoxLost, SessionSteps
from workflows.transitions import advance

ATTEMPTS = SearchAttributeKey.for_int("SmpAttempts")

OPERATOR_PHASES = frozenset({Phase.EDIT, Phase.EXECUTE, Phase.VERIFY, Phase.REVIEW, Phase.HANDOFF, Phase.ABORTING})
"""Phases worth a search attribute; each upsert is an event in the history."""


@workflow.defn(name=SESSION_WORKFLOW)
class AgentSessionWorkflow(SessionSteps):
    """See the module's docstring."""

    @workflow.init
    def __init__(self, request: SessionRunRequest) -> None:
        super().__init__(request)
        self._phases: dict[Phase, Callable[[], Awaitable[Verdict]]] = {
            Phase.OPEN: self._open,
            Phase.SPAWN: self._spawn,
            Phase.EDIT: self._edit,
            Phase.GUARD: self._guard,
            Phase.DRYRUN: self._dryrun,
            Phase.CHECKPOINT: self._checkpoint,
            Phase.WRITE: self._write,
            Phase.EXECUTE: self._execute,
            Phase.VERIFY: self._verify,
            Phase.UPDATE: self._update,
            Phase.REVIEW: self._review,
            Phase.HANDOFF: self._hand_off,
            Phase.CLOSE: self._close,
        }

    @workflow.query(name=STATE_QUERY)
    def state(self) -> SessionRunState:
        """Where the run is; a snapshot that waits for nothing."""
        return SessionRunState(
            phase=self._position.phase,
            attempts=self._position.attempts,
            last_verdict=self._last_verdict,
            detail=self._detail,
            sandbox_id=self._sandbox_id,
            steps=tuple(self._steps),
            deadline=self._deadline.isoformat(timespec="seconds"),
            files=tuple(sorted(self._written)),
            next_seq=self._inbox.next_seq,
            handoff_id=self._inbox.handoff_id,
            reviewer_session=self._inbox.reviewer_session,
        )

    @workflow.update(name=PROPOSE_UPDATE)
    async def propose(self, proposed: Proposed) -> ProposalReceipt:
        """A remote agent's edits; answered when every phase up to the next decision has judged them."""
        self._inbox.put(proposed)
        await workflow.wait_condition(lambda: proposed.seq in self._inbox.receipts)
        return self._inbox.receipts.pop(proposed.seq)

    @propose.validator
    def _refuse_proposal(self, proposed: Proposed) -> None:
        self._inbox.refuse_proposal(proposed, self._position.phase)

    @workflow.update(name=DECIDE_UPDATE)
    async def decide(self, word: ReviewWord) -> str:
        """The reviewer's word; answered with the verdict that was recorded."""
        self._inbox.word, self._inbox.word_answer = word, None
        await workflow.wait_condition(lambda: self._inbox.word_answer is not None)
        answer = self._inbox.word_answer
        if isinstance(answer, ApplicationError):
            raise answer
        return str(answer)

    @decide.validator
    def _refuse_word(self, word: ReviewWord) -> None:
        self._inbox.refuse_word(word)

    @workflow.signal(name=TOUCH_SIGNAL)
    def touch(self) -> None:
        """More time for a run that waits for somebody; in its other phases each step is a sign of life itself."""
        if self._position.phase in (Phase.EDIT, Phase.REVIEW) and not self._expired:
            self._inbox.touched = True
            self._extend()

    @workflow.run
    async def run(self, request: SessionRunRequest) -> SessionOutcome:
        """Drive the session to its end.

        Raises:
            ActivityError: `open` was refused, or a step failed by a fault that is not the agent's; undone first.
            CancelledError: It was cancelled before `handoff`; undone first.
        """
        ending = await self._live()
        self._inbox.settle(self._receipt(ending))
        self._inbox.close_review()
        if not workflow.all_handlers_finished():
            await uninterrupted(workflow.wait_condition(workflow.all_handlers_finished))
        if isinstance(ending, SessionOutcome):
            return ending
        raise ending

    async def _live(self) -> SessionOutcome | asyncio.CancelledError | ActivityError:
        """The outcome, or what the execution has to raise once everything is undone."""
        drive = asyncio.create_task(self._drive())
        expiry = asyncio.create_task(self._expire(drive))
        failure: asyncio.CancelledError | ActivityError | None = None
        try:
            await drive
            if self._position.phase is Phase.HANDOFF:
                self._handoff_begun = True
                await uninterrupted(self._drive_to_close())
        except (asyncio.CancelledError, ActivityError) as error:
            failure = error
        finally:
            expiry.cancel()
        if self._position.phase is Phase.CLOSED:
            return self._outcome("completed")
        return await self._abort(failure)

    async def _drive(self) -> None:
        """Up to the point of no return, or to a verdict that aborts."""
        while self._position.phase not in (Phase.HANDOFF, Phase.ABORTING):
            await self._take_step()

    async def _drive_to_close(self) -> None:
        while self._position.phase not in (Phase.CLOSED, Phase.ABORTING):
            await self._take_step()

    async def _take_step(self) -> None:
        phase = self._position.phase
        self._announce()
        self._said = ""
        try:
            verdict = await self._phases[phase]()
        except BoxLost as lost:
            await self._move_box(lost)
            self._steps.append(f"{phase.value}: host_lost")
            self._position = msgspec.structs.replace(self._position, phase=self._begin_again())
            return
        self._last_verdict = verdict
        self._steps.append(f"{phase.value}: {verdict.value}")
        self._position = advance(self._position, verdict)
        # Progress extends the session's life here as each effect does in the store.
        self._extend()
        said = contract.shortened(self._said, NOTE_CHARACTERS)
        self._inbox.judged(PhaseVerdict(phase=phase.value, verdict=verdict.value, detail=said))
        if self._position.phase in (Phase.EDIT, Phase.REVIEW):
            self._inbox.settle(self._receipt())

    def _receipt(self, ending: SessionOutcome | BaseException | None = None) -> ProposalReceipt:
        """Where a proposal has led so far; what the inbox knows is filled in there."""
        status, reason = "", ""
        if isinstance(ending, SessionOutcome):
            status, reason = ending.status, ending.reason
        elif ending is not None:
            status, reason = ending_of(ending, expired=self._expired)
        return ProposalReceipt(
            seq=0,
            phase=self._position.phase.value,
            attempts=self._position.attempts,
            status=status,
            reason=reason,
            branch=self._handed.branch if self._handed else None,
        )

    def _announce(self) -> None:
        phase = self._position.phase
        loops = ", ".join(f"{reason} {count}" for reason, count in sorted(self._position.attempts.items()))
        workflow.set_current_details(f"**{phase.value}**" + (f" after {loops}" if loops else ""))
        if phase in OPERATOR_PHASES:
            workflow.upsert_search_attributes(
                [STATUS.value_set(phase.value), ATTEMPTS.value_set(sum(self._position.attempts.values()))]
            )

    async def _expire(self, drive: asyncio.Task[None]) -> None:
        while (remaining := self._deadline - workflow.now()) > timedelta(0):
            await workflow.sleep(remaining, summary="session expiry")
        if not self._handoff_begun:
            self._expired = True
            drive.cancel()

    # Undoing.

    async def _abort(
        self, failure: asyncio.CancelledError | ActivityError | None
    ) -> SessionOutcome | asyncio.CancelledError | ActivityError:
        """Undo, then give the outcome, or the failure that is not the agent's."""
        origin = cause_of(failure)
        if self._position.phase is Phase.OPEN and failure is not None and origin is not None:
            # `open` was refused: the session is someone else's, or was never recorded.
            return failure
        status, reason = self._ending(failure)
        if origin is not None and status == "aborted":
            self._detail = origin.message
        if self._open_begun and not (origin is not None and origin.type == "Fenced"):
            self._position = msgspec.structs.replace(self._position, phase=Phase.ABORTING, reason=reason)
            self._announce()
            await uninterrupted(self._compensate("expired" if status == "expired" else "aborted", reason))
            self._position = msgspec.structs.replace(self._position, phase=Phase.CLOSED)
        if failure is not None and status not in ("aborted", "expired"):
            return failure
        return self._outcome(status, reason)

    def _ending(self, failure: BaseException | None) -> tuple[str, str]:
        if failure is not None:
            return ending_of(failure, expired=self._expired)
        reason = self._position.reason
        return ("conflict" if reason == Verdict.CONFLICT else "aborted"), reason

    def _outcome(self, status: str, reason: str = "") -> SessionOutcome:
        handed = self._handed
        return SessionOutcome(
            session_id=self._request.session_id,
            status=status,
            reason=reason,
            branch=handed.branch if handed else None,
            pull_request=handed.pull_request if handed else None,
            head_sha=handed.head_sha if handed else None,
            report=handed.report if handed else None,
            verify_id=self._verify_id,
            audit_id=self._opened.audit_id if self._opened else None,
            attempts=self._position.attempts,
            files=tuple(sorted(self._written)),
            detail=self._detail,
            steps=tuple(self._steps),
            notes=self._notes,
        )
