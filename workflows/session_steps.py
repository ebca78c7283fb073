"""What a session run knows, and one method a phase: build the struct, call the activity, keep what later phases need.

`workflows/agent_session.py` says which phase follows and what a cancel or expiry does; here is what each of them does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ActivityError

from activities import contract
from smp.domain.ids import FilePath, VerifyId
from smp.domain.runs import Command, Edit, EditRef, Phase, Proposed, Remote, SessionRunRequest, Verdict, another_box
from workflows import options
from workflows.endings import cause_of, listed, never_begun
from workflows.inbox import Inbox
from workflows.transitions import Position

ONE_PROOF_A_FILE = "2026-12-01-one-proof-a-file"
HOSTS = "2026-12-01-hosts"
MAX_LOST = 2
"""Boxes that a session may lose with their hosts; the next loss ends it."""

T = TypeVar("T")
STATUS = SearchAttributeKey.for_keyword("SmpStatus")
NOTE_CHARACTERS = 600
"""Of each phase's last wording that the outcome keeps."""


class BoxLost(Exception):
    """The host of the box is gone; `error` says which step found out."""

    def __init__(self, error: ActivityError) -> None:
        super().__init__("the host of the box is gone")
        self.error = error


class SessionSteps:
    """State and steps of one run; only the main coroutine calls its steps."""

    def __init__(self, request: SessionRunRequest) -> None:
        self._request = request
        self._position = Position(max_attempts=request.max_attempts)
        self._calls = 0
        self._edits_taken = 0
        self._steps: list[str] = []
        self._inbox = Inbox(request)
        self._detail = ""
        self._said = ""
        self._notes: dict[str, str] = {}
        self._last_verdict = ""
        self._box_queue = request.task_queue
        self._sandbox_id = request.sandbox_id
        self._watched = False
        self._lost = 0
        self._landed: list[contract.ChangeSet] = []
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
        self._first_driver = self._driver = f"{info.workflow_id}/{info.first_execution_run_id}"
        self._epoch = 1
        self._seed = workflow.random_seed()

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
        # A step that nobody takes from the host's queue is not waited for blindly.
        self._watched = spawned.task_queue != request.task_queue and workflow.patched(HOSTS)
        return Verdict.DONE

    async def _edit(self) -> Verdict:
        agent = self._request.agent
        if isinstance(agent, Remote):
            # Before the count: a wait that ends with the session took nothing.
            proposed = await self._next_proposal()
            self._edits_taken += 1
            summary = proposed.summary or f"proposal {proposed.seq}"
            proposal = await self._propose_edits(proposed.edits, proposed.stored, summary)
        elif isinstance(agent, Command):
            self._edits_taken += 1
            proposal = await self._run_agent(agent)
        else:
            self._edits_taken += 1
            if self._edits_taken > len(agent.steps):
                return Verdict.EXHAUSTED
            step = agent.steps[self._edits_taken - 1]
            summary = step.summary or f"edits {self._edits_taken} of {len(agent.steps)}"
            proposal = await self._propose_edits(step.edits, step.stored, summary)
        if proposal.change is not None:
            self._change = proposal.change
        if proposal.detail:
            self._word(proposal.detail)
        return proposal.verdict

    async def _next_proposal(self) -> Proposed:
        while (proposed := self._inbox.take()) is None:
            await workflow.wait_condition(lambda: self._inbox.stirred)
            await self._stay_alive()
        return proposed

    async def _stay_alive(self) -> None:
        """Carry a sign of life into the store, whose deadline is the one that frees the session's locks."""
        if not self._inbox.touched:
            return
        self._inbox.touched = False
        await self._call(
            contract.SESSION_TOUCH,
            lambda key: contract.Step(**self._step(key)),
            contract.Done,
            options.store(self._request.patience),
            summary="more time",
        )

    async def _propose_edits(self, edits: tuple[Edit, ...], stored: EditRef | None, summary: str) -> contract.Proposal:
        return await self._call(
            contract.AGENT_EDITS,
            lambda key: contract.EditsStep(**self._step(key), edits=edits, stored=stored),
            contract.Proposal,
            options.store(self._request.patience),
            summary=summary,
        )

    async def _run_agent(self, agent: Command) -> contract.Proposal:
        return await self._call(
            contract.AGENT_COMMAND,
            lambda key: contract.CommandStep(
                **self._box(key),
                command=agent.command,
                task=self._request.task,
                attempt=self._edits_taken,
                feedback=self._detail,
                last_verdict=self._last_verdict if self._edits_taken > 1 else "",
                limits=self._request.limits,
            ),
            contract.Proposal,
            options.command(self._request.patience, self._request.limits),
            summary=f"agent, attempt {self._edits_taken}",
            boxed=True,
        )

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
            summary=listed(self._changed().files),
            boxed=self._watched,  # a checkpoint reads the box
        )
        self._word(judgement.detail)
        return judgement.verdict

    async def _write(self) -> Verdict:
        await self._write_change(self._changed())
        self._landed.append(self._changed())
        # Only now: a file whose proposal was sent back by the guard has nothing that could be verified or pushed.
        self._written.update(self._changed().files)
        return Verdict.DONE

    async def _write_change(self, change: contract.ChangeSet) -> None:
        await self._call(
            contract.SANDBOX_WRITE,
            lambda key: contract.ChangeStep(**self._box(key), change=change),
            contract.Done,
            options.box(self._request.patience),
            summary=listed(change.files),
            boxed=True,
        )

    async def _execute(self) -> Verdict:
        request = self._request
        judgement = await self._call(
            contract.SANDBOX_EXECUTE,
            lambda key: contract.ExecuteStep(**self._box(key), command=request.test_command, limits=request.limits),
            contract.Judgement,
            options.command(request.patience, request.limits),
            summary="run the tests",
            boxed=True,
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
            boxed=True,
        )
        if targets.untested:
            self._word(f"no test file reaches {listed(targets.untested)}; add a test, or name the pair to verify")
            return Verdict.MISSING_ASSERT
        if targets.verify_id is not None:
            self._word(targets.detail)
        self._verify_id = targets.verify_id
        # Pairs that a request names must all hold; of those that the graph finds for a file, one that proves it is enough.
        one_is_enough = not self._request.verify and workflow.patched(ONE_PROOF_A_FILE)
        proved: set[FilePath] = set()
        unproved: dict[FilePath, contract.Verified] = {}
        for target, test in targets.pairs:
            if one_is_enough and target in proved:
                continue
            verified = await self._call(
                contract.VERIFY_INTEGRITY,
                lambda key, target=target, test=test: contract.VerifyStep(  # type: ignore[misc]
                    **self._box(key), target_file=target, test_file=test
                ),
                contract.Verified,
                options.verify(patience),
                summary=f"{target} against {test}",
                boxed=True,
            )
            if verified.verdict is Verdict.PASSED:
                self._word(verified.detail)
                self._verify_id = verified.verify_id
                proved.add(target)
            elif not verified.reached:
                unproved.setdefault(target, verified)
            elif one_is_enough and verified.verdict is not Verdict.FAIL:
                # What was seen to run the change says more than what did not.
                if target not in unproved or not unproved[target].reached:
                    unproved[target] = verified
            else:
                self._word(verified.detail)
                return verified.verdict
        left = sorted(unproved.keys() - proved)
        if not left:
            return Verdict.PASSED
        self._word("\n".join(unproved[target].detail for target in left))
        return unproved[left[0]].verdict

    async def _update(self) -> Verdict:
        await self._call(
            contract.SESSION_UPDATE,
            lambda key: contract.FilesStep(**self._box(key), files=tuple(sorted(self._written))),
            contract.Done,
            options.update(self._request.patience),
            summary="graph of the change",
            boxed=True,
        )
        return Verdict.DONE if self._request.reviewer is None else Verdict.REVIEW_WANTED

    async def _review(self) -> Verdict:
        """Hand the box to the reviewer and wait for a word, which comes by Update or over the protocol."""
        reviewer, verify_id = self._request.reviewer, self._verify_id
        assert reviewer is not None, "a review without a reviewer"
        assert verify_id is not None, "a review of what was not verified"
        asked = await self._call(
            contract.HANDOFF_REVIEW,
            lambda key: contract.ReviewStep(**self._box(key), reviewer=reviewer, verify_id=verify_id),
            contract.ReviewAsked,
            options.handoff(self._request.patience),
            summary=f"review by {reviewer}",
            boxed=True,
        )
        self._inbox.open_review(asked.handoff_id, asked.reviewer_session)
        decision = asyncio.create_task(
            self._call(
                contract.HANDOFF_DECISION,
                lambda key: contract.DecisionStep(**self._step(key), handoff_id=asked.handoff_id),
                contract.Judgement,
                options.waiting(self._request.patience),
                summary=f"the word of {reviewer}",
            )
        )
        try:
            while not decision.done():
                await workflow.wait_condition(lambda: decision.done() or self._inbox.heard)
                await self._stay_alive()
                await self._take_word(asked)
        finally:
            decision.cancel()
        judgement = decision.result()
        self._inbox.close_review()
        self._word(judgement.detail)
        return judgement.verdict

    async def _take_word(self, asked: contract.ReviewAsked) -> None:
        """Record what came by Update; the decision itself is then seen where one over the protocol would be."""
        word = self._inbox.word
        if word is None or self._inbox.word_answer is not None:
            return
        try:
            done = await self._call(
                contract.HANDOFF_DECIDE,
                lambda key: contract.DecideStep(
                    **self._step(key),
                    handoff_id=asked.handoff_id,
                    reviewer_session=asked.reviewer_session,
                    decision=word.decision,
                    comments=word.comments,
                ),
                contract.Done,
                options.store(self._request.patience),
                summary=word.decision,
            )
            self._inbox.word_answer = done.detail
        except ActivityError as error:
            origin = cause_of(error)
            if origin is None:
                raise
            # The reviewer's fault, not the session's: it is told, and the session goes on waiting.
            self._inbox.word_answer = origin

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
            boxed=True,
        )
        self._word(self._handed.detail)
        return self._handed.verdict

    async def _close(self) -> Verdict:
        await self._destroy()
        await self._close_as("completed", "")
        return Verdict.DONE

    # Undoing.

    async def _compensate(self, status: str, reason: str) -> None:
        await self._call(
            contract.SESSION_ROLLBACK,
            lambda key: contract.BoxStep(**self._box(key)),
            contract.Done,
            options.cleanup(self._request.patience),
            summary="undo what was written",
            boxed=True,
        )
        await self._destroy()
        await self._close_as(status, reason)

    async def _destroy(self) -> None:
        await self._call(
            contract.SANDBOX_DESTROY,
            lambda key: contract.BoxStep(**self._box(key)),
            contract.Done,
            options.cleanup(self._request.patience),
            summary=self._sandbox_id,
            boxed=True,
        )

    async def _close_as(self, status: str, reason: str) -> None:
        await self._call(
            contract.SESSION_CLOSE,
            lambda key: contract.CloseStep(
                **self._step(key), status=status, sandbox_id=self._sandbox_id, reason=reason
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
        boxed: bool = False,
    ) -> T:
        """
        Args:
            boxed: In the box, so on the host that has it.

        Raises:
            BoxLost: The host is gone, and the box with it.
        """
        await self._claim_after_reset()
        self._calls += 1
        key = f"{workflow.info().workflow_id}/{self._epoch}#{self._calls}:{activity}"
        config["summary"] = summary[:200]
        while True:
            config["task_queue"] = self._box_queue if boxed else self._request.task_queue
            watched = boxed and self._watched
            if watched:
                config["schedule_to_start_timeout"] = timedelta(seconds=self._request.patience.host)
            try:
                answer: T = await workflow.execute_activity(activity, build(key), result_type=result, **config)
            except ActivityError as error:
                if not watched or not never_begun(error):
                    raise
                if not await self._host_lives():
                    self._leave_host(error)
            else:
                return answer

    async def _host_lives(self) -> bool:
        """Whether the host of the box is only busy."""
        patience = self._request.patience
        config = options.store(patience)
        config["task_queue"] = self._request.task_queue
        config["summary"] = "does the host of the box live?"
        state: contract.HostState = await workflow.execute_activity(
            contract.HOST_ALIVE,
            contract.HostStep(queue=self._box_queue, silent_s=patience.host_silent),
            result_type=contract.HostState,
            **config,
        )
        return state.alive

    def _leave_host(self, error: ActivityError) -> None:
        """No step goes to that host again; what is to be undone is undone by whoever can, its box is left to its reaper."""
        if self._position.phase not in (Phase.CLOSE, Phase.ABORTING):
            raise BoxLost(error)
        self._box_queue = self._request.task_queue
        self._watched = False

    async def _move_box(self, lost: BoxLost) -> None:
        """Another box at another host, with everything that had been written.

        Raises:
            ActivityError: It is one loss too many.
        """
        while True:
            self._lost += 1
            if self._lost > MAX_LOST:
                raise lost.error
            self._sandbox_id = another_box(self._request.sandbox_id, self._lost)
            try:
                await self._spawn()
                for change in self._landed:
                    await self._write_change(change)
            except BoxLost as again:
                lost = again
            else:
                return

    def _begin_again(self) -> Phase:
        """Where a session goes on in its new box: what tests and gate have said of the lost one is not true of this one."""
        if self._position.phase is Phase.EDIT and isinstance(self._request.agent, Command):
            self._edits_taken -= 1
        before = (Phase.EDIT, Phase.GUARD, Phase.DRYRUN, Phase.CHECKPOINT, Phase.WRITE)
        return self._position.phase if self._position.phase in before else Phase.EXECUTE

    async def _claim_after_reset(self) -> None:
        """Take the session over from the run that an operator's reset has ended.

        Neither the run's id nor that of the first run tells a reset: the one differs in the part that is replayed too, the
        other never does. The random seed changes exactly where the reset is. Activities of the former run that still go on
        are fenced by the new driver, and `_epoch` gives their keys no say in the new one's.
        """
        seed = workflow.random_seed()
        if seed == self._seed or self._opened is None:
            return
        self._seed = seed
        self._epoch += 1
        self._driver = f"{self._first_driver}~{seed:x}"
        await self._call(
            contract.SESSION_CLAIM,
            lambda key: contract.Step(**self._step(key)),
            contract.Done,
            options.store(self._request.patience),
            summary="claim the session again after a reset",
        )

    def _step(self, key: str) -> dict[str, Any]:
        return {"key": key, "session_id": self._request.session_id, "driver": self._driver}

    def _box(self, key: str) -> dict[str, Any]:
        return self._step(key) | {"sandbox_id": self._sandbox_id}

    def _changed(self) -> contract.ChangeSet:
        assert self._change is not None, "a phase after edit without a change set"
        return self._change

    def _word(self, detail: str) -> None:
        """Keep what a step said: for the agent's next attempt, and of each phase for the outcome."""
        self._detail = self._said = detail
        if detail:
            self._notes[self._position.phase.value] = contract.shortened(detail, NOTE_CHARACTERS)

    def _extend(self) -> None:
        self._deadline = workflow.now() + timedelta(seconds=self._request.ttl_seconds)
