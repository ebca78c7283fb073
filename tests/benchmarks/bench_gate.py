"""The integrity gate on real packages: tests wrongly called vacuous, and the price of a mutant beside mutmut and cosmic-ray.

    python tests/benchmarks/bench_gate.py [--vacuous] [--price]

Sources come from the package indices, once, into the user's cache folder; so do mutmut, cosmic-ray and pytest, into a virtual environment
there. The other tools and our runner judge the same files with the same tests one after the other, in a copy each, three times (cosmic-ray once), and processor seconds are counted (a busy machine stretches the clock, not these).
Each tool makes mutants of its own: where two have made the very same change of a function, their verdicts are compared.
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

from msgspec import Struct
from platformdirs import user_cache_path

from smp.adapters.mutator_native import NativeMutator
from smp.domain.ids import FilePath
from tests.benchmarks.assert_check import check
from tests.benchmarks.mutant_texts import changed_function, mutmut_functions, patched

PACKAGES = (
    ("itsdangerous", "2.2.0", "src", "tests"),
    ("more-itertools", "10.8.0", "more_itertools", "tests"),
    ("packaging", "25.0", "src", "tests"),
    ("attrs", "25.3.0", "src", "tests"),
    ("click", "8.2.1", "src", "tests"),
)
NPM_PACKAGES = (
    ("light-my-request", "6.6.0"),
    ("find-my-way", "9.3.0"),
    ("fast-json-stringify", "6.1.1"),
    ("pino", "10.1.0"),
)
"""Those of npm whose archive holds the tests, which run under node:test; one that `tape` runs was exchanged before anything was measured."""
BAR_PCT = 2.0
TOOL_PACKAGES = ("mutmut==3.8.1", "cosmic-ray==8.7.0", "pytest==9.2.0", "freezegun==1.5.5")
"""What we are compared with, and what the tests of `PRICED` need."""
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


def tools_environment() -> Path:
    """A virtual environment with the other tools, made once in the cache folder."""
    name = hashlib.sha256(" ".join((*TOOL_PACKAGES, sys.version)).encode()).hexdigest()[:12]
    folder = user_cache_path("smp") / "bench" / "gate" / f"tools-{name}"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "-q", *TOOL_PACKAGES], check=True)
        (folder / "complete").touch()
    return folder


def unpacked_npm(name: str, version: str) -> Path:
    """The archive of a package of npm, unpacked below the cache folder."""
    folder = user_cache_path("smp") / "bench" / "gate" / f"{name}-{version}"
    found = folder / name
    if not found.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{version}"], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        with tarfile.open(next(folder.glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
        (folder / "package").rename(found)
    return found


def vacuous() -> None:
    """Of the tests that hold an assertion, those called vacuous; the bar is `BAR_PCT`."""
    python = [(unpacked(name, version), sources, tests) for name, version, sources, tests in PACKAGES]
    node = [(unpacked_npm(name, version), ".", "test") for name, version in NPM_PACKAGES]
    for folder, sources, tests in (*python, *node):
        flagged, asserting = check(folder, sources, tests)
        share = 100 * flagged / asserting if asserting else 0.0
        print(f"  {flagged} of {asserting} = {share:.2f} %, bar {BAR_PCT} %: {'kept' if share < BAR_PCT else 'MISSED'}")


def spent(command: list[str], folder: Path, **environment: str) -> tuple[float, str]:
    """Processor seconds of a command with all its children, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command, cwd=folder, env={**inherited, "PYTHONPATH": "src", **environment}, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout + done.stderr


class Judged(Struct, frozen=True):
    """A tool's run: processor seconds, and (what was changed where that is one function, whether it was noticed) of each mutant."""

    seconds: float
    mutants: tuple[tuple[str | None, bool], ...]

    def noticed(self) -> int:
        return sum(killed for _, killed in self.mutants)


def price(tools: Path) -> None:
    """Processor seconds for a mutant, the clean run and all preparation included, and how many times cheaper ours is."""
    name, version, *_ = PACKAGES[0]
    for target, test, with_cosmic_ray in PRICED:
        prices: dict[str, list[float]] = {}
        judged: dict[str, Judged] = {}
        for attempt in range(ROUNDS):
            tried = ("ours", "mutmut", *(("cosmic-ray",) if with_cosmic_ray and not attempt else ()))
            for tool in tried:
                with tempfile.TemporaryDirectory() as scratch:
                    folder = Path(scratch, tool)
                    shutil.copytree(unpacked(name, version), folder)
                    found = judged[tool] = TOOLS[tool](tools, folder, target, test)
                if not found.mutants:
                    sys.exit(f"{tool}: no mutants of {target}")
                prices.setdefault(tool, []).append(1000 * found.seconds / len(found.mutants))
                print(
                    f"{target}: {tool}: {len(found.mutants)} mutants, {found.noticed()} killed, "
                    f"{found.seconds:.2f} CPU s, {prices[tool][-1]:.1f} ms each",
                    flush=True,
                )
        middle = {tool: statistics.median(found) for tool, found in prices.items()}
        better = min(cost for tool, cost in middle.items() if tool != "ours")
        print(
            f"{target}: median {middle['ours']:.1f} ms, the better of the others {better:.1f}: {better / middle['ours']:.2f} times"
        )
        for tool, found in judged.items():
            if tool != "ours":
                print(f"{target}: {agreement(judged['ours'], found)} {tool}")


def agreement(ours: Judged, theirs: Judged) -> str:
    """On how many of the changes that both tools made they say the same, and what they say otherwise of."""
    mine = {text: killed for text, killed in ours.mutants if text is not None}
    same = {text: killed for text, killed in theirs.mutants if text in mine}
    apart = [(text, killed) for text, killed in same.items() if mine[text] != killed]
    words = "".join(f"; noticed by {'them' if killed else 'us'} alone: {text[:200]}" for text, killed in apart)
    return f"{len(same) - len(apart)} of {len(same)} verdicts on the same changes are equal{words}; beside"


def ours(tools: Path, folder: Path, target: str, test: str) -> Judged:
    python = tools / "bin" / "python"
    source = (folder / target).read_bytes()
    mutator = NativeMutator()
    found = mutator.enumerate(FilePath(target), source, lines=None)
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
    texts = {one.index: changed_function(source.decode(), mutator.apply(source, one).decode()) for one in found}
    verdicts = [(texts[index], status) for index, status, _ in result["verdicts"]]
    return Judged(
        seconds,
        tuple((text, status != "survived") for text, status in verdicts if status in ("killed", "timeout", "survived")),
    )


def mutmut(tools: Path, folder: Path, target: str, test: str) -> Judged:
    (folder / "setup.cfg").write_text(f"[mutmut]\npaths_to_mutate={target}\ntests_dir={test}\nalso_copy=src\n")
    (folder / "pyproject.toml").unlink()  # its pytest options turn warnings about the tool into errors
    seconds, text = spent([str(tools / "bin" / "mutmut"), "run", "--max-children", "1"], folder)
    generated = folder / "mutants" / target
    if not generated.exists():
        sys.exit(f"mutmut: {text[-1500:]}")
    states = json.loads(generated.with_name(f"{generated.name}.meta").read_text())["exit_code_by_key"]
    texts = mutmut_functions(generated.read_text())
    judged = {key: code for key, code in states.items() if code not in (None, 33, 34)}  # not run, no tests, skipped
    return Judged(seconds, tuple((texts.get(key.rpartition(".")[2]), code != 0) for key, code in judged.items()))


def cosmic_ray(tools: Path, folder: Path, target: str, test: str) -> Judged:
    python = tools / "bin" / "python"
    (folder / "cr.toml").write_text(
        f'[cosmic-ray]\nmodule-path = "{target}"\ntimeout = 30.0\nexcluded-modules = []\n'
        f'test-command = "{python} -m pytest -x -q -p no:cacheprovider {test}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    source = (folder / target).read_text()
    program = str(tools / "bin" / "cosmic-ray")
    first, text = spent([program, "init", "cr.toml", "s.sqlite"], folder)
    second, more = spent([program, "exec", "cr.toml", "s.sqlite"], folder)
    _, dump = spent([program, "dump", "s.sqlite"], folder)
    outcomes = [json.loads(line)[1] for line in dump.splitlines() if line.startswith("[")]
    if not outcomes:
        sys.exit(f"cosmic-ray: {(text + more)[-1500:]}")
    return Judged(
        first + second,
        tuple(
            (
                changed_function(source, patched(source, (one.get("diff") or "").splitlines())),
                "killed" in one["test_outcome"].lower(),
            )
            for one in outcomes
            if one
        ),
    )


TOOLS: dict[str, Callable[[Path, Path, str, str], Judged]] = {
    "ours": ours,
    "mutmut": mutmut,
    "cosmic-ray": cosmic_ray,
}
"""(tools, copy of the package, target, test) → what it found."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vacuous", action="store_true")
    parser.add_argument("--price", action="store_true")
    options = parser.parse_args()
    both = options.vacuous == options.price
    if options.vacuous or both:
        vacuous()
    if options.price or both:
        price(tools_environment())


if __name__ == "__main__":
    main()
