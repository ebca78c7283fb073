"""Records of what was done and learned (spec/records.md), and the edges between them (spec/record-graph.txt).

Times are RFC 3339 texts in UTC that end in `Z`, as they are written; `instant` makes them sort.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

EdgeType = Literal[
    "touched", "produced", "resolved_by", "derived_from", "parent_of",
    "depends_on", "caused_by", "supersedes", "contradicts", "relates_to",
]  # fmt: skip
"""The vocabulary. Backfill writes the first five."""

Direction = Literal["in", "out", "either"]

RuleStatus = Literal["proposed", "accepted", "rejected"]


def instant(at: str) -> str:
    """What sorts as the times do, also where one of them has a fraction of a second and the other has none."""
    return at.removesuffix("Z")


class FailureNote(Struct, frozen=True, kw_only=True):
    """A failure that a session met.

    Attributes:
        fingerprint: `fp_` and hexadecimal digits; equal for equal class, tool, language and salient message.
        class_: A word such as `gate_tests` or `dryrun_breaking`.
        resolved_by: A rule's id, `retry`, `human`; None while nothing has resolved it.
        resolution: The kind of change after which it was gone (`test_change`, `source_change` …); empty: none.
    """

    fingerprint: str
    class_: str = msgspec.field(name="class", default="")
    tool: str = ""
    language: str = ""
    message: str = ""
    resolved_by: str | None = None
    resolution: str = ""


class Episode(Struct, frozen=True, kw_only=True):
    """One session that has ended. The last four fields are for people; the graph does not read them."""

    id: str
    run_id: str | None = None
    files_changed: tuple[str, ...] = ()
    failures: tuple[FailureNote, ...] = ()
    at: str
    session_id: str = ""
    agent_id: str = ""
    task: str = ""
    status: str = ""


class Fact(Struct, frozen=True, kw_only=True):
    """Something distilled from sources (ids of episodes, runs and facts)."""

    id: str
    kind: str = ""
    sources: tuple[str, ...]
    text: str = ""
    at: str


class Rule(Struct, frozen=True, kw_only=True):
    """A repair that has proved itself.

    Attributes:
        evidence: Ids of the episodes in which it did. fingerprints: Failure classes that it repairs.
        seeded: Shipped with the product.
        status: A proposed rule resolves nothing until somebody accepts it.
        resolution: The kind of change that it stands for. text: The same for people.
    """

    id: str
    evidence: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    seeded: bool = False
    at: str
    status: RuleStatus = "accepted"
    resolution: str = ""
    text: str = ""


class RecordEdge(Struct, frozen=True, kw_only=True):
    """One typed, directed, dated link; a pointer between two records, never a payload. The order of fields is that of a line."""

    id: str
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    type: str
    at: str
    confidence: float = 1.0
    run_id: str | None = None
    note: str | None = None


class KnownAboutFile(Struct, frozen=True, kw_only=True):
    """What broke in a file before, and what fixed it. Ids are bare, lists sorted.

    Attributes:
        fixed_by: Fingerprint → rules that resolved it; one that is absent has never been fixed by a rule.
        seen_counts: Fingerprint → in how many episodes of this file it was met.
    """

    episodes: tuple[str, ...]
    failures: tuple[str, ...]
    file: str
    fixed_by: dict[str, tuple[str, ...]]
    node: str
    rules: tuple[str, ...]
    seen_counts: dict[str, int]


class Hop(Struct, frozen=True, kw_only=True):
    """A step of a walk; `forward` is False where the edge was followed against its direction."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    type: str
    forward: bool


class WalkedPath(Struct, frozen=True, kw_only=True):
    """A node that a walk reached, by the first shortest path."""

    depth: int
    node: str
    hops: tuple[Hop, ...]
