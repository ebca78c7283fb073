"""Time and memory of indexing a real repository, beside tree-sitter merely parsing the same files, in one run.

    python tests/benchmarks/bench_index.py [--repo FOLDER] [--json FILE]

Without `--repo` the Django source distribution named below is fetched by pip, once, into the user's cache folder. Every
measurement of the indexer is a process of its own; memory is the peak of the summed resident sets of that process and its
workers, sampled five times a second.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path

REQUIREMENT = "django==5.2.8 --hash=sha256:23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f"
ARCHIVE = "django-5.2.8.tar.gz"
EDITED = "django/utils/text.py"
SAMPLE_S = 0.2
EDITED_FILES = 24
"""Files that are edited, spread evenly over the repository's, by path."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--repo", type=Path, help="a git working tree to index instead; its index goes elsewhere")
    options.add_argument("--edit", default=EDITED, help="file that is edited first in a new process")
    options.add_argument("--json", type=Path, help="write the figures here as well")
    options.add_argument("--stage", choices=("parse", "full", "again", "update"), help=argparse.SUPPRESS)
    options.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.stage:
        print(json.dumps(STAGES[chosen.stage](chosen.repo, chosen.data, chosen.edit)))
        return
    with tempfile.TemporaryDirectory(prefix="smp-bench-") as scratch:
        repo = chosen.repo or unpack(fetch(), Path(scratch))
        figures = {name: measure(name, repo, Path(scratch) / "data", chosen.edit) for name in STAGES}
    report(figures)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def fetch() -> Path:
    """The pinned source distribution, from the cache or by pip."""
    folder = user_cache_path("smp") / "bench"
    archive = folder / ARCHIVE
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        requirements = folder / "requirements.txt"
        requirements.write_text(REQUIREMENT + "\n", "utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:", "--no-deps"]
        subprocess.run([*command, "--require-hashes", "-r", str(requirements), "-d", str(folder)], check=True)
    return archive


def unpack(archive: Path, folder: Path) -> Path:
    """A git working tree of the archive's files, nothing committed."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (repo,) = (path for path in folder.iterdir() if path.is_dir())
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    return repo


def measure(stage: str, repo: Path, data: Path, edit: str) -> dict[str, float]:
    """Run a stage in a process of its own; adds wall seconds and the peak of the tree's resident memory in MB."""
    command = [sys.executable, __file__, "--stage", stage, "--repo", str(repo), "--data", str(data), "--edit", edit]
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = 0
    try:
        while child.poll() is None:
            peak = max(peak, resident_kb(child.pid))
            time.sleep(SAMPLE_S)
    finally:
        child.kill()
    wall = time.perf_counter() - started
    assert child.stdout is not None
    said = child.stdout.read()
    if child.returncode != 0:
        raise SystemExit(f"stage {stage} failed")
    return {**json.loads(said), "process_s": wall, "peak_mb": peak / 1024}


def resident_kb(root: int) -> int:
    """Resident memory of a process and all its descendants; 0 where there is no /proc."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return 0
    for number in numbers:
        try:
            stat = Path(f"/proc/{number}/stat").read_text("ascii", "replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        fields = stat.rpartition(")")[2].split()
        parents[number], pages[number] = int(fields[1]), int(fields[21])
    wanted = {root}
    grown = True
    while grown:
        found = {number for number, parent in parents.items() if parent in wanted} - wanted
        grown = bool(found)
        wanted |= found
    return sum(pages.get(number, 0) for number in wanted) * os.sysconf("SC_PAGE_SIZE") // 1024


def parse_only(repo: Path, data: Path, edit: str) -> dict[str, float]:
    """tree-sitter over the same files, one process, trees thrown away."""
    import tree_sitter_javascript
    import tree_sitter_python
    import tree_sitter_typescript
    from tree_sitter import Language, Parser

    from smp.adapters.sources_git import GitSourceTree
    from smp.settings import load_settings

    typescript, tsx = tree_sitter_typescript.language_typescript(), tree_sitter_typescript.language_tsx()
    grammars = {".py": tree_sitter_python.language(), ".pyi": tree_sitter_python.language(), ".tsx": tsx}
    grammars |= {suffix: tree_sitter_javascript.language() for suffix in (".js", ".jsx", ".mjs", ".cjs")}
    grammars |= dict.fromkeys((".ts", ".mts", ".cts"), typescript)
    parsers = {suffix: Parser(Language(pointer)) for suffix, pointer in grammars.items()}
    sources = GitSourceTree(load_settings(repo, data_dir=data, environ={}))
    files = [one for one in sources.read(sources.list().files) if Path(one.path).suffix in parsers]
    started = time.perf_counter()
    for one in files:
        parsers[Path(one.path).suffix].parse(one.content)
    took = time.perf_counter() - started
    return {"seconds": took, "files": len(files), "megabytes": sum(len(one.content) for one in files) / 1e6}


def full_index(repo: Path, data: Path, edit: str) -> dict[str, float]:
    return _refresh(repo, data)


def unchanged_index(repo: Path, data: Path, edit: str) -> dict[str, float]:
    return _refresh(repo, data)


def one_file_update(repo: Path, data: Path, edit: str) -> dict[str, float]:
    """The first update of a process, which has to link what it knows, then edits of every kind in many files; all undone.

    A figure is of one edit or of taking it back: both are updates of one file.
    """
    indexer = _open(repo, data).indexer
    figures: dict[str, float] = {}

    def follow(path: Path, content: bytes) -> float:
        path.write_bytes(content)
        started = time.perf_counter()
        indexer.follow([path.relative_to(repo).as_posix()])
        return time.perf_counter() - started

    first = repo / edit
    before = first.read_bytes()
    try:
        figures["seconds"] = follow(first, before + FUNCTIONS[first.suffix])
    finally:
        follow(first, before)
    everything = sorted(path for path in repo.rglob("*") if path.suffix in FUNCTIONS and path.stat().st_size > 500)
    chosen = everything[:: max(1, len(everything) // EDITED_FILES)][:EDITED_FILES]
    for kind, change in EDITS.items():
        times: list[float] = []
        for path in chosen:
            before = path.read_bytes()
            try:
                times.append(follow(path, change(path.suffix, before)))
            finally:
                times.append(follow(path, before))
        times.sort()
        figures[f"{kind} p50"], figures[f"{kind} p90"] = times[len(times) // 2], times[len(times) * 9 // 10]
    return figures | {"edited_files": len(chosen)}


def _line_in_a_body(suffix: str, content: bytes) -> bytes:
    """A call before the last indented `return`; at the end where there is none."""
    head, found, tail = content.rpartition(b"\n    return")
    call = b"\n    print(len([1]))" if suffix in (".py", ".pyi") else b"\n    console.log([1].length);"
    return head + call + found + tail if found else content + CALLS[suffix]


CALLS = dict.fromkeys((".py", ".pyi"), b"\nprint(len([1]))\n")
CALLS |= dict.fromkeys((".ts", ".tsx", ".js", ".jsx"), b"\nconsole.log([1].length);\n")
FUNCTIONS = dict.fromkeys((".py", ".pyi"), b"\n\ndef added_by_benchmark(x, y=None):\n    return x.y(y)\n")
FUNCTIONS |= dict.fromkeys((".ts", ".tsx", ".js", ".jsx"), b"\nfunction addedByBenchmark(x, y) { return x.y(y); }\n")
EDITS: dict[str, Callable[[str, bytes], bytes]] = {
    "blank line": lambda suffix, content: b"\n" + content,
    "line in a body": _line_in_a_body,
    "function at the end": lambda suffix, content: content + FUNCTIONS[suffix],
}


def _refresh(repo: Path, data: Path) -> dict[str, float]:
    stages: dict[str, float] = {}
    last = [time.perf_counter()]

    def progress(stage: str, done: int, total: int) -> None:
        now = time.perf_counter()
        stages[stage] = stages.get(stage, 0.0) + now - last[0]
        last[0] = now

    services = _open(repo, data)
    started = last[0] = time.perf_counter()
    report = services.indexer.refresh(progress)
    took = time.perf_counter() - float(started)
    counts = {"files": report.files, "parsed": report.parsed, "nodes": report.nodes, "edges": report.edges}
    return {"seconds": took, **counts, "unresolved": report.unresolved} | {f"{name}_s": s for name, s in stages.items()}


def _open(repo: Path, data: Path):  # type: ignore[no-untyped-def]
    from smp.bootstrap import build_platform
    from smp.settings import load_settings

    return build_platform(load_settings(repo, data_dir=data, environ={}))


STAGES = {"parse": parse_only, "full": full_index, "again": unchanged_index, "update": one_file_update}


def report(figures: dict[str, dict[str, float]]) -> None:
    parse, full, again, update = (figures[name] for name in STAGES)
    base = parse["seconds"]
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    print(f"tree-sitter parses {parse['files']} files ({parse['megabytes']:.1f} MB) in {base:.2f} s")
    rows = [
        ("full index", full["seconds"], full["peak_mb"]),
        ("unchanged re-index", again["seconds"], again["peak_mb"]),
        ("one-file update, new process", update["seconds"], update["peak_mb"]),
        *((f"update, {name}", seconds, update["peak_mb"]) for name, seconds in update.items() if " p" in name),
    ]
    for name, seconds, memory in rows:
        print(f"{name:34} {seconds:8.2f} s  {seconds / base:7.2f} x parsing  {memory:7.0f} MB peak")
    print(f"{full['nodes']:.0f} nodes, {full['edges']:.0f} edges, {full['unresolved']:.0f} unresolved calls")
    print("stages: " + ", ".join(f"{key[:-2]} {value:.1f} s" for key, value in full.items() if key.endswith("_s")))


if __name__ == "__main__":
    main()
