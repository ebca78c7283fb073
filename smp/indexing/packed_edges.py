"""The edges of many files, packed: as objects they would be a tenth of what linking holds."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from smp.domain.graph import Edge
from smp.domain.ids import FilePath

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[Edge, ...]).decode
_FAST = 1


class Packed(NamedTuple):
    """Edges in their order. digest: BLAKE2b-128 of their encoding: equal where the edges are."""

    body: bytes
    digest: bytes

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Decoded at every call."""
        return _decode(zlib.decompress(self.body)) if self.body else ()


def pack(edges: tuple[Edge, ...]) -> Packed:
    """Packs the edges of a file."""
    if not edges:
        return NONE
    encoded = _encode(edges)
    return Packed(zlib.compress(encoded, _FAST), digest_of(encoded))


def digest_of(encoded: bytes) -> bytes:
    """Of encoded edges."""
    return hashlib.blake2b(encoded, digest_size=16).digest()


NONE = Packed(b"", digest_of(_encode(())))
"""No edges."""


class PackedEdges(Mapping[FilePath, tuple[Edge, ...]]):
    """Edges by file; decoded whenever they are asked for."""

    def __init__(self, packed: Mapping[FilePath, Packed]) -> None:
        self._packed = packed

    def __getitem__(self, path: FilePath) -> tuple[Edge, ...]:
        return self._packed[path].edges

    def __iter__(self) -> Iterator[FilePath]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def digest(self, path: FilePath) -> bytes:
        """Of a file's edges."""
        return self._packed[path].digest


def edge_digests(edges: Mapping[FilePath, tuple[Edge, ...]]) -> dict[FilePath, bytes]:
    """The digests of the edges of all these files."""
    if isinstance(edges, PackedEdges):
        return {path: edges.digest(path) for path in edges}
    return {path: digest_of(_encode(found)) for path, found in edges.items()}
