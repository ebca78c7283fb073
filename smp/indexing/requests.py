"""What a client asks to be indexed: checked, spelled in one way, and held against the disk."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from smp.domain.errors import Invalid, TooLarge
from smp.domain.ids import ContentHash, FilePath
from smp.indexing.records import Pushed
from smp.indexing.reports import FileChange
from smp.ports.source_tree import Listing, SourceFile

CHANGE_TYPES = ("created", "modified", "deleted")


class Target(NamedTuple):
    """What the index should hold: hashes of every file, and pushed content that has been overtaken by the disk."""

    files: dict[FilePath, ContentHash]
    pushed: dict[FilePath, Pushed]
    overtaken: tuple[FilePath, ...]


def content_hash(content: bytes) -> ContentHash:
    """SHA-256 in hexadecimal."""
    return ContentHash(hashlib.sha256(content).hexdigest())


def validate(changes: Iterable[FileChange], *, max_file_bytes: int) -> dict[FilePath, FileChange]:
    """The changes by the one spelling of their path; a later change of a file replaces an earlier one.

    Raises:
        Invalid: A path is no file's inside the repository, or a change type is unknown.
        TooLarge: Content beyond `max_file_bytes`.
    """
    wanted: dict[FilePath, FileChange] = {}
    for position, change in enumerate(changes):
        where = f"changes[{position}].file_path"
        if change.change_type not in CHANGE_TYPES:
            raise Invalid(
                f"change_type must be created, modified or deleted, not {change.change_type!r}",
                path=f"changes[{position}].change_type",
            )
        size = len(change.content or b"")
        if size > max_file_bytes:
            raise TooLarge(
                f"{change.path!r} has {size} bytes, more than index.max_file_bytes; such files are not indexed",
                limit=max_file_bytes,
                size=size,
            )
        wanted[_normal(change.path, where)] = change
    return wanted


def target_of(listing: Listing, pushes: Mapping[FilePath, Pushed]) -> Target:
    """The working tree with pushed content in it, as far as that still stands."""
    files = dict(listing.files)
    standing: dict[FilePath, Pushed] = {}
    overtaken: list[FilePath] = []
    for path, pushed in pushes.items():
        if listing.files.get(path) != pushed.disk:
            overtaken.append(path)
            continue
        standing[path] = pushed
        if pushed.content is None:
            files.pop(path, None)
        else:
            files[path] = content_hash(pushed.content)
    return Target(files=dict(sorted(files.items())), pushed=standing, overtaken=tuple(overtaken))


def resolve(
    wanted: Mapping[FilePath, FileChange],
    listing: Listing,
    *,
    disk: Mapping[FilePath, SourceFile],
    indexed: Mapping[FilePath, ContentHash],
) -> tuple[dict[FilePath, bytes | None], dict[FilePath, Pushed | None]]:
    """The content each file will have, and what must be remembered as pushed (None: nothing any more).

    Args:
        disk: Those of the files that lie on disk, listed or not.
        indexed: Hashes of the indexed files.

    Raises:
        Invalid: A file to be read from disk is not there or excluded, or a path runs through a file.
    """
    contents: dict[FilePath, bytes | None] = {}
    pushes: dict[FilePath, Pushed | None] = {}
    for path, change in wanted.items():
        listed = listing.files.get(path)
        if change.change_type == "deleted":
            contents[path] = None
            pushes[path] = Pushed(content=None, disk=listed) if listed is not None else None
        elif change.content is not None:
            _refuse_nesting(path, indexed)
            contents[path] = change.content
            same = listed == content_hash(change.content)
            pushes[path] = None if same else Pushed(content=change.content, disk=listed)
        elif listed is None or path not in disk:
            reasons = {one.path: one.reason for one in listing.skipped}
            why = reasons.get(path, "ignored" if path in disk else "not on disk")
            raise Invalid(
                f"{path!r} cannot be indexed from disk ({why}); send its content, or change_type deleted",
                path="file_path",
            )
        else:
            contents[path] = disk[path].content
            pushes[path] = None
    return contents, pushes


def _normal(path: str, where: str) -> FilePath:
    """One spelling per file: relative to the root, forward slashes, no `.` and no `..`."""
    plain = posixpath.normpath(path.replace("\\", "/"))
    if not path or "\0" in path or plain.startswith(("/", "../")) or plain in (".", ".."):
        raise Invalid(f"{path!r} is not a file inside the repository; give a path relative to its root", path=where)
    if plain.split("/")[0] in (".git", ".smp"):
        raise Invalid(f"{path!r} belongs to git or to the platform itself and is never indexed", path=where)
    return FilePath(plain)


def _refuse_nesting(path: FilePath, indexed: Mapping[FilePath, ContentHash]) -> None:
    above = path.split("/")[:-1]
    for depth in range(1, len(above) + 1):
        folder = FilePath("/".join(above[:depth]))
        if folder in indexed:
            raise Invalid(f"{path!r} lies under {folder!r}, which is a file", path="file_path")
    if any(other.startswith(path + "/") for other in indexed):
        raise Invalid(f"{path!r} is a folder; name a file", path="file_path")
