"""Constrained types that several method groups share on the wire (conformance/methods.json, `$defs`)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

NodeRef = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        pattern=r"^[^\x00]+$",
        description="A node id, a file path, path#qualname, or a bare (qualified) name where that is unique.",
    ),
]
Path = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        pattern=r"^[^\x00]+$",
        description="Repository-relative POSIX path inside the repository.",
    ),
]
ScopeText = Annotated[
    str, Meta(pattern=r"^(full|(package|file):[^\x00]+)$", description="full, package:<path> or file:<path>")
]
SessionRef = Annotated[str, Meta(min_length=1, max_length=200, description="The id that smp/session/open returned.")]
AnyRef = Annotated[str, Meta(min_length=1, max_length=200)]
Commit = Annotated[str, Meta(pattern=r"^[0-9a-f]{7,64}$", description="A commit hash, abbreviated or full.")]
HashPrefix = Annotated[str, Meta(pattern=r"^[0-9a-f]{8,64}$")]
Tag = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(min_length=1)]
QueryText = Annotated[str, Meta(min_length=1, max_length=4096)]
TopK = Annotated[int, Meta(ge=1, le=1000)]
Risk = Literal["low", "medium", "high"]
SafetyLevelName = Literal["standard", "elevated"]


class Params(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all parameter structs: unknown fields are refused."""


class IndexStateResult(Struct, frozen=True, kw_only=True):
    """What an answer was made from.

    commit: checked out when the index was brought up to date. dirty: files that differ from it, the answer is of their
    present text. stale: files that have changed since they were indexed; what the answer says of them is of before. Of
    both lists the first hundred are named, the counts are of all.
    """

    commit: str | None
    dirty: tuple[str, ...]
    stale: tuple[str, ...]
    dirty_count: int
    stale_count: int


class Result(Struct, frozen=True, kw_only=True):
    """Base of all result structs. index_state: added to every answer when it leaves."""

    index_state: IndexStateResult | UnsetType = UNSET


class KnownResult(Result, frozen=True, kw_only=True):
    """What earlier sessions met in this file. fixed_by: failure class → rules that resolved it; seen_counts: in how many episodes."""

    episodes: tuple[str, ...]
    failures: tuple[str, ...]
    file: str
    fixed_by: dict[str, tuple[str, ...]]
    node: str
    rules: tuple[str, ...]
    seen_counts: dict[str, int]
