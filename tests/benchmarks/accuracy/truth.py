"""Observed calls as questions to the graph: what counts, under which heading, and whether the graph has it."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any, NamedTuple

from tests.benchmarks.accuracy.graph import Graph

EXPLICIT, PROTOCOL, CALLBACK = "explicit", "protocol", "callback"


class Observed(NamedTuple):
    """One observed call. accepted: targets that count as it: the callee, or the function that the called object wraps."""

    kind: str
    source: str
    lines: range
    end: tuple[int, int]
    target: str
    accepted: frozenset[str]
    origin: str
    from_tests: bool


class Places:
    """Where a file writes calls, by the end of the expression."""

    def __init__(self, source: bytes) -> None:
        tree = ast.parse(source)
        self.calls: dict[tuple[int, int], list[ast.Call]] = {}
        self.decorators: set[tuple[int, int]] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self.calls.setdefault((node.end_lineno or 0, node.end_col_offset or 0), []).append(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for decorator in node.decorator_list:
                    self.decorators.add((decorator.end_lineno or 0, decorator.end_col_offset or 0))

    def written(self, start: tuple[int, int], end: tuple[int, int]) -> bool:
        """Whether a call is written here. An operator may end where its right operand does, so that the end alone does not
        do; the instruction of a method's call that is spread over lines begins with the method's name."""
        return end in self.decorators or any(_begins(call, start) for call in self.calls.get(end, ()))

    def unpacks(self, end: tuple[int, int]) -> bool:
        """Whether a call that ends here hands on `*arguments` or `**arguments`."""
        return any(
            any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
            for call in self.calls.get(end, ())
        )


def _begins(call: ast.Call, start: tuple[int, int]) -> bool:
    spread = isinstance(call.func, ast.Attribute) and call.func.lineno != call.func.end_lineno
    return start[0] == call.func.end_lineno if spread else start == (call.lineno, call.col_offset)


def observed_calls(seen: dict[str, Any], graph: Graph) -> tuple[list[Observed], Counter[str]]:
    """Observed calls whose both ends the graph has nodes for, each once; and what was left out, by reason."""
    left_out: Counter[str] = Counter(seen["left_out"])
    places = {path: Places(source) for path, source in graph.sources.items()}
    found: dict[tuple[str, str, tuple[int, int], str], Observed] = {}
    for caller, place, callee, origin, behind in seen["rows"]:
        file, qualname, line = seen["codes"][caller]
        callee_file, callee_name, callee_line = seen["codes"][callee]
        if file not in places:
            left_out["the caller's file is not in the graph"] += 1
            continue
        target = graph.callee(callee_file, callee_name, callee_line)
        if target is None:
            last = callee_name.rpartition(".")[2]
            reason = {"<lambda>": "the callee is a lambda", "<genexpr>": "a generator expression"}.get(last)
            left_out[reason or "the callee has no node (made at run time)"] += 1
            continue
        accepted = {target}
        if behind is not None:
            wrapped = graph.callee(*seen["codes"][behind])
            accepted |= {wrapped} if wrapped else set()
        end = (place[1], place[3])
        if not places[file].written((place[0], place[2]), end):
            kind = PROTOCOL
        elif origin == "builtin" or (origin == "syntax" and not places[file].unpacks(end)):
            # `syntax` at a call: a built-in that has called back before, or a call that unpacks its arguments.
            kind = CALLBACK
        else:
            kind = EXPLICIT
        source = graph.caller(file, qualname, line)
        key = (kind, source, end, target)
        before = found.get(key)
        if before is not None:
            accepted |= before.accepted
        from_tests = file.startswith("tests/")
        # A protocol's method belongs to an expression that may span lines; a call is known by the line of its name.
        lines = range(place[0], (place[1] if kind != EXPLICIT else place[0]) + 1)
        found[key] = Observed(kind, source, lines, end, target, frozenset(accepted), origin, from_tests)
    return sorted(found.values(), key=lambda one: (one.kind, one.source, one.end, one.target)), left_out


def in_graph(call: Observed, graph: Graph) -> bool:
    """Whether the graph has the call as an edge at that line."""
    for target in call.accepted:
        edge = graph.calls.get((call.source, target))
        if edge is not None and any(line in edge.lines for line in call.lines):
            return True
    return False


def hinted(call: Observed, graph: Graph) -> bool:
    """Whether the graph has it among the candidates of a call at that line."""
    return any(graph.hints.get((call.source, line), set()) & call.accepted for line in call.lines)
