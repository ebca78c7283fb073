"""One definition of a file as the walk finds it, and the graph node it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field

import tree_sitter

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind, Parameter
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.metadata import Annotation, Comment, Metadata
from smp.languages.nodes import hash_bytes
from smp.languages.nominal.syntax import line_of, one_line, text_of

MAX_SIGNATURE = 400


@dataclass(eq=False, slots=True)
class Definition:
    """A named thing of the file.

    Attributes:
        qualname: Unique, with `~2`. name: its last part. public: may be used from other files.
        index: Its place in the summary's table. node: what a reader would cut out to remove it.
    """

    kind: NodeKind
    name: str
    qualname: str
    index: int
    node_id: NodeId
    parent: Definition | None
    node: tree_sitter.Node
    public: bool = True
    signature: str = ""
    parameters: tuple[Parameter, ...] = ()
    returns: str | None = None
    modifiers: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    docstring: str | None = None
    decisions: int = 0
    comments: list[Comment] = field(default_factory=list)
    throws: set[str] = field(default_factory=set)


def graph_node(definition: Definition, *, path: FilePath, language: str) -> Node:
    """The node of a definition."""
    node = definition.node
    runs = definition.kind in (NodeKind.FUNCTION, NodeKind.TEST)
    start, end = line_of(node), node.end_point[0] + 1
    return Node(
        id=definition.node_id,
        kind=definition.kind,
        name=definition.name,
        qualname=definition.qualname,
        file=path,
        language=language,
        start_line=start,
        end_line=end,
        start_byte=node.start_byte,
        end_byte=node.end_byte,
        signature=(definition.signature[:MAX_SIGNATURE] or None) if definition.kind is not NodeKind.TEST else None,
        parameters=definition.parameters,
        return_type=definition.returns,
        complexity=1 + definition.decisions if runs else 0,
        exported=definition.public and definition.kind is not NodeKind.TEST,
        modifiers=definition.modifiers,
        source_hash=hash_bytes(node.text or b""),
        lines=end - start + 1,
        metadata=Metadata(
            docstring=definition.docstring,
            comments=tuple(definition.comments),
            decorators=definition.decorators,
            annotations=tuple(
                Annotation(name=p.name, type=p.annotation) for p in definition.parameters if p.annotation is not None
            ),
            returns=definition.returns,
            throws=tuple(sorted(definition.throws)),
        ),
    )


def structural_edges(definitions: list[Definition], path: FilePath) -> tuple[Edge, ...]:
    """DEFINES from what encloses a definition, sorted."""
    file_id = mint_node_id("file", path)
    edges = [
        Edge(
            kind=EdgeKind.DEFINES,
            source=definition.parent.node_id if definition.parent is not None else file_id,
            target=definition.node_id,
            line=line_of(definition.node),
            lines=(line_of(definition.node),),
        )
        for definition in definitions
    ]
    return tuple(sorted(edges, key=lambda edge: (edge.source, edge.target or "")))


def comment_lines(node: tree_sitter.Node) -> tuple[Comment, ...]:
    """A comment, a line of its text an entry, without markers."""
    text, line = text_of(node), line_of(node)
    if text.startswith("//"):
        stripped = text.lstrip("/").strip()
        return (Comment(line=line, text=stripped),) if stripped else ()
    found = []
    for number, part in enumerate(text.removeprefix("/*").removesuffix("*/").splitlines()):
        stripped = part.strip().lstrip("*").strip()
        if stripped:
            found.append(Comment(line=line + number, text=stripped))
    return tuple(found)


def clean_block(text: str) -> str | None:
    """The text of a `/** … */` comment without its frame; None for other comments and empty ones."""
    if not text.startswith("/**") or text == "/**/":
        return None
    lines = text[3:].removesuffix("*/").splitlines()
    cleaned = [line.strip().removeprefix("*").strip() if number else line.strip() for number, line in enumerate(lines)]
    return "\n".join(cleaned).strip() or None


def shown_parameters(parameters: tuple[Parameter, ...]) -> str:
    """Parameters as in a signature."""
    return ", ".join(one_line(f"{p.annotation or ''} {p.name}") for p in parameters)
