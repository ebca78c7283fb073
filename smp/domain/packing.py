"""How the bodies of nodes, edges and enrichments are packed, in whatever store: msgpack, what is looked for apart."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from smp.domain.graph import Edge, EdgeKind, Node, Resolution, UnresolvedReason
from smp.domain.ids import CommitSha, FilePath, NodeId, SandboxId
from smp.domain.metadata import Enrichment

KINDS: tuple[EdgeKind, ...] = tuple(sorted(EdgeKind))
"""Edge kinds by their number in a store, in the order of their names; a change needs a new schema version."""


class EdgeBody(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    rename={
        "line": "l",
        "lines": "s",
        "resolution": "r",
        "via": "v",
        "import_source": "f",
        "candidates": "c",
        "to_name": "n",
        "reason": "e",
        "items": "i",
        "type_only": "t",
        "sandbox_id": "b",
        "first_seen": "d",
        "weight": "w",
    },
):
    """The fields of an edge that nobody searches by; keys are single letters because there are many edges."""

    line: int = 0
    lines: tuple[int, ...] = ()
    resolution: Resolution | None = None
    via: str | None = None
    import_source: FilePath | None = None
    candidates: tuple[NodeId, ...] = ()
    to_name: str | None = None
    reason: UnresolvedReason | None = None
    items: tuple[str, ...] = ()
    type_only: bool = False
    sandbox_id: SandboxId | None = None
    first_seen: str | None = None
    weight: float = 0.0


_encode = msgspec.msgpack.Encoder().encode
encode_node = _encode
decode_node = msgspec.msgpack.Decoder(Node).decode
encode_enrichment = _encode
decode_enrichment = msgspec.msgpack.Decoder(Enrichment).decode
_decode_body = msgspec.msgpack.Decoder(EdgeBody).decode


def encode_edge(edge: Edge) -> bytes:
    """What of an edge is neither its kind nor its ends, nor counted as it goes."""
    return _encode(
        EdgeBody(
            line=edge.line,
            lines=edge.lines,
            resolution=edge.resolution,
            via=edge.via,
            import_source=edge.import_source,
            candidates=edge.candidates,
            to_name=edge.to_name,
            reason=edge.reason,
            items=edge.items,
            type_only=edge.type_only,
            sandbox_id=edge.sandbox_id,
            first_seen=edge.first_seen,
            weight=edge.weight,
        )
    )


def decode_edge(
    kind: EdgeKind, source: NodeId, target: NodeId | None, body: bytes, call_count: int = 0, commit_sha: str = ""
) -> Edge:
    """The edge of a body, its ends already looked up."""
    rest = _decode_body(body)
    return Edge(
        kind=kind,
        source=source,
        target=target,
        line=rest.line,
        lines=rest.lines,
        resolution=rest.resolution,
        via=rest.via,
        import_source=rest.import_source,
        candidates=rest.candidates,
        to_name=rest.to_name,
        reason=rest.reason,
        items=rest.items,
        type_only=rest.type_only,
        call_count=call_count,
        sandbox_id=rest.sandbox_id,
        commit_sha=CommitSha(commit_sha) if commit_sha else None,
        first_seen=rest.first_seen,
        weight=rest.weight,
    )
