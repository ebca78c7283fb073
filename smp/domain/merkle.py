"""A hash tree over the files of a repository, and the difference of two.

A leaf is the SHA-256 of a file's content; an inner hash is SHA-256 over `name NUL hexdigest NEWLINE` of the children,
sorted by the bytes of their names (conformance decision 9). The root is the inner hash of the top level.
"""

from __future__ import annotations

from msgspec import Struct

from smp.domain.ids import ContentHash, FilePath


class MerkleLeaf(Struct, frozen=True, kw_only=True, tag="file"):
    """A file."""

    hash: ContentHash
    node_count: int = 0


class MerkleTree(Struct, frozen=True, kw_only=True, tag="directory"):
    """A directory; `children` by name, in byte order. file_count: of all files below."""

    hash: ContentHash
    children: dict[str, MerkleTree | MerkleLeaf]
    file_count: int = 0


class MerkleDiff(Struct, frozen=True, kw_only=True):
    """What differs from `old` to `new`; each tuple sorted."""

    added: tuple[FilePath, ...] = ()
    changed: tuple[FilePath, ...] = ()
    removed: tuple[FilePath, ...] = ()
    unchanged: int = 0
