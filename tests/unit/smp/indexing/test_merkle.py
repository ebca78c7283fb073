"""The hash tree: its definition, and the difference of two."""

from __future__ import annotations

import hashlib

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smp.domain.ids import ContentHash, FilePath
from smp.domain.merkle import MerkleDiff, MerkleLeaf, MerkleTree
from smp.indexing.merkle import build_tree, change_leaves, diff_trees, leaves, subtree

NAMES = st.sampled_from(["a", "b.py", "ä", "Z", "a-b"])
# files lie two or three folders deep below distinct folder names, so that no file is another one's folder
PATHS = st.builds(lambda top, sub, name: FilePath(f"d{top}/s{sub}/{name}"), NAMES, NAMES, NAMES)
HASHES = st.integers(0, 3).map(lambda n: ContentHash(hashlib.sha256(str(n).encode()).hexdigest()))
FILES = st.dictionaries(PATHS, HASHES, max_size=12)
calm = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
"""Making an example takes as long as a busy machine lets it."""


def sha(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def test_the_root_is_computed_as_defined() -> None:
    one, two = sha(b"1"), sha(b"2")
    tree = build_tree({FilePath("src/b.py"): ContentHash(two), FilePath("a.py"): ContentHash(one)})
    inner = sha(f"b.py\0{two}\n".encode())
    assert tree.hash == sha(f"a.py\0{one}\nsrc\0{inner}\n".encode())


def test_names_are_sorted_by_their_bytes() -> None:
    one = ContentHash(sha(b"1"))
    tree = build_tree({FilePath(name): one for name in ("b", "Z", "ä", "a")})
    assert list(tree.children) == ["Z", "a", "b", "ä"]


def test_no_files_have_the_hash_of_nothing() -> None:
    assert build_tree({}).hash == sha(b"")


def test_parts_are_found_by_path() -> None:
    one = ContentHash(sha(b"1"))
    tree = build_tree({FilePath("src/a.py"): one}, {FilePath("src/a.py"): 4})
    assert subtree(tree, "") is tree
    assert isinstance(subtree(tree, "src"), MerkleTree)
    assert subtree(tree, "src/a.py") == MerkleLeaf(hash=one, node_count=4)
    assert subtree(tree, "src/a.py/x") is subtree(tree, "no") is None


@calm
@given(FILES)
def test_leaves_are_the_files_and_order_does_not_matter(files: dict[FilePath, ContentHash]) -> None:
    tree = build_tree(files)
    assert leaves(tree) == files
    assert build_tree(dict(reversed(files.items()))) == tree
    assert diff_trees(tree, tree) == MerkleDiff(unchanged=len(files))


@calm
@given(FILES, FILES)
def test_a_tree_that_is_changed_is_the_tree_of_the_files_after(
    before: dict[FilePath, ContentHash], after: dict[FilePath, ContentHash]
) -> None:
    changes: dict[FilePath, MerkleLeaf | None] = dict.fromkeys(before.keys() - after.keys())
    changes |= {path: MerkleLeaf(hash=digest) for path, digest in after.items() if before.get(path) != digest}
    changed = change_leaves(build_tree(before), changes)
    assert changed == build_tree(after)
    assert list(leaves(changed)) == list(leaves(build_tree(after)))


def test_a_file_may_become_a_folder_and_a_folder_a_file() -> None:
    one = ContentHash(sha(b"1"))
    file, folder = {FilePath("a"): one}, {FilePath("a/b/c"): one}
    inner = change_leaves(build_tree(file), {FilePath("a"): None, FilePath("a/b/c"): MerkleLeaf(hash=one)})
    assert inner == build_tree(folder)
    assert change_leaves(inner, {FilePath("a/b/c"): None, FilePath("a"): MerkleLeaf(hash=one)}) == build_tree(file)


@calm
@given(FILES, FILES)
def test_a_difference_names_exactly_what_differs(
    old: dict[FilePath, ContentHash], new: dict[FilePath, ContentHash]
) -> None:
    difference = diff_trees(build_tree(old), build_tree(new))
    assert set(difference.added) == new.keys() - old.keys()
    assert set(difference.removed) == old.keys() - new.keys()
    assert set(difference.changed) == {path for path in old.keys() & new.keys() if old[path] != new[path]}
    assert difference.unchanged == len([path for path in new if old.get(path) == new[path]])
    assert (build_tree(old).hash == build_tree(new).hash) == (old == new)


def test_a_file_that_becomes_a_folder_is_removed_and_added() -> None:
    one = ContentHash(sha(b"1"))
    old, new = build_tree({FilePath("a"): one}), build_tree({FilePath("a/b"): one})
    assert diff_trees(old, new) == MerkleDiff(added=(FilePath("a/b"),), removed=(FilePath("a"),))
