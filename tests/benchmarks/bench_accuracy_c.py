"""Accuracy of C and C++ calls by a second opinion: what clang says that each call refers to, in the files that it compiles.

    .venv/bin/pip install libclang==18.1.1            # `make bench` does
    .venv/bin/python tests/benchmarks/bench_accuracy_c.py [FOLDER] [-I SUBFOLDER]...

Without a folder two packages that no rule was written on: brotli 1.2.1 (C) and jsonnet 0.22.0 (C++).

Recall: of the calls that clang sees with both ends in the project, those that have an edge from the line to the definition. Precision: of
the edges on lines where clang sees a call of that name, those that lead to where clang says. Calls written in the text of a macro
belong to the macro's node in the graph and to the place of its use in clang's tree; they are left out, and counted.
"""

from __future__ import annotations

import argparse
import collections
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from clang.cindex import Cursor, CursorKind, Index, TranslationUnit

from smp.domain.graph import EdgeKind, NodeKind
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.indexing.analyse import analyse, wants_config
from smp.indexing.link import link
from smp.languages.registry import language_of
from tests.builders.real_sources import Corpus, check_out

_FUNCTIONS = frozenset(
    {
        CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE,
    }
)  # fmt: skip
PACKAGES = (
    (
        Corpus(
            registry="pypi",
            name="brotli",
            version="1.2.1",
            archive="brotli-1.2.1.tar.gz",
            sha256="02b2f7b5a83485efe448a44ddf7983def05c3bb1dcf917d4f7154070260e13de",
            keep=("c",),
        ),
        ["c/include"],
    ),
    (
        Corpus(
            registry="pypi",
            name="jsonnet",
            version="0.22.0",
            archive="jsonnet-0.22.0.tar.gz",
            sha256="eae5d9bf23c778baad39390f88c13c03b2090dfb5dfa148d6e217df8c1448258",
            keep=("core", "cpp", "include", "stdlib", "third_party"),
        ),
        ["include", "cpp", "core", "third_party/md5", "third_party/json", "third_party/rapidyaml"],
    ),
)
"""Chosen before the first figure; with the folders of their headers."""
_SOURCES = (".c", ".cc", ".cpp", ".cxx")


class Place(NamedTuple):
    file: str
    line: int


class Seen(NamedTuple):
    """A call as clang sees it: where it is written, the definition it refers to, its name, and what kind of function that is."""

    at: Place
    target: Place
    name: str
    kind: str


class SecondOpinion:
    """Clang's view of a folder."""

    def __init__(self, root: Path, includes: list[str]) -> None:
        self.root = root
        # libclang from a wheel has no headers of its own; those of the machine's compiler do.
        own = subprocess.run(
            ["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True
        ).stdout.strip()
        self.arguments = [*(f"-I{root / folder}" for folder in includes), "-isystem", own]
        self.definitions: dict[str, Place] = {}
        self.calls: list[tuple[Place, str, str, str]] = []
        self.compiled: set[str] = set()
        self.failed: list[str] = []
        self.done: set[tuple[str, int]] = set()

    def read(self) -> None:
        """Compiles every source file."""
        index = Index.create()
        for path in sorted(p for p in self.root.rglob("*") if p.suffix in _SOURCES):
            standard = "-std=c11" if path.suffix == ".c" else "-std=c++17"
            unit = index.parse(str(path), [standard, *self.arguments])
            if any(d.severity >= 4 for d in unit.diagnostics):
                self.failed.append(path.relative_to(self.root).as_posix())
                continue
            self._walk(unit)

    def _walk(self, unit: TranslationUnit) -> None:
        stack: list[Cursor] = list(unit.cursor.get_children())
        while stack:
            cursor = stack.pop()
            place = self._place(cursor)
            if place is None and cursor.location.file is not None:
                continue  # outside of the project
            if place is not None:
                self.compiled.add(place.file)
                self._note(cursor, place)
            stack.extend(cursor.get_children())

    def _note(self, cursor: Cursor, place: Place) -> None:
        if cursor.kind in _FUNCTIONS and (cursor.is_definition() or cursor.is_pure_virtual_method()):
            self.definitions.setdefault(cursor.get_usr(), Place(place.file, cursor.extent.start.line))
        if (
            cursor.kind is CursorKind.CALL_EXPR
            and cursor.referenced is not None
            and cursor.referenced.kind in _FUNCTIONS
        ):
            template: Any = cursor.referenced
            usr = template.get_usr()
            self.calls.append((place, usr, cursor.referenced.spelling, cursor.referenced.kind.name.lower()))

    def _place(self, cursor: Cursor) -> Place | None:
        file = cursor.location.file
        if file is None:
            return None
        path = Path(file.name).resolve()
        if not path.is_relative_to(self.root):
            return None
        return Place(path.relative_to(self.root).as_posix(), cursor.extent.start.line)

    def seen(self) -> Iterator[Seen]:
        """Calls with both ends in the project, each once."""
        known: set[Seen] = set()
        for at, usr, name, kind in self.calls:
            target = self.definitions.get(usr)
            if target is not None:
                call = Seen(at, target, name, kind)
                if call not in known:
                    known.add(call)
                    yield call


def _ours(root: Path) -> tuple[dict[str, FileAnalysis], dict[tuple[Place, Place], tuple[str, str]]]:
    """Analyses, and per (place of the call, start of the target) label and name."""
    files: dict[FilePath, FileAnalysis] = {}
    configs: dict[FilePath, bytes] = {}
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name = FilePath(path.relative_to(root).as_posix())
        language = language_of(name)
        if language is not None and language.family == "c":
            files[name] = analyse(name, path.read_bytes())
        elif wants_config(name):
            configs[name] = path.read_bytes()
    nodes = {node.id: node for found in files.values() for node in found.nodes}
    edges: dict[tuple[Place, Place], tuple[str, str]] = {}
    for origin, made in link(files, configs=configs).edges.items():
        for edge in made:
            if edge.kind is EdgeKind.CALLS_STATIC and edge.target is not None:
                node = nodes[edge.target]
                if node.kind is NodeKind.CLASS:
                    continue  # what is made; clang names the constructor, which has an edge of its own
                for line in edge.lines:
                    edges[Place(origin, line), Place(node.file or "", node.start_line)] = (
                        str(edge.resolution),
                        node.name,
                    )
    return {str(path): found for path, found in files.items()}, edges


def main() -> None:
    """Prints recall and precision per label."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="a checkout instead of the two packages")
    parser.add_argument("-I", dest="includes", action="append", default=[])
    parser.add_argument("--show", type=int, default=0, help="misses and disagreements to print")
    given = parser.parse_args()
    if given.folder is not None:
        judge(given.folder.resolve(), given.includes, given.show)
        return
    for corpus, includes in PACKAGES:
        print(f"\n{corpus.name} {corpus.version}")
        with tempfile.TemporaryDirectory(prefix="smp-bench-") as scratch:
            judge(check_out(corpus, Path(scratch)), [*includes, *given.includes], given.show)


def judge(root: Path, includes: list[str], show: int) -> None:
    """Print recall and precision of one checkout.

    Args:
        includes: Folders of it in which headers are looked for.
        show: How many misses and disagreements to print.
    """
    opinion = SecondOpinion(root, [".", *includes])
    opinion.read()
    files, edges = _ours(root)
    texts = {path: (root / path).read_text("utf-8", "replace").splitlines() for path in files}
    truth = list(opinion.seen())
    in_macros = [
        c for c in truth if c.name.lstrip("~") not in texts[c.at.file][c.at.line - 1] and c.kind == "function_decl"
    ]
    explicit = [
        c for c in truth if c.kind not in ("constructor", "conversion_function") and not c.name.startswith("operator")
    ]
    asked = [c for c in explicit if c not in set(in_macros)]
    starts = _starts(files)
    hits = [c for c in asked if (c.at, starts(c.target)) in edges]
    print(
        f"compiled {len(opinion.compiled)} files, {len(opinion.failed)} sources did not compile: {opinion.failed[:5]}"
    )
    print(f"recall {len(hits)}/{len(asked)} = {len(hits) / max(1, len(asked)):.1%}; left out: {len(explicit) - len(asked)} in macros, "
          f"{len(truth) - len(explicit)} constructors, conversions, operators")  # fmt: skip
    _precision(edges, truth, starts, show)
    missed = [c for c in asked if c not in set(hits)]
    for call in missed[:show]:
        print("missed", call, texts[call.at.file][call.at.line - 1].strip()[:100])


def _starts(files: dict[str, FileAnalysis]) -> Any:
    """From a line inside a definition's head to where its node begins (`template <…>` and macros stand before it)."""
    spans = {path: sorted((n.start_line, n.end_line) for n in found.nodes[1:]) for path, found in files.items()}

    def start(place: Place) -> Place:
        inside = [first for first, last in spans.get(place.file, ()) if place.line - 3 <= first <= place.line <= last]
        return Place(place.file, max(inside, default=place.line))

    return start


def _precision(edges: dict[tuple[Place, Place], tuple[str, str]], truth: list[Seen], starts: Any, show: int) -> None:
    said: dict[tuple[Place, str], set[Place]] = collections.defaultdict(set)
    for call in truth:
        said[call.at, call.name].add(starts(call.target))
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    wrong = []
    for (at, target), (label, name) in sorted(edges.items()):
        there = said.get((at, name.partition("~")[0] or name))
        verdict = "silent" if there is None else "agrees" if target in there else "disagrees"
        counts[label][verdict] += 1
        if verdict == "disagrees":
            wrong.append((at, target, name, sorted(there or ())))
    for label, found in sorted(counts.items()):
        judged = found["agrees"] + found["disagrees"]
        print(f"{label:14} agrees {found['agrees']:5} disagrees {found['disagrees']:4} silent {found['silent']:5} "
              f"precision {found['agrees'] / max(1, judged):.1%}")  # fmt: skip
    for entry in wrong[:show]:
        print("disagrees", entry)


if __name__ == "__main__":
    main()
