"""What of the working tree is not what is indexed: of all of it, or below some paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from smp.domain.ids import ContentHash, FilePath
from smp.indexing.records import Pushed
from smp.indexing.requests import Target, target_of
from smp.ports.source_tree import Listing

MAX_PATHS = 500
"""More paths than these are not asked for one by one."""
_RULES = (".gitignore", ".gitattributes", ".gitmodules")
"""Files that decide on others."""


class Difference(NamedTuple):
    """target: what the index should hold, of the part that was looked at. changed: files to be read. gone: files to be dropped.
    overtaken: pushed content that no longer stands."""

    target: Target
    changed: list[FilePath]
    gone: list[FilePath]
    overtaken: dict[FilePath, Pushed | None]


def difference(
    listing: Listing,
    pushes: Mapping[FilePath, Pushed],
    indexed: Mapping[FilePath, ContentHash],
    *,
    known: Iterable[FilePath],
    anew: frozenset[FilePath] = frozenset(),
) -> Difference:
    """Compare a listing with what is indexed.

    Args:
        indexed: Hashes that stand; none of an index that is to be made anew.
        known: Files of which anything is stored, among those that the listing is of.
        anew: Files to be read whatever their hash.
    """
    target = target_of(listing, pushes)
    changed = [path for path, digest in target.files.items() if indexed.get(path) != digest or path in anew]
    gone = [path for path in known if path not in target.files]
    return Difference(target, changed, gone, dict.fromkeys(target.overtaken))


def concern_all(paths: frozenset[FilePath]) -> bool:
    """Whether paths are so many, or such, that the whole tree is to be looked at."""
    return len(paths) > MAX_PATHS or any(path.rpartition("/")[2] in _RULES for path in paths)


def difference_below(
    paths: frozenset[FilePath],
    listing: Listing,
    pushes: Mapping[FilePath, Pushed],
    indexed: Mapping[FilePath, ContentHash],
) -> Difference:
    """As `difference`, of these files and of everything below those of the paths that are folders, or were.

    Args:
        listing: Of exactly these paths. pushes, indexed: Of the whole repository.
    """
    known = [path for path in paths if path in indexed]
    folders = tuple(f"{path}/" for path in paths if path not in indexed)
    if folders:
        known += [path for path in indexed if path.startswith(folders)]
    concerned = {path: pushed for path, pushed in pushes.items() if path in paths or path.startswith(folders)}
    return difference(listing, concerned, indexed, known=sorted(set(known)))
