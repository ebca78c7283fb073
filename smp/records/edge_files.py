"""The log of edges and its index, as bytes (spec/records.md sections 4 and 7).

The log is the source of truth: one edge a line. The index is a projection of it that also keeps what was seen again since
(`at`, `run_id`, `note`), with the length of the log that it was made from; one that does not fit the log is made anew.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from smp.domain.records import RecordEdge
from smp.ports.record_files import RecordFile
from smp.records.derive import edge_id

FORMAT = 1


class _Index(Struct, frozen=True, kw_only=True):
    """entries: in the order of the log. out, in: ids of edges by node, for people and jq; never read back."""

    version: int
    log_bytes: int
    entries: tuple[RecordEdge, ...]
    out: dict[str, tuple[str, ...]]
    in_: dict[str, tuple[str, ...]] = msgspec.field(name="in")


class Corrupt(Exception):
    """The index is no index."""


def encode_line(edge: RecordEdge) -> bytes:
    """The line of an edge, without its newline."""
    return msgspec.json.encode(edge)


def parse_log(body: bytes, warnings: list[str]) -> dict[str, RecordEdge]:
    """The edges of a log by id, in their order; a damaged line is left out with a warning."""
    found: dict[str, RecordEdge] = {}
    decode = msgspec.json.Decoder(RecordEdge).decode
    for number, line in enumerate(body.split(b"\n"), start=1):
        if not line:
            continue
        try:
            edge = decode(line)
            genuine = edge.id == edge_id(edge.source, edge.target, edge.type)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            genuine = False
        if genuine:
            found[edge.id] = edge
        else:
            warnings.append(f"{RecordFile.EDGES.value}:{number}: damaged line; skipped")
    return found


def parse_index(body: bytes) -> tuple[int, dict[str, RecordEdge]]:
    """The length of the log that an index was made from, and its edges.

    Raises:
        Corrupt: It cannot be read.
    """
    try:
        index = msgspec.json.decode(body, type=_Index)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt from error
    if index.version != FORMAT:
        raise Corrupt
    return index.log_bytes, {edge.id: edge for edge in index.entries}


def encode_index(edges: Iterable[RecordEdge], *, log_bytes: int) -> bytes:
    """The index of some edges; equal edges give equal bytes."""
    entries = tuple(edges)
    out: dict[str, list[str]] = {}
    inward: dict[str, list[str]] = {}
    for edge in entries:
        out.setdefault(edge.source, []).append(edge.id)
        inward.setdefault(edge.target, []).append(edge.id)
    return msgspec.json.encode(
        _Index(
            version=FORMAT,
            log_bytes=log_bytes,
            entries=entries,
            out={node: tuple(ids) for node, ids in sorted(out.items())},
            in_={node: tuple(ids) for node, ids in sorted(inward.items())},
        )
    )
