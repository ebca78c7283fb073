"""Calls that were seen while a package's own tests ran, and whether the graph has them: recall, without a compiler's opinion."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.accuracy_typescript.compare import Case, Declared, node_of
from tests.benchmarks.accuracy_typescript.graph import Graph
from tests.benchmarks.accuracy_typescript.packages import Package

HOOK = Path(__file__).parent / "observe.cjs"
SECONDS = 60
"""A test file that takes longer is ended; what it had called until then is lost, and it is counted."""


@dataclass
class Observed:
    """Counts: test files run, failed, ended; calls wanted, found, those left out by reason, and what is missed."""

    files: int = 0
    failed: int = 0
    wanted: int = 0
    found: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    cases: list[Case] = field(default_factory=list)


def observe(folder: Path, root: Path, package: Package) -> Path:
    """Runs the tests with the hook, once; gives the folder of records."""
    out = folder / f"{package.folder}.observed"
    done = out / "done.json"
    if done.exists():
        return out
    out.mkdir(parents=True, exist_ok=True)
    settings = folder / f"{package.folder}.observe.json"
    request = {"typescript": str(folder / "node_modules" / "typescript"), "root": str(root), "out": str(out)}
    settings.write_text(json.dumps(request), "utf-8")
    environment = {**os.environ, "OBSERVE": str(settings)}
    failed = files = 0
    for test in sorted(root.glob(package.tests)):
        files += 1
        command = ["node", "--require", str(HOOK), str(test)]
        try:
            ended = subprocess.run(
                command, cwd=root, env=environment, capture_output=True, timeout=SECONDS, check=False
            )
            failed += ended.returncode != 0
        except subprocess.TimeoutExpired:
            failed += 1
    done.write_text(json.dumps({"files": files, "failed": failed}), "utf-8")
    return out


def compare_observed(graph: Graph, out: Path) -> Observed:
    """Looks for every observed call with both ends in the project."""
    result = Observed(**json.loads((out / "done.json").read_text("utf-8")))
    edges: dict[tuple[str, int], set[str]] = {}
    for edge in (*graph.calls, *graph.unresolved):
        for line in edge.lines:
            targets = edges.setdefault((str(graph.by_id[edge.source].file), line), set())
            targets |= {f"={edge.target}"} if edge.target else {f"?{one}" for one in edge.candidates}
    seen = {
        (Declared(*declared), file, line)
        for record in sorted(out.glob("*-*.json"))
        for declared, file, line in json.loads(record.read_text("utf-8"))
    }
    for declared, file, line in sorted(seen):
        node = node_of(graph, declared)
        if not file:
            result.excluded["called by the platform, a runner or a library"] += 1
        elif node is None or node.kind == "Test":
            result.excluded["a function without a name"] += 1
        else:
            result.wanted += 1
            there = edges.get((file, line), set())
            if f"={node.id}" in there:
                result.found += 1
            else:
                why = "candidate" if f"?{node.id}" in there else "another target" if there else "nothing there"
                result.missed[why] += 1
                result.cases.append(
                    Case(f"observed, {why}", f"{file}:{line}", f"{node.id}; graph: {sorted(there)[:4]}")
                )
    return result
