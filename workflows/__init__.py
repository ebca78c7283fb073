"""Deterministic orchestration; a workflow a file. `WORKFLOWS` is what a worker registers and what replay tests replay."""

from __future__ import annotations

from workflows.agent_session import AgentSessionWorkflow

WORKFLOWS: tuple[type, ...] = (AgentSessionWorkflow,)

__all__ = ["WORKFLOWS"]
