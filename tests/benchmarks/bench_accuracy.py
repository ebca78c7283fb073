"""How true the graph of Python code is: recall against calls observed at run time, precision by a second opinion.

    python tests/benchmarks/bench_accuracy.py [--package NAME] [--misses N] [--disagreements N]

The packages were chosen before anything was measured, one of each style, and none is ever swapped: click (decorators, a
command line), mistune (a parser with plug-ins), webob (web, WSGI, descriptors, hardly an annotation), marshmallow (a data model
with metaclasses), starlette (asynchronous, annotated). A later round of work adds a package and prints its first figure.

Recall: each package's own test suite runs under `accuracy/recorder.py`; the denominator is every observed call with both ends
in the project, each once per caller, place and callee; what is left out is listed and counted. Explicit calls, methods that
syntax runs, and calls back from built-ins are counted apart. Precision: basedpyright is asked for the definition at each
resolved call: what it confirms or a run has shown is right, what it contradicts and no run has shown is counted as wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.accuracy import corpus
from tests.benchmarks.accuracy.corpus import Package
from tests.benchmarks.accuracy.graph import Graph
from tests.benchmarks.accuracy.opinion import AGREES, DISAGREES, OBSERVED, SILENT, Judge, Verdict
from tests.benchmarks.accuracy.truth import CALLBACK, EXPLICIT, PROTOCOL, Observed, hinted, in_graph, observed_calls

T = TypeVar("T")

FIRST = (
    Package("click", "8.5.1", "9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4", "decorators, CLI"),
    Package("mistune", "3.4.0", "2eaf7952af928ca8d33b779762effc1da517b62c6ad85ec8ca957e3b07b9782a", "parser, plug-ins"),
    Package("webob", "1.8.11", "aa8c27231070b135c025e567a9cd7eda03f4df71352ffaac740cb6a75f0f81a5", "WSGI, descriptors"),
    Package("marshmallow", "4.4.0", "9e6ffa8511012ca89732324c1c253efd7b4d35632dcbdf80aa793fe01804af3e", "data model"),
    Package("starlette", "1.10.0", "b8399098d4c1e3522734f7235dc79b1fc967f96cf139c81e0fa30479e0685f9b", "asynchronous"),
)
SECOND = (
    Package(
        "wtforms",
        "3.3.2",
        "49bb51d10b7832d497e758736da4d56f7d129a015db24756f36f28992f175404",
        "forms, validators",
        needs=("babel==2.19.0", "dnspython==2.9.2", "email-validator==2.4.0"),
    ),
)
THIRD = (Package("tomlkit", "0.15.2", "83e32755ba1d20d9340bd069ee97e9f6232ba2346b63ffcba425de01f7e327a6", "documents"),)
FOURTH = (
    Package("sqlparse", "0.6.1", "ca722573f848ff2d30e40ea30f53a104b7dea7635ea9285891263eb2c58fb6e7", "token trees"),
)
ROUNDS = (FIRST, SECOND, THIRD, FOURTH)
"""The packages of each round of work. Those of a round share an environment, so that a later round leaves earlier recordings valid."""
PACKAGES = tuple(package for packages in ROUNDS for package in packages)

SEED = 20261130
"""Of the samples that are printed to be read."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--package", action="append", help="only these")
    options.add_argument("--misses", type=int, default=0, help="print so many explicit calls that the graph lacks")
    options.add_argument(
        "--disagreements", type=int, default=10, help="print so many contradicted edges, a fixed sample"
    )
    chosen = options.parse_args()
    for packages in ROUNDS:
        wanted = [package for package in packages if not chosen.package or package.name in chosen.package]
        for package in wanted:
            measure(package, corpus.tools(packages), misses=chosen.misses, disagreements=chosen.disagreements)


def measure(package: Package, python: Path, *, misses: int, disagreements: int) -> None:
    """Prints the figures of one package."""
    repo = corpus.unpack(package, python)
    seen = corpus.observed(package, repo, python)
    graph = Graph(repo)
    calls, left_out = observed_calls(seen, graph)
    print(f"\n== {package.name} {package.version} ({package.style}); its suite: {seen['suite']}")
    report_recall(calls, left_out, graph)
    judge = Judge(graph, python, repo, corpus.cache() / f"{package.name}-{package.version}-basedpyright.json")
    verdicts = judge.verdicts(calls)
    report_precision(verdicts)
    lacking = [call for call in calls if call.kind == EXPLICIT and not in_graph(call, graph)]
    for call in sample(lacking, misses):
        mark = "candidate" if hinted(call, graph) else "hole"
        texts = [f"{e.to_name} ({e.reason})" for line in call.lines for e in graph.open.get((call.source, line), ())]
        print(f"  missed, {mark}: {call.source}:{call.lines[0]} -> {call.target} [{call.origin}] {texts}")
    wrong = [verdict for verdict in verdicts if verdict.said == DISAGREES]
    for one in sample(wrong, disagreements):
        said = ", ".join(one.answers)
        print(f"  contradicted: {one.edge.source}:{one.line} -> {one.edge.target} [{one.edge.resolution}] not {said}")


def sample(found: list[T], size: int) -> list[T]:
    """So many of them, always the same."""
    return random.Random(SEED).sample(found, min(size, len(found)))


def report_recall(calls: list[Observed], left_out: Counter[str], graph: Graph) -> None:
    """Observed calls that the graph has, by kind and by where the caller stands."""
    print(f"  {'recall':24}{'observed':>9}{'in graph':>9}{'':>8}{'candidate':>10}{'hole':>6}")
    for kind in (EXPLICIT, PROTOCOL, CALLBACK):
        for place in ("source", "tests"):
            some = [call for call in calls if call.kind == kind and call.from_tests == (place == "tests")]
            if some:
                lacking = [call for call in some if not in_graph(call, graph)]
                near = sum(1 for call in lacking if hinted(call, graph))
                hit = len(some) - len(lacking)
                share = f"{100 * hit / len(some):.1f} %"
                print(f"  {kind + ', from ' + place:24}{len(some):9}{hit:9}{share:>8}{near:10}{len(lacking) - near:6}")
    print("  left out: " + "; ".join(f"{reason}: {count}" for reason, count in sorted(left_out.items())))


def report_precision(verdicts: list[Verdict]) -> None:
    """Edges, one a line, by resolution."""
    print(f"  {'precision':24}{'edges':>9}{'observed':>9}{'agrees':>8}{'silent':>8}{'disagrees':>10}{'right':>9}")
    table: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        for label in (str(verdict.edge.resolution), "all"):
            table.setdefault(label, Counter())[verdict.said] += 1
    for label in sorted(table, key=lambda name: (name == "all", name)):
        row = table[label]
        judged = row[OBSERVED] + row[AGREES] + row[DISAGREES]
        right = f"{100 * (judged - row[DISAGREES]) / judged:.1f} %" if judged else "-"
        counts = f"{row.total():9}{row[OBSERVED]:9}{row[AGREES]:8}{row[SILENT]:8}{row[DISAGREES]:10}"
        print(f"  {label:24}{counts}{right:>9}")


if __name__ == "__main__":
    main()
