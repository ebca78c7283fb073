"""The Python language: one file → nodes and summary; and where its modules, tables are found."""

from __future__ import annotations

import re
from collections.abc import Mapping

import tree_sitter

from smp.domain.graph import Node, NodeKind
from smp.domain.ids import FilePath
from smp.domain.metadata import Metadata
from smp.domain.source import NOTHING, Class, Damage, Exports, FileAnalysis, FileSummary, Function
from smp.languages.base import Language, Resolver, Tables
from smp.languages.nodes import file_node, hash_bytes
from smp.languages.python import grammar as g
from smp.languages.python.bodies import BodyWalk
from smp.languages.python.decoding import to_utf8, wrong_encoding
from smp.languages.python.definitions import Extractor, docstring
from smp.languages.python.modules import PythonResolver, is_python_config
from smp.languages.python.scopes import collect_bindings
from smp.languages.python.tables import TABLES
from smp.languages.summary_builder import SummaryBuilder

MAX_BYTES = 1_000_000
"""Larger files keep their definitions; their calls are not followed (design/linking.md section 1)."""
_SPACE = re.compile(r"\s+")
_DUNDER = re.compile(r"__\w+__$")


class Python(Language):
    """CPython's language, any version that the grammar reads."""

    name = "python"
    family = "python"
    suffixes = (".py", ".pyi", ".pyw")

    def undecodable(self, content: bytes) -> Damage | None:
        return wrong_encoding(content)

    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        source, stored = to_utf8(content)
        root = g.parse(source).root_node
        found = g.structure(root)
        builder = SummaryBuilder(path)
        extractor = Extractor(source, found, builder, stored)
        extractor.collect()
        walk = BodyWalk(source, extractor, collect_bindings(source, root, found))
        walk.test_definitions = frozenset(d.index for d in extractor.definitions if d.kind is NodeKind.TEST)
        variables = _variables(root, extractor, walk)
        if len(source) <= MAX_BYTES:
            walk.block(root)
            walk.drain()
            walk.finish_variables()
            walk.fill_classes()
            listed = walk.listed if walk.listed_known and walk.listed is not None else None
            builder.exports = _exports(walk, listed)
            damage = list(walk.damage)
        else:
            listed = None
            damage = [Damage(line=1, message=f"larger than {MAX_BYTES} bytes: definitions only")]
        _drop_unfinished(builder)
        nodes = extractor.nodes(frozenset(listed) if listed is not None else None)
        every = sorted([*nodes, *variables], key=lambda node: (node.start_byte, -node.end_byte, node.qualname))
        file = file_node(
            path,
            content,
            language=self.name,
            role=extractor.role,
            metadata=Metadata(docstring=docstring(root, source)),
            complexity=extractor.module_complexity,
        )
        return FileAnalysis(
            path=path,
            language=self.name,
            nodes=(file, *every),
            edges=tuple(extractor.edges(variables)),
            summary=builder.finish(),
            damage=tuple(sorted([*damage, *_damage(root, extractor)], key=lambda d: (d.line, d.message))),
        )

    def wants_config(self, path: FilePath) -> bool:
        return is_python_config(path)

    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        return PythonResolver(files, configs)

    def tables(self) -> Tables:
        return TABLES


def _drop_unfinished(builder: SummaryBuilder) -> None:
    """Slots that a bound or damage left empty become functions and classes without content."""
    builder.functions[:] = [f if f is not None else Function("", NOTHING, 0) for f in builder.functions]
    builder.classes[:] = [c if c is not None else Class("", NOTHING, 0) for c in builder.classes]


def _exports(walk: BodyWalk, listed: list[str] | None) -> Exports:
    module = walk.module
    names = []
    for name in sorted(module.bindings.names):
        value = module.lookup(name)
        if name in module.foreign or value is None:
            value = walk.variable(module, name) if name in module.variables or value is None else value
        if value is not None:
            names.append((name, value))
    stars = tuple(at for at, declaration in enumerate(walk.b.imports) if declaration.name == "*")
    return Exports(
        names=tuple(names),
        stars=stars,
        listed=tuple(listed) if listed is not None else None,
        dynamic="__getattr__" in module.bindings.names,
    )


def _variables(root: tree_sitter.Node, extractor: Extractor, walk: BodyWalk) -> list[Node]:
    """Variable nodes: names that module-level statements assign and that no definition or import also binds."""
    taken = {d.name for d in extractor.definitions if d.parent is None}
    for node in extractor.found.get("import", ()):
        if node.parent is not None and node.parent.kind_id == root.kind_id:
            taken |= {extractor.text(name).rpartition(" ")[2] for name in node.children_by_field_name("name")}
    nodes: list[Node] = []
    for statement in _module_statements(root):
        for assignment in statement.named_children:
            if assignment.type != "assignment":
                continue
            target: tree_sitter.Node | None = assignment
            while target is not None and target.type == "assignment":
                left = target.child_by_field_id(g.F_LEFT)
                if left is not None and left.kind_id == g.IDENTIFIER:
                    name = extractor.text(left)
                    if name not in taken and not _DUNDER.match(name):
                        taken.add(name)
                        nodes.append(_variable_node(name, statement, extractor, walk))
                target = target.child_by_field_id(g.F_RIGHT)
    return nodes


def _module_statements(root: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Expression statements of the module, also inside `if`, `try` and `with`."""
    found: list[tree_sitter.Node] = []
    stack = list(reversed(root.named_children))
    nested = {"if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "finally_clause", "block"}
    while stack:
        node = stack.pop()
        if node.kind_id == g.EXPRESSION_STATEMENT:
            found.append(node)
        elif node.type in nested or node.type == "with_statement":
            stack.extend(reversed(node.named_children))
    return found


def _variable_node(name: str, statement: tree_sitter.Node, extractor: Extractor, walk: BodyWalk) -> Node:
    unique = extractor.builder.unique_qualname(name)
    index, node_id = extractor.builder.define(NodeKind.VARIABLE, unique)
    walk.module.variables[name] = extractor.builder.variable(name, definition=index, module=True)
    start, end = statement.start_byte, statement.end_byte
    first, last = statement.start_point.row + 1, statement.end_point.row + 1
    return Node(
        id=node_id,
        kind=NodeKind.VARIABLE,
        name=unique,
        qualname=unique,
        file=extractor.path,
        language="python",
        start_line=first,
        end_line=last,
        start_byte=extractor.stored(start),
        end_byte=extractor.stored(end),
        signature=_SPACE.sub(" ", extractor.text(statement))[:200],
        exported=not name.startswith("_"),
        source_hash=hash_bytes(extractor.source[start:end]),
        lines=last - first + 1,
    )


def _damage(root: tree_sitter.Node, extractor: Extractor) -> list[Damage]:
    """Where the source does not parse, one entry per outermost damaged place."""
    if not root.has_error:
        return []
    found: list[Damage] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            owner = extractor.innermost(node.start_byte)
            message = f"missing {node.type}" if node.is_missing else "syntax error"
            line = node.start_point.row + 1
            found.append(Damage(line=line, message=message, lost=owner.qualname if owner else ""))
        elif node.has_error:
            stack.extend(node.children)
    return found
