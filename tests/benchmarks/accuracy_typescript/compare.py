"""The graph beside the checker's answers: agreement by how an edge was found, recall by kind of call.

A place is a file and a line; the line is where the name of what is called stands, on both sides.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from smp.domain.graph import Edge, Node
from tests.benchmarks.accuracy_typescript.graph import Graph

AGREES, SILENT, DISAGREES = "agrees", "silent", "disagrees"
_LAST_NAME = re.compile(r"([\w$#]+)\W*$")


class Declared(NamedTuple):
    """A declaration as the checker shows it: lines of its text, line of its name."""

    file: str
    first: int
    last: int
    line: int
    name: str


class Row(NamedTuple):
    """What the checker says of one place (`oracle.cjs` explains the states)."""

    file: str
    line: int
    kind: str
    name: str
    state: str
    targets: tuple[Declared, ...]
    lower: tuple[Declared, ...]
    possible: tuple[Declared, ...]


class Case(NamedTuple):
    """A miss or a disagreement, for a reader to judge."""

    group: str
    place: str
    said: str


@dataclass
class Comparison:
    """Counts.

    Attributes:
        verdicts: (label, verdict) → edges, an edge counted once a line. silences: why the checker was silent.
        wanted, found: Calls that the checker resolves into the project, and those of them in the graph, by kind.
        missed: Why not. excluded: what the denominator leaves out.
    """

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    silences: Counter[str] = field(default_factory=Counter)
    wanted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    narrower: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
    cases: list[Case] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of the checker's calls that the graph has."""
        return sum(self.found.values()) / max(1, sum(self.wanted.values()))

    @property
    def precision(self) -> float:
        """Share of the judged edges that the checker agrees with."""
        agreed = sum(n for (_, verdict), n in self.verdicts.items() if verdict == AGREES)
        disagreed = sum(n for (_, verdict), n in self.verdicts.items() if verdict == DISAGREES)
        return agreed / max(1, agreed + disagreed)

    def figures(self) -> dict[str, object]:
        """As JSON shows them."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "verdicts": {f"{label} {verdict}": n for (label, verdict), n in sorted(self.verdicts.items())},
            "wanted": dict(self.wanted),
            "found": dict(self.found),
            "missed": dict(self.missed),
            "excluded": dict(self.excluded),
            "silences": dict(self.silences),
        }


def compare(graph: Graph, answers: list[dict[str, object]]) -> Comparison:
    """Judges every edge and looks for every call."""
    return _Judge(graph, [_row(one) for one in answers]).run()


def _row(answer: dict[str, object]) -> Row:
    lists = [answer["targets"], answer["lower"], answer["possible"]]
    targets, lower, possible = (tuple(Declared(*entry) for entry in listed) for listed in lists)  # type: ignore[attr-defined]
    line = answer["line"]
    assert isinstance(line, int)
    file, kind, name, state = (str(answer[key]) for key in ("file", "kind", "name", "state"))
    return Row(file, line, kind, name, state, targets, lower, possible)


def node_of(graph: Graph, declared: Declared) -> Node | None:
    """The node of a declaration."""
    name = declared.name.strip("'\"`") or "default"
    found = [
        node
        for node in graph.nodes.get(declared.file, ())
        if node.start_line <= declared.line <= node.end_line and node.name.partition("~")[0] == name
    ]
    if not found:  # known under another name: of its file, of the variable it goes to
        found = [
            node
            for node in graph.nodes.get(declared.file, ())
            if node.start_line == declared.first and node.end_line == declared.last and node.kind != "Variable"
        ]
    return min(found, key=lambda node: (node.end_line - node.start_line, node.id), default=None)


class _Judge:
    def __init__(self, graph: Graph, rows: list[Row]) -> None:
        self.graph = graph
        self.rows = rows
        self.result = Comparison()
        self.rows_at: dict[tuple[str, int], list[Row]] = defaultdict(list)
        self.edges_at: dict[tuple[str, int], list[Edge]] = defaultdict(list)
        self.open_at: dict[tuple[str, int], list[Edge]] = defaultdict(list)
        for row in rows:
            self.rows_at[row.file, row.line].append(row)
        for edges, places in ((graph.calls, self.edges_at), (graph.unresolved, self.open_at)):
            for edge in edges:
                for line in edge.lines:
                    places[str(graph.by_id[edge.source].file), line].append(edge)

    def run(self) -> Comparison:
        for row in self.rows:
            self.look_for(row)
        for (file, line), edges in sorted(self.edges_at.items()):
            for edge in edges:
                self.judge(edge, file, line)
        return self.result

    def node(self, declared: Declared) -> Node | None:
        return node_of(self.graph, declared)

    def satisfied(self, row: Row) -> bool:
        return any(self.fits(row, edge) for edge in self.edges_at.get((row.file, row.line), ()))

    def fits(self, row: Row, edge: Edge) -> bool:
        """Whether an edge ends where the checker says, or below."""
        assert edge.target is not None
        target = self.graph.by_id.get(edge.target)
        if target is None:
            return False
        if any(self.node(declared) is target for declared in (*row.targets, *row.lower) if declared.name):
            return True
        return any(
            declared.file == target.file and declared.first <= target.start_line and target.end_line <= declared.last
            for declared in row.lower
            if not declared.name
        )

    # Recall ----------------------------------------------------------------------------------------------------------

    def look_for(self, row: Row) -> None:
        if row.state in ("handed", "plain") or (row.kind in ("get", "set") and row.state != "project"):
            return  # no calls
        if row.state != "project":
            self.result.excluded[row.state] += 1
            return
        edges = self.edges_at.get((row.file, row.line), [])
        reached = {edge.target for edge in edges}
        for declared in row.targets:
            node = self.node(declared)
            kind = "constructor" if declared.name == "constructor" and row.kind != "super" else row.kind
            self.result.wanted[kind] += 1
            if node is not None and node.id in reached:
                self.result.found[kind] += 1
            elif any(self.fits(row._replace(targets=()), edge) for edge in edges):
                self.result.found[kind] += 1
                self.result.narrower += 1
            else:
                self.miss(row, declared, node, kind)

    def miss(self, row: Row, declared: Declared, node: Node | None, kind: str) -> None:
        here = self.open_at.get((row.file, row.line), [])
        edges = self.edges_at.get((row.file, row.line), [])
        named = [edge for edge in here if _last(edge.to_name or "") == row.name]
        if node is None:
            why = "no node"
        elif any(node.id in edge.candidates for edge in (*here, *edges)):
            why = "candidate"
        elif named:
            why = f"unresolved, {named[0].reason}"
        elif edges:
            why = "another target"
        else:
            why = "nothing there"
        self.result.missed[why] += 1
        said = f"{declared.file}:{declared.line} {declared.name}; graph: {self.shown(edges, here)}"
        self.result.cases.append(Case(f"miss, {kind}, {why}", f"{row.file}:{row.line} {row.name}", said))

    # Precision -------------------------------------------------------------------------------------------------------

    def judge(self, edge: Edge, file: str, line: int) -> None:
        assert edge.target is not None
        label = str(edge.resolution) + (f" ({edge.via})" if edge.via else "")
        target = self.graph.by_id[edge.target]
        caller = self.graph.by_id[edge.source]
        rows = self.rows_at.get((file, line), [])
        if caller.start_line and not caller.start_line <= line <= caller.end_line:
            verdict, why = DISAGREES, "caller is elsewhere"
        elif any(self.fits(row, edge) for row in rows if row.state != "handed"):
            verdict, why = AGREES, ""
        else:
            verdict, why = self.against(edge, target, rows)
        self.result.verdicts[label, verdict] += 1
        if verdict == SILENT:
            self.result.silences[why] += 1
        elif verdict == DISAGREES:
            answers = "; ".join(
                f"{r.kind} {r.name} {r.state} {[(*d[:1], d[3], d[4]) for d in r.targets]}" for r in rows
            )
            self.result.cases.append(Case(f"disagrees, {label}, {why}", f"{file}:{line} -> {edge.target}", answers))

    def against(self, edge: Edge, target: Node, rows: list[Row]) -> tuple[str, str]:
        """The verdict on an edge that no row agrees with."""
        if edge.via == "callback" or any(self.fits(row, edge) for row in rows if row.state == "handed"):
            return SILENT, "a built-in calls the function that it is handed"
        if edge.resolution == "protocol":
            return SILENT, "syntax runs an iterator"
        if any(self.node(declared) is target for row in rows for declared in row.possible):
            return SILENT, "what stands behind the receiver's type"
        name = target.name.partition("~")[0]
        made = name == "constructor" or target.kind in ("Class", "Interface")
        if edge.resolution == "property":
            rows = [row for row in rows if row.kind in ("get", "set")]
        meant = [row for row in rows if row.name == name or (made and row.kind in ("new", "super", "jsx", "decorator"))]
        meant = meant or [row for row in rows if row.state != "handed" and not self.satisfied(row)]
        if not meant:
            return SILENT, "the checker sees no call there"
        for row in meant:
            if row.state in ("value", "unknown", "unnamed"):
                return SILENT, f"the checker: {row.state}"
            if row.state == "plain" and edge.resolution != "property":
                return SILENT, "the checker sees no call there"
        return DISAGREES, meant[0].state

    def shown(self, edges: list[Edge], here: list[Edge]) -> str:
        targets = [f"{edge.target}[{edge.resolution}]" for edge in edges]
        return " ".join(targets + [f"{edge.to_name}({edge.reason})" for edge in here])


def _last(text: str) -> str:
    found = _LAST_NAME.search(text)
    return found[1] if found else ""
