"""What a change leaves in the index cache beside the graph: hashes, analyses, digests, the hash tree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import msgspec

from smp.domain.ids import FilePath, NodeId
from smp.domain.merkle import MerkleLeaf, MerkleTree
from smp.domain.metadata import Enrichment
from smp.indexing.enrich import enrich_nodes
from smp.indexing.merkle import build_tree, change_leaves
from smp.indexing.records import ANALYSIS, LINK_DIGEST, NODE_COUNT, encode_analysis, save_link_state
from smp.indexing.staging import Staged
from smp.ports.index_cache import IndexCache
from smp.ports.metadata_store import MetadataStore

FILES_AT_ONCE = 200


def keep_staged(cache: IndexCache, staged: Staged, *, state: bytes | None) -> None:
    """Write what the next change starts from; part of the transaction that is open.

    Args:
        state: Of the link before, as it is stored.
    """
    cache.put_file_hashes({path: one.hash for path, one in staged.analysed.items()}, staged.removed)
    read = iter(staged.analysed.items())
    while some := list(islice(read, FILES_AT_ONCE)):
        cache.put_blobs(
            ANALYSIS,
            {path: encode_analysis(msgspec.structs.replace(one.analysis, edges=one.edges)) for path, one in some},
        )
    cache.put_blobs(NODE_COUNT, {p: str(one.node_count).encode() for p, one in staged.analysed.items()})
    cache.put_blobs(LINK_DIGEST, {str(path): digest for path, digest in staged.digests.items()})
    if staged.memory.state != state:
        save_link_state(cache, staged.memory.state)
    for kind in (ANALYSIS, NODE_COUNT, LINK_DIGEST):
        cache.drop_blobs(kind, staged.removed)


def enrich_staged(metadata: MetadataStore, staged: Staged, carried: Mapping[NodeId, Enrichment], *, at: str) -> None:
    """Write the enrichments of the nodes that were read, some files at a time.

    Args:
        carried: Of nodes that were moved; they are written in any case.
        at: RFC 3339 time that new rows carry.
    """
    if carried:
        metadata.put_enrichments(dict(carried))
    read = iter(staged.analysed.values())
    while some := list(islice(read, FILES_AT_ONCE)):
        nodes = [node for one in some for node in one.nodes]
        known = metadata.enrichments(node.id for node in nodes)
        own = {node.id: carried[node.id] for node in nodes if node.id in carried}
        metadata.put_enrichments(enrich_nodes(nodes, own | known, at=at))


def tree_after(cache: IndexCache, staged: Staged, before: MerkleTree | None) -> MerkleTree:
    """The hash tree after a change, with node counts; to be asked for when `keep_staged` has been called.

    Args:
        before: The tree that the change is one of; None where it is not known, then everything is read.
    """
    if before is None:
        files = staged.memory.files
        stored = cache.blobs(NODE_COUNT, files)
        return build_tree(files, {FilePath(path): int(number) for path, number in stored.items()})
    changes: dict[FilePath, MerkleLeaf | None] = dict.fromkeys(staged.removed)
    for path, one in staged.analysed.items():
        changes[path] = MerkleLeaf(hash=one.hash, node_count=one.node_count)
    return change_leaves(before, changes)
