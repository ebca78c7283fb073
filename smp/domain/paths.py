"""Repository paths as callers write them: normalised, or refused before anything is read.

Purely lexical: whether a path leads out of the repository by a symbolic link is for whoever opens it to check.
"""

from __future__ import annotations

import posixpath
import re

from smp.domain.errors import Invalid
from smp.domain.ids import FilePath

_PRIVATE = frozenset({".git", ".smp"})
"""Folders of git and of this platform: never indexed, never written through the protocol."""


MAX_FOLDERS = 200
"""Folders within folders: hash trees and answers nest as deep. A path of 4,096 characters could have two thousand."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def repository_path(text: str, *, path: str) -> FilePath:
    """A repository-relative POSIX path.

    Args:
        text: As the caller wrote it. A trailing `/` (a directory prefix) is kept.
        path: Name of the parameter, for the error.

    Raises:
        Invalid: It is absolute, a URL, leaves the repository, lies in `.git` or `.smp`, or too deep.
    """
    if not text or "\x00" in text:
        raise Invalid("a path must be non-empty text without NUL; give it relative to the repository", path=path)
    if len(text) > 4096:
        raise Invalid("a path is at most 4096 characters", path=path)
    if text.startswith("/") or _URL.match(text):
        raise Invalid(f"{text!r} is not relative to the repository; write it like src/module.py", path=path)
    normal = posixpath.normpath(text)
    if normal.count("/") > MAX_FOLDERS:
        raise Invalid(f"a path leads through at most {MAX_FOLDERS} folders", path=path)
    first = normal.split("/", 1)[0]
    if first == ".." or normal == ".":
        raise Invalid(f"{text!r} does not lie inside the repository; write it like src/module.py", path=path)
    if any(part.lower() in _PRIVATE for part in normal.split("/")):
        raise Invalid(f"{text!r} belongs to git or to this platform; name a file of the project", path=path)
    return FilePath(normal + "/" if text.endswith("/") else normal)


def covers(scope: tuple[FilePath, ...], file: FilePath) -> bool:
    """Whether a declared scope holds a file: by name, or under a prefix that ends in `/`."""
    return any(file == entry or (entry.endswith("/") and file.startswith(entry)) for entry in scope)
