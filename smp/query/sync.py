"""Two views of the same files by their hashes: the server's Merkle tree, and what a client says it has."""

from __future__ import annotations

from collections.abc import Mapping

from smp.domain.errors import NodeNotFound
from smp.domain.graph import Scope
from smp.domain.ids import ContentHash, FilePath, mint_node_id
from smp.domain.merkle import MerkleLeaf, MerkleTree
from smp.domain.queries import MissingFile, StaleFile, SyncDiff
from smp.indexing.merkle import leaves
from smp.ports.telemetry_store import TelemetryStore

DELETED = "deleted"
_FILE_ID_KINDS = ("file", "config")


def narrow(tree: MerkleTree, scope: Scope) -> MerkleTree:
    """The part of a tree that leads to a scope; hashes stay those of the whole.

    Raises:
        NodeNotFound: Nothing lies there.
    """
    return tree if scope.kind == "full" else _narrow(tree, scope.prefix.split("/"), scope)


def compare(
    tree: MerkleTree, telemetry: TelemetryStore, *, client_root_hash: str, client: Mapping[FilePath, str]
) -> SyncDiff:
    """What has to move in which direction for client and server to agree.

    Args:
        client_root_hash: May be a prefix of at least 8 digits, like each hash of `client`.
        client: Path → hash. An empty map with an equal root asks for nothing but that comparison.
    """
    server = leaves(tree)
    same_root = tree.hash.startswith(client_root_hash)
    if same_root and not client:
        return SyncDiff(server_root_hash=tree.hash, in_sync=True, unchanged=len(server))
    deleted = _deleted(telemetry, sorted(client.keys() - server.keys()))
    stale = [
        StaleFile(file=file, client_hash=digest, server_hash=server.get(file))
        for file, digest in sorted(client.items())
        if file not in deleted and not server.get(file, ContentHash("")).startswith(digest)
    ]
    missing = [MissingFile(file=file, server_hash=server[file]) for file in sorted(server.keys() - client.keys())]
    return SyncDiff(
        server_root_hash=tree.hash,
        in_sync=same_root and not (stale or missing or deleted),
        stale_on_server=tuple(stale),
        missing_on_client=tuple(missing),
        deleted_on_server=tuple(sorted(deleted)),
        unchanged=sum(server.get(file, ContentHash("")).startswith(digest) for file, digest in client.items()),
    )


def _narrow(tree: MerkleTree, parts: list[str], scope: Scope) -> MerkleTree:
    name, *rest = parts
    child = tree.children.get(name)
    if child is None or (rest and isinstance(child, MerkleLeaf)):
        raise NodeNotFound(f"{scope.kind}:{scope.prefix}")
    if rest and isinstance(child, MerkleTree):
        child = _narrow(child, rest, scope)
    return MerkleTree(hash=tree.hash, children={name: child})


def _deleted(telemetry: TelemetryStore, unknown: list[FilePath]) -> frozenset[FilePath]:
    """Of files that the server does not have, those it has seen and deleted."""
    ids = {mint_node_id(kind, file): file for file in unknown for kind in _FILE_ID_KINDS}
    last = telemetry.last(sorted(ids)) if ids else {}
    return frozenset(ids[node_id] for node_id, change in last.items() if change.event == DELETED)
