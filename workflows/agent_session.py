"""AgentSessionWorkflow: one agent session from open to close, durable, with its loops back and its undoing.

It takes a `SessionRunRequest` and gives a `SessionOutcome`. It only decides and calls: which phase follows is
`workflows/transitions.py`, every effect is an activity. Invariants: edits are guarded before they are written; after
`handoff` has begun neither a cancel nor expiry stops the run short of `close`, so a branch exists exactly when the
outcome says so; on every other way out, once `open` may have happened, rollback, destroy and close run in this order.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import msgspec.structs
from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from activities import contract
from smp.domain.ids import FilePath, VerifyId
from smp.domain.runs import (
    SESSION_WORKFLOW,
    STATE_QUERY,
    EditList,
    Phase,
    SessionOutcome,
    SessionRunRequest,
    SessionRunState,
    Verdict,
)
from workflows import options
from workflows.transitions import Position, advance

T = TypeVar("T")
STATUS = SearchAttributeKey.for_keyword("SmpStatus")
ATTEMPTS = SearchAttributeKey.for_int("SmpAttempts")

AGENT_FAULTS = frozenset(
    {
        "Invalid", "TooLarge", "LockConflict", "MergeConflict", "Refused", "ScopeViolation", "SequenceViolation",
        "VerificationRequired", "SandboxFailed", "ForgeFailed", "Fenced", "Conflict",
    }
)  # fmt: skip
"""Errors that end a session as `aborted` with their name as the reason; anything else is ours and fails the run."""

OPERATOR_PHASES = frozenset({Phase.EDIT, Phase.EXECUTE, Phase.VERIFY, Phase.HANDOFF, Phase.ABORTING})
"""Phases worth a search attribute; each upsert is an event in the history."""


NOTE_CHARACTERS = 600
"""Of each phase's last wording that the outcome keeps."""


@workflow.defn(name=SESSION_WORKFLOW)
class AgentSessionWorkflow:
    """See the module's docstring."""

    @workflow.init
    def __init__(self, request: SessionRunRequest) -> None:
        self._request = request
        self._position = Position(max_attempts=request.max_attempts)
        self._calls = 0
        self._edits_taken = 0
        self._steps: list[str] = []
        self._detail = ""
        self._notes: dict[str, str] = {}
        self._last_verdict = ""
        self._box_queue = request.task_queue
        self._change: contract.ChangeSet | None = None
        self._written: set[FilePath] = set()
        self._opened: contract.Opened | None = None
        self._open_begun = False
        self._handoff_begun = False
        self._expired = False
        self._verify_id: VerifyId | None = None
        self._handed: contract.HandedOff | None = None
        self._deadline = workflow.now() + timedelta(seconds=request.ttl_seconds)
        info = workflow.info()
        self._driver = f"{info.workflow_id}/{info.first_execution_run_id}"
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
            sandbox_id=self._request.sandbox_id,
            steps=tuple(self._steps),
            deadline=self._deadline.isoformat(timespec="seconds"),
            files=tuple(sorted(self._written)),
        )

    @workflow.run
    async def run(self, request: SessionRunRequest) -> SessionOutcome:
        """Drive the session to its end.

        Raises:
            ActivityError: `open` was refused, or a step failed by a fault that is not the agent's; undone first.
            CancelledError: It was cancelled before `handoff`; undone first.
        """
        drive = asyncio.create_task(self._drive())
        expiry = asyncio.create_task(self._expire(drive))
        failure: BaseException | None = None
        try:
            await drive
            if self._position.phase is Phase.HANDOFF:
                self._handoff_begun = True
                await _uninterrupted(self._drive_to_close())
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
        verdict = await self._phases[phase]()
        self._last_verdict = verdict
        self._steps.append(f"{phase.value}: {verdict.value}")
        self._position = advance(self._position, verdict)
        # Progress extends the session's life here as each effect does in the store.
        self._deadline = workflow.now() + timedelta(seconds=self._request.ttl_seconds)

    def _word(self, detail: str) -> None:
        """Keep what a step said: for the agent's next attempt, and of each phase for the outcome."""
        self._detail = detail
        if detail:
            self._notes[self._position.phase.value] = contract.shortened(detail, NOTE_CHARACTERS)

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

    # One method a phase: build the struct, call the activity, keep what later phases need, give the verdict.

    async def _open(self) -> Verdict:
        request = self._request
        self._open_begun = True
        self._opened = await self._call(
            contract.SESSION_OPEN,
            lambda key: contract.OpenStep(
                key=key,
                session_id=request.session_id,
                driver=self._driver,
                agent_id=request.agent_id,
                task=request.task,
                scope=request.scope,
                commit_sha=request.commit_sha,
                ttl_seconds=request.ttl_seconds,
            ),
            contract.Opened,
            options.store(request.patience),
            summary="claim the session",
        )
        return Verdict.DONE

    async def _spawn(self) -> Verdict:
        request = self._request
        spawned = await self._call(
            contract.SANDBOX_SPAWN,
            lambda key: contract.SpawnStep(**self._box(key), commit_sha=request.commit_sha, limits=request.limits),
            contract.Spawned,
            options.spawn(request.patience),
            summary=f"box at {request.commit_sha[:12]}",
        )
        self._box_queue = spawned.task_queue
        return Verdict.DONE

    async def _edit(self) -> Verdict:
        agent = self._request.agent
        self._edits_taken += 1
        if isinstance(agent, EditList):
            if self._edits_taken > len(agent.steps):
                return Verdict.EXHAUSTED
            step = agent.steps[self._edits_taken - 1]
            proposal = await self._call(
                contract.AGENT_EDITS,
                lambda key: contract.EditsStep(**self._step(key), edits=step.edits),
                contract.Proposal,
                options.store(self._request.patience),
                summary=step.summary or f"edits {self._edits_taken} of {len(agent.steps)}",
            )
        else:
            command = agent.command
            proposal = await self._call(
                contract.AGENT_COMMAND,
                lambda key: contract.CommandStep(
                    **self._box(key),
                    command=command,
                    task=self._request.task,
                    attempt=self._edits_taken,
                    feedback=self._detail,
                    last_verdict=self._last_verdict if self._edits_taken > 1 else "",
                    limits=self._request.limits,
                ),
                contract.Proposal,
                options.command(self._request.patience, self._request.limits),
                summary=f"agent, attempt {self._edits_taken}",
                queue=self._box_queue,
            )
        if proposal.change is not None:
            self._change = proposal.change
        if proposal.detail:
            self._word(proposal.detail)
        return proposal.verdict

    async def _guard(self) -> Verdict:
        return await self._judge(contract.SESSION_GUARD)

    async def _dryrun(self) -> Verdict:
        return await self._judge(contract.SESSION_DRYRUN)

    async def _checkpoint(self) -> Verdict:
        return await self._judge(contract.SESSION_CHECKPOINT)

    async def _judge(self, activity: str) -> Verdict:
        judgement = await self._call(
            activity,
            lambda key: contract.ChangeStep(**self._box(key), change=self._changed()),
            contract.Judgement,
            options.store(self._request.patience),
            summary=_listed(self._changed().files),
        )
        self._word(judgement.detail)
        return judgement.verdict

    async def _write(self) -> Verdict:
        await self._call(
            contract.SANDBOX_WRITE,
            lambda key: contract.ChangeStep(**self._box(key), change=self._changed()),
            contract.Done,
            options.box(self._request.patience),
            summary=_listed(self._changed().files),
            queue=self._box_queue,
        )
        # Only now: a file whose proposal was sent back by the guard has nothing that could be verified or pushed.
        self._written.update(self._changed().files)
        return Verdict.DONE

    async def _execute(self) -> Verdict:
        request = self._request
        judgement = await self._call(
            contract.SANDBOX_EXECUTE,
            lambda key: contract.ExecuteStep(**self._box(key), command=request.test_command, limits=request.limits),
            contract.Judgement,
            options.command(request.patience, request.limits),
            summary="run the tests",
            queue=self._box_queue,
        )
        self._word(judgement.detail)
        return judgement.verdict

    async def _verify(self) -> Verdict:
        patience = self._request.patience
        targets = await self._call(
            contract.VERIFY_TARGETS,
            lambda key: contract.TargetsStep(
                **self._box(key), files=tuple(sorted(self._written)), declared=self._request.verify
            ),
            contract.Targets,
            options.box(patience),
            summary="which tests guard the change",
            queue=self._box_queue,
        )
        if targets.untested:
            self._word(f"no test file reaches {_listed(targets.untested)}; add a test, or name the pair to verify")
            return Verdict.MISSING_ASSERT
        if targets.verify_id is not None:
            self._word(targets.detail)
        self._verify_id = targets.verify_id
        for target, test in targets.pairs:
            verified = await self._call(
                contract.VERIFY_INTEGRITY,
                lambda key, target=target, test=test: contract.VerifyStep(  # type: ignore[misc]
                    **self._box(key), target_file=target, test_file=test
                ),
                contract.Verified,
                options.verify(patience),
                summary=f"{target} against {test}",
                queue=self._box_queue,
            )
            self._word(verified.detail)
            if verified.verdict is not Verdict.PASSED:
                return verified.verdict
            self._verify_id = verified.verify_id
        return Verdict.PASSED

    async def _update(self) -> Verdict:
        await self._call(
            contract.SESSION_UPDATE,
            lambda key: contract.FilesStep(**self._box(key), files=tuple(sorted(self._written))),
            contract.Done,
            options.update(self._request.patience),
            summary="graph of the change",
            queue=self._box_queue,
        )
        return Verdict.DONE

    async def _hand_off(self) -> Verdict:
        request = self._request
        self._handed = await self._call(
            contract.HANDOFF_PULL_REQUEST,
            lambda key: contract.HandoffStep(
                **self._box(key),
                title=request.title or request.task,
                issue_refs=request.issue_refs,
                verify_id=self._verify_id,
            ),
            contract.HandedOff,
            options.handoff(request.patience),
            summary="push the branch, write the pull request",
            queue=self._box_queue,
        )
        self._word(self._handed.detail)
        return self._handed.verdict

    async def _close(self) -> Verdict:
        await self._destroy()
        await self._close_as("completed", "")
        return Verdict.DONE

    # Undoing.

    async def _abort(self, failure: BaseException | None) -> SessionOutcome:
        """Undo, then give the outcome or raise the failure that is not the agent's."""
        origin = _cause(failure)
        if self._position.phase is Phase.OPEN and origin is not None:
            # `open` was refused: the session is someone else's, or was never recorded.
            assert failure is not None
            raise failure
        status, reason = self._ending(failure, origin)
        if self._open_begun and not (origin is not None and origin.type == "Fenced"):
            self._position = msgspec.structs.replace(self._position, phase=Phase.ABORTING, reason=reason)
            self._announce()
            await _uninterrupted(self._compensate("expired" if status == "expired" else "aborted", reason))
            self._position = msgspec.structs.replace(self._position, phase=Phase.CLOSED)
        if failure is not None and status not in ("aborted", "expired"):
            raise failure
        return self._outcome(status, reason)

    def _ending(self, failure: BaseException | None, origin: ApplicationError | None) -> tuple[str, str]:
        if self._expired or (origin is not None and origin.type == "SessionExpired"):
            return "expired", "ttl_elapsed"
        if failure is None:
            reason = self._position.reason
            return ("conflict" if reason == Verdict.CONFLICT else "aborted"), reason
        if is_cancelled_exception(failure):
            return "cancelled", "cancelled"
        if origin is not None and origin.type in AGENT_FAULTS:
            self._detail = origin.message
            return "aborted", _snake(origin.type or "")
        return "failed", _snake(origin.type or "") if origin else type(failure).__name__

    async def _compensate(self, status: str, reason: str) -> None:
        await self._call(
            contract.SESSION_ROLLBACK,
            lambda key: contract.BoxStep(**self._box(key)),
            contract.Done,
            options.cleanup(self._request.patience),
            summary="undo what was written",
            queue=self._box_queue,
        )
        await self._destroy()
        await self._close_as(status, reason)

    async def _destroy(self) -> None:
        await self._call(
            contract.SANDBOX_DESTROY,
            lambda key: contract.BoxStep(**self._box(key)),
            contract.Done,
            options.cleanup(self._request.patience),
            summary=self._request.sandbox_id,
            queue=self._box_queue,
        )

    async def _close_as(self, status: str, reason: str) -> None:
        await self._call(
            contract.SESSION_CLOSE,
            lambda key: contract.CloseStep(
                **self._step(key), status=status, sandbox_id=self._request.sandbox_id, reason=reason
            ),
            contract.Done,
            options.cleanup(self._request.patience),
            summary=status,
        )
        workflow.upsert_search_attributes([STATUS.value_set(status)])

    # Plumbing.

    async def _call(
        self,
        activity: str,
        build: Callable[[str], contract.Step],
        result: type[T],
        config: workflow.ActivityConfig,
        *,
        summary: str,
        queue: str = "",
    ) -> T:
        self._calls += 1
        key = f"{workflow.info().workflow_id}/1#{self._calls}:{activity}"
        config["task_queue"] = queue or self._request.task_queue
        config["summary"] = summary[:200]
        answer: T = await workflow.execute_activity(activity, build(key), result_type=result, **config)
        return answer

    def _step(self, key: str) -> dict[str, Any]:
        return {"key": key, "session_id": self._request.session_id, "driver": self._driver}

    def _box(self, key: str) -> dict[str, Any]:
        return self._step(key) | {"sandbox_id": self._request.sandbox_id}

    def _changed(self) -> contract.ChangeSet:
        assert self._change is not None, "a phase after edit without a change set"
        return self._change

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


async def _uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end even when the workflow is cancelled meanwhile, more than once if need be."""
    task = asyncio.create_task(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    return task.result()


def _cause(failure: BaseException | None) -> ApplicationError | None:
    """The application error behind an activity's failure, if there is one."""
    cause = failure.cause if isinstance(failure, ActivityError) else None
    return cause if isinstance(cause, ApplicationError) else None


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")


def _listed(files: tuple[str, ...]) -> str:
    """A few file names in words."""
    return ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
