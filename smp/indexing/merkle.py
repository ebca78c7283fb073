"""The hash tree over the indexed files: build it, find a part of it, diff two. Definition: `domain.merkle`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from smp.domain.ids import ContentHash, FilePath
from smp.domain.merkle import MerkleDiff, MerkleLeaf, MerkleTree


def build_tree(files: Mapping[FilePath, ContentHash], node_counts: Mapping[FilePath, int] | None = None) -> MerkleTree:
    """The tree of these files.

    Args:
        files: Path → SHA-256 of the content.
        node_counts: Nodes of each file, for display; not part of any hash.

    Returns:
        The top level; its hash is the root. No files: the SHA-256 of nothing.
    """
    top: dict[str, object] = {}
    for path in files:
        *folders, name = path.split("/")
        level = top
        for folder in folders:
            below = level.setdefault(folder, {})
            assert isinstance(below, dict), f"{path!r} lies under a file"
            level = below
        level[name] = path
    return _directory(top, files, node_counts or {})


def change_leaves(tree: MerkleTree, changes: Mapping[FilePath, MerkleLeaf | None]) -> MerkleTree:
    """The tree with some files put, replaced, or (None) taken away; only folders above them are hashed anew.

    Raises:
        AssertionError: A path lies under a file.
    """
    # What goes goes first: a file may have become a folder, or a folder a file.
    without = _changed(tree, dict.fromkeys(path for path, leaf in changes.items() if leaf is None))
    return _changed(without, {path: leaf for path, leaf in changes.items() if leaf is not None})


def _changed(tree: MerkleTree, changes: Mapping[FilePath, MerkleLeaf | None]) -> MerkleTree:
    if not changes:
        return tree
    below: dict[str, dict[FilePath, MerkleLeaf | None]] = {}
    children = dict(tree.children)
    for path, leaf in changes.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[FilePath(rest)] = leaf
        elif leaf is not None:
            children[name] = leaf
        else:
            children.pop(name, None)
    for name, inner in below.items():
        folder = children.get(name, _EMPTY)
        assert isinstance(folder, MerkleTree), f"{name!r} is a file"
        changed = _changed(folder, inner)
        if changed.children:
            children[name] = changed
        else:
            children.pop(name, None)
    if children.keys() != tree.children.keys():
        children = dict(sorted(children.items(), key=lambda item: item[0].encode()))
    return folder_of(children)


def folder_of(children: dict[str, MerkleTree | MerkleLeaf]) -> MerkleTree:
    """The directory of these children, which are in byte order."""
    return MerkleTree(
        hash=inner_hash({name: child.hash for name, child in children.items()}),
        children=children,
        file_count=sum(child.file_count if isinstance(child, MerkleTree) else 1 for child in children.values()),
    )


def inner_hash(children: Mapping[str, ContentHash]) -> ContentHash:
    """The hash of a directory: SHA-256 over `name NUL hexdigest NEWLINE`, sorted by the bytes of the names."""
    digest = hashlib.sha256()
    for name in sorted(children, key=lambda name: name.encode()):
        digest.update(name.encode() + b"\0" + children[name].encode() + b"\n")
    return ContentHash(digest.hexdigest())


_EMPTY = MerkleTree(hash=inner_hash({}), children={})


def leaves(tree: MerkleTree, prefix: str = "") -> dict[FilePath, ContentHash]:
    """Path → hash of every file under a tree, in the order of the tree."""
    found: dict[FilePath, ContentHash] = {}
    for name, child in tree.children.items():
        if isinstance(child, MerkleTree):
            found |= leaves(child, f"{prefix}{name}/")
        else:
            found[FilePath(prefix + name)] = child.hash
    return found


def subtree(tree: MerkleTree, path: str) -> MerkleTree | MerkleLeaf | None:
    """The directory or file at a path; the tree itself for an empty path, None where nothing is."""
    at: MerkleTree | MerkleLeaf | None = tree
    for name in path.split("/") if path else ():
        at = at.children.get(name) if isinstance(at, MerkleTree) else None
    return at


def diff_trees(old: MerkleTree, new: MerkleTree) -> MerkleDiff:
    """What differs; subtrees of equal hash are not entered."""
    changes: dict[str, list[FilePath]] = {"added": [], "changed": [], "removed": []}
    _compare(old, new, "", changes)
    differing = len(changes["added"]) + len(changes["changed"])
    return MerkleDiff(
        added=tuple(sorted(changes["added"])),
        changed=tuple(sorted(changes["changed"])),
        removed=tuple(sorted(changes["removed"])),
        unchanged=new.file_count - differing,
    )


def _directory(
    level: Mapping[str, object], files: Mapping[FilePath, ContentHash], counts: Mapping[FilePath, int]
) -> MerkleTree:
    children: dict[str, MerkleTree | MerkleLeaf] = {}
    for name in sorted(level, key=lambda name: name.encode()):
        entry = level[name]
        if isinstance(entry, dict):
            children[name] = _directory(entry, files, counts)
        else:
            path = FilePath(str(entry))
            children[name] = MerkleLeaf(hash=files[path], node_count=counts.get(path, 0))
    return folder_of(children)


def _compare(old: MerkleTree, new: MerkleTree, prefix: str, changes: dict[str, list[FilePath]]) -> None:
    if old.hash == new.hash:
        return
    for name in {*old.children, *new.children}:
        before, after = old.children.get(name), new.children.get(name)
        path = prefix + name
        if isinstance(before, MerkleTree) and isinstance(after, MerkleTree):
            _compare(before, after, path + "/", changes)
        elif isinstance(before, MerkleLeaf) and isinstance(after, MerkleLeaf):
            if before.hash != after.hash:
                changes["changed"].append(FilePath(path))
        else:
            changes["removed"] += _paths(before, path)
            changes["added"] += _paths(after, path)


def _paths(entry: MerkleTree | MerkleLeaf | None, path: str) -> list[FilePath]:
    if entry is None:
        return []
    return [FilePath(path)] if isinstance(entry, MerkleLeaf) else list(leaves(entry, path + "/"))
