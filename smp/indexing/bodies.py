"""The words inside a definition that its name, signature, docstring and comments do not say: what full text adds of a body.

Each word once: how often a body repeats a name says how long it is, not what it does. A class or file has the words that
lie outside the definitions in it, so that a word is indexed where it stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from smp.domain.graph import Node, NodeKind
from smp.domain.ids import NodeId
from smp.domain.source import FileAnalysis
from smp.domain.words import split_words

BODY_WORDS = 400
"""Of one definition, at most; what comes first counts."""
BODY_BYTES = 40_000
"""Read of one definition, at most: generated tables hold no words worth more."""
_HOLDING = (NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.FILE)
_INDEXED = (*_HOLDING, NodeKind.FUNCTION, NodeKind.TEST)
_IDENTIFIER = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]+")
_SYNTAX = frozenset(
    split_words(
        "and any as async await boolean break case catch class const continue def default del do elif else end except export "
        "extends false final finally fn for from func function if impl implements import in int interface is lambda let "
        "list mut new nil none not null number object or package pass private protected pub public raise return self static str "
        "string struct super switch this throw throws true try type typeof undefined use var void while with yield"
    )
)
"""Words that nearly every body has, whatever it does."""


def with_bodies(analysis: FileAnalysis, content: bytes) -> FileAnalysis:
    """The analysis with the words of its bodies.

    Args:
        content: What the analysis was made from.
    """
    return msgspec.structs.replace(analysis, bodies=body_words(analysis.nodes, content))


def body_words(nodes: Iterable[Node], content: bytes) -> dict[NodeId, str]:
    """Words of each function, test, class, interface and file, by falling place; nodes without any are left out."""
    ordered = sorted(
        (node for node in nodes if node.kind in _INDEXED), key=lambda node: (node.start_byte, -node.end_byte)
    )
    found: dict[NodeId, str] = {}
    for index, node in enumerate(ordered):
        holds = node.kind in _HOLDING
        inner = _outermost(ordered[index + 1 :], node) if holds else ()
        words = _words(_own_text(node, inner, content), node)
        if words:
            found[node.id] = " ".join(words)
    return found


def _outermost(following: Iterable[Node], holder: Node) -> list[tuple[int, int]]:
    """Byte ranges of the definitions directly inside a holder; `following` starts after it, in order of place."""
    ranges: list[tuple[int, int]] = []
    end = holder.start_byte
    for node in following:
        if node.start_byte >= holder.end_byte:
            break
        if node.start_byte >= end and node.end_byte <= holder.end_byte:
            ranges.append((node.start_byte, node.end_byte))
            end = node.end_byte
    return ranges


def _own_text(node: Node, inner: Iterable[tuple[int, int]], content: bytes) -> bytes:
    start, end = node.start_byte, node.end_byte
    if node.kind is NodeKind.FILE:
        start, end = 0, len(content)
    parts: list[bytes] = []
    for begin, stop in inner:
        parts.append(content[start:begin])
        start = stop
    parts.append(content[start:end])
    return b" ".join(parts)[:BODY_BYTES]


def _words(text: bytes, node: Node) -> list[str]:
    """Distinct words of a text beyond those that its node's metadata holds; a word that the body has too stays."""
    told = Counter(_IDENTIFIER.findall((node.metadata.docstring or "").encode()))
    for comment in node.metadata.comments:
        told.update(_IDENTIFIER.findall(comment.text.encode()))
    said = set(split_words(f"{node.qualname} {node.signature or ''}"))
    words: dict[str, None] = {}
    for identifier in _IDENTIFIER.findall(text):
        if told[identifier] > 0:
            told[identifier] -= 1
            continue
        for word in _split(identifier):
            if word not in said:
                words[word] = None
        if len(words) >= BODY_WORDS:
            break
    return list(words)[:BODY_WORDS]


@lru_cache(maxsize=50_000)
def _split(identifier: bytes) -> tuple[str, ...]:
    return tuple(
        word for word in split_words(identifier.decode("utf-8", "ignore")) if len(word) > 1 and word not in _SYNTAX
    )
