"""How true the call graph of TypeScript and JavaScript is: every call of four packages, beside what the compiler says.

    python tests/benchmarks/bench_accuracy_typescript.py [--package NAME] [--misses N] [--json FILE]

The packages were chosen on 30 November 2026, before the first figure, and are never swapped; a later round adds one:
    langium 4.4.0   TypeScript: classes, interfaces and services by dependency injection; a parser and language server
    fastify 5.12.8  JavaScript: CommonJS, functions and prototypes; with its tests
    ra-core 5.15.4  TSX: React components, hooks and contexts; with its tests and stories
    ajv 8.20.0      TypeScript: a compiler; functions, keyword tables, code generation
Fresh ones, added after the first four had been looked at:
    @blueprintjs/core 6.20.0   TSX: components as classes and as functions
    @loopback/context 8.0.15   TypeScript: dependency injection by decorators, generics, event emitters
Fresh ones of the next round:
    pino 10.4.0                JavaScript: prototypes, symbols as keys, streams; with its tests, which run
    @reduxjs/toolkit 2.15.0    TypeScript: functions that make functions, inferred types

npm brings packages, compiler and types into the user's cache folder, once, without running scripts; nothing of
them runs unless `--observe` is given, which runs the packages' own tests and counts the calls that were seen (recall only).
The second opinion is the checker of TypeScript 5.9.3 (`accuracy_typescript/oracle.cjs`): for each call, construction, `super()`,
JSX tag, tagged template, decorator and accessor the declarations that it resolves to. It is an opinion: it knows no data
flow, and says nothing of values called through `any`.

Recall: of the calls that the checker resolves into the project, those of which the graph has an edge, from the same line, to
the same declaration (or to what stands below it: an implementation where the checker says interface). Precision: of the edges
of which the checker says anything, those it agrees with. What is left out is counted and printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

from platformdirs import user_cache_path

from tests.benchmarks.accuracy_typescript.compare import Comparison, compare
from tests.benchmarks.accuracy_typescript.graph import linked
from tests.benchmarks.accuracy_typescript.observed import compare_observed, observe
from tests.benchmarks.accuracy_typescript.packages import PACKAGES, Package, compiler_options, prepare
from tests.benchmarks.accuracy_typescript.tables import print_misses, print_observed, print_package, print_sum

ORACLE = Path(__file__).parent / "accuracy_typescript" / "oracle.cjs"


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--package", action="append", help="only these of the packages")
    options.add_argument(
        "--misses", type=int, default=0, help="print that many of the misses and disagreements of a group"
    )
    options.add_argument("--group", default="", help="of which groups: part of their name")
    options.add_argument(
        "--observe", action="store_true", help="run the tests of packages that have them: foreign code"
    )
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    folder = user_cache_path("smp") / "bench" / "typescript"
    prepare(folder)
    done: list[tuple[Package, Comparison]] = []
    for package in PACKAGES:
        if chosen.package and package.name not in chosen.package:
            continue
        root = folder / "projects" / package.folder
        answers = ask(folder, root, package)
        graph = linked(root, package.files(root))
        comparison = compare(graph, answers)
        print_package(package, comparison)
        if chosen.observe and package.tests:
            observed = compare_observed(graph, observe(folder, root, package))
            print_observed(observed)
            comparison.cases += observed.cases
        print_misses(comparison, chosen.misses, chosen.group)
        done.append((package, comparison))
    print_sum(done)
    if chosen.json:
        figures = {package.name: comparison.figures() for package, comparison in done}
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def ask(folder: Path, root: Path, package: Package) -> list[dict[str, object]]:
    """The checker's answers; kept in the cache while the question is the same."""
    request = {
        "typescript": str(folder / "node_modules" / "typescript"),
        "root": str(root),
        "files": [str(path) for path in package.files(root)],
        "options": compiler_options(package),
    }
    question = json.dumps(request, sort_keys=True) + ORACLE.read_text("utf-8")
    asked, answered = folder / f"{package.folder}.request.json", folder / f"{package.folder}.answers.json"
    stamp = folder / f"{package.folder}.question"
    if not (answered.exists() and stamp.exists() and stamp.read_text("utf-8") == question):
        asked.write_text(json.dumps(request), "utf-8")
        with answered.open("wb") as out:
            command = ["node", "--max-old-space-size=4096", str(ORACLE), str(asked)]
            subprocess.run(command, cwd=root, check=True, stdout=out)
        stamp.write_text(question, "utf-8")
    rows: list[dict[str, object]] = json.loads(answered.read_text("utf-8"))["rows"]
    return rows


if __name__ == "__main__":
    main()
