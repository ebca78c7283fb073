"""Deterministic orchestration; a workflow a file. `WORKFLOWS` is what a worker registers and what replay tests replay."""

from __future__ import annotations

from workflows.agent_session import AgentSessionWorkflow
from workflows.reap import ReapWorkflow
from workflows.swarm import SwarmWorkflow

WORKFLOWS: tuple[type, ...] = (AgentSessionWorkflow, SwarmWorkflow, ReapWorkflow)

__all__ = ["WORKFLOWS"]
