"""One file of C# → its nodes, DEFINES edges, damage, and the summary that linking reads."""

from __future__ import annotations

import functools

import tree_sitter
import tree_sitter_c_sharp

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.languages.csharp.conditions import one_branch
from smp.languages.csharp.declarations import CSharpWalk
from smp.languages.csharp.testing import is_test_path
from smp.languages.nodes import file_node
from smp.languages.nominal.definitions import graph_node, structural_edges
from smp.languages.summary_builder import SummaryBuilder

_DAMAGE_LIMIT = 20


@functools.cache
def grammar() -> tree_sitter.Language:
    """The compiled grammar; it comes inside the wheel."""
    return tree_sitter.Language(tree_sitter_c_sharp.language())


def _parsed(content: bytes) -> tree_sitter.Node:
    """The tree of a file; where conditional compilation breaks it, that of the branch that reads best."""
    parser = tree_sitter.Parser(grammar())
    best = parser.parse(content).root_node
    if best.has_error and b"#if" in content:
        for first in (True, False):
            other = parser.parse(one_branch(content, first=first)).root_node
            best = min(best, other, key=_errors)
    return best


def _errors(root: tree_sitter.Node) -> int:
    """Places that did not parse."""
    count = 0
    stack = [root]
    while stack:
        node = stack.pop()
        count += node.type == "ERROR" or node.is_missing
        stack.extend(child for child in node.children if child.has_error or child.is_missing)
    return count


def analyse(path: FilePath, content: bytes) -> FileAnalysis:
    """Read one file; parts that do not parse are damage, and everything outside of them counts."""
    root = _parsed(content)
    builder = SummaryBuilder(path)
    walk = CSharpWalk(path, builder)
    walk.walk(root)
    generated = path.endswith((".g.cs", ".Designer.cs", ".generated.cs"))
    role = "test" if builder.tests or is_test_path(path) else "generated" if generated else "source"
    head = file_node(path, content, language="csharp", role=role, complexity=1 + walk.decisions)
    return FileAnalysis(
        path=path,
        language="csharp",
        nodes=(head, *(graph_node(d, path=path, language="csharp") for d in walk.definitions)),
        edges=structural_edges(walk.definitions, path),
        summary=builder.finish(),
        damage=tuple(walk.damage[:_DAMAGE_LIMIT]),
    )
