"""Timeouts, retries and cancellation of every activity, each named once (design: table in docs/workflows.md)."""

from __future__ import annotations

from datetime import timedelta

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from smp.domain.runs import Patience
from smp.domain.sandboxes import Limits

STORE_SECONDS = 60
"""Start-to-close of a step that only touches the store."""
UPDATE_SECONDS = 300
"""Start-to-close of indexing the changed files."""
SPAWN_SECONDS = 900
"""Start-to-close of a box, its set-up layer included."""
VERIFY_SECONDS = 3600
"""Start-to-close of the integrity gate on one pair; mutants have their own time-outs within."""
HANDOFF_SECONDS = 180
LONGEST_WAIT_SECONDS = 30 * 86_400.0
"""Of a person who decides; the session's expiry comes first unless it is touched."""
MERGE_SECONDS = 900
BOX_SECONDS = 120
"""Start-to-close of writing to a box or taking it down."""
COMMAND_GRACE_SECONDS = 60
"""Beyond a command's own limit: entering the box, collecting its trace."""


def _config(seconds: float, patience: Patience, *, give_up: float | None = None) -> ActivityConfig:
    # No maximum_attempts: a heartbeat time-out counts as one, so a worker that is killed often for other
    # reasons would abort the session. `schedule_to_close` bounds the patience instead.
    return ActivityConfig(
        start_to_close_timeout=timedelta(seconds=seconds),
        schedule_to_close_timeout=timedelta(seconds=(give_up or patience.give_up) + seconds),
        retry_policy=RetryPolicy(
            initial_interval=timedelta(seconds=patience.retry_initial),
            maximum_interval=timedelta(seconds=patience.retry_maximum),
        ),
        # Waiting keeps two things apart that must not overlap: an effect that is still landing, and its undoing.
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        # Every activity beats (activities/heartbeat.py), so a killed worker is noticed within seconds.
        heartbeat_timeout=timedelta(seconds=patience.heartbeat),
    )


def store(patience: Patience) -> ActivityConfig:
    """A step of one transaction."""
    return _config(STORE_SECONDS, patience)


def update(patience: Patience) -> ActivityConfig:
    """Indexing the change."""
    return _config(UPDATE_SECONDS, patience)


def spawn(patience: Patience) -> ActivityConfig:
    """Making a box."""
    return _config(SPAWN_SECONDS, patience)


def box(patience: Patience) -> ActivityConfig:
    """A short step in a box."""
    return _config(BOX_SECONDS, patience)


def command(patience: Patience, limits: Limits) -> ActivityConfig:
    """A command in a box: its own limit and a grace."""
    return _config(limits.timeout_ms / 1000 + COMMAND_GRACE_SECONDS, patience)


def verify(patience: Patience) -> ActivityConfig:
    """The integrity gate on one pair of files."""
    return _config(VERIFY_SECONDS, patience)


def waiting(patience: Patience) -> ActivityConfig:
    """Asking again and again whether somebody has decided: each attempt is short, the waiting ends with the session.

    Attempts leave no events behind, so a review of a week costs the history no more than one of a second.
    """
    return _config(STORE_SECONDS, patience, give_up=LONGEST_WAIT_SECONDS)


def merge(patience: Patience) -> ActivityConfig:
    """Planning the merges of a swarm: a trial merge for each two branches that share a file."""
    return _config(MERGE_SECONDS, patience)


def handoff(patience: Patience) -> ActivityConfig:
    """Pushing the branch and writing the pull request."""
    return _config(HANDOFF_SECONDS, patience)


def cleanup(patience: Patience) -> ActivityConfig:
    """Undoing; bounded, because what cannot be undone now is the reaper's."""
    return _config(BOX_SECONDS, patience, give_up=patience.cleanup)
