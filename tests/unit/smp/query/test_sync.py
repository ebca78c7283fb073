"""Merkle comparison with a client."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.errors import NodeNotFound
from smp.domain.graph import Scope
from smp.domain.ids import ContentHash, FilePath, NodeId
from smp.domain.merkle import MerkleLeaf, MerkleTree
from smp.domain.telemetry import NodeChange
from smp.indexing.merkle import build_tree, change_leaves, leaves, subtree
from smp.query.sync import compare, narrow

GraphOf = Callable[[str], MemoryStore]
FILES = {FilePath(path): ContentHash(sha256(path.encode()).hexdigest()) for path in ("a/b/x.py", "a/y.py", "z.toml")}
TREE = build_tree(FILES)


class Visited(dict[str, MerkleTree | MerkleLeaf]):
    """The children of a folder, which count how often somebody looks at them."""

    entered = 0

    def items(self) -> Any:
        Visited.entered += len(self)
        return super().items()


def counting(tree: MerkleTree) -> MerkleTree:
    """The same tree of counting folders."""
    children = {name: counting(one) if isinstance(one, MerkleTree) else one for name, one in tree.children.items()}
    return MerkleTree(hash=tree.hash, children=Visited(children), file_count=tree.file_count)


@pytest.fixture
def telemetry() -> MemoryStore:
    return MemoryStore()


def test_equal_trees_are_in_sync(telemetry: MemoryStore) -> None:
    found = compare(TREE, telemetry, client_root_hash=TREE.hash, client=dict(FILES))
    assert (found.in_sync, found.unchanged, found.stale_on_server, found.missing_on_client) == (True, 3, (), ())


def test_prefixes_of_hashes_are_enough(telemetry: MemoryStore) -> None:
    client = {path: digest[:8] for path, digest in FILES.items()}
    assert compare(TREE, telemetry, client_root_hash=TREE.hash[:12], client=client).in_sync


def test_an_equal_root_alone_is_in_sync(telemetry: MemoryStore) -> None:
    assert compare(TREE, telemetry, client_root_hash=TREE.hash, client={}).in_sync
    assert not compare(TREE, telemetry, client_root_hash="0" * 64, client={}).in_sync


def test_differences_are_sorted_by_direction(telemetry: MemoryStore) -> None:
    client = {FilePath("a/y.py"): "0" * 64, FilePath("new.py"): "1" * 64, FilePath("z.toml"): FILES[FilePath("z.toml")]}
    found = compare(TREE, telemetry, client_root_hash="2" * 64, client=client)
    assert [(item.file, item.server_hash) for item in found.stale_on_server] == [
        ("a/y.py", FILES[FilePath("a/y.py")]),
        ("new.py", None),
    ]
    assert [item.file for item in found.missing_on_client] == ["a/b/x.py"]
    assert (found.in_sync, found.unchanged) == (False, 1)


def test_a_file_that_the_server_deleted_is_told_from_one_it_never_saw(telemetry: MemoryStore) -> None:
    telemetry.record(
        [
            NodeChange(node_id=NodeId("file:old.py"), event="created", at="2026-01-01T00:00:00Z"),
            NodeChange(node_id=NodeId("file:old.py"), event="deleted", at="2026-01-02T00:00:00Z"),
        ]
    )
    client = dict(FILES) | {FilePath("old.py"): ContentHash("4" * 64), FilePath("new.py"): ContentHash("5" * 64)}
    found = compare(TREE, telemetry, client_root_hash="3" * 64, client=client)
    assert (found.deleted_on_server, [item.file for item in found.stale_on_server]) == (("old.py",), ["new.py"])


def test_only_folders_that_differ_are_entered(telemetry: MemoryStore) -> None:
    """A thousand files in ten folders of ten folders, of which one has changed: three rounds, thirty looks."""
    paths = [FilePath(f"{a}/{b}/{c}.py") for a in range(10) for b in range(10) for c in range(10)]
    server = build_tree({path: ContentHash(sha256(path.encode()).hexdigest()) for path in paths})
    client = change_leaves(server, {FilePath("4/2/7.py"): MerkleLeaf(hash=ContentHash("0" * 64))})
    counted, named, Visited.entered = counting(server), children_of(client, ""), 0
    rounds = []
    for _ in range(3):
        found = compare(counted, telemetry, client_root_hash=client.hash, client=named)
        rounds.append([one.file for one in found.stale_on_server])
        assert (found.missing_on_client, found.deleted_on_server, found.in_sync) == ((), (), False)
        stale = found.stale_on_server[0].file
        named = {key: digest for key, digest in named.items() if key != stale}
        named |= children_of(client, stale) if stale.endswith("/") else {stale: "0" * 64}
    assert (rounds, found.unchanged) == ([["4/"], ["4/2/"], ["4/2/7.py"]], 999)
    assert Visited.entered == 10 + 20 + 30


def children_of(tree: MerkleTree, prefix: str) -> dict[FilePath, str]:
    """What lies in a folder, as a client names it."""
    folder = subtree(tree, prefix.rstrip("/"))
    assert isinstance(folder, MerkleTree)
    return {
        FilePath(f"{prefix}{name}{'/' if isinstance(one, MerkleTree) else ''}"): one.hash
        for name, one in folder.children.items()
    }


def test_a_folder_of_one_side_alone_is_told_apart(telemetry: MemoryStore) -> None:
    client = {FilePath("a/"): subtree_hash("a"), FilePath("z.toml/"): "1" * 64, FilePath("new/"): "2" * 64}
    found = compare(TREE, telemetry, client_root_hash="3" * 64, client=client)
    assert [(one.file, one.server_hash) for one in found.stale_on_server] == [("new/", None), ("z.toml/", None)]
    assert ([one.file for one in found.missing_on_client], found.unchanged) == (["z.toml"], 2)


def test_a_file_in_the_place_of_a_folder_is_to_be_pushed_and_what_was_below_to_be_pulled(
    telemetry: MemoryStore,
) -> None:
    client = {
        FilePath("a/b"): "1" * 64,
        FilePath("a/y.py/x.py"): "2" * 64,
        FilePath("z.toml"): FILES[FilePath("z.toml")],
    }
    found = compare(TREE, telemetry, client_root_hash="3" * 64, client=client)
    assert [(one.file, one.server_hash) for one in found.stale_on_server] == [("a/b", None), ("a/y.py/x.py", None)]
    assert ([one.file for one in found.missing_on_client], found.unchanged) == (["a/b/x.py", "a/y.py"], 1)


def subtree_hash(path: str) -> str:
    found = subtree(TREE, path)
    assert found is not None
    return found.hash


def test_a_scope_keeps_the_way_to_it_and_the_hashes_of_the_whole() -> None:
    part = narrow(TREE, Scope(kind="package", prefix="a/b"))
    assert leaves(part) == {"a/b/x.py": FILES[FilePath("a/b/x.py")]}
    assert part.hash == TREE.hash
    assert leaves(narrow(TREE, Scope(kind="file", prefix="z.toml"))) == {"z.toml": FILES[FilePath("z.toml")]}


@pytest.mark.parametrize("prefix", ["no", "a/no", "z.toml/x"])
def test_a_scope_without_files_is_not_found(prefix: str) -> None:
    with pytest.raises(NodeNotFound):
        narrow(TREE, Scope(kind="package", prefix=prefix))
