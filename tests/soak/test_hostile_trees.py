"""Trees too large for `make test`: indexed without a crash, a hang, or more than 1 GiB of memory over all processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders.real_sources import git

GIB = 2**30
GOOD = "def fine():\n    return fine()\n"
DEEP = 10_000


def tree_kb(pid: int) -> int:
    """Resident memory of a process and all below it, in KiB; shared pages are counted in each."""
    total, waiting = 0, [pid]
    while waiting:
        at = waiting.pop()
        try:
            status = Path(f"/proc/{at}/status").read_text()
            for task in Path(f"/proc/{at}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return total


def indexed(repo: Path) -> tuple[dict[str, Any], int]:
    """The report of `smp index`, and the peak of its memory in bytes."""
    command = [sys.executable, "-m", "smp.cli.start", "index", "--json", "--repo", str(repo)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = 0
    done = threading.Event()

    def sample() -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, tree_kb(child.pid) * 1024)

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        out, err = child.communicate(timeout=1200)
    finally:
        child.kill()
        child.wait()
        done.set()
        sampler.join()
    assert child.returncode == 0, err
    return json.loads(out), peak


def nested_folders(repo: Path, depth: int = DEEP) -> None:
    """10,000 are deeper than a path may be long: made step by step."""
    here = os.getcwd()
    try:
        os.chdir(repo)
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("deep.py").write_text(GOOD)
    finally:
        os.chdir(here)


TREES: dict[str, Callable[[Path], object]] = {
    "100 MB": lambda repo: (repo / "big.py").write_bytes(b"x = 1\n" * 17_000_000),
    "100 MB, one line": lambda repo: (repo / "big.json").write_bytes(b"[" + b"1," * 50_000_000 + b"1]"),
    "a million lines": lambda repo: (repo / "long.py").write_text("a\n" * 999_000 + GOOD),
    "many definitions": lambda repo: (repo / "many.py").write_text("".join(f"def f{n}(): f{n-1}()\n" for n in range(80_000))),
    "folders": nested_folders,
    "1,900 folders": lambda repo: nested_folders(repo, 1_900),
    "brackets": lambda repo: (repo / "deep.py").write_text("x = " + "(" * DEEP + ")" * DEEP + "\n" + GOOD),
    "unclosed brackets": lambda repo: (repo / "deep.py").write_text("x = " + "[" * DEEP + "\n" + GOOD),
    "blocks": lambda repo: (repo / "deep.py").write_text("".join(" " * n + "if x:\n" for n in range(1000)) + " " * 1000 + "y()\n"),
    "calls": lambda repo: (repo / "deep.py").write_text("f(" * DEEP + ")" * DEEP + "\n"),
    "attributes": lambda repo: (repo / "deep.py").write_text("x" + ".a()" * DEEP + "\n"),
    "operators": lambda repo: (repo / "deep.py").write_text("x = " + " + ".join(["1"] * DEEP) + "\n"),
    "functions": lambda repo: (repo / "deep.ts").write_text("function f() {\n" * DEEP + "}\n" * DEEP),
    "arrows": lambda repo: (repo / "deep.ts").write_text("const x = " + "() =>\n" * DEEP + "1;\n"),
    "elements": lambda repo: (repo / "deep.tsx").write_text("const x = " + "<a>\n" * DEEP + "</a>\n" * DEEP + ";\n"),
    "objects": lambda repo: (repo / "deep.js").write_text("const x = " + "{a:\n" * DEEP + "1\n" + "}\n" * DEEP + ";\n"),
    "types": lambda repo: (repo / "deep.ts").write_text("type T = " + "Array<\n" * DEEP + "number\n" + ">\n" * DEEP + ";\n"),
    "json": lambda repo: (repo / "package.json").write_text('{"a":' * DEEP + "1" + "}" * DEEP),
    "toml": lambda repo: (repo / "pyproject.toml").write_text("a = " + "[" * DEEP + "]" * DEEP + "\n"),
    "go": lambda repo: (repo / "deep.go").write_text("package a\nvar x = " + "(" * DEEP + "1" + ")" * DEEP + "\n"),
    "java": lambda repo: (repo / "Deep.java").write_text("class Deep { Object x = " + "(" * DEEP + "1" + ")" * DEEP + "; }\n"),
    "rust": lambda repo: (repo / "deep.rs").write_text("fn f() { " + "(" * DEEP + "1" + ")" * DEEP + "; }\n"),
    "c": lambda repo: (repo / "deep.c").write_text("int f() { return " + "(" * DEEP + "1" + ")" * DEEP + "; }\n"),
    "c++": lambda repo: (repo / "deep.cpp").write_text("int f() { return " + "g(" * DEEP + "1" + ")" * DEEP + "; }\n"),
    "c#": lambda repo: (repo / "Deep.cs").write_text("class D { object X = " + "(" * DEEP + "1" + ")" * DEEP + "; }\n"),
}  # fmt: skip
SKIPPED = frozenset({"100 MB", "100 MB, one line", "folders", "1,900 folders"})


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES)
def test_it_is_indexed_within_a_gibibyte(tree: str, tmp_path: Path) -> None:
    repo = tmp_path / "r"
    repo.mkdir()
    git(repo, "init", "-q")
    (repo / "good.py").write_text(GOOD)
    try:
        TREES[tree](repo)
        report, peak = indexed(repo)
        print(f"{tree}: {peak / 2**20:.0f} MiB, {report['duration_ms'] / 1000:.1f} s, {report['skipped']}")
        assert report["nodes"] >= 3
        assert tree in SKIPPED or not report["skipped"], "what is left out tests nothing"
        assert peak < GIB
    finally:
        subprocess.run(["rm", "-rf", str(repo)], check=False)
