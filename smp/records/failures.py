"""What failed in a session, and after what kind of change it was gone: read from its audit, its commands and its verdicts.

A failure *class* is told by its tool, language and salient message: the message without what changes from one time to the next
(names in quotes, numbers, addresses, paths). Nothing is guessed: a failure that nothing resolved has no `resolved_by`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from smp.domain.ids import FilePath
from smp.domain.mutants import IntegrityReport
from smp.domain.records import FailureNote
from smp.domain.sandboxes import ExecutionRecord
from smp.domain.sessions import AuditEvent
from smp.languages.registry import language_of
from smp.records.reading import MAX_FAILURES, MAX_MESSAGE

_VOLATILE = (
    (re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`"), "…"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{7,64}\b"), "#"),
    (re.compile(r"(?:[\w.@~-]*/)+[\w.@~-]+"), "…"),
    (re.compile(r"\b\w+\.\w+(?:\.\w+)*\b"), "…"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "#"),
    (re.compile(r"\s+"), " "),
)
_COMPLAINT = re.compile(r"error|exception|failed|failure|panic|traceback|assert", re.IGNORECASE)
_SALIENT = 300
_TEST_PATH = re.compile(r"(^|/)(tests?|specs?|__tests__)/|(^|/)test_|[._]test\.|[._]spec\.|_test\.|Tests?\.\w+$")
_STEPS = frozenset({"smp/guard/check", "smp/dryrun", "smp/checkpoint", "smp/update", "smp/batch_update", "FILE_WRITE"})
"""Events whose files say what an attempt is about."""


class Trial(Struct, frozen=True, kw_only=True):
    """One try of something that can fail.

    Attributes:
        subject: What was tried: trials of one tool and subject are tries of the same thing.
        message: What it said when it failed; None for a success.
        by_hand: A person settled it.
    """

    at: datetime
    class_: str
    tool: str
    subject: str
    language: str = ""
    message: str | None = None
    by_hand: bool = False


def salient(message: str) -> str:
    """A message without its volatile parts."""
    text = message.strip()
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text.strip()[:_SALIENT]


def fingerprint(class_: str, tool: str, language: str, message: str) -> str:
    """The failure class of a failure: `fp_` and 16 hexadecimal digits."""
    body = "\0".join((class_, tool, language, salient(message)))
    return "fp_" + hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def trials_of(
    events: Iterable[AuditEvent], executions: Iterable[ExecutionRecord], reports: Iterable[IntegrityReport]
) -> list[Trial]:
    """Everything that a session tried, in order of time."""
    found = [trial for event in events for trial in _of_event(event)]
    for record in executions:
        found += _of_execution(record)
    found += [
        Trial(
            at=report.verified_at,
            class_="gate_integrity",
            tool="verify",
            subject=report.target_file,
            language=_language(report.target_file),
            message=report.failure_code,
        )
        for report in reports
        if not report.nothing_to_judge
    ]
    return sorted(found, key=lambda trial: (trial.at, trial.tool, trial.subject))


def failures_of(trials: Sequence[Trial], events: Sequence[AuditEvent]) -> tuple[FailureNote, ...]:
    """Each failure class that was met, once, with what resolved it."""
    notes: dict[str, FailureNote] = {}
    for position, trial in enumerate(trials):
        if trial.message is None:
            continue
        mark = fingerprint(trial.class_, trial.tool, trial.language, trial.message)
        known = notes.get(mark)
        if known is not None and known.resolved_by is None:
            continue  # one of the class was never resolved: so the class was not
        later = (t for t in trials[position + 1 :] if (t.tool, t.subject) == (trial.tool, trial.subject))
        success = next((t for t in later if t.message is None), None)
        notes[mark] = FailureNote(
            fingerprint=mark,
            class_=trial.class_,
            tool=trial.tool,
            language=trial.language,
            message=trial.message[:MAX_MESSAGE],
            resolved_by=None if success is None else "human" if success.by_hand else "retry",
            resolution="" if success is None else _kind_of_change(events, trial.at, success),
        )
    return tuple(notes.values())[:MAX_FAILURES]


def _kind_of_change(events: Sequence[AuditEvent], failed: datetime, success: Trial) -> str:
    """What the attempt that succeeded was about: tests, sources, both, or nothing at all."""
    if success.by_hand:
        return ""
    files: set[str] = set()
    for event in events:
        # Steps of one attempt follow each other; those of the attempt that succeeded may come just behind the success.
        if event.at > failed and event.method in _STEPS:
            if event.at > success.at and event.method != "smp/guard/check":
                break
            files.update(event.files or ((event.target,) if event.target else ()))
    tests = {file for file in files if _TEST_PATH.search(file)}
    if not files:
        return "retry"
    if not tests:
        return "source_change"
    return "test_change" if tests == files else "source_and_test_change"


def _of_event(event: AuditEvent) -> Iterable[Trial]:
    target = event.target or (event.files[0] if event.files else "")
    language = _language(target)
    if event.method == "smp/guard/check":
        bad = {"red_alert": "guard_red_alert", "blocked": "guard_blocked"}.get(event.result or "")
        message = None if bad is None else event.cause or event.result
        yield Trial(at=event.at, class_=bad or "", tool="guard", subject=target, language=language, message=message)
    elif event.method == "smp/dryrun":
        subject = ",".join(event.files)
        message = event.cause or event.result if event.result == "breaking" else None
        yield Trial(
            at=event.at, class_="dryrun_breaking", tool="dryrun", subject=subject, language=language, message=message
        )
    elif event.method in ("SCOPE_VIOLATION", "SEQUENCE_VIOLATION"):
        word = event.method.lower()
        said = f"{word} in {event.detail}"
        yield Trial(at=event.at, class_=word, tool="session", subject=target, language=language, message=said)
    elif event.method == "smp/verify/mark_equivalent":
        subject = event.files[0] if event.files else ""
        yield Trial(at=event.at, class_="gate_integrity", tool="verify", subject=subject, by_hand=True)


def _of_execution(record: ExecutionRecord) -> Iterable[Trial]:
    done = record.execution
    message = None
    if done.timed_out:
        message = "stopped at its time limit"
    elif done.memory_killed:
        message = "killed at its memory limit"
    elif done.exit_code != 0:
        message = _complaint(done.stdout + "\n" + done.stderr) or f"exit code {done.exit_code}"
    yield Trial(at=record.started_at, class_="gate_tests", tool="execute", subject=record.command, message=message)
    for block in done.network_blocks:
        said = f"connection to {block.host} port {block.port} refused"
        yield Trial(
            at=record.started_at,
            class_="network_blocked",
            tool="execute",
            subject=f"{block.host}:{block.port}",
            message=said,
        )


def _complaint(output: str) -> str:
    """The line of a command's output that says what was wrong: the last that sounds like it, else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    sounding = [line for line in lines if _COMPLAINT.search(line)]
    return (sounding or lines or [""])[-1]


def _language(path: str) -> str:
    found = language_of(FilePath(path)) if path else None
    return found.name if found is not None else ""
