"""Which branches of a swarm can clash at all: those that touch the same lines of the same base.

A trial merge of each two of n branches costs n(n-1)/2 processes of git. But a merge of three texts fails only where changes of
both sides overlap or touch (Khanna, Kunal, Pierce: "A formal investigation of diff3", 2007), so the lines that each branch
changes, read once a branch, leave few pairs to try. The lines are those of the very comparison that git's merge makes
(histogram, no indentation heuristic), with a line of context: where a change may lie one line higher or lower, or touches
another, the context overlaps. Whatever has no such lines (a file that is added, deleted, binary, of another mode or with a
merge driver, branches of different bases) counts as touched as a whole.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from subprocess import CompletedProcess

from msgspec import Struct

from smp.domain.ids import CommitSha, FilePath
from smp.domain.swarms import SwarmBranch

Git = Callable[..., "CompletedProcess[bytes]"]
"""A command of git with `check`, `stdin`."""

_SAME_AS_MERGE = ("--diff-algorithm=histogram", "--no-indent-heuristic", "--inter-hunk-context=0", "-U1")
_PLAIN = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--raw", "-p", "-z")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? ")
_END = 1 << 62


class Touched(Struct, frozen=True, kw_only=True):
    """What a branch does to one file.

    Attributes:
        base: The commit that the lines are counted in.
        becomes: The file's mode and blob in the branch; two branches that make the same of it do not clash.
        lines: First and last line of each change with its context, in order; `WHOLE` where there are no lines to go by.
    """

    base: CommitSha
    becomes: bytes
    lines: tuple[tuple[int, int], ...]


WHOLE = ((0, _END),)


def touched(git: Git, branch: SwarmBranch, whole: frozenset[FilePath]) -> dict[FilePath, Touched]:
    """What a branch changes, by file: one process of git.

    Args:
        whole: Files whose merges are not decided by lines.
    """
    said = git("diff-tree", "-r", *_PLAIN, *_SAME_AS_MERGE, branch.base_sha, branch.head_sha, "--").stdout
    raw, _, patch = said.partition(b"\0\0")
    fields = raw.rstrip(b"\0").split(b"\0") if raw else []
    # Lines of a hunk begin with a sign, so only a patch's own first line begins like this.
    parts = [part for part in re.split(rb"(?m)^(?=diff --git )", patch) if part]
    known = len(parts) == len(fields) // 2  # a changed type is two patches of one file
    found = {}
    for number, (meta, name) in enumerate(zip(fields[0::2], fields[1::2], strict=True)):
        before, after, _, blob, status = meta.lstrip(b":").split(b" ")
        file = FilePath(os.fsdecode(name))
        by_lines = known and status == b"M" and before == after and file not in whole
        found[file] = Touched(
            base=branch.base_sha,
            becomes=after + b" " + blob,
            lines=(_lines(parts[number]) if by_lines else ()) or WHOLE,
        )
    return found


def not_by_lines(git: Git, files: Sequence[FilePath]) -> frozenset[FilePath]:
    """Files that git merges in another way than line by line: a merge driver, `binary`, `-merge`, or a default of the user's."""
    if not files:
        return frozenset()
    if git("config", "--get", "merge.default", check=False).returncode == 0:
        return frozenset(files)
    names = b"".join(os.fsencode(file) + b"\0" for file in files)
    fields = git("check-attr", "-z", "--stdin", "merge", stdin=names).stdout.split(b"\0")
    rows = zip(fields[0::3], fields[2::3], strict=False)
    return frozenset(FilePath(os.fsdecode(name)) for name, value in rows if value not in (b"unspecified", b"set"))


def candidates(changes: Sequence[dict[FilePath, Touched]]) -> Iterator[tuple[int, int, tuple[FilePath, ...]]]:
    """Pairs of branches that may clash, in order, with the files in which they may.

    A sweep over the lines of each file: n log n and one step a pair that overlaps.
    """
    pairs: dict[tuple[int, int], set[FilePath]] = {}
    by_file: dict[FilePath, list[tuple[int, Touched]]] = {}
    for index, files in enumerate(changes):
        for file, change in files.items():
            by_file.setdefault(file, []).append((index, change))
    for file, rows in by_file.items():
        for pair in _overlapping(rows):
            pairs.setdefault(pair, set()).add(file)
    for one, other in sorted(pairs):
        yield one, other, tuple(sorted(pairs[one, other]))


class Groups:
    """Branches that clash in a file, directly or in a chain: a pair that is already in one group says nothing new."""

    def __init__(self) -> None:
        self._parent: dict[tuple[FilePath, int], tuple[FilePath, int]] = {}

    def joined(self, one: int, other: int, files: Sequence[FilePath]) -> bool:
        """Whether both are in one group in each of the files."""
        return all(self._root((file, one)) == self._root((file, other)) for file in files)

    def join(self, one: int, other: int, files: Sequence[FilePath]) -> None:
        """They clash in these files."""
        for file in files:
            self._parent[self._root((file, one))] = self._root((file, other))

    def _root(self, at: tuple[FilePath, int]) -> tuple[FilePath, int]:
        while (up := self._parent.get(at, at)) != at:
            self._parent[at] = self._parent.get(up, up)
            at = up
        return at


def _lines(patch: bytes) -> tuple[tuple[int, int], ...]:
    found = []
    for line in re.findall(rb"(?m)^@@ -[^\n]*", patch):
        hunk = _HUNK.match(line)
        if hunk is None:
            return ()
        first, count = int(hunk[1]), int(hunk[2] or 1)
        found.append((first, first + max(count - 1, 0)))
    return tuple(found)


def _overlapping(rows: Sequence[tuple[int, Touched]]) -> Iterator[tuple[int, int]]:
    """Pairs of indices, the smaller one first."""
    spans = [(first, last, index, change) for index, change in rows for first, last in change.lines]
    spans.sort(key=lambda span: span[:3])
    open_spans: list[tuple[int, int, Touched]] = []
    for first, last, index, change in spans:
        open_spans = [span for span in open_spans if span[0] >= first]
        for _, other, theirs in open_spans:
            if other != index and theirs.becomes != change.becomes:
                yield min(index, other), max(index, other)
        open_spans.append((last, index, change))
    yield from _of_other_bases(rows)


def _of_other_bases(rows: Sequence[tuple[int, Touched]]) -> Iterator[tuple[int, int]]:
    """Lines of two bases cannot be compared."""
    if len({change.base for _, change in rows}) > 1:
        for (one, mine), (other, theirs) in itertools.combinations(rows, 2):
            if mine.base != theirs.base:
                yield one, other
