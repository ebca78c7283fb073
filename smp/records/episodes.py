"""A session that has ended → its episode."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC

import msgspec
from msgspec.structs import replace

from smp.domain.ids import FilePath, SessionId
from smp.domain.mutants import IntegrityReport
from smp.domain.records import Episode, FailureNote, Rule
from smp.domain.sandboxes import ExecutionRecord
from smp.domain.sessions import AuditEvent, Session
from smp.ports.artifact_store import EXECUTION, VERIFY, ArtifactStore
from smp.records.failures import failures_of, trials_of
from smp.records.reading import MAX_FILES, MAX_RECORD_BYTES

_RUN_DRIVER = re.compile(r"session/.+/([A-Za-z0-9_-]{1,64})(?:~.*)?")
MAX_TASK = 500


def episode_id(session_id: SessionId) -> str:
    """The id of a session's episode: a session has one, however often it is written."""
    return "ep_" + hashlib.sha256(session_id.encode()).hexdigest()[:16]


def episode_of(
    session: Session,
    events: Sequence[AuditEvent],
    artifacts: ArtifactStore,
    *,
    written: Sequence[FilePath],
    rules: Sequence[Rule],
) -> Episode:
    """What there is to remember of a session.

    Args:
        written: Files that it changed.
        rules: All rules; an accepted one is named where it did its work.
    """
    executions = [
        msgspec.json.decode(body, type=ExecutionRecord) for _, body in artifacts.list(EXECUTION, session_id=session.id)
    ]
    reports = [
        msgspec.json.decode(body, type=IntegrityReport) for _, body in artifacts.list(VERIFY, session_id=session.id)
    ]
    run = _RUN_DRIVER.fullmatch(session.driver)
    ended = session.closed_at or events[-1].at
    return fitting(
        Episode(
            id=episode_id(session.id),
            run_id=f"run-{run.group(1)}" if run else None,
            files_changed=tuple(written[:MAX_FILES]),
            failures=tuple(_named(note, rules) for note in failures_of(trials_of(events, executions, reports), events)),
            at=ended.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            session_id=session.id,
            agent_id=session.agent_id,
            task=session.task[:MAX_TASK],
            status=session.status.value,
        )
    )


def fitting(episode: Episode) -> Episode:
    """The episode with as many of its files and messages as a record may hold."""
    while len(msgspec.json.encode(episode)) > MAX_RECORD_BYTES:
        shorter = tuple(replace(note, message=note.message[: len(note.message) // 2]) for note in episode.failures)
        files = episode.files_changed
        episode = replace(
            episode,
            failures=shorter,
            files_changed=files[: max(1, len(files) // 2)] if shorter == episode.failures else files,
        )
    return episode


def _named(note: FailureNote, rules: Sequence[Rule]) -> FailureNote:
    """The failure, its repair named by the accepted rule that stands for it."""
    if note.resolved_by != "retry":
        return note
    for rule in rules:
        if rule.status == "accepted" and note.fingerprint in rule.fingerprints and rule.resolution == note.resolution:
            return replace(note, resolved_by=rule.id)
    return note
