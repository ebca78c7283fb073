"""How true the graph of Java code is: recall and precision by what javac says each written call means.

    python tests/benchmarks/bench_accuracy_java.py [--package NAME] [--misses N] [--wrong N]

The libraries were chosen before anything was measured and none is ever swapped: gson (generics, reflection, many overloads) and
jsoup (deep hierarchies, enum bodies, fluent interfaces); both were read while the rules were written. commons-collections4
(decorators, generics everywhere) came after them. Their sources come from Maven Central; a JDK is needed.

The denominator of recall is every call written in the sources (method calls, constructions, `this(…)`, `super(…)`) whose target
is declared in them; each counts once per file, line and target. Precision is over the graph's edges of those kinds: an edge that
javac has not at its line is wrong. Calls that nobody writes (`close` of a resource, the iterator of a loop) and functions that
are called back have no counterpart in the syntax tree and are not judged; how many there are is printed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from smp.domain.graph import EdgeKind, Resolution
from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse
from smp.indexing.link import link

CACHE = Path.home() / ".cache" / "smp" / "bench" / "java"
PACKAGES = {
    "gson": "com.google.code.gson:gson:2.10.1",
    "jsoup": "org.jsoup:jsoup:1.16.1",
    "collections": "org.apache.commons:commons-collections4:4.4",
}
OPINION = Path(__file__).parent / "accuracy_java" / "Opinion.java"
_EXPORTS = ("--add-exports", "jdk.compiler/com.sun.tools.javac.tree=ALL-UNNAMED")
SEED = 20261130
Call = tuple[str, int, str]
"""File, line, node id of the target."""


def unpack(name: str) -> Path:
    """The sources of a library, fetched once."""
    coordinates = PACKAGES[name]
    group, artifact, version = coordinates.split(":")
    folder = CACHE / f"{artifact}-{version}"
    if not folder.is_dir():
        repository = CACHE / "repository"
        maven = shutil.which("mvn")
        if maven is None:
            sys.exit("Maven is needed to fetch the sources: install it, or unpack them to " + str(folder))
        subprocess.run(
            [maven, "-q", "-B", "dependency:get", f"-Dartifact={coordinates}:jar:sources", "-Dtransitive=false",
             f"-Dmaven.repo.local={repository}"],
            check=True,
        )  # fmt: skip
        jar = repository / group.replace(".", "/") / artifact / version / f"{artifact}-{version}-sources.jar"
        with zipfile.ZipFile(jar) as archive:
            archive.extractall(folder)
    return folder


def measure(name: str, *, misses: int, wrong: int) -> None:
    """Prints the figures of one library."""
    root = unpack(name)
    paths = sorted(path for path in root.rglob("*.java") if path.name not in ("module-info.java", "package-info.java"))
    files = {
        FilePath(path.relative_to(root).as_posix()): analyse(
            FilePath(path.relative_to(root).as_posix()), path.read_bytes()
        )
        for path in paths
    }
    starts = {
        (str(node.file), node.start_line, node.kind.value): node.id for f in files.values() for node in f.nodes[1:]
    }
    found: dict[Call, Resolution | None] = {}
    hinted: set[Call] = set()
    silent: Counter[str] = Counter()
    for path, edges in link(files, configs={}).edges.items():
        for edge in edges:
            for line in edge.lines:
                hinted |= {(str(path), line, candidate) for candidate in edge.candidates}
                if edge.kind is not EdgeKind.CALLS_STATIC or edge.target is None:
                    continue
                if edge.resolution in (Resolution.PROTOCOL, Resolution.FLOW):
                    silent[str(edge.resolution)] += 1
                else:
                    found[str(path), line, edge.target] = edge.resolution
    truth, outside = opinion(root, starts)
    report(name, truth, outside, found, hinted, silent)
    chooser = random.Random(SEED)
    for call in chooser.sample(sorted(truth - found.keys()), min(misses, len(truth - found.keys()))):
        print("  missed:", *call, "(candidate)" if call in hinted else "")
    for call in chooser.sample(sorted(found.keys() - truth), min(wrong, len(found.keys() - truth))):
        print("  wrong:", *call, found[call])


def opinion(root: Path, starts: Mapping[tuple[str, int, str], str]) -> tuple[set[Call], int]:
    """What javac says; and how many calls lead out of the sources."""
    printed = subprocess.run(
        ["java", *_EXPORTS, str(OPINION), str(root)], check=True, capture_output=True, text=True
    ).stdout
    truth: set[Call] = set()
    outside = 0
    for row in printed.splitlines():
        file, line, kind, target, start = row.split("\t")
        kinds = ("Class", "Interface") if kind == "class" else ("Function", "Test")
        node = next((starts[key] for k in kinds if (key := (target, int(start), k)) in starts), None)
        if node is not None:
            truth.add((file, int(line), node))
        elif target == "-":
            outside += 1
    return truth, outside


def report(
    name: str,
    truth: set[Call],
    outside: int,
    found: dict[Call, Resolution | None],
    hinted: set[Call],
    silent: Counter[str],
) -> None:
    """Recall, and precision by label."""
    hit = len(truth & found.keys())
    near = len((truth - found.keys()) & hinted)
    print(f"\n== {name} {PACKAGES[name]}")
    print(f"calls into the sources {len(truth)}, out of them {outside}")
    print(f"recall {hit / len(truth):.2%}; {near} of the {len(truth) - hit} missed are among the candidates")
    right = len(truth & found.keys())
    print(f"precision {right / len(found):.2%} of {len(found)} edges; not judged: {dict(silent)}")
    for label in sorted({str(value) for value in found.values()}):
        edges = [call for call, value in found.items() if str(value) == label]
        good = sum(call in truth for call in edges)
        print(f"  {label:14} {good / len(edges):8.2%} of {len(edges)}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--package", action="append", choices=sorted(PACKAGES), help="only these")
    options.add_argument("--misses", type=int, default=0, help="print so many calls that the graph lacks")
    options.add_argument("--wrong", type=int, default=0, help="print so many edges that javac does not have")
    chosen = options.parse_args()
    for name in PACKAGES:
        if not chosen.package or name in chosen.package:
            measure(name, misses=chosen.misses, wrong=chosen.wrong)


if __name__ == "__main__":
    main()
