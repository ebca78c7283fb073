"""Merkle comparison with a client."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.errors import NodeNotFound
from smp.domain.graph import Scope
from smp.domain.ids import ContentHash, FilePath, NodeId
from smp.domain.telemetry import NodeChange
from smp.indexing.merkle import build_tree, leaves
from smp.query.sync import compare, narrow

GraphOf = Callable[[str], MemoryStore]
FILES = {FilePath(path): ContentHash(sha256(path.encode()).hexdigest()) for path in ("a/b/x.py", "a/y.py", "z.toml")}
TREE = build_tree(FILES)


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


def test_a_scope_keeps_the_way_to_it_and_the_hashes_of_the_whole() -> None:
    part = narrow(TREE, Scope(kind="package", prefix="a/b"))
    assert leaves(part) == {"a/b/x.py": FILES[FilePath("a/b/x.py")]}
    assert part.hash == TREE.hash
    assert leaves(narrow(TREE, Scope(kind="file", prefix="z.toml"))) == {"z.toml": FILES[FilePath("z.toml")]}


@pytest.mark.parametrize("prefix", ["no", "a/no", "z.toml/x"])
def test_a_scope_without_files_is_not_found(prefix: str) -> None:
    with pytest.raises(NodeNotFound):
        narrow(TREE, Scope(kind="package", prefix=prefix))
