"""Two views of the same files by their hashes: the server's Merkle tree, and what a client says it has.

The work is proportional to what the client names and to what differs: a folder that the client names with the hash that the
server has for it is not entered. A client finds out in as many rounds as the tree is deep: it names what lies at the top,
then what lies in the folders that came back as stale.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from smp.domain.errors import NodeNotFound
from smp.domain.graph import Scope
from smp.domain.ids import FilePath, mint_node_id
from smp.domain.merkle import MerkleLeaf, MerkleTree
from smp.domain.queries import MissingFile, StaleFile, SyncDiff
from smp.ports.telemetry_store import TelemetryStore

DELETED = "deleted"
_FILE_ID_KINDS = ("file", "config")


def narrow(tree: MerkleTree, scope: Scope) -> MerkleTree:
    """The part of a tree that leads to a scope; hashes stay those of the whole.

    Raises:
        NodeNotFound: Nothing lies there.
    """
    if scope.kind == "full":
        return tree
    way: list[tuple[MerkleTree, str]] = []
    at: MerkleTree | MerkleLeaf | None = tree
    for name in scope.prefix.split("/"):
        if not isinstance(at, MerkleTree) or name not in at.children:
            raise NodeNotFound(f"{scope.kind}:{scope.prefix}")
        way.append((at, name))
        at = at.children[name]
    assert at is not None
    for folder, name in reversed(way):
        at = MerkleTree(hash=folder.hash, children={name: at}, file_count=_count(at))
    assert isinstance(at, MerkleTree)
    return at


class _Named(Struct):
    """What a client says of one name in a folder: of the file, of the folder, of what lies in the folder."""

    file: str | None = None
    folder: str | None = None
    below: dict[str, _Named] = {}


class _Found(Struct):
    """What the comparison has come to so far. unknown: files that the server does not have, with the client's hash."""

    stale: list[StaleFile] = []
    missing: list[MissingFile] = []
    unknown: dict[FilePath, str] = {}
    unchanged: int = 0


def compare(
    tree: MerkleTree, telemetry: TelemetryStore, *, client_root_hash: str, client: Mapping[FilePath, str]
) -> SyncDiff:
    """What has to move in which direction for client and server to agree.

    Args:
        client_root_hash: May be a prefix of at least 8 digits, like each hash of `client`.
        client: Path → hash; of a folder where the path ends with a slash. A folder of another hash, nothing in which is
            named, is stale as a whole: the client is to say what is in it. An empty map with an equal root asks for nothing
            but that comparison.
    """
    same_root = tree.hash.startswith(client_root_hash)
    if same_root and not client:
        return SyncDiff(server_root_hash=tree.hash, in_sync=True, unchanged=tree.file_count)
    found = _Found()
    waiting = [(tree, _named(client), "")]
    while waiting:
        folder, named, prefix = waiting.pop()
        for name, entry in folder.children.items():
            deeper = _meet(entry, named.pop(name, _Named()), FilePath(prefix + name), found)
            if deeper is not None:
                waiting.append((*deeper, f"{prefix}{name}/"))
        _only_there(named, prefix, found)
    deleted = _deleted(telemetry, sorted(found.unknown))
    found.stale += (
        StaleFile(file=file, client_hash=digest, server_hash=None)
        for file, digest in found.unknown.items()
        if file not in deleted
    )
    return SyncDiff(
        server_root_hash=tree.hash,
        in_sync=same_root and not (found.stale or found.missing or deleted),
        stale_on_server=tuple(sorted(found.stale, key=lambda one: one.file)),
        missing_on_client=tuple(sorted(found.missing, key=lambda one: one.file)),
        deleted_on_server=tuple(sorted(deleted)),
        unchanged=found.unchanged,
    )


def _named(client: Mapping[FilePath, str]) -> dict[str, _Named]:
    top: dict[str, _Named] = {}
    for path, digest in client.items():
        *folders, name = path.rstrip("/").split("/")
        level = top
        for folder in folders:
            level = level.setdefault(folder, _Named()).below
        entry = level.setdefault(name, _Named())
        if path.endswith("/"):
            entry.folder = digest
        else:
            entry.file = digest
    return top


def _meet(
    entry: MerkleTree | MerkleLeaf, named: _Named, path: FilePath, found: _Found
) -> tuple[MerkleTree, dict[str, _Named]] | None:
    """Compare what the server has under a name with what the client says of it; returns what is to be entered."""
    if isinstance(entry, MerkleLeaf):
        if named.file is None:
            found.missing.append(MissingFile(file=path, server_hash=entry.hash))
        elif entry.hash.startswith(named.file):
            found.unchanged += 1
        else:
            found.stale.append(StaleFile(file=path, client_hash=named.file, server_hash=entry.hash))
        _only_there({path: _Named(folder=named.folder, below=named.below)}, "", found)
        return None
    if named.file is not None:
        found.unknown[path] = named.file
    if named.folder is not None and entry.hash.startswith(named.folder):
        found.unchanged += entry.file_count
        return None
    if named.folder is not None and not named.below:
        found.stale.append(StaleFile(file=FilePath(path + "/"), client_hash=named.folder, server_hash=entry.hash))
        return None
    return entry, named.below


def _only_there(named: Mapping[str, _Named], prefix: str, found: _Found) -> None:
    """What only the client has: its files, and folders in which it names nothing."""
    waiting = [(f"{prefix}{name}", entry) for name, entry in named.items()]
    while waiting:
        path, entry = waiting.pop()
        if entry.file is not None:
            found.unknown[FilePath(path)] = entry.file
        if entry.folder is not None and not entry.below:
            found.stale.append(StaleFile(file=FilePath(path + "/"), client_hash=entry.folder, server_hash=None))
        waiting += ((f"{path}/{name}", below) for name, below in entry.below.items())


def _count(entry: MerkleTree | MerkleLeaf) -> int:
    return entry.file_count if isinstance(entry, MerkleTree) else 1


def _deleted(telemetry: TelemetryStore, unknown: list[FilePath]) -> frozenset[FilePath]:
    """Of files that the server does not have, those it has seen and deleted."""
    ids = {mint_node_id(kind, file): file for file in unknown for kind in _FILE_ID_KINDS}
    last = telemetry.last(sorted(ids)) if ids else {}
    return frozenset(ids[node_id] for node_id, change in last.items() if change.event == DELETED)
