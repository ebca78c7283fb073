"""The integrity gate on real packages: tests wrongly called vacuous, and the price of a mutant beside mutmut and cosmic-ray.

    python tests/benchmarks/bench_gate.py [--vacuous] [--price] [--tools VENV]

Sources come from the package index, once, into the user's cache folder. `--tools` is a virtual environment with mutmut,
cosmic-ray and pytest; the other tools and our runner then judge the same files with the same tests one after the other, in a
copy each, three times (cosmic-ray once), and processor seconds are counted (a busy machine stretches the clock, not these).
Kills are not compared one by one: each tool makes mutants of its own, so each line says how many there were.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path

from smp.adapters.mutator_native import NativeMutator
from smp.domain.ids import FilePath
from tests.benchmarks.assert_check import check

PACKAGES = (
    ("itsdangerous", "2.2.0", "src", "tests"),
    ("more-itertools", "10.8.0", "more_itertools", "tests"),
    ("packaging", "25.0", "src", "tests"),
    ("attrs", "25.3.0", "src", "tests"),
    ("click", "8.2.1", "src", "tests"),
)
BAR_PCT = 2.0
PRICED = (
    ("src/itsdangerous/encoding.py", "tests/test_itsdangerous/test_encoding.py", True),
    ("src/itsdangerous/signer.py", "tests/test_itsdangerous/test_signer.py", False),
)
"""Of the first of `PACKAGES`: target, its tests, whether cosmic-ray too has the patience."""
ROUNDS = 3
RUNNER = Path(__file__).resolve().parents[2] / "smp" / "sandboxes" / "inside" / "mutation_runner.py"


def unpacked(name: str, version: str) -> Path:
    """The source distribution of a package, unpacked below the cache folder."""
    folder = user_cache_path("smp") / "bench" / "gate"
    found = folder / f"{name.replace('-', '_')}-{version}"
    if not found.is_dir():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            str(folder),
        ]
        subprocess.run([*command, f"{name}=={version}"], check=True)
        with tarfile.open(next(folder.glob(f"{name.replace('-', '[-_]')}-{version}.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
    return found


def vacuous() -> None:
    """Of the tests that hold an assertion, those called vacuous; the bar is `BAR_PCT`."""
    for name, version, sources, tests in PACKAGES:
        flagged, asserting = check(unpacked(name, version), sources, tests)
        share = 100 * flagged / asserting if asserting else 0.0
        print(f"  {flagged} of {asserting} = {share:.2f} %, bar {BAR_PCT} %: {'kept' if share < BAR_PCT else 'MISSED'}")


def spent(command: list[str], folder: Path, **environment: str) -> tuple[float, str]:
    """Processor seconds of a command with all its children, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": "src", **environment}, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout + done.stderr


def price(tools: Path) -> None:
    """Processor seconds for a mutant, the clean run and all preparation included, and how many times cheaper ours is."""
    name, version, *_ = PACKAGES[0]
    for target, test, with_cosmic_ray in PRICED:
        prices: dict[str, list[float]] = {}
        for attempt in range(ROUNDS):
            tried = ("ours", "mutmut", *(("cosmic-ray",) if with_cosmic_ray and not attempt else ()))
            for tool in tried:
                with tempfile.TemporaryDirectory() as scratch:
                    folder = Path(scratch, tool)
                    shutil.copytree(unpacked(name, version), folder)
                    seconds, mutants, killed = TOOLS[tool](tools, folder, target, test)
                if not mutants:
                    sys.exit(f"{tool}: no mutants of {target}")
                prices.setdefault(tool, []).append(1000 * seconds / mutants)
                each = f"{prices[tool][-1]:.1f} ms each"
                print(f"{target}: {tool}: {mutants} mutants, {killed} killed, {seconds:.2f} CPU s, {each}", flush=True)
        middle = {tool: statistics.median(found) for tool, found in prices.items()}
        better = min(cost for tool, cost in middle.items() if tool != "ours")
        print(
            f"{target}: median {middle['ours']:.1f} ms, the better of the others {better:.1f}: {better / middle['ours']:.2f} times"
        )


def ours(tools: Path, folder: Path, target: str, test: str) -> tuple[float, int, int]:
    python = tools / "bin" / "python"
    source = (folder / target).read_bytes()
    found = NativeMutator().enumerate(FilePath(target), source, lines=None)
    job = {
        "target": target,
        "tests": [test],
        "sha256": hashlib.sha256(source).hexdigest(),
        "budget_seconds": 600,
        "memory_mb": 1024,
        "mutants": [[one.index, one.line, one.start_byte, one.end_byte, one.mutated] for one in found],
    }
    packed = folder.with_suffix(".job")
    packed.write_bytes(base64.b64encode(zlib.compress(json.dumps(job).encode())))
    seconds, text = spent(
        ["sh", "-c", f"{python} {RUNNER} < {packed}"], folder, SMP_OUT=str(folder), PYTHONHASHSEED="0"
    )
    result = json.loads((folder / "mutation.json").read_text())
    if result["state"] != "clean":
        sys.exit(f"ours: {result.get('output')}\n{text}")
    judged = [status for _, status, _ in result["verdicts"] if status in ("killed", "timeout", "survived")]
    return seconds, len(judged), len(judged) - judged.count("survived")


def mutmut(tools: Path, folder: Path, target: str, test: str) -> tuple[float, int, int]:
    (folder / "setup.cfg").write_text(f"[mutmut]\npaths_to_mutate={target}\ntests_dir={test}\nalso_copy=src\n")
    (folder / "pyproject.toml").unlink()  # its pytest options turn warnings about the tool into errors
    seconds, text = spent([str(tools / "bin" / "mutmut"), "run", "--max-children", "1"], folder)
    states = [
        code
        for meta in (folder / "mutants").rglob("*.meta")
        for code in json.loads(meta.read_text())["exit_code_by_key"].values()
    ]
    if not states:
        print(text[-1500:])
    judged = [code for code in states if code not in (None, 33, 34)]  # not run, no tests, skipped
    return seconds, len(judged), sum(code != 0 for code in judged)


def cosmic_ray(tools: Path, folder: Path, target: str, test: str) -> tuple[float, int, int]:
    python = tools / "bin" / "python"
    (folder / "cr.toml").write_text(
        f'[cosmic-ray]\nmodule-path = "{target}"\ntimeout = 30.0\nexcluded-modules = []\n'
        f'test-command = "{python} -m pytest -x -q -p no:cacheprovider {test}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    program = str(tools / "bin" / "cosmic-ray")
    first, text = spent([program, "init", "cr.toml", "s.sqlite"], folder)
    second, more = spent([program, "exec", "cr.toml", "s.sqlite"], folder)
    _, dump = spent([program, "dump", "s.sqlite"], folder)
    outcomes = [json.loads(line)[1] for line in dump.splitlines() if line.startswith("[")]
    if not outcomes:
        print((text + more)[-1500:])
    judged = [one["test_outcome"] for one in outcomes if one]
    return first + second, len(judged), sum("killed" in outcome.lower() for outcome in judged)


TOOLS: dict[str, Callable[[Path, Path, str, str], tuple[float, int, int]]] = {
    "ours": ours,
    "mutmut": mutmut,
    "cosmic-ray": cosmic_ray,
}
"""(tools, copy of the package, target, test) → processor seconds, mutants judged, mutants noticed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vacuous", action="store_true")
    parser.add_argument("--price", action="store_true")
    parser.add_argument("--tools", type=Path)
    options = parser.parse_args()
    if options.vacuous or not options.price:
        vacuous()
    if options.price:
        if options.tools is None:
            sys.exit("--price needs --tools: a virtual environment with mutmut, cosmic-ray and pytest")
        price(options.tools)


if __name__ == "__main__":
    main()
