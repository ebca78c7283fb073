"""Definitions of a file and the nodes they become, for languages whose declarations stand where they are found.

`Survey` reads a tree once for what belongs to a definition by its place: comments, and the decisions that make it complex.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

import tree_sitter
from msgspec import Struct

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind, Parameter
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.metadata import Annotation, Comment, Metadata
from smp.domain.source import Damage
from smp.languages.nodes import hash_bytes
from smp.languages.summary_builder import SummaryBuilder

_Entry = TypeVar("_Entry")
MAX_SIGNATURE = 400
"""Longest signature kept, in characters."""
MAX_DAMAGE = 20
"""Damaged places that are reported of one file."""


def text_of(node: tree_sitter.Node) -> str:
    """The source of a node; bytes that are not UTF-8 become replacement characters."""
    return (node.text or b"").decode("utf-8", errors="replace")


def one_line(text: str) -> str:
    """Runs of white space as one blank."""
    return " ".join(text.split())


def line_of(node: tree_sitter.Node) -> int:
    """First line, 1-based."""
    return node.start_point[0] + 1


class Definition(Struct, frozen=True, kw_only=True):
    """A definition as a language describes it.

    Attributes:
        name: Last part of its name. span: what a reader would cut out to remove it. parent: index of what encloses it, 0: the file.
        runs: It has code, so comments, complexity and thrown names are its own.
    """

    kind: NodeKind
    name: str
    span: tree_sitter.Node
    first: tree_sitter.Node
    parent: int = 0
    signature: str | None = None
    parameters: tuple[Parameter, ...] = ()
    returns: str | None = None
    exported: bool = False
    modifiers: tuple[str, ...] = ()
    docstring: str | None = None
    decorators: tuple[str, ...] = ()
    runs: bool = False


class Survey:
    """Comments and decisions of a tree, by place."""

    def __init__(
        self,
        root: tree_sitter.Node,
        decisions: frozenset[str],
        comments: frozenset[str],
        gathered: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.decisions: list[int] = []
        self.comments: list[tuple[int, Comment]] = []
        self.gathered: set[str] = set()
        """Texts of wanted children: kind of node → field."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            kind = node.type
            if kind in decisions:
                self.decisions.append(node.start_byte)
            elif kind in gathered:
                child = node.child_by_field_name(gathered[kind])
                if child is not None and not child.named_child_count:
                    self.gathered.add(text_of(child))
            elif kind in comments:
                text = text_of(node).strip("/*! \n\t")
                if text:
                    self.comments.append((node.start_byte, Comment(line=line_of(node), text=one_line(text))))
            waiting.extend(reversed(node.children))
        self.decisions.sort()
        self.comments.sort(key=lambda entry: entry[0])


def damage_of(root: tree_sitter.Node) -> list[Damage]:
    """Places that did not parse, by line, as many as are reported."""
    found: list[Damage] = []
    waiting = [root] if root.has_error else []
    while waiting and len(found) < MAX_DAMAGE:
        node = waiting.pop()
        if node.type == "ERROR" or node.is_missing:
            found.append(Damage(line=line_of(node), message=_complaint(node)))
        else:
            waiting.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    return found


def _complaint(node: tree_sitter.Node) -> str:
    if node.is_missing:
        return f"missing {node.type}"
    return f"unexpected {one_line(text_of(node))[:40]}"


class Definitions:
    """The definitions of a file, in the order in which they are defined."""

    def __init__(self, path: FilePath, language: str, builder: SummaryBuilder) -> None:
        self.path = path
        self.language = language
        self.b = builder
        self.ids: list[NodeId] = [mint_node_id("file", path)]
        self.qualnames: list[str] = [""]
        self.listed: list[tuple[Definition, str, str]] = []

    def define(self, definition: Definition, prefix: str | None = None) -> int:
        """Index of a new definition. prefix: what its name begins with where that is not its parent's name."""
        before = self.qualnames[definition.parent] if prefix is None else prefix
        qualname = f"{before}.{definition.name}" if before else definition.name
        unique = self.b.unique_qualname(qualname)
        index, node_id = self.b.define(definition.kind, unique)
        self.ids.append(node_id)
        self.qualnames.append(unique)
        self.listed.append((definition, unique, definition.name + unique[len(qualname) :]))
        return index

    def nodes(self, survey: Survey, documented: Iterable[int] = ()) -> tuple[Node, ...]:
        """The nodes in source order. documented: offsets of comments that are documentation."""
        own = _Places([d for d, _, _ in self.listed])
        decisions = own.split([(at, at) for at in survey.decisions])
        known = frozenset(documented)
        comments = own.split([entry for entry in survey.comments if entry[0] not in known])
        order = sorted(range(len(self.listed)), key=lambda n: (self.listed[n][0].first.start_byte, n))
        return tuple(self._node(n, len(decisions.get(n, ())), comments.get(n, [])) for n in order)

    def file_decisions(self, survey: Survey) -> int:
        """Decisions that are in no definition."""
        own = _Places([d for d, _, _ in self.listed])
        return len(own.split([(at, at) for at in survey.decisions]).get(-1, ()))

    def _node(self, n: int, decisions: int, comments: list[Comment]) -> Node:
        definition, unique, name = self.listed[n]
        span, first = definition.span, definition.first
        start, end = line_of(first), max(span.end_point[0] + (1 if span.end_point[1] else 0), line_of(span))
        return Node(
            id=self.ids[n + 1],
            kind=definition.kind,
            name=name,
            qualname=unique,
            file=self.path,
            language=self.language,
            start_line=start,
            end_line=end,
            start_byte=first.start_byte,
            end_byte=span.end_byte,
            signature=definition.signature[:MAX_SIGNATURE] if definition.signature else None,
            parameters=definition.parameters,
            return_type=definition.returns,
            complexity=1 + decisions if definition.runs else 0,
            exported=definition.exported,
            modifiers=definition.modifiers,
            source_hash=hash_bytes(_source(first, span)),
            lines=end - start + 1,
            metadata=Metadata(
                docstring=definition.docstring,
                comments=tuple(comments) if definition.runs else (),
                decorators=definition.decorators,
                annotations=tuple(
                    Annotation(name=p.name, type=p.annotation)
                    for p in definition.parameters
                    if p.annotation is not None and not p.receiver
                ),
                returns=definition.returns,
            ),
        )

    def edges(self) -> tuple[Edge, ...]:
        """DEFINES from what encloses a definition, sorted."""
        made = [
            Edge(
                kind=EdgeKind.DEFINES,
                source=self.ids[definition.parent],
                target=self.ids[n + 1],
                line=line_of(definition.span),
                lines=(line_of(definition.span),),
            )
            for n, (definition, _, _) in enumerate(self.listed)
        ]
        return tuple(sorted(made, key=lambda edge: (edge.source, edge.target or "")))


def _source(first: tree_sitter.Node, span: tree_sitter.Node) -> bytes:
    """A definition's own bytes, attributes in front of it included."""
    if first.start_byte >= span.start_byte or span.parent is None:
        return span.text or b""
    around, offset = span.parent.text or b"", span.parent.start_byte
    return around[first.start_byte - offset : span.end_byte - offset]


class _Places:
    """Which definition with code a place belongs to: the innermost."""

    def __init__(self, definitions: list[Definition]) -> None:
        self._spans = sorted((d.span.start_byte, -d.span.end_byte, n) for n, d in enumerate(definitions) if d.runs)
        self._starts = [start for start, _, _ in self._spans]

    def split(self, entries: list[tuple[int, _Entry]]) -> dict[int, list[_Entry]]:
        found: dict[int, list[_Entry]] = {}
        for at, entry in entries:
            found.setdefault(self._owner(at), []).append(entry)
        return found

    def _owner(self, at: int) -> int:
        position = bisect_right(self._starts, at) - 1
        while position >= 0:
            _, end, n = self._spans[position]
            if at < -end:
                return n
            position -= 1
        return -1


def documentation(span: tree_sitter.Node, is_documentation: Callable[[str], bool]) -> tuple[str | None, list[int]]:
    """The comments that stand right above a definition, cleaned of their markers, and their offsets."""
    lines: list[str] = []
    offsets: list[int] = []
    below = span.start_point[0]
    sibling = span.prev_sibling
    while sibling is not None and (sibling.type.endswith("comment") or sibling.type == "attribute_item"):
        ends = sibling.end_point[0] - (1 if sibling.end_point[1] == 0 else 0)
        if ends + 1 < below:
            break
        below = sibling.start_point[0]
        text = text_of(sibling)
        if sibling.type != "attribute_item":
            if not is_documentation(text):
                break
            offsets.append(sibling.start_byte)
            lines.insert(0, clean_comment(text))
        sibling = sibling.prev_sibling
    return "\n".join(lines).strip() or None, offsets


def clean_comment(text: str) -> str:
    """A comment without its markers."""
    if text.startswith("/*"):
        inner = text[2:].removesuffix("*/").lstrip("*!")
        return "\n".join(line.strip().removeprefix("*").strip() for line in inner.splitlines()).strip()
    return text.lstrip("/!").strip("\n").removeprefix(" ").rstrip()
