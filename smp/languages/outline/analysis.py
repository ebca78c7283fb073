"""One file → its nodes and DEFINES edges by the language's table. There is no summary: nothing of it is linked."""

from __future__ import annotations

import functools
import importlib
import re
from dataclasses import dataclass

import tree_sitter

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import FilePath, NodeId
from smp.domain.metadata import Metadata
from smp.domain.source import Damage, FileAnalysis
from smp.languages.nodes import file_node, hash_bytes
from smp.languages.outline.shapes import Form, Shape
from smp.languages.summary_builder import SummaryBuilder

_DAMAGE_LIMIT = 20
_SHOWN = 400
_TEST_PATH = re.compile(r"(^|/)(tests?|specs?)/|(^|/)(test_[^/]+|[^/]+(_test|_spec|Test|Tests|Spec))\.[a-z]+$")
_DECISIONS = frozenset(
    ["if", "if_modifier", "unless_modifier", "if_statement", "if_expression", "elsif", "elif_clause", "unless", "while", "while_statement", "while_expression", "until", "for", "for_statement", "for_expression", "foreach_statement", "case_clause", "when", "when_entry", "switch_entry", "case_item", "catch_clause", "rescue", "guard_statement", "repeat_statement", "repeat_while_statement", "elseif_statement", "else_if_clause", "conditional", "conditional_expression"]
)  # fmt: skip


@functools.cache
def _grammar(package: str, function: str) -> tree_sitter.Language:
    return tree_sitter.Language(getattr(importlib.import_module(package), function)())


@dataclass(slots=True)
class _Found:
    """A definition, and what is around it."""

    kind: NodeKind
    unique: str
    node_id: NodeId
    parent: NodeId
    node: tree_sitter.Node
    decisions: int = 0


class _Reader:
    """Walks a tree without recursion, so that no depth of nesting stops it."""

    def __init__(self, builder: SummaryBuilder, shape: Shape) -> None:
        self.builder = builder
        self.shape = shape
        self.found: list[_Found] = []
        self.damage: list[Damage] = []
        self.decisions = 0

    def walk(self, root: tree_sitter.Node) -> None:
        """Notes every definition below a node, in source order."""
        file_id = NodeId(self.builder.definitions[0])
        stack: list[tuple[tree_sitter.Node, str, NodeId, _Found | None]] = [(root, "", file_id, None)]
        while stack:
            node, prefix, parent, code = stack.pop()
            if (node.type == "ERROR" or node.is_missing) and len(self.damage) < _DAMAGE_LIMIT:
                what = f"{node.type!r} is missing" if node.is_missing else "this part does not parse"
                self.damage.append(Damage(line=node.start_point[0] + 1, message=what))
            form = self.shape.forms.get(node.type) if node.is_named else None
            name = self._name(node, form) if form is not None else ""
            if form is not None and name and not (form.kind is NodeKind.VARIABLE and code is not None):
                made = self._define(node, form, name, prefix, parent)
                prefix, parent = self._qualified(prefix, name), made.node_id
                code = made if form.kind is NodeKind.FUNCTION else code
            elif node.type in _DECISIONS and node.is_named:
                if code is not None:
                    code.decisions += 1
                else:
                    self.decisions += 1
            if node.child_count:
                stack.extend([(child, prefix, parent, code) for child in reversed(node.children)])

    def _qualified(self, prefix: str, name: str) -> str:
        return f"{prefix}.{name}" if prefix else name

    def _define(self, node: tree_sitter.Node, form: Form, name: str, prefix: str, parent: NodeId) -> _Found:
        unique = self.builder.unique_qualname(self._qualified(prefix, name))
        kind = NodeKind.INTERFACE if any(child.type == "interface" for child in node.children) else form.kind
        _, node_id = self.builder.define(kind, unique)
        made = _Found(kind, unique, node_id, parent, node)
        self.found.append(made)
        return made

    def _name(self, node: tree_sitter.Node, form: Form) -> str:
        """The name of a definition; empty if the node is none."""
        if not form.path:
            return form.fixed
        if form.needs and not any(
            inner.type == form.needs for child in node.named_children for inner in child.named_children
        ):
            return ""
        if form.kind is NodeKind.VARIABLE and any(
            inner is not None and inner.needs and self._name(child, inner)
            for child in node.named_children
            if (inner := self.shape.forms.get(child.type)) is not None
        ):
            return ""  # the function that the variable is bound to goes by its name
        at: tree_sitter.Node | None = node
        for step in form.path:
            if at is None:
                return ""
            at = at.child_by_field_name(step) or next((c for c in at.named_children if c.type == step), None)
        text = _text(at) if at is not None else ""
        name = text.replace("::", ".").replace(":", ".").replace("\\", ".").lstrip("$")
        plain = re.fullmatch(r"[\w.?!=+\-*/<>%&|^~\[\]@]+", name) is not None
        return name if plain and (not form.only or name[0] in form.only) else ""


def analyse(path: FilePath, content: bytes, shape: Shape) -> FileAnalysis:
    """Read one file by the table of its language."""
    root = tree_sitter.Parser(_grammar(shape.package, shape.function)).parse(content).root_node
    reader = _Reader(SummaryBuilder(path), shape)
    reader.walk(root)
    head = file_node(
        path,
        content,
        language=shape.name,
        role="test" if _TEST_PATH.search(path) else "source",
        complexity=1 + reader.decisions,
    )
    edges = [
        Edge(kind=EdgeKind.DEFINES, source=f.parent, target=f.node_id, line=_line(f.node), lines=(_line(f.node),))
        for f in reader.found
    ]
    return FileAnalysis(
        path=path,
        language=shape.name,
        nodes=(head, *(_node(found, path, shape) for found in reader.found)),
        edges=tuple(sorted(edges, key=lambda edge: (edge.source, edge.target or ""))),
        damage=tuple(reader.damage),
    )


def _node(found: _Found, path: FilePath, shape: Shape) -> Node:
    node = found.node
    row, column = node.end_point
    first, last = _line(node), max(row + (1 if column else 0), _line(node))
    return Node(
        id=found.node_id,
        kind=found.kind,
        name=found.unique.rpartition(".")[2],
        qualname=found.unique,
        file=path,
        language=shape.name,
        start_line=first,
        end_line=last,
        start_byte=node.start_byte,
        end_byte=node.end_byte,
        signature=_signature(node, shape),
        complexity=1 + found.decisions if found.kind is NodeKind.FUNCTION else 0,
        exported=True,
        source_hash=hash_bytes(node.text or b""),
        lines=last - first + 1,
        metadata=Metadata(docstring=_docstring(node)),
    )


def _line(node: tree_sitter.Node) -> int:
    return node.start_point[0] + 1


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _signature(node: tree_sitter.Node, shape: Shape) -> str:
    """The head of a definition, on one line."""
    body = next((found for step in shape.bodies if (found := _child(node, step)) is not None), None)
    end = body.start_byte if body is not None and body.start_byte > node.start_byte else node.end_byte
    end = min([end, *(child.start_byte for child in node.named_children if "comment" in child.type)])
    text = (node.text or b"")[: end - node.start_byte].decode("utf-8", "replace")
    if body is None:
        text = text.partition("\n")[0]
    return re.sub(r"\s+", " ", text).strip().rstrip("{=").strip()[:_SHOWN]


def _child(node: tree_sitter.Node, step: str) -> tree_sitter.Node | None:
    return node.child_by_field_name(step) or next((c for c in node.named_children if c.type == step), None)


def _docstring(node: tree_sitter.Node) -> str | None:
    """The comments directly above a definition."""
    while node.prev_sibling is None and node.parent is not None and node.parent.parent is not None:
        if node.parent.start_byte != node.start_byte:
            break
        node = node.parent
    lines: list[str] = []
    first = node.start_point[0]
    sibling = node.prev_sibling
    while sibling is not None and "comment" in sibling.type and first - sibling.end_point[0] <= 1:
        text = _text(sibling)
        if text.startswith("#!"):
            break
        cleaned = [
            re.sub(r"^\s*(?:///?!?|#+|--+(?:\[\[)?|/?\*+/?|\]\])\s?", "", line).rstrip("*/ ").rstrip()
            for line in text.splitlines()
        ]
        lines = [*cleaned, *lines]
        first = sibling.start_point[0]
        sibling = sibling.prev_sibling
    return "\n".join(lines).strip() or None
