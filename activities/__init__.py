"""Thin activities: unpack a step, call one use case, give a struct. `build_activities` is what a worker registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smp.services import Services


def build_activities(services: Services, *, host_queue: str) -> Sequence[Callable[..., Any]]:
    """Every activity of a repository, its services injected.

    Args:
        host_queue: Where steps in the boxes of this host go.

    The imports are here because workflows import `activities.contract`, and with it this package, while activities
    import the platform.
    """
    from activities.agent import AgentActivities
    from activities.handoff import HandoffActivities
    from activities.integrity import IntegrityActivities
    from activities.sandboxes import SandboxActivities
    from activities.sessions import SessionActivities
    from activities.swarms import SwarmActivities

    sessions = SessionActivities(services)
    agent = AgentActivities(services)
    sandboxes = SandboxActivities(services, host_queue)
    integrity = IntegrityActivities(services)
    handoff = HandoffActivities(services)
    swarms = SwarmActivities(services)
    return (
        sessions.open,
        sessions.guard,
        sessions.dryrun,
        sessions.checkpoint,
        sessions.update,
        sessions.rollback,
        sessions.close,
        sessions.touch,
        sessions.claim,
        agent.edits,
        agent.command,
        sandboxes.spawn,
        sandboxes.write,
        sandboxes.execute,
        sandboxes.destroy,
        integrity.targets,
        integrity.verify,
        handoff.review,
        handoff.decide,
        handoff.decision,
        handoff.pull_request,
        swarms.merge,
    )
