"""The graph of a source tree, in the form that the scorer asks: edges by place, nodes by where their code begins."""

from __future__ import annotations

import os
from pathlib import Path

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind
from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse, wants_config
from smp.indexing.link import link

_SKIPPED = {".git", "node_modules", "__pycache__", "docs", "build"}
FUNCTIONS = (NodeKind.FUNCTION, NodeKind.TEST)


class Graph:
    """Edges and nodes of one repository."""

    def __init__(self, repo: Path) -> None:
        contents = {}
        for folder, names, files in os.walk(repo):
            names[:] = sorted(name for name in names if name not in _SKIPPED)
            for name in sorted(files):
                path = Path(folder) / name
                relative = FilePath(path.relative_to(repo).as_posix())
                if name.endswith((".py", ".pyi")) or wants_config(relative):
                    contents[relative] = path.read_bytes()
        analyses = {path: analyse(path, content) for path, content in contents.items()}
        configs = {path: content for path, content in contents.items() if wants_config(path)}
        found = link(analyses, configs=configs)
        self.sources: dict[str, bytes] = {path: text for path, text in contents.items() if path.endswith(".py")}
        self.edges: list[Edge] = [edge for path in sorted(found.edges) for edge in found.edges[path]]
        self.nodes: dict[str, Node] = {node.id: node for one in analyses.values() for node in one.nodes}
        self.starts: dict[tuple[str, int, str], str] = {}
        self.by_name: dict[tuple[str, str], list[Node]] = {}
        for node in self.nodes.values():
            if node.kind in (*FUNCTIONS, NodeKind.CLASS, NodeKind.INTERFACE):
                plain = node.name.partition("~")[0]
                assert node.file is not None
                self.starts[node.file, node.start_line, plain] = node.id
                self.by_name.setdefault((node.file, _plain(node.qualname)), []).append(node)
        self.calls: dict[tuple[str, str], Edge] = {
            (edge.source, edge.target): edge
            for edge in self.edges
            if edge.kind is EdgeKind.CALLS_STATIC and edge.target
        }
        self.bases: dict[str, list[str]] = {}
        for edge in self.edges:
            if edge.kind in (EdgeKind.INHERITS, EdgeKind.IMPLEMENTS) and edge.target:
                self.bases.setdefault(edge.source, []).append(edge.target)
        self.hints: dict[tuple[str, int], set[str]] = {}
        self.open: dict[tuple[str, int], list[Edge]] = {}
        for edge in self.edges:
            if edge.kind in (EdgeKind.CALLS_STATIC, EdgeKind.CALLS_UNRESOLVED):
                for line in edge.lines:
                    self.hints.setdefault((edge.source, line), set()).update(edge.candidates)
                    if edge.kind is EdgeKind.CALLS_UNRESOLVED:
                        self.open.setdefault((edge.source, line), []).append(edge)

    def callee(self, file: str, qualname: str, line: int) -> str | None:
        """The node whose code begins at a line; None for lambdas and what is made at run time."""
        return self.starts.get((file, line, qualname.rpartition(".")[2]))

    def caller(self, file: str, qualname: str, line: int) -> str:
        """The innermost function around code: lambdas, comprehensions and class bodies belong to it; else the file."""
        name = qualname
        while name and name != "<module>":
            for node in self.by_name.get((file, name.replace(".<locals>", "")), ()):
                if node.kind in FUNCTIONS and node.start_line <= line <= node.end_line:
                    return node.id
            name = name.rpartition(".")[0]
            name = name.removesuffix(".<locals>") if name.endswith("<locals>") else name
        return f"file:{file}"


def _plain(qualname: str) -> str:
    return ".".join(part.partition("~")[0] for part in qualname.split("."))
