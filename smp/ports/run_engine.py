"""Durable runs by name: start, signal, query, await (Temporal behind it)."""

from __future__ import annotations

import abc

from smp.domain.runs import (
    ProposalReceipt,
    Proposed,
    ReviewWord,
    SessionOutcome,
    SessionRun,
    SessionRunRequest,
    SessionRunState,
)
from smp.domain.swarms import SwarmOutcome, SwarmRequest, SwarmState


class RunEngine(abc.ABC):
    @abc.abstractmethod
    def start_session(self, request: SessionRunRequest) -> str:
        """Start (or find) the run of a session; returns its workflow id.

        Raises:
            Unavailable: No server; the message says how to start one.
        """

    @abc.abstractmethod
    def start_swarm(self, request: SwarmRequest) -> str:
        """Start (or find) the run of a swarm; returns its workflow id.

        Raises:
            TooLarge: All its tasks together are beyond what a run can be given.
            Unavailable: No server; the message says how to start one.
        """

    @abc.abstractmethod
    def swarm_state(self, workflow_id: str) -> SwarmState:
        """Each session's row, by query; works after the end too."""

    @abc.abstractmethod
    def swarm_within(self, workflow_id: str, wait_ms: int) -> SwarmOutcome | None:
        """The outcome, or None when it has not ended by then.

        A swarm that was cancelled or terminated is an outcome too, with the rows as they were.

        Raises:
            NotFound: No such swarm.
            Unavailable: No server.
        """

    @abc.abstractmethod
    def state(self, workflow_id: str) -> SessionRunState:
        """The run's present state, by query; works after it has ended too."""

    @abc.abstractmethod
    def result(self, workflow_id: str, *, timeout_ms: int | None = None) -> SessionOutcome:
        """Wait for the end.

        A run that was cancelled or failed is an outcome too (`cancelled`, `failed`), not an exception.

        Raises:
            NotFound: No such run.
            Unavailable: No server, or it has not ended within `timeout_ms`; it goes on.
        """

    @abc.abstractmethod
    def outcome_within(self, workflow_id: str, wait_ms: int) -> SessionOutcome | None:
        """As `result`, but None when it has not ended by then; at least 1 ms, connecting included."""

    @abc.abstractmethod
    def propose(self, workflow_id: str, proposed: Proposed, *, timeout_ms: int | None = None) -> ProposalReceipt:
        """Give a remote agent's edits and wait until they have been judged.

        Repeating the same proposal gives the same receipt.

        Raises:
            Invalid, TooLarge, Conflict: Refused, and nothing was recorded; the message says what would be right.
            NotFound: No such run, or it has ended.
            Unavailable: No server or worker, or not judged within `timeout_ms`; it goes on, propose the same again.
        """

    @abc.abstractmethod
    def decide(self, workflow_id: str, word: ReviewWord) -> str:
        """Give a reviewer's word to the run that waits for it; returns the status that was recorded.

        Raises:
            Invalid, Conflict, NotFound, Unavailable: As `propose`.
        """

    @abc.abstractmethod
    def touch(self, workflow_id: str) -> None:
        """Give a run that waits for somebody its whole time to live again."""

    @abc.abstractmethod
    def cancel(self, workflow_id: str) -> None:
        """Ask it to stop; it compensates first."""

    @abc.abstractmethod
    def sessions(self, task_queue: str, *, limit: int = 100, wait_ms: int | None = None) -> tuple[SessionRun, ...]:
        """Session runs of a queue (`smp.domain.runs.queue_of`), newest first, ended ones for as long as they are kept.

        Args:
            wait_ms: `Unavailable` after so long, and for a while at once where a server did not answer within that before.
                None waits as long as any other call does.
        """

    @abc.abstractmethod
    def swarms(self, task_queue: str, *, limit: int = 100) -> tuple[SessionRun, ...]:
        """Swarm runs of a queue, as `sessions`; they announce no phase."""
