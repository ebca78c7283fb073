"""One definition of a file as the outline finds it, and the graph node it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field

import tree_sitter

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.metadata import Annotation, Comment, Metadata
from smp.domain.source import NOTHING
from smp.languages.ecmascript.documentation import clean_jsdoc, docstring_node
from smp.languages.ecmascript.signatures import (
    decorator_texts,
    function_signature,
    head_signature,
    modifiers_of,
    parameter_list,
    return_type,
    type_text,
)
from smp.languages.ecmascript.syntax import decorators_of, line_of, one_line, text_of
from smp.languages.nodes import hash_bytes

_PRIVATE = frozenset({"private", "protected"})
_SHOWN_TYPE = 200


@dataclass(eq=False, slots=True)
class Definition:
    """A named thing of the file.

    Attributes:
        name: Last part of the qualified name, without `~2`. qualname: without it too; unique: with it.
        node: The syntax that defines it (function, class, declarator, call of `it`).
        span: The statement that a reader would cut out to remove it.
        function: The function it is bound to, with parameters; None for others.
        direct_export: Written with `export`, or assigned to the module's exports.
    """

    kind: NodeKind
    name: str
    qualname: str
    unique: str
    index: int
    node_id: NodeId
    parent: Definition | None
    node: tree_sitter.Node
    span: tree_sitter.Node
    function: tree_sitter.Node | None = None
    namespace: bool = False
    direct_export: bool = False
    decisions: int = 0
    comments: list[tuple[int, Comment]] = field(default_factory=list)
    throws: set[str] = field(default_factory=set)

    @property
    def runs(self) -> bool:
        """True for definitions whose code runs when they are called."""
        return self.kind in (NodeKind.FUNCTION, NodeKind.TEST)


def public(definition: Definition, exported: frozenset[str] | None) -> bool:
    """Whether other files may use a definition. exported: the file's exported names; None: a script, all are global."""
    if definition.kind is NodeKind.TEST:
        return False
    parent = definition.parent
    if parent is None:
        return exported is None or definition.direct_export or definition.name in exported
    if parent.runs or not public(parent, exported) or definition.name.startswith("#"):
        return False
    if parent.namespace and not definition.direct_export:
        return False
    return not _PRIVATE & set(modifiers_of(definition.node, definition.span, definition.function))


def graph_node(
    definition: Definition,
    *,
    path: FilePath,
    language: str,
    exported: frozenset[str] | None,
    docstrings: frozenset[int],
) -> Node:
    """The node of a definition. docstrings: ids of comments that document something, so are nobody's inline comments."""
    span, function = definition.span, definition.function
    decorators = decorators_of(definition.node)
    first = min([span, *decorators], key=lambda part: part.start_byte)
    start_line, end_line = line_of(first), _last_line(span)
    source = _between(span, first)
    comment = docstring_node(span)
    parameters = parameter_list(function) if function is not None and definition.kind is not NodeKind.TEST else ()
    returns = return_type(function) if function is not None and definition.kind is not NodeKind.TEST else None
    metadata = Metadata(
        docstring=clean_jsdoc(text_of(comment)) if comment is not None else None,
        comments=tuple(c for node_id, c in definition.comments if node_id not in docstrings),
        decorators=decorator_texts(definition.node),
        annotations=tuple(
            Annotation(name=p.name, type=p.annotation)
            for p in parameters
            if p.annotation is not None and not p.receiver
        ),
        returns=returns,
        throws=tuple(sorted(definition.throws)),
    )
    return Node(
        id=definition.node_id,
        kind=definition.kind,
        name=definition.name + definition.unique[len(definition.qualname) :],
        qualname=definition.unique,
        file=path,
        language=language,
        start_line=start_line,
        end_line=end_line,
        start_byte=first.start_byte,
        end_byte=span.end_byte,
        signature=_signature(definition),
        parameters=parameters,
        return_type=returns,
        complexity=1 + definition.decisions if definition.runs else 0,
        exported=public(definition, exported),
        modifiers=modifiers_of(definition.node, span, function),
        source_hash=hash_bytes(source),
        lines=end_line - start_line + 1,
        metadata=metadata,
    )


def structural_edges(definitions: list[Definition], path: FilePath) -> tuple[Edge, ...]:
    """DEFINES from what encloses a definition, sorted."""
    file_id = mint_node_id("file", path)
    edges = [
        Edge(
            kind=EdgeKind.DEFINES,
            source=definition.parent.node_id if definition.parent is not None else file_id,
            target=definition.node_id,
            line=line_of(definition.span),
            lines=(line_of(definition.span),),
        )
        for definition in definitions
        if definition.index != NOTHING
    ]
    return tuple(sorted(edges, key=lambda edge: (edge.source, edge.target or "")))


def _between(span: tree_sitter.Node, first: tree_sitter.Node) -> bytes:
    """The definition's own bytes, decorators in front of it included."""
    text = span.text or b""
    if first.start_byte >= span.start_byte or span.parent is None:
        return text
    around = span.parent.text or b""
    offset = span.parent.start_byte
    return around[first.start_byte - offset : span.end_byte - offset]


def _last_line(span: tree_sitter.Node) -> int:
    row, column = span.end_point
    return max(row + (1 if column else 0), line_of(span))


def _signature(definition: Definition) -> str | None:
    node, function = definition.node, definition.function
    if definition.kind is NodeKind.TEST:
        return None
    if function is not None:
        return function_signature(function, definition.name)
    if definition.kind is NodeKind.VARIABLE:
        annotation = type_text(node.child_by_field_name("type"))
        return f"{definition.name}: {annotation}" if annotation else definition.name
    if node.type == "type_alias_declaration":
        return one_line(text_of(node)).rstrip(";")[:_SHOWN_TYPE]
    return head_signature(node, definition.name, node.child_by_field_name("body"))
