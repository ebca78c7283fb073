"""Durable runs by name: start, signal, query, await (Temporal behind it)."""

from __future__ import annotations

import abc

from smp.domain.runs import SessionOutcome, SessionRun, SessionRunRequest, SessionRunState


class RunEngine(abc.ABC):
    @abc.abstractmethod
    def start_session(self, request: SessionRunRequest) -> str:
        """Start (or find) the run of a session; returns its workflow id.

        Raises:
            Unavailable: No server; the message says how to start one.
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
    def cancel(self, workflow_id: str) -> None:
        """Ask it to stop; it compensates first."""

    @abc.abstractmethod
    def sessions(self, task_queue: str, *, limit: int = 100) -> tuple[SessionRun, ...]:
        """Session runs of a queue (`smp.domain.runs.queue_of`), newest first, ended ones for as long as they are kept."""
