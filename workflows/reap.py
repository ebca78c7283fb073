"""ReapWorkflow: closes sessions whose run is over; started by a schedule, so that no worker has to be started for it."""

from __future__ import annotations

from temporalio import workflow

from activities import contract
from smp.domain.runs import REAP_WORKFLOW, Patience
from workflows import options


@workflow.defn(name=REAP_WORKFLOW)
class ReapWorkflow:
    """One look; the schedule repeats it, and never has two at once."""

    @workflow.run
    async def run(self, task_queue: str) -> contract.Reaped:
        """Gives the sessions that were closed.

        Args:
            task_queue: Of the repository.
        """
        config = options.store(Patience())
        config["task_queue"] = task_queue
        config["summary"] = "sessions whose run is over"
        step = contract.ReapStep(key=workflow.info().workflow_id)
        reaped: contract.Reaped = await workflow.execute_activity(
            contract.REPOSITORY_REAP, step, result_type=contract.Reaped, **config
        )
        return reaped
