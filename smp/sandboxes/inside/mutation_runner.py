"""Runs inside a box: one warm test session, one fork per mutant, results as JSON. Needs the standard library and pytest.

    python mutation_runner.py < job        # writes $SMP_OUT/mutation.json

The job is base64 of zlib of JSON, because it travels in a command line.

The process splits, so that nothing a test leaves behind can change a verdict:

- the *root* has imported pytest and nothing of the project;
- its child, the *host*, has pytest read the project's configuration and stops before tests are collected;
- the *warm* child of the host collects once and never runs a test itself. It forks a child that runs the clean suite and
  records which lines each test reaches, then a child per mutant that swaps the changed code into the live functions
  (`f.__code__`) and runs the tests that reach the line. Mutants with one first test in common are forked from a child that
  has begun that test and halted before any code of the project;
- mutants that act while a module is imported (constants, defaults, decorators, class bodies) are forked from a child of the
  host that collects the tests anew and halts where the target is about to be imported: there the changed code is handed out.
  Where the project's configuration itself imports the target (a conftest.py does), it is a child of the root that starts
  pytest anew.

No file is written, so an interrupted run leaves no mutant behind. A verdict counts when the tests that made it (up to the
first that failed, or all) pass in the same order without any mutant, which one run shows for all lists it begins with; else
the mutant is judged by the whole suite in its own order. Limits are processor time (a busy machine changes no verdict) with
a generous wall limit behind it for sleepers.
"""

# ruff: noqa: E402

from __future__ import annotations

import base64
import gc
import hashlib
import importlib
import json
import os
import sys
import time
import types
import zlib

gc.disable()  # until pytest is there: nothing of it is garbage, and looking for some takes a tenth of the start

import pytest
from _pytest import config
from mutation_code import CompiledOnce, TargetImport, compile_quietly
from mutation_forks import GoOn, deliver, fork, in_fork
from mutation_judging import Judging, Trials, failing, verdict
from mutation_lines import executable_lines
from mutation_session import Fresh, Session, pytest_arguments, run_pytest

MIN_CPU_SECONDS = 2
"""Processor time that any mutant gets; RLIMIT_CPU counts whole seconds."""
CPU_FACTOR = 5
MIN_WALL_SECONDS = 20.0
WALL_FACTOR = 20


def main() -> int:
    """Do the job on standard input; the exit code is 0 whenever a result was written."""
    job = json.loads(zlib.decompress(base64.b64decode(sys.stdin.read())))
    sys.path[0] = os.getcwd()  # as `python -m pytest` has it, in place of this script's folder
    sys.dont_write_bytecode = True
    out = os.path.join(os.environ["SMP_OUT"], "mutation.json")
    result = Run(job).result()
    with open(out + ".part", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.replace(out + ".part", out)
    return 0


class Run:
    """One job: `target`, `tests` (paths), `mutants` [[index, line, start, end, text]], `sha256`, `budget_seconds`, `memory_mb`.

    A verdict is [index, status, test]; the result carries those made within the budget and says what is `left`.
    """

    def __init__(self, job: dict) -> None:
        self.job = job
        self.started = time.monotonic()
        self.target = os.path.realpath(job["target"])
        with open(self.target, "rb") as file:
            self.source = file.read()
        self.mutants = {mutant[0]: mutant for mutant in job["mutants"]}
        self.arguments = pytest_arguments(job["tests"])

    def result(self) -> dict:
        if hashlib.sha256(self.source).hexdigest() != self.job["sha256"]:
            return {"state": "changed"}
        original = compile_quietly(self.source, self.target)
        if original is None:
            return failing(f"{self.job['target']} does not compile")
        preload()
        self.imports = TargetImport(self.target)
        gc.freeze()
        gc.enable()
        with CompiledOnce():
            return self.judged(original)

    def judged(self, original: types.CodeType) -> dict:
        first = in_fork(lambda: self.host(original))
        if first is None:
            return failing("the test session ended without a result")
        if first["state"] == "clean":
            self.judge_cold(first, original, self.anew)
            first["verdicts"].sort()
            first["executable"] = sorted(executable_lines(original))
        return first

    def host(self, original: types.CodeType) -> dict:
        """The clean run and the verdicts; mutants that only the root can judge are left in `cold`."""
        judging = Judging(self, original)
        self.imports.first = judging.imported.start

        def work(plugin: Session, session: pytest.Session) -> None:
            if judging.imported.is_started:  # by the project's configuration: a fork here would come too late
                plugin.part = judging
                return
            gc.freeze()  # none of it comes from the target: a child need not look through it
            first = in_fork(lambda: plugin.go_on(session, judging) or failing(plugin.reason(session=session)))
            self.imports.first = None
            if first is not None and first["state"] == "clean":
                self.judge_cold(first, original, lambda part: plugin.go_on(session, part))
            plugin.result = first or failing("the test session ended without a result")

        plugin = Session(host=work)
        code, text = run_pytest(self.arguments, plugin)
        return plugin.result or failing(plugin.reason(code, text))

    def anew(self, part: Fresh) -> dict | None:
        plugin = Session(part=part)
        run_pytest(self.arguments, plugin)
        return plugin.result

    def judge_cold(self, first: dict, original: types.CodeType, go_on) -> None:
        """Judge the mutants that need a fresh import; `go_on` does a part in the child that calls it.

        They are forked from one child that has gone as far as the first import of the target; where none comes while tests are
        collected, from this process.
        """
        seconds = first["seconds"] + first["import_seconds"]
        group = [(index, tests, compile_quietly(self.mutated(index), self.target)) for index, tests in first["cold"]]
        trials, judged = Trials(self, original), []

        def attempt(tests: list[str], code: types.CodeType) -> dict | None:
            def work() -> dict:
                self.imports.code = code
                return go_on(Fresh(tests)) or {"killer": 0}

            return in_fork(work, **self.limits(seconds))

        def halted() -> dict:
            part = Fresh([])

            def attempt_here(tests: list[str], code: types.CodeType) -> dict | None:
                child = fork(**self.limits(seconds))
                if child is not None:
                    return child.value()
                self.imports.code, part.tests = code, tests
                raise GoOn

            self.imports.first = lambda: deliver({"judged": trials.judged(group, attempt_here)})
            return go_on(part) or {"killer": 0}

        if group and not self.is_over():
            found = in_fork(halted) if len(group) > 1 else None
            judged = found["judged"] if found and "judged" in found else trials.judged(group, attempt)
        for (index, tests, _), (outcome, is_sound) in zip(group, judged, strict=False):
            first["verdicts"].append(verdict(index, outcome, tests) if is_sound else [index, "invalid", None])
        first["left"] += [index for index, *_ in group[len(judged) :]]
        first["cold"] = []

    def limits(self, seconds: float) -> dict:
        return {"wall": wall_limit(seconds), "cpu": cpu_limit(seconds), "memory_mb": self.job["memory_mb"]}

    def mutated(self, index: int) -> bytes:
        _, _, start, end, text = self.mutants[index]
        return self.source[:start] + text.encode() + self.source[end:]

    def is_over(self) -> bool:
        return time.monotonic() - self.started > self.job["budget_seconds"]


def preload() -> None:
    """Import what any pytest session imports at its start, once for all of them."""
    for name in config.default_plugins:
        importlib.import_module(f"_pytest.{name}")


def cpu_limit(seconds: float) -> int:
    return int(MIN_CPU_SECONDS + CPU_FACTOR * seconds + 1)


def wall_limit(seconds: float) -> float:
    return MIN_WALL_SECONDS + WALL_FACTOR * seconds


if __name__ == "__main__":
    sys.exit(main())
