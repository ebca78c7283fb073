"""Nodes that look the same in every language: files and configuration files."""

from __future__ import annotations

import hashlib

from smp.domain.graph import Node, NodeKind
from smp.domain.ids import ContentHash, FilePath, mint_node_id
from smp.domain.metadata import Metadata
from smp.domain.source import Damage

_NO_METADATA = Metadata()
_CONFIG_SUFFIXES = (".toml", ".json", ".jsonc", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".properties", ".env")
_CONFIG_NAMES = frozenset({"dockerfile", "makefile", ".editorconfig", ".gitattributes", ".gitignore", ".npmrc"})


def is_config(path: FilePath) -> bool:
    """Whether a file is configuration, by its name."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(_CONFIG_SUFFIXES) or name in _CONFIG_NAMES


def count_lines(content: bytes) -> int:
    """Lines of a text; a last line without line end counts."""
    return content.count(b"\n") + (0 if content.endswith(b"\n") or not content else 1)


def hash_bytes(content: bytes) -> ContentHash:
    """SHA-256 of bytes in hexadecimal."""
    return ContentHash(hashlib.sha256(content).hexdigest())


def file_node(
    path: FilePath,
    content: bytes,
    *,
    language: str | None,
    role: str = "source",
    metadata: Metadata = _NO_METADATA,
    complexity: int = 0,
) -> Node:
    """The File node of a file."""
    return _whole_file(NodeKind.FILE, path, content, language, role, metadata, complexity)


def config_node(path: FilePath, content: bytes, *, language: str | None = None) -> Node:
    """The Config node of a configuration file."""
    return _whole_file(NodeKind.CONFIG, path, content, language, "source", Metadata(), 0)


def _whole_file(
    kind: NodeKind,
    path: FilePath,
    content: bytes,
    language: str | None,
    role: str,
    metadata: Metadata,
    complexity: int,
) -> Node:
    lines = count_lines(content)
    return Node(
        id=mint_node_id(kind.value.lower(), path),
        kind=kind,
        name=path.rpartition("/")[2],
        qualname=path,
        file=path,
        language=language,
        start_line=1,
        end_line=max(lines, 1),
        start_byte=0,
        end_byte=len(content),
        exported=True,
        role=role,
        source_hash=hash_bytes(content),
        lines=lines,
        metadata=metadata,
        complexity=complexity,
    )


def not_in(content: bytes, encoding: str) -> Damage | None:
    """The first place at which bytes are not in an encoding."""
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return Damage(
            line=line, message=f"byte 0x{content[error.start]:02x} is no {encoding}; the rest of the file counts"
        )
    return None
