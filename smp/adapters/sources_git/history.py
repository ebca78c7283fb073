"""Reading `git log -p -U0`: which commit changed which lines of which files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from smp.domain.ids import CommitSha, FilePath
from smp.ports.source_tree import CommitInfo, Hunk

COMMIT_FORMAT = "%x01%H%x00%cI%x00%an"
"""Begins a commit in the output; no line of a diff begins with this byte, they all begin with a sign."""
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def read_history(lines: Iterable[bytes]) -> Iterator[CommitInfo]:
    """Commits in the order of the output, read line by line; the text of the diffs is not kept."""
    commit: CommitInfo | None = None
    hunks: dict[FilePath, list[Hunk]] = {}
    names: list[FilePath] = []
    skip = 0
    for line in lines:
        if skip and line[:1] in (b"+", b"-"):
            skip -= 1
        elif line.startswith(b"\x01"):
            if commit is not None:
                yield _finished(commit, hunks)
            commit, hunks, names, skip = _begun(line), {}, [], 0
        elif line.startswith(b"diff --git "):
            names = _both(line)
            for name in names:
                hunks.setdefault(name, [])
        elif line.startswith((b"--- ", b"+++ ")):
            # said exactly, where the line above cannot be split; a new or deleted file has one side only
            side = _path(line[4:].rstrip(b"\n").rstrip(b"\t"))
            if side is not None:
                hunks.setdefault(side, [])
                names = [side]
        elif (found := _HUNK.match(line)) and names:
            old, old_count, new, new_count = found.groups()
            hunk = Hunk(int(old), int(old_count or 1), int(new), int(new_count or 1))
            hunks[names[0]].append(hunk)
            skip = hunk.old_lines + hunk.new_lines
    if commit is not None:
        yield _finished(commit, hunks)


def _begun(line: bytes) -> CommitInfo:
    sha, at, author = line[1:].rstrip(b"\n").split(b"\0", 2)
    return CommitInfo(
        sha=CommitSha(sha.decode("ascii")), at=at.decode("ascii"), author=author.decode("utf-8", "replace"), files=()
    )


def _finished(commit: CommitInfo, hunks: dict[FilePath, list[Hunk]]) -> CommitInfo:
    return CommitInfo(
        sha=commit.sha,
        at=commit.at,
        author=commit.author,
        files=tuple(sorted(hunks)),
        hunks={path: tuple(found) for path, found in sorted(hunks.items()) if found},
    )


def _both(line: bytes) -> list[FilePath]:
    """The file of a `diff --git a/X b/X` line; without renames both halves are the same name."""
    rest = line[len(b"diff --git ") :].rstrip(b"\n")
    half = (len(rest) - 1) // 2
    name = _path(rest[:half])
    return [name] if name is not None else []


def _path(text: bytes) -> FilePath | None:
    """The path in a header line; None for /dev/null and for names that are no UTF-8."""
    if text.startswith(b'"') and text.endswith(b'"'):
        text = text[1:-1].decode("latin-1").encode("latin-1").decode("unicode_escape").encode("latin-1")
    if not text.startswith((b"a/", b"b/")):
        return None
    name = os.fsdecode(text[2:])
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return FilePath(name)
