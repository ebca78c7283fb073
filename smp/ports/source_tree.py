"""The files of a repository: at a commit, or as they lie in the working tree."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import NamedTuple

from msgspec import Struct

from smp.domain.ids import CommitSha, ContentHash, FilePath


class SourceFile(Struct, frozen=True, kw_only=True):
    """Bytes of a file and their SHA-256."""

    path: FilePath
    content: bytes
    hash: ContentHash


class SkippedFile(Struct, frozen=True, kw_only=True):
    """A file that is listed but not read.

    Attributes:
        path: Of a name that is no UTF-8, its odd bytes are written out (`\\xff`).
        reason: `binary`, `too_large`, `generated`, `link_outside`, `link_loop`, `link_broken` (leads nowhere), `link_folder`,
            `not_a_file` (a pipe, a device), `repository` (a submodule or another one inside), `unreadable` (its
            permissions), `too_deep` (folders within folders) or `name_not_utf8`; what git ignores is never listed.
    """

    path: FilePath
    reason: str


class Listing(Struct, frozen=True, kw_only=True):
    """files: path → content hash, of every file that is indexed. skipped: sorted by path."""

    files: dict[FilePath, ContentHash]
    skipped: tuple[SkippedFile, ...] = ()


class Hunk(NamedTuple):
    """Lines `old_start` … of a file were replaced by `new_start` …, as in a diff without context; a length may be 0."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class CommitInfo(Struct, frozen=True, kw_only=True):
    """One commit of the history.

    Attributes:
        files: Those it changed, sorted.
        hunks: Where, in order; files whose text it did not change (binary, mode) are left out.
    """

    sha: CommitSha
    at: str
    author: str
    files: tuple[FilePath, ...]
    hunks: dict[FilePath, tuple[Hunk, ...]] = {}


class SourceTree(abc.ABC):
    @abc.abstractmethod
    def head(self) -> CommitSha | None:
        """The commit checked out; None before the first commit.

        Raises:
            Invalid: The folder is no git repository; the message says how to make one.
        """

    @abc.abstractmethod
    def resolve(self, revision: str) -> CommitSha:
        """Full hash of a commit given by (abbreviated) hash.

        Raises:
            Invalid: No such commit (`path` = `commit_sha`).
        """

    @abc.abstractmethod
    def dirty(self, listing: Listing | None = None) -> tuple[FilePath, ...]:
        """Files of the working tree that differ from the commit checked out, or are in one of the two alone; sorted.

        Ignored files are left out, and so is what is never indexed.

        Args:
            listing: What `list` has just said: the tree is then not looked at once more.
        """

    @abc.abstractmethod
    def list(self, known: dict[FilePath, ContentHash] | None = None) -> Listing:
        """All files of the working tree that ignore rules (at every level, of git) do not exclude.

        Hashes are computed from content; an implementation may reuse earlier ones while size, mtime_ns and inode are
        unchanged and the file was not written within the granularity of the clock.
        """

    @abc.abstractmethod
    def list_below(self, paths: Iterable[FilePath]) -> Listing:
        """As `list`, of these files and of everything below those of the paths that are folders; costs no more than that."""

    @abc.abstractmethod
    def read(self, paths: Iterable[FilePath]) -> tuple[SourceFile, ...]:
        """Files of the working tree; those that do not exist (any more) are left out.

        Raises:
            Invalid: A path leaves the repository.
        """

    @abc.abstractmethod
    def read_at(self, commit: CommitSha, paths: Iterable[FilePath]) -> tuple[SourceFile, ...]:
        """Files as they were at a commit; missing ones are left out."""

    @abc.abstractmethod
    def history(self, *, since_days: int) -> tuple[CommitInfo, ...]:
        """Commits of the last days that HEAD reaches, newest first, at most 10,000; merges left out."""

    @abc.abstractmethod
    def watch(self, on_change: Callable[[frozenset[FilePath]], None]) -> AbstractContextManager[None]:
        """Call back from another thread with paths that changed on disk, debounced, until the context ends.

        An empty set says that another commit is checked out, or the branch has moved.
        """
