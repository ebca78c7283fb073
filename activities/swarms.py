"""The activity of a swarm: in which order its branches merge, and which of them do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import activity

from activities import contract
from smp.domain.swarms import conflicts_of
from smp.query.merge_order import merge_order
from smp.query.plan import plan
from smp.safety.exposure import hot_rule

if TYPE_CHECKING:
    from smp.services import Services


class SwarmActivities:
    """Reads only: the graph, and commits that the sessions have made."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=contract.SWARM_MERGE, no_thread_cancel_exception=True)
    def merge(self, step: contract.MergeStep) -> contract.Merged:
        """Merge order by the dependency graph; each conflict between branches once. Idempotent: it writes nothing."""
        services = self._services
        files = tuple(dict.fromkeys(file for branch in step.branches for file in branch.files))
        hot = hot_rule(services.settings.safety, services.clock.now())
        planned = plan(services.graph, services.telemetry, files, hot=hot)
        indices = merge_order(planned, [branch.files for branch in step.branches])
        order = tuple(step.branches[index].session_id for index in indices)
        clashes = services.handoff.clashes(tuple(step.branches[index] for index in indices))
        return contract.Merged(order=order, conflicts=conflicts_of(clashes, order))
