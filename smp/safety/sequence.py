"""Which step may follow which on a file: guard -> dryrun -> checkpoint -> write, as a pure state machine.

The state of a file is a fold over the session's audit, so it survives every crash that the audit survives. In an
elevated session no step may be left out: the guard must be clear, the dry run safe, the checkpoint newer than both, and
a write spends all three. In a standard session the steps are free, but a write after a red alert or a block is refused
until the guard has been asked again and is clear: an alert is never merely advice.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum

from msgspec import Struct

from smp.domain.ids import FilePath
from smp.domain.session_steps import DryrunVerdict, GuardVerdict
from smp.domain.sessions import AuditEvent, SafetyLevel


class Step(StrEnum):
    """Steps that concern a file; the values are what the audit calls them."""

    GUARD = "smp/guard/check"
    DRYRUN = "smp/dryrun"
    CHECKPOINT = "smp/checkpoint"
    UPDATE = "smp/update"
    BATCH_UPDATE = "smp/batch_update"
    ROLLBACK = "smp/rollback"


WRITES = frozenset({Step.UPDATE, Step.BATCH_UPDATE})
_STEPS = {step.value: step for step in Step}


class Stage(IntEnum):
    """How far a file has come, in order."""

    START = 0
    GUARDED = 1
    REHEARSED = 2
    CHECKPOINTED = 3


class Progress(Struct, frozen=True, kw_only=True):
    """Where a file stands. `alert`: the last guard verdict, when it was not clear."""

    stage: Stage = Stage.START
    alert: str = ""


_NEEDED: dict[Step, tuple[Stage, str]] = {
    Step.DRYRUN: (Stage.GUARDED, "ask smp/guard/check first and get a clear verdict"),
    Step.CHECKPOINT: (Stage.REHEARSED, "run smp/dryrun first and get a safe verdict"),
    Step.UPDATE: (Stage.CHECKPOINTED, "take smp/guard/check, smp/dryrun and smp/checkpoint first, in this order"),
    Step.BATCH_UPDATE: (Stage.CHECKPOINTED, "take smp/guard/check, smp/dryrun and smp/checkpoint first, in this order"),
}


def refusal(level: SafetyLevel, progress: Progress, step: Step) -> str | None:
    """Why a step may not be taken now, ending in what to do; None when it may."""
    if step in WRITES and progress.alert:
        return f"the last guard verdict is {progress.alert}; remedy it and ask smp/guard/check again"
    if level is not SafetyLevel.ELEVATED or step not in _NEEDED:
        return None
    stage, advice = _NEEDED[step]
    return None if progress.stage >= stage else f"the session is elevated; {advice}"


def advance(progress: Progress, step: Step, result: str) -> Progress:
    """The state after a step that was taken.

    Args:
        result: Its verdict, where it has one.
    """
    if step is Step.GUARD:
        clear = result == GuardVerdict.CLEAR
        return Progress(stage=Stage.GUARDED) if clear else Progress(alert=result)
    if step is Step.DRYRUN:
        if progress.stage is Stage.START:
            return progress  # without a clear guard before it, a rehearsal counts for nothing
        return Progress(stage=Stage.REHEARSED if result == DryrunVerdict.SAFE else Stage.GUARDED)
    if step is Step.CHECKPOINT:
        return Progress(stage=Stage.CHECKPOINTED) if progress.stage >= Stage.REHEARSED else progress
    return Progress(alert=progress.alert)


def progress_of(events: Iterable[AuditEvent], file: FilePath) -> Progress:
    """Where a file stands after the events of a session, oldest first."""
    progress = Progress()
    for event in events:
        step = _STEPS.get(event.method)
        if step is not None and (event.target == file or file in event.files):
            progress = advance(progress, step, event.result or "")
    return progress
