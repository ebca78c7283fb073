"""One file → its nodes, DEFINES edges, damage, and the summary that linking reads."""

from __future__ import annotations

import hashlib
import re

import msgspec
import tree_sitter

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import FilePath
from smp.domain.metadata import Annotation, Metadata
from smp.domain.source import NOTHING, Damage, FileAnalysis, FileSummary, Op
from smp.languages.cfamily.definitions import FileWalk
from smp.languages.cfamily.grammar import dialect_of, parse_around
from smp.languages.cfamily.syntax import file_docstring, last_line, line_of
from smp.languages.cfamily.walk import Definition
from smp.languages.nodes import file_node, hash_bytes
from smp.languages.summary_builder import SummaryBuilder

MAX_BYTES = 4_000_000
"""Larger files are not read: they are generated tables or amalgamations of the project's own files."""
_TEST_PATH = re.compile(
    r"(^|/)(tests?|testing|unittests?|gtest)/|(^|/)(test_[^/]+|[^/]+[_-]?(test|tests|unittest|spec))\.[a-z+]+$",
    re.IGNORECASE,
)


def analyse(path: FilePath, content: bytes) -> FileAnalysis:
    """Read one file of the family.

    Returns:
        Nodes and summary; parts that do not parse are damage, and everything outside of them counts.
    """
    language = dialect_of(path, content)
    builder = SummaryBuilder(path)
    if len(content) > MAX_BYTES:
        damage = (Damage(line=1, message=f"larger than {MAX_BYTES} bytes: not read"),)
        return FileAnalysis(
            path=path,
            language=language,
            nodes=(file_node(path, content, language=language),),
            damage=damage,
            summary=builder.finish(),
        )
    tree, lost = parse_around(content, language)
    root = tree.root_node
    walk = FileWalk(builder, cpp=language == "cpp")
    walk.run(root)
    walk.damage += [
        Damage(line=content.count(b"\n", 0, at) + 1, message="this definition does not parse") for at in lost
    ]
    role = "test" if builder.tests or _TEST_PATH.search(path) else "source"
    head = file_node(
        path, content, language=language, role=role, metadata=Metadata(docstring=file_docstring(root)), complexity=1 + walk.decisions
    )  # fmt: skip
    nodes = tuple(_node(definition, path, language, content) for definition in walk.definitions)
    summary = msgspec.structs.replace(builder.finish(), extensions=tuple(walk.extensions))
    return FileAnalysis(
        path=path,
        language=language,
        nodes=(head, *nodes),
        edges=_structure(walk.definitions),
        summary=msgspec.structs.replace(summary, module_kind=_face(summary)),
        damage=tuple(walk.damage),
    )


def _face(summary: FileSummary) -> str:
    """A digest of what the resolver reads of a file: what it offers and asks for, and the names of its members."""

    def shown(at: int) -> object:
        op = summary.ops[at] if at != NOTHING else (0,)
        if op[0] == Op.PHI:
            return [shown(part) for part in op[1:]]
        if op[0] == Op.APPLY:
            return shown(op[1])
        if op[0] == Op.IMPORT:
            return [summary.imports[op[1]].module, summary.imports[op[1]].name]
        return [op[0], len(summary.functions[op[1]].params) if op[0] == Op.FUNC else 0]

    offered = [(name, shown(at)) for name, at in summary.exports.names]
    classes = [
        (c.name, [m for m, _ in (*c.members, *c.static_members, *c.annotations)], [shown(base) for base in c.bases])
        for c in summary.classes
    ]
    asked = [(d.module, d.name, d.bound) for d in summary.imports]
    return hashlib.blake2b(msgspec.msgpack.encode((offered, classes, asked)), digest_size=12).hexdigest()


def _node(definition: Definition, path: FilePath, language: str, content: bytes) -> Node:
    node = definition.node
    end: tree_sitter.Node = definition.end or node
    source = content[node.start_byte : end.end_byte]
    first, last = line_of(node), last_line(end)
    runs = definition.kind in (NodeKind.FUNCTION, NodeKind.TEST)
    return Node(
        id=definition.node_id,
        kind=definition.kind,
        name=definition.name,
        qualname=definition.unique,
        file=path,
        language=language,
        start_line=first,
        end_line=last,
        start_byte=node.start_byte,
        end_byte=end.end_byte,
        signature=definition.signature or None,
        parameters=definition.parameters,
        return_type=definition.return_type,
        complexity=1 + definition.decisions if runs else 0,
        exported=definition.exported,
        modifiers=definition.modifiers,
        source_hash=hash_bytes(source),
        lines=last - first + 1,
        metadata=Metadata(
            docstring=definition.docstring,
            comments=tuple(definition.comments),
            annotations=tuple(
                Annotation(name=p.name, type=p.annotation) for p in definition.parameters if p.annotation
            ),
            returns=definition.return_type,
            throws=tuple(sorted(definition.throws)),
        ),
    )


def _structure(definitions: list[Definition]) -> tuple[Edge, ...]:
    """DEFINES from what encloses a definition, sorted."""
    edges = [
        Edge(kind=EdgeKind.DEFINES, source=d.parent, target=d.node_id, line=line_of(d.node), lines=(line_of(d.node),))
        for d in definitions
    ]
    return tuple(sorted(edges, key=lambda edge: (edge.source, edge.target or "")))
