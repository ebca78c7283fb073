"""One file of the family → its nodes, DEFINES edges, damage, and the summary that linking reads."""

from __future__ import annotations

from smp.domain.ids import FilePath
from smp.domain.metadata import Metadata
from smp.domain.source import Damage, FileAnalysis
from smp.languages.ecmascript.definitions import graph_node, structural_edges
from smp.languages.ecmascript.documentation import clean_jsdoc, file_docstring
from smp.languages.ecmascript.grammar import dialect_of, parse
from smp.languages.ecmascript.modules import FileWalk
from smp.languages.ecmascript.outline import Outline
from smp.languages.ecmascript.scopes import Scopes
from smp.languages.ecmascript.syntax import text_of
from smp.languages.nodes import file_node
from smp.languages.summary_builder import SummaryBuilder

MAX_BYTES = 1_000_000
"""Larger files keep their definitions; their calls are not followed (design/linking.md section 1)."""
_DAMAGE_LIMIT = 20


def analyse(path: FilePath, content: bytes, *, language: str) -> FileAnalysis:
    """Read one file.

    Args:
        path: Its suffix decides the grammar.
        language: Name that the nodes carry.

    Returns:
        Nodes and summary; parts that do not parse are damage, and everything outside of them counts.
    """
    root = parse(content, dialect_of(path)).root_node
    builder = SummaryBuilder(path)
    scopes = Scopes(root)
    outline = Outline(root, scopes, builder)
    walk = FileWalk(root, scopes, outline, builder)
    if len(content) <= MAX_BYTES:
        walk.walk()
    else:
        walk.damage.append(Damage(line=1, message=f"larger than {MAX_BYTES} bytes: definitions only"))
    comment = file_docstring(root)
    role = "test" if outline.role == "test" or builder.tests else outline.role
    head = file_node(
        path,
        content,
        language=language,
        role=role,
        metadata=Metadata(docstring=clean_jsdoc(text_of(comment)) if comment is not None else None),
        complexity=1 + outline.file_decisions,
    )
    docstrings = frozenset(outline.docstrings)
    nodes = tuple(
        graph_node(definition, path=path, language=language, exported=outline.exported, docstrings=docstrings)
        for definition in outline.definitions
    )
    return FileAnalysis(
        path=path,
        language=language,
        nodes=(head, *nodes),
        edges=structural_edges(outline.definitions, path),
        summary=builder.finish(),
        damage=tuple([*outline.damage, *walk.damage][:_DAMAGE_LIMIT]),
    )
