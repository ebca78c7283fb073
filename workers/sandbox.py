"""The workflow sandbox: which modules workflows share with the process instead of importing afresh for each run."""

from __future__ import annotations

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

PASS_THROUGH = (
    "msgspec",  # a C extension: imported again it costs, and its types would differ from those of the converter
    "smp.domain",  # structs and pure functions; their identity must be that of the converter's
    "smp.adapters.runs_temporal",  # the converter itself; imported by the client, never by a workflow
    "activities.contract",  # structs of the activities; no state
    "activities",  # the package that holds them
)


def workflow_runner() -> SandboxedWorkflowRunner:
    """The runner of workers and of replay tests alike: what one accepts, the other must."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASS_THROUGH))
