"""Runs inside a box: tests of JavaScript or TypeScript against mutants of one file, results as JSON. Standard library only.

    python node_runner.py < job        # writes $SMP_OUT/mutation.json

The job is that of `mutation_runner.py`, with `probed` (the target with probes, see the language's `probes`), `probes` (all
their numbers), `probe_of` (index of a mutant → its probe), `mutator` (`native`, `stryker`, `auto`) and `only` (lines, or null for
all). The tests run in a copy of the checkout, which goes with the
process: whatever ends it, no mutant is left in the checkout. First they run as they are, then once more over the probes, which
tells the statements that each test reaches; then for each mutant behind one of those the tests that reach it, until the first
failure, with limits from the clean run. vitest and jest stay warm between two runs, mocha and Node's own runner start anew.

A selection of tests counts only if exactly these run and pass without a mutant; else the whole file judges. It also has the last
word on a survivor: tests that run at the same time can be taken for each other.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

from mutation_forks import in_fork
from node_commands import (
    DRIVEN,
    MissingTool,
    at_each_test,
    chosen,
    copy_checkout,
    find_runner,
    pattern_of,
    read_report,
    read_tap,
)
from node_stryker import mutants, ranges, wanted
from node_warm import DRIVER, WarmSession

MIN_CPU_SECONDS = 4
CPU_FACTOR = 5
MIN_WALL_SECONDS = 30.0
WALL_FACTOR = 20
OUTPUT_CHARS = 20_000


def main() -> int:
    """Do the job on standard input; the exit code is 0 whenever a result was written."""
    job = json.loads(zlib.decompress(base64.b64decode(sys.stdin.read())))
    out = os.path.join(os.environ["SMP_OUT"], "mutation.json")
    folder = tempfile.mkdtemp(prefix="smp-copy-")
    run = Run(job, folder)
    try:
        result = run.result()
    except MissingTool as error:
        result = {"state": "missing", "output": str(error)}
    finally:
        if run.warm is not None:
            run.warm.end()
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
        self.environment = {
            **os.environ, "CI": "1", "NO_COLOR": "1", "FORCE_COLOR": "0", "NODE_ENV": "test", "SMP_LINES": self.reached,
            "NODE_COMPILE_CACHE": os.path.join(folder, "compiled"),
        }  # fmt: skip
        self.warm: WarmSession | None = None
        self.warm_cpu: float | None = None
        self.sound: dict[tuple[int, ...], bool] = {}

    def result(self) -> dict:
        with open(self.job["target"], "rb") as file:
            self.source = file.read()
        if hashlib.sha256(self.source).hexdigest() != self.job["sha256"]:
            return {"state": "changed"}
        self.runner, self.command = find_runner(self.test)
        copy_checkout(self.copy)
        self.clean = None
        clean = self.over(self.source)
        if clean is None or clean.get("timeout") or clean["code"] != 0 or not clean["tests"]:
            return failing(clean, self.test)
        self.clean = clean
        self.titles = [titles for titles, *_ in clean["tests"]]
        stryker = wanted(self.job["mutator"]) if self.job["mutants"] else None
        if stryker is None:
            self.keep_warm()
        first = {
            "state": "clean", "passed": len(self.titles), "failed": 0, "output": "", **self.lines(),
            "executable": self.job["probes"], "verdicts": [], "left": [],
        }  # fmt: skip
        everywhere = set(first["import_lines"])
        reached = everywhere.union(*first["lines"])
        for index, _, start, end, text in self.job["mutants"]:
            probe = self.job["probe_of"].get(str(index))
            if probe is not None and probe not in reached:
                first["verdicts"].append([index, "not_covered", None])
            elif stryker is not None:
                continue
            elif time.monotonic() - self.started > self.job["budget_seconds"]:
                first["left"].append(index)
            else:
                tests = [place for place, lines in enumerate(first["lines"]) if probe in lines]
                is_whole = probe is None or probe in everywhere or not self.can_choose
                mutated = self.source[:start] + text.encode() + self.source[end:]
                first["verdicts"].append(verdict(index, self.judged(mutated, [] if is_whole else tests), self.test))
        if stryker is not None:
            first["stryker"] = self.by_stryker(stryker, reached)
        return first

    def by_stryker(self, program: str, reached: set[int]) -> list[dict]:
        """The mutants of the lines that tests reach, as the project's own Stryker sees them."""
        with open(self.target, "wb") as file:
            file.write(self.source)
        lines = ranges(self.job["only"], self.job["probes"], reached, self.source.count(b"\n") + 1)
        if not lines:
            return []
        left = self.job["budget_seconds"] - (time.monotonic() - self.started)
        command = [part.replace("{report}", os.devnull) for part in self.command]
        return mutants(
            program, self.command[0], self.copy, os.path.normpath(self.job["target"]), lines, command,
            environment=self.environment, folder=os.path.dirname(self.copy), seconds=max(left, MIN_WALL_SECONDS),
        )  # fmt: skip

    def keep_warm(self) -> None:
        """Start a warm session if the runner has one, and see that it runs the same tests and notices a changed target."""
        if self.runner not in DRIVEN:
            return
        command = [self.command[0], DRIVER, self.runner, self.command[1], self.test]
        self.warm = WarmSession(command, self.copy, self.environment)
        clean, broken = self.over(self.source), self.over(b"throw new Error();\n")
        if passed(clean) == [key(titles) for titles in self.titles] and broken is not None and broken.get("code") == 1:
            spent = self.warm.spent()
            if passed(self.over(self.source)) is not None:
                self.warm_cpu = self.warm.spent() - spent
                return
        self.warm.end()
        self.warm = None

    def lines(self) -> dict:
        """Tests, and the probes that each reaches; those that no test is known to reach alone stand for all tests.

        When the tests do not pass over the probes, every probe stands for the whole file.
        """
        self.can_choose = False
        nothing = {"tests": [self.test], "lines": [self.job["probes"]], "import_lines": []}
        path = os.path.join(self.copy, self.test)
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text + at_each_test(self.runner))
        try:
            done = self.over(self.job["probed"].encode(), is_cold=True)
        finally:
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)
        if passed(done) != passed(self.clean) or not os.path.exists(self.reached):
            return nothing
        places = {key(titles): place for place, titles in enumerate(self.titles)}
        lines: list[set[int]] = [set() for _ in self.titles]
        everywhere = set()
        with open(self.reached, encoding="utf-8") as file:
            for entry in file:
                number, _, name = entry.partition("\t")
                place = place_of(json.loads(name), places)
                (everywhere if place is None else lines[place]).add(int(number))
        # Without titles of suites a name may stand for two tests, and a hook of Node's runner sees no test in a suite.
        self.can_choose = len(places) == len(self.titles) and not (
            self.runner == "node:test" and "    # Subtest" in self.clean["output"]
        )
        if not self.can_choose:
            return {**nothing, "lines": [sorted(everywhere.union(*lines))]}
        return {
            "tests": [f"{self.test}::{' > '.join(titles)}" for titles in self.titles],
            "lines": [sorted(one) for one in lines], "import_lines": sorted(everywhere),
        }  # fmt: skip

    def judged(self, mutated: bytes, tests: list[int]) -> dict | None:
        """The outcome of the first of these tests that fails, quick ones first; of the whole file for none of them."""
        ranks = {place: int(self.clean["tests"][place][2] / 250).bit_length() for place in tests}
        for rank in sorted(set(ranks.values())):
            group = [place for place in tests if ranks[place] == rank]
            if not self.is_sound(group):
                break
            outcome = self.over(mutated, group)
            if outcome is None or outcome.get("timeout") or outcome["code"]:
                return outcome
        else:
            if len(tests) == len(self.titles):
                return outcome
        return self.over(mutated)

    def is_sound(self, group: list[int]) -> bool:
        """Whether exactly these tests run and pass when they are chosen, without a mutant."""
        wanted = tuple(group)
        if wanted not in self.sound:
            found = passed(self.over(self.source, group))
            self.sound[wanted] = found is not None and sorted(found) == sorted(key(self.titles[one]) for one in group)
        return self.sound[wanted]

    def over(self, source: bytes, group: list[int] | None = None, *, is_cold: bool = False) -> dict | None:
        """The outcome of running the file, or some of its tests, over this text of the target.

        None when the process died, `timeout` in it when a limit ended it.
        """
        with open(self.target, "wb") as file:
            file.write(source)
        titles = [self.titles[place] for place in group or ()]
        if self.clean is None:
            return in_fork(lambda: self.once([]), wall=self.job["budget_seconds"])
        wall, cpu = (
            MIN_WALL_SECONDS + WALL_FACTOR * self.clean["seconds"],
            MIN_CPU_SECONDS + CPU_FACTOR * self.clean["cpu"],
        )
        if self.warm is None or is_cold:
            arguments = chosen(self.runner, titles) if titles else []
            return in_fork(lambda: self.once(arguments), wall=wall, cpu=int(cpu + 1))
        request = {"target": self.job["target"], "pattern": pattern_of(titles) if titles else None}
        if self.warm_cpu is not None:
            cpu = MIN_CPU_SECONDS + CPU_FACTOR * self.warm_cpu
        outcome = self.warm.run(request, wall=wall, cpu=cpu)
        return outcome if outcome is None or outcome.get("timeout") else {**outcome, "output": ""}

    def once(self, arguments: list[str]) -> dict:
        began = time.monotonic()
        if os.path.exists(self.report):
            os.unlink(self.report)
        *command, last = [part.replace("{report}", self.report) for part in self.command]
        done = subprocess.run(
            [*command, *arguments, last], cwd=self.copy, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        if done.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            return {"timeout": True}
        text = done.stdout.decode("utf-8", "replace")
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        tests = read_tap(text) if self.runner == "node:test" else read_report(self.runner, self.report)
        return {
            "code": done.returncode, "output": text[-OUTPUT_CHARS:], "tests": tests,
            "seconds": time.monotonic() - began, "cpu": usage.ru_utime + usage.ru_stime,
        }  # fmt: skip


def key(titles: list[str]) -> str:
    return " ".join(titles)


def passed(outcome: dict | None) -> list[str] | None:
    """The tests of a run that passed as a whole; None of any other run."""
    if outcome is None or outcome.get("timeout") or outcome["code"]:
        return None
    return [key(titles) for titles, *_ in outcome["tests"]]


def place_of(name: str, places: dict[str, int]) -> int | None:
    """A test by what its runner calls it; vitest joins titles by ` > `, older ones with the file in front."""
    joined = name.replace(" > ", " ")
    found = [one for one in places if joined == one or joined.endswith(f" {one}")]
    return places[max(found, key=len)] if found else None


def verdict(index: int, outcome: dict | None, test: str) -> list:
    """A run that died is a killed mutant, without a name for the test."""
    if outcome is None:
        return [index, "killed", None]
    if outcome.get("timeout"):
        return [index, "timeout", None]
    failed = next((f"{test}::{' > '.join(titles)}" for titles, passed, _ in outcome["tests"] if not passed), None)
    return [index, "killed" if outcome["code"] else "survived", failed]


def failing(outcome: dict | None, test: str) -> dict:
    if outcome is None or outcome.get("timeout"):
        return {"state": "failing", "output": "the tests did not end by themselves", "passed": 0, "failed": 0}
    names = [" > ".join(titles) for titles, passed, _ in outcome["tests"] if not passed]
    output = outcome["output"] if outcome["tests"] or outcome["code"] else f"no test ran in {test}"
    text = "\n".join([*names, output])[-OUTPUT_CHARS:]
    return {"state": "failing", "output": text, "passed": len(outcome["tests"]) - len(names), "failed": len(names)}


if __name__ == "__main__":
    sys.exit(main())
