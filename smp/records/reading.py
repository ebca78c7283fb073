"""Records as they lie on disk → structs. A damaged one is left out with a warning; it never stops what reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from smp.domain.errors import Unavailable
from smp.domain.records import Episode, Fact, FailureNote, Rule
from smp.ports.record_files import RecordFile, RecordFiles

MAX_RECORD_BYTES = 64 * 1024
MAX_FILES, MAX_FAILURES, MAX_SOURCES = 1000, 100, 100
MAX_MESSAGE, MAX_TEXT = 2000, 4000
_TAIL = r"[A-Za-z0-9_-]"
_EPISODE = re.compile(rf"ep_{_TAIL}{{4,64}}")
_RUN = re.compile(rf"run-{_TAIL}{{1,64}}")
_TIME = re.compile(r"(\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(?:\.\d{1,9})?)(?:Z|[+-]00:00)")
_FINGERPRINT = re.compile(rf"fp_{_TAIL}{{4,64}}")

R = TypeVar("R", Episode, Fact, Rule)


class Records(Struct, frozen=True, kw_only=True):
    """All records of a repository, each kind in the order of its file, and what could not be read."""

    episodes: tuple[Episode, ...] = ()
    facts: tuple[Fact, ...] = ()
    rules: tuple[Rule, ...] = ()
    warnings: tuple[str, ...] = ()


class _Wrong(Exception):
    """Why a record is left out, in words."""


def read_records(files: RecordFiles) -> Records:
    """Everything that is on record."""
    warnings: list[str] = []
    return Records(
        episodes=_lines(files, RecordFile.EPISODES, _episode, warnings),
        facts=_lines(files, RecordFile.FACTS, _fact, warnings),
        rules=read_rules(files, warnings),
        warnings=tuple(warnings),
    )


def read_rules(files: RecordFiles, warnings: list[str]) -> tuple[Rule, ...]:
    """All rules; what is wrong with some is added to `warnings`."""
    body = _body(files, RecordFile.RULES, warnings)
    if body is None:
        return ()
    try:
        listed = msgspec.json.decode(body)
        rules = listed["rules"]
        if not isinstance(rules, list):
            raise TypeError
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError, KeyError, RecursionError):
        warnings.append(f"{RecordFile.RULES.value}: not an object with a list of rules; left out")
        return ()
    found: dict[str, Rule] = {}
    for position, raw in enumerate(rules):
        try:
            rule = _rule(raw)
        except _Wrong as why:
            warnings.append(f"{RecordFile.RULES.value}: rules[{position}]: {why}; skipped")
        else:
            found.pop(rule.id, None)
            found[rule.id] = rule
    return tuple(found.values())


def _lines(files: RecordFiles, file: RecordFile, parse: Callable[[object], R], warnings: list[str]) -> tuple[R, ...]:
    found: dict[str, R] = {}
    for number, line in enumerate((_body(files, file, warnings) or b"").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            if len(line) > MAX_RECORD_BYTES:
                raise _Wrong(f"longer than {MAX_RECORD_BYTES} bytes")
            record = parse(_decoded(line))
        except _Wrong as why:
            warnings.append(f"{file.value}:{number}: {why}; skipped")
        else:
            found.pop(record.id, None)  # a record seen again takes its later place
            found[record.id] = record
    return tuple(found.values())


def _body(files: RecordFiles, file: RecordFile, warnings: list[str]) -> bytes | None:
    try:
        return files.read(file)
    except Unavailable as error:
        warnings.append(error.message)
        return None


def _decoded(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _Wrong("not JSON") from error


def _object(raw: object) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise _Wrong("not a JSON object")
    return raw


def _required(raw: dict[str, Any], key: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str) or not value:
        raise _Wrong(f"no {key}")
    return value


def _time(raw: dict[str, Any]) -> str:
    at = _required(raw, "at")
    found = _TIME.fullmatch(at)
    if found is None:
        raise _Wrong(f"at is {at[:40]!r}, no time like 2025-02-15T10:00:00Z")
    return f"{found[1]}Z"


def _texts(raw: dict[str, Any], key: str, bound: int) -> tuple[str, ...]:
    values = raw.get(key)
    if values is None:
        return ()
    if not isinstance(values, list):
        raise _Wrong(f"{key} is not a list")
    return tuple(value for value in values[:bound] if isinstance(value, str))


def _word(raw: dict[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _episode(value: object) -> Episode:
    raw = _object(value)
    identity = _required(raw, "id")
    if _EPISODE.fullmatch(identity) is None:
        raise _Wrong(f"{identity[:80]!r} is no id of an episode")
    run = raw.get("run_id")
    failures = raw.get("failures")
    if failures is not None and not isinstance(failures, list):
        raise _Wrong("failures is not a list")
    return Episode(
        id=identity,
        at=_time(raw),
        run_id=run if isinstance(run, str) and _RUN.fullmatch(run) else None,
        files_changed=_texts(raw, "files_changed", MAX_FILES),
        failures=tuple(
            note for note in map(_failure, (failures or [])[:MAX_FAILURES]) if _FINGERPRINT.fullmatch(note.fingerprint)
        ),
        session_id=_word(raw, "session_id"),
        agent_id=_word(raw, "agent_id"),
        task=_word(raw, "task"),
        status=_word(raw, "status"),
    )


def _failure(value: object) -> FailureNote:
    raw = value if isinstance(value, dict) else {}
    return FailureNote(
        fingerprint=_word(raw, "fingerprint"),
        class_=_word(raw, "class"),
        tool=_word(raw, "tool"),
        language=_word(raw, "language"),
        message=_word(raw, "message")[:MAX_MESSAGE],
        resolved_by=_word(raw, "resolved_by") or None,
        resolution=_word(raw, "resolution"),
    )


def _fact(value: object) -> Fact:
    raw = _object(value)
    if not isinstance(raw.get("sources"), list):
        raise _Wrong("no sources")
    return Fact(
        id=_required(raw, "id"),
        at=_time(raw),
        kind=_word(raw, "kind"),
        sources=_texts(raw, "sources", MAX_SOURCES),
        text=_word(raw, "text")[:MAX_TEXT],
    )


def _rule(value: object) -> Rule:
    raw = _object(value)
    status = raw.get("status")
    return Rule(
        id=_required(raw, "id"),
        at=_time(raw),
        evidence=_texts(raw, "evidence", MAX_SOURCES),
        fingerprints=_texts(raw, "fingerprints", MAX_SOURCES),
        seeded=raw.get("seeded") is True,
        status=status if status in ("proposed", "rejected") else "accepted",
        resolution=_word(raw, "resolution"),
        text=_word(raw, "text")[:MAX_TEXT],
    )
