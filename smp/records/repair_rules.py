"""Repair rules: when the same failure class was resolved by the same kind of change three times, a rule is proposed.

A proposal is a record with its evidence, for a person or an agent to accept or reject; nothing is generated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from smp.domain.records import Episode, FailureNote, Rule
from smp.records.reading import MAX_SOURCES

NEEDED = 3
"""Episodes that make a rule."""
_WORDS = {
    "test_change": "change its tests",
    "source_change": "change the source again, not its tests",
    "source_and_test_change": "change the source together with its tests",
}
"""Kinds of change that can be a rule, in words; doing the same thing again is none."""


def rule_id(fingerprint: str, resolution: str) -> str:
    """The id of the rule for a failure class and a kind of change."""
    return "rule_" + hashlib.sha256(f"{fingerprint}\0{resolution}".encode()).hexdigest()[:12]


def proposals(episodes: Sequence[Episode], rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules that the episodes give reason for and that nobody has judged yet, in the order in which they came up."""
    evidence: dict[tuple[str, str], list[tuple[Episode, FailureNote]]] = {}
    for episode in episodes:
        for note in episode.failures:
            if note.resolved_by and note.resolution in _WORDS:
                evidence.setdefault((note.fingerprint, note.resolution), []).append((episode, note))
    known = {rule.id for rule in rules}
    found = []
    for (mark, resolution), seen in evidence.items():
        identity = rule_id(mark, resolution)
        if len(seen) < NEEDED or identity in known:
            continue
        note = seen[0][1]
        found.append(
            Rule(
                id=identity,
                evidence=tuple(episode.id for episode, _ in seen[:MAX_SOURCES]),
                fingerprints=(mark,),
                at=seen[NEEDED - 1][0].at,
                status="proposed",
                resolution=resolution,
                text=f"after {note.class_} ({note.tool}: {note.message[:200]}): {_WORDS[resolution]}",
            )
        )
    return tuple(found)
