"""Many sessions as one durable run: its request, its rows while it lasts, and its outcome.

As in `smp/domain/runs.py` these structs are payloads: they only ever gain optional fields, and carry no secret.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from smp.domain.ids import CommitSha, FilePath, SessionId
from smp.domain.runs import Patience, SessionRunRequest

SWARM_WORKFLOW = "SwarmWorkflow"
WAITING, RUNNING, COMPLETED = "waiting", "running", "completed"
CANCEL, ABANDON = "cancel", "abandon"
DEFAULT_LIMIT = 4


class SwarmSession(Struct, frozen=True, kw_only=True):
    """One task.

    Attributes:
        name: Unique in its swarm, for people.
        parent_close: What becomes of the session when the swarm is cancelled or terminated: `cancel` (it undoes what it
            did) or `abandon` (it goes on by itself).
    """

    name: str
    request: SessionRunRequest
    parent_close: str = CANCEL


class SwarmRow(Struct, frozen=True, kw_only=True):
    """How one task stands.

    Attributes:
        number: Its place in the task file, from 1.
        status: `waiting`, `running`, or as the session ended (`completed`, `aborted`, `expired`, `conflict`, `cancelled`,
            `failed`).
        attempts: Loops back, of all reasons.
        base_sha: The commit it worked on.
    """

    number: int
    name: str
    session_id: SessionId
    base_sha: CommitSha
    status: str = WAITING
    reason: str = ""
    detail: str = ""
    branch: str | None = None
    head_sha: CommitSha | None = None
    files: tuple[FilePath, ...] = ()
    attempts: int = 0


class SwarmRequest(Struct, frozen=True, kw_only=True):
    """Everything a swarm needs.

    Attributes:
        sessions: Those that have not ended yet, in the order of the task file.
        limit: How many run at once.
        ended: Rows of the sessions that ended before the run continued as new.
        continue_after: Sessions after which it does, so that no history grows without bound.
    """

    swarm_id: str
    repository: str
    sessions: tuple[SwarmSession, ...]
    limit: int = DEFAULT_LIMIT
    task_queue: str = "session"
    patience: Patience = Patience()
    ended: tuple[SwarmRow, ...] = ()
    continue_after: int = 200


class SwarmState(Struct, frozen=True, kw_only=True):
    """A snapshot. `phase`: `running`, `merging` or `closed`."""

    phase: str
    rows: tuple[SwarmRow, ...]


class SwarmBranch(Struct, frozen=True, kw_only=True):
    """What a session of a swarm has pushed: the commit, and the files in which it leaves its base."""

    session_id: SessionId
    base_sha: CommitSha
    head_sha: CommitSha
    files: tuple[FilePath, ...]


class BranchClash(Struct, frozen=True, kw_only=True):
    """Two branches that do not merge with one another, and the files in which they do not."""

    sessions: tuple[SessionId, SessionId]
    files: tuple[FilePath, ...]


class SwarmConflict(Struct, frozen=True, kw_only=True):
    """A file that branches of these sessions change in ways that do not merge, in merge order; reported once."""

    file: FilePath
    sessions: tuple[SessionId, ...]


class SwarmOutcome(Struct, frozen=True, kw_only=True):
    """How a swarm ended.

    Attributes:
        status: `completed` (each session, and their branches merge), `conflicts` (each session, but branches do not merge
            with one another), `partial`, `failed` (no session completed), or how its run was ended (`cancelled`,
            `terminated`; `failed` with the fault in `detail`).
        merge_order: Completed sessions; what others import comes first.
        detail: What went wrong with the swarm itself.
    """

    swarm_id: str
    status: str
    rows: tuple[SwarmRow, ...] = ()
    merge_order: tuple[SessionId, ...] = ()
    conflicts: tuple[SwarmConflict, ...] = ()
    detail: str = ""


def swarm_workflow_id(swarm_id: str) -> str:
    """The id of the run that drives a swarm."""
    return f"swarm/{swarm_id}"


def status_of(rows: tuple[SwarmRow, ...], conflicts: tuple[SwarmConflict, ...]) -> str:
    """A swarm's status from those of its sessions."""
    completed = sum(row.status == COMPLETED for row in rows)
    if completed == len(rows):
        return "conflicts" if conflicts else COMPLETED
    return "partial" if completed else "failed"


def conflicts_of(clashes: tuple[BranchClash, ...], order: tuple[SessionId, ...]) -> tuple[SwarmConflict, ...]:
    """Clashes of pairs as one conflict a file and group of sessions that clash with one another, directly or in a chain.

    Args:
        order: All sessions, in merge order; conflicts and their sessions come in it.
    """
    place: Mapping[SessionId, int] = {session: number for number, session in enumerate(order)}
    groups: dict[FilePath, list[set[SessionId]]] = {}
    for clash in clashes:
        for file in clash.files:
            pair = set(clash.sessions)
            apart = []
            for group in groups.get(file, []):
                if group & pair:
                    pair |= group
                else:
                    apart.append(group)
            groups[file] = [*apart, pair]
    found = [
        SwarmConflict(file=file, sessions=tuple(sorted(group, key=place.__getitem__)))
        for file, of_file in groups.items()
        for group in of_file
    ]
    return tuple(sorted(found, key=lambda one: (place[one.sessions[0]], one.file)))
