"""How true the call graph of Go is: every call of two modules, beside what Go's own type checker says.

    python tests/benchmarks/bench_accuracy_go.py [--module NAME] [--misses N]

The modules were chosen on 30 November 2026, before the first figure, and are never swapped; a later round adds one:
    github.com/go-chi/chi/v5 v5.1.0    a router: interfaces, middleware, closures; with its tests
    github.com/urfave/cli/v2 v2.27.5   commands and flags: embedded structs, generics, tables of functions; with its tests

The module proxy brings modules and `golang.org/x/tools` into the user's cache folder, once; nothing of them runs but the
type checker (`accuracy_go/oracle.go`), which needs the `go` command. It says for each call which function, method or interface
method the text means. It says nothing of calls of function values: those that the graph resolves by flow are counted apart.

Recall: of the calls that the checker resolves into the module, those with an edge from the same line to the same declaration.
Precision, by label: of the edges at a line of which the checker says anything, those that it agrees with.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from platformdirs import user_cache_path

from smp.domain.graph import EdgeKind
from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse, wants_config
from smp.indexing.link import link

MODULES = {"chi": "github.com/go-chi/chi/v5@v5.1.0", "cli": "github.com/urfave/cli/v2@v2.27.5"}
TOOLS = "golang.org/x/tools/go/packages@v0.52.0"
ORACLE = Path(__file__).parent / "accuracy_go" / "oracle.go"

Call = tuple[str, int, str]
"""File, line, and what is called, as `path#name`."""


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--module", action="append", choices=sorted(MODULES), help="only these of the modules")
    options.add_argument("--misses", type=int, default=0, help="print that many of the misses and disagreements")
    chosen = options.parse_args()
    folder = user_cache_path("smp") / "bench" / "go"
    oracle = _built(folder)
    for name, module in MODULES.items():
        if chosen.module and name not in chosen.module:
            continue
        root = _fetched(folder, name, module)
        answers = subprocess.run([oracle, root], check=True, capture_output=True, text=True, cwd=root).stdout
        told = {(a["file"], a["line"], a["target"]) for a in map(json.loads, answers.splitlines())}
        _compare(module, told, _edges(root), chosen.misses)


def _built(folder: Path) -> Path:
    place = folder / "oracle"
    program = place / "oracle"
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(ORACLE, place / "main.go")
    if not (place / "go.mod").exists():
        subprocess.run(["go", "mod", "init", "oracle"], cwd=place, check=True, capture_output=True)
    subprocess.run(["go", "get", TOOLS], cwd=place, check=True, capture_output=True)
    subprocess.run(["go", "build", "-o", program, "."], cwd=place, check=True)
    return program


def _fetched(folder: Path, name: str, module: str) -> Path:
    root = folder / "modules" / name
    if not root.exists():
        done = subprocess.run(
            ["go", "mod", "download", "-json", module], cwd=folder / "oracle", check=True, capture_output=True
        )
        shutil.copytree(json.loads(done.stdout)["Dir"], root)
        for path in [root, *root.rglob("*")]:  # the module cache is read-only
            path.chmod(0o755 if path.is_dir() else 0o644)
    return root


def _edges(root: Path) -> dict[Call, str]:
    """Calls of the graph with their label."""
    texts = {
        FilePath(path.relative_to(root).as_posix()): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.suffix == ".go" or path.name in ("go.mod", "go.work")
    }
    files = {path: analyse(path, text) for path, text in texts.items()}
    linked = link(files, configs={path: text for path, text in texts.items() if wants_config(path)})
    found: dict[Call, str] = {}
    for path, edges in linked.edges.items():
        for edge in edges:
            if edge.kind is EdgeKind.CALLS_STATIC and edge.target is not None:
                target = edge.target.partition(":")[2]
                found.update({(path, line, target): str(edge.resolution) for line in edge.lines})
    return found


def _compare(module: str, told: set[Call], found: dict[Call, str], misses: int) -> None:
    spoken = {(file, line) for file, line, _ in told}
    agreed: Counter[str] = Counter()
    denied: Counter[str] = Counter()
    silent: Counter[str] = Counter()
    wrong: list[str] = []
    for (file, line, target), label in sorted(found.items()):
        if (file, line, target) in told:
            agreed[label] += 1
        elif (file, line) in spoken:
            denied[label] += 1
            wrong.append(f"{file}:{line} -> {target} [{label}]")
        else:
            silent[label] += 1
    missed = sorted(told - found.keys())
    print(f"\n{module}: {len(told)} calls into the module")
    print(f"  recall {100 * (len(told) - len(missed)) / len(told):.1f} % ({len(missed)} missed)")
    print(f"  {'label':14} {'agrees':>7} {'denies':>7} {'silent':>7} {'precision':>10}")
    for label in sorted(agreed.keys() | denied.keys() | silent.keys()):
        judged = agreed[label] + denied[label]
        share = f"{100 * agreed[label] / judged:.1f} %" if judged else "-"
        print(f"  {label:14} {agreed[label]:>7} {denied[label]:>7} {silent[label]:>7} {share:>10}")
    for text in [f"missed {file}:{line} -> {target}" for file, line, target in missed[:misses]] + wrong[:misses]:
        print("   ", text)


if __name__ == "__main__":
    main()
