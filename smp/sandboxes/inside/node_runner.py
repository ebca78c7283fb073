"""Runs inside a box: tests of JavaScript or TypeScript against mutants of one file, results as JSON. Standard library only.

    python node_runner.py < job        # writes $SMP_OUT/mutation.json

The job is that of `mutation_runner.py`, with `probed` (the target with probes, see the language's `probes`), `probes` (all
their numbers) and `probe_of` (index of a mutant → its probe). The tests run in a copy of the checkout, which goes with the
process: whatever ends it, no mutant is left in the checkout. First they run as they are, then once more over the probes, which
tells the statements that they reach; then once for each mutant behind one of those, until the first failure. Each run is a
process of the project's own test runner (vitest, jest, mocha, or Node's own), with limits from the clean run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

from mutation_forks import in_fork

MIN_CPU_SECONDS = 4
CPU_FACTOR = 5
MIN_WALL_SECONDS = 30.0
WALL_FACTOR = 20
OUTPUT_CHARS = 20_000
# A file may import from two of them; what vitest and jest export works under nothing else.
_IMPORTED = (
    (re.compile(r"""['"]vitest['"]"""), "vitest"),
    (re.compile(r"""['"]@jest/globals['"]"""), "jest"),
    (re.compile(r"""['"]node:test['"]"""), "node:test"),
)
_PROGRAMS = {"vitest": "vitest/vitest.mjs", "jest": "jest/bin/jest.js", "mocha": "mocha/bin/mocha.js"}
_TYPED = (".ts", ".tsx", ".mts", ".cts")


class MissingTool(Exception):
    """What the box lacks to run the tests."""


def main() -> int:
    """Do the job on standard input; the exit code is 0 whenever a result was written."""
    job = json.loads(zlib.decompress(base64.b64decode(sys.stdin.read())))
    out = os.path.join(os.environ["SMP_OUT"], "mutation.json")
    folder = tempfile.mkdtemp(prefix="smp-copy-")
    try:
        result = Run(job, folder).result()
    except MissingTool as error:
        result = {"state": "missing", "output": str(error)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with open(out + ".part", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.replace(out + ".part", out)
    return 0


class Run:
    """One job in a copy of the checkout."""

    def __init__(self, job: dict, folder: str) -> None:
        self.job = job
        self.started = time.monotonic()
        self.test = job["tests"][0]
        self.copy = os.path.join(folder, "work")
        self.report = os.path.join(folder, "report.json")
        self.reached = os.path.join(folder, "lines")
        self.target = os.path.join(self.copy, job["target"])

    def result(self) -> dict:
        with open(self.job["target"], "rb") as file:
            self.source = file.read()
        if hashlib.sha256(self.source).hexdigest() != self.job["sha256"]:
            return {"state": "changed"}
        self.runner, self.command = find_runner(self.test)
        copy_checkout(self.copy)
        clean = self.tests(self.source, None)
        if clean is None or clean["code"] != 0 or not clean["tests"]:
            return failing(clean, self.test)
        lines = self.lines(clean)
        first = {
            "state": "clean", "passed": len(clean["tests"]), "failed": 0, "output": "", "tests": [self.test],
            "lines": [sorted(lines)], "import_lines": [], "executable": self.job["probes"], "verdicts": [], "left": [],
        }  # fmt: skip
        for index, _, start, end, text in self.job["mutants"]:
            probe = self.job["probe_of"].get(str(index))
            if probe is not None and probe not in lines:
                first["verdicts"].append([index, "not_covered", None])
            elif time.monotonic() - self.started > self.job["budget_seconds"]:
                first["left"].append(index)
            else:
                mutated = self.source[:start] + text.encode() + self.source[end:]
                first["verdicts"].append(verdict(index, self.tests(mutated, clean)))
        return first

    def lines(self, clean: dict) -> set[int]:
        """Probes that the tests reach; all when the tests do not pass over the probes."""
        os.environ["SMP_LINES"] = self.reached
        done = self.tests(self.job["probed"].encode(), clean)
        if done is None or done["code"] != 0 or not os.path.exists(self.reached):
            return set(self.job["probes"])
        with open(self.reached, encoding="ascii") as file:
            return {int(line) for line in file}

    def tests(self, source: bytes, clean: dict | None) -> dict | None:
        """The outcome of one run over this text of the target; None when the process died, `timeout` in it when a limit did."""
        with open(self.target, "wb") as file:
            file.write(source)
        if os.path.exists(self.report):
            os.unlink(self.report)
        if clean is None:
            return in_fork(self.once, wall=self.job["budget_seconds"])
        cpu = int(MIN_CPU_SECONDS + CPU_FACTOR * clean["cpu"] + 1)
        return in_fork(self.once, wall=MIN_WALL_SECONDS + WALL_FACTOR * clean["seconds"], cpu=cpu)

    def once(self) -> dict:
        began = time.monotonic()
        command = [part.replace("{report}", self.report) for part in self.command]
        env = {**os.environ, "CI": "1", "NO_COLOR": "1", "FORCE_COLOR": "0", "NODE_ENV": "test"}
        done = subprocess.run(
            command, cwd=self.copy, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            return {"timeout": True}
        text = done.stdout.decode("utf-8", "replace")
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        tests = read_tap(text) if self.runner == "node:test" else read_report(self.runner, self.report)
        return {
            "code": done.returncode, "output": text[-OUTPUT_CHARS:], "tests": tests,
            "seconds": time.monotonic() - began, "cpu": usage.ru_utime + usage.ru_stime,
            "killer": next((f"{self.test}::{name}" for name, passed in tests if not passed), None),
        }  # fmt: skip


def find_runner(test: str) -> tuple[str, list[str]]:
    """The test runner of a file and the command that runs it; `{report}` stands for the file its report goes to."""
    node = shutil.which("node")
    if node is None:
        raise MissingTool("node is not in the box; install it below /usr on the host (apt-get install nodejs)")
    with open(test, encoding="utf-8", errors="replace") as file:
        text = file.read()
    name = next((name for pattern, name in _IMPORTED if pattern.search(text)), None) or declared_runner()
    if name == "node:test":
        return name, [node, *typed_arguments(node, test), "--test-reporter=tap", test]
    if name is None:
        raise MissingTool(
            f"no test runner for {test}: it must import node:test, or package.json name vitest, jest or mocha"
        )
    program = installed(_PROGRAMS[name])
    if program is None:
        raise MissingTool(
            f"{name} is not installed in the box; run the project's package manager (npm install), so that node_modules lies "
            "in the repository"
        )
    arguments = {
        "vitest": ["run", test, "--reporter=json", "--outputFile={report}", "--bail=1", "--coverage.enabled=false"],
        "jest": [
            "--runTestsByPath",
            test,
            "--json",
            "--outputFile={report}",
            "--coverage=false",
            "--runInBand",
        ],
        "mocha": [test, "--reporter=json", "--reporter-option=output={report}", "--bail"],
    }[name]
    return name, [node, program, *arguments]


def typed_arguments(node: str, test: str) -> list[str]:
    """What Node's own runner needs to read types."""
    if not test.endswith(_TYPED):
        return []
    if installed("tsx/package.json"):
        return ["--import", "tsx"]
    found = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip().lstrip("v")
    major, minor, *_ = (int(part) for part in found.split("."))
    if (major, minor) >= (22, 6):
        return ["--experimental-strip-types"]
    raise MissingTool(f"Node {found} does not read TypeScript; add tsx to the project, or install Node 22.6 or newer")


def declared_runner() -> str | None:
    """The runner that package.json names."""
    try:
        with open("package.json", encoding="utf-8") as file:
            package = json.load(file)
    except (OSError, ValueError):
        return None
    sections = (
        [package.get(key) or {} for key in ("devDependencies", "dependencies")] if isinstance(package, dict) else []
    )
    return next((name for name in ("vitest", "jest", "mocha") if any(name in section for section in sections)), None)


def installed(path: str) -> str | None:
    """A file of an installed package: of the checkout, or of the repository on the host, which a driver binds at the root."""
    found = (os.path.join(folder, "node_modules", path) for folder in (os.getcwd(), "/"))
    return next((one for one in found if os.path.exists(one)), None)


def copy_checkout(target: str) -> None:
    """The checkout without its history; installed packages are linked."""
    packages: list[str] = []

    def left_out(folder: str, names: list[str]) -> list[str]:
        found = [name for name in names if name in (".git", ".smp", "node_modules")]
        packages.extend(os.path.join(folder, name) for name in found if name == "node_modules")
        return found

    shutil.copytree(".", target, symlinks=True, ignore=left_out)
    for folder in packages:
        os.symlink(os.path.abspath(folder), os.path.join(target, folder))


def read_report(runner: str, path: str) -> list[tuple[str, bool]]:
    """(name, passed) of each test that ran, in the order of a runner's JSON report."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError):
        return []
    if runner == "mocha":
        return [(test["fullTitle"], not test["err"]) for test in report["tests"] if "duration" in test or test["err"]]
    found = [test for suite in report["testResults"] for test in suite["assertionResults"]]
    return [
        (" > ".join([*(title for title in test["ancestorTitles"] if title), test["title"]]), test["status"] == "passed")
        for test in found
        if test["status"] in ("passed", "failed")
    ]


def read_tap(text: str) -> list[tuple[str, bool]]:
    """(name, passed) of each line of a TAP report, inner tests before those around them."""
    found = re.findall(r"^\s*(not ok|ok) \d+ - (.*?)(?: # (?:SKIP|TODO).*)?$", text, re.MULTILINE)
    return [(name, state == "ok") for state, name in found]


def verdict(index: int, outcome: dict | None) -> list:
    """A run that died is a killed mutant, without a name for the test."""
    if outcome is None:
        return [index, "killed", None]
    if outcome.get("timeout"):
        return [index, "timeout", None]
    return [index, "killed" if outcome["code"] else "survived", outcome["killer"] if outcome["code"] else None]


def failing(outcome: dict | None, test: str) -> dict:
    if outcome is None or outcome.get("timeout"):
        return {"state": "failing", "output": "the tests did not end by themselves", "passed": 0, "failed": 0}
    passed = sum(passed for _, passed in outcome["tests"])
    names = [name for name, passed in outcome["tests"] if not passed]
    output = outcome["output"] if outcome["tests"] or outcome["code"] else f"no test ran in {test}"
    text = "\n".join([*names, output])[-OUTPUT_CHARS:]
    return {"state": "failing", "output": text, "passed": passed, "failed": len(names)}


if __name__ == "__main__":
    sys.exit(main())
