"""One file of Java → its nodes, DEFINES edges, damage, and the summary that linking reads."""

from __future__ import annotations

import functools

import tree_sitter
import tree_sitter_java

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.languages.java.declarations import JavaWalk
from smp.languages.java.testing import is_test_path
from smp.languages.nodes import file_node
from smp.languages.nominal.definitions import graph_node, structural_edges
from smp.languages.summary_builder import SummaryBuilder

_DAMAGE_LIMIT = 20


@functools.cache
def grammar() -> tree_sitter.Language:
    """The compiled grammar; it comes inside the wheel."""
    return tree_sitter.Language(tree_sitter_java.language())


def analyse(path: FilePath, content: bytes) -> FileAnalysis:
    """Read one file; parts that do not parse are damage, and everything outside of them counts."""
    root = tree_sitter.Parser(grammar()).parse(content).root_node
    builder = SummaryBuilder(path)
    walk = JavaWalk(path, builder)
    walk.walk(root)
    role = "test" if builder.tests or is_test_path(path) else "source"
    head = file_node(path, content, language="java", role=role, complexity=1 + walk.decisions)
    return FileAnalysis(
        path=path,
        language="java",
        nodes=(head, *(graph_node(d, path=path, language="java") for d in walk.definitions)),
        edges=structural_edges(walk.definitions, path),
        summary=builder.finish(),
        damage=tuple(walk.damage[:_DAMAGE_LIMIT]),
    )
