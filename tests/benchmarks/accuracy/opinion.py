"""Resolved calls of the graph against the second opinion and the run: confirmed, silent, contradicted."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from smp.domain.graph import Edge, NodeKind, Resolution
from tests.benchmarks.accuracy.checker import Answer, Place, ask_all, asked
from tests.benchmarks.accuracy.graph import Graph
from tests.benchmarks.accuracy.truth import Observed

OBSERVED, AGREES, SILENT, DISAGREES = "observed", "agrees", "silent", "disagrees"
_DEFINES = ("def ", "async def ", "class ")


class Verdict(NamedTuple):
    """What is known of one edge at one line."""

    edge: Edge
    line: int
    said: str
    answers: tuple[str, ...] = ()


class Judge:
    """Reads a checker's answers over one graph."""

    def __init__(self, graph: Graph, python: Path, repo: Path, kept: Path) -> None:
        self.graph = graph
        self.repo = repo.resolve()
        properties = frozenset(
            node.name.partition("~")[0] for node in graph.nodes.values() if "property" in node.modifiers
        )
        self.answers = ask_all(python, repo, graph.sources, properties, kept)
        self.asked = {path: asked(source) for path, source in graph.sources.items()}
        self.heads: dict[tuple[str, int], str] = {}
        for path, source in graph.sources.items():
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                    known = graph.starts.get((path, first, node.name))
                    if known is not None:
                        self.heads[path, node.lineno] = known

    def verdicts(self, calls: list[Observed]) -> list[Verdict]:
        """A verdict for each resolved call."""
        seen = {(call.source, target, line) for call in calls for target in call.accepted for line in call.lines}
        found = []
        for (source, target), edge in sorted(self.graph.calls.items()):
            for line in edge.lines:
                if (source, target, line) in seen:
                    found.append(Verdict(edge, line, OBSERVED))
                else:
                    found.append(self._judge(edge, line))
        return found

    def _judge(self, edge: Edge, line: int) -> Verdict:
        assert edge.target is not None
        path = self.graph.nodes[edge.source].file
        assert path is not None
        target = self.graph.nodes[edge.target]
        name = target.name.partition("~")[0]
        if edge.resolution is Resolution.PROTOCOL:
            return Verdict(edge, line, SILENT)
        calls, attributes = self.asked.get(path, ({}, {}))
        if edge.resolution is Resolution.PROPERTY:
            sites: list[tuple[str, Place | None]] = [a for a in attributes.get(line, ()) if a[0] == name]
        else:
            sites = list(calls.get(line, ()))
            named = [site for site in sites if site[0] == name]
            sites = named or sites
        firm = bool(sites)
        said: list[str] = []
        for called, place in sites:
            answers = self.answers.get(path, {}).get(place, []) if place is not None else []
            meant = [self._meant(answer, called) for answer in answers]
            if any(one is not None and self._overridden(one, edge.target) for one in meant):
                firm = False  # a declared receiver says nothing about which override runs
            if any(one is not None and self._same(one, edge) for one in meant):
                return Verdict(edge, line, AGREES)
            firm = firm and bool(meant) and None not in meant
            said += [one for one in meant if one is not None]
        return Verdict(edge, line, DISAGREES if firm else SILENT, tuple(said))

    def _meant(self, answer: Answer, called: str) -> str | None:
        """The node that an answer names, or its place outside the project; None if it is no function or class: a variable, or
        a parameter that stands in the line of its function's head."""
        file, line = answer
        path = Path(file)
        if path.is_relative_to(self.repo):
            found = self.heads.get((path.relative_to(self.repo).as_posix(), line))
            return found if found is not None and self._called(found, called) else None
        try:
            text = path.read_text("utf-8", "replace").splitlines()[line - 1].strip()
        except (OSError, IndexError):
            return None
        return f"{path.name}:{line}" if text.startswith(_DEFINES) else None

    def _called(self, node_id: str, called: str) -> bool:
        name = self.graph.nodes[node_id].name.partition("~")[0]
        return name in (called, "__init__", "__new__", "__call__")

    def _overridden(self, node_id: str, target: str) -> bool:
        """Whether the target is a method that overrides what the checker says."""
        above, below = self._method(node_id), self._method(target)
        if above is None or below is None or above[1] != below[1]:
            return False
        waiting, seen = [below[0]], set()
        while waiting:
            for base in self.graph.bases.get(waiting.pop(), ()):
                if base == above[0]:
                    return True
                if base not in seen:
                    seen.add(base)
                    waiting.append(base)
        return False

    def _method(self, node_id: str) -> tuple[str, str] | None:
        """Class and name of a method."""
        node = self.graph.nodes.get(node_id)
        if node is None or "." not in node.qualname:
            return None
        return f"class:{node.file}#{node.qualname.rpartition('.')[0]}", node.name.partition("~")[0]

    def _same(self, node_id: str, edge: Edge) -> bool:
        """Whether the checker means what the edge says. Overloads of a function count as one; a class as its constructor,
        if the class is called there."""
        node = self.graph.nodes.get(node_id)
        assert edge.target is not None
        target = self.graph.nodes[edge.target]
        if node is None:
            return False
        if node.file == target.file and _plain(node.qualname) == _plain(target.qualname):
            return True
        if node.kind in (NodeKind.CLASS, NodeKind.INTERFACE) and edge.resolution is Resolution.CONSTRUCTOR:
            return (edge.source, node_id) in self.graph.calls
        if target.kind in (NodeKind.CLASS, NodeKind.INTERFACE) and node.name.partition("~")[0] in (
            "__init__",
            "__new__",
        ):
            return (edge.source, node_id) in self.graph.calls
        return False


def _plain(qualname: str) -> str:
    return ".".join(part.partition("~")[0] for part in qualname.split("."))
