"""Runs inside a box: one warm test session, one fork per mutant, results as JSON. Needs the standard library and pytest.

    python mutation_runner.py < job        # writes $SMP_OUT/mutation.json

The job is base64 of zlib of JSON, because it travels in a command line.

The process splits, so that nothing a test leaves behind can change a verdict:

- the *root* has imported pytest and nothing of the project;
- its child, the *host*, has pytest read the project's configuration and stops before tests are collected;
- the *warm* child of the host collects once and never runs a test itself. It forks a child that runs the clean suite and
  records which lines each test reaches, then a child per mutant that swaps the changed code into the live functions
  (`f.__code__`) and runs the tests that reach the line;
- mutants that act while a module is imported (constants, defaults, decorators, class bodies) get a child of the host each,
  where the import system hands out the changed code and the tests are collected anew. Where the project's configuration
  itself imports the target (a conftest.py does), it is a child of the root that starts pytest anew.

No file is written, so an interrupted run leaves no mutant behind. A verdict counts when the tests that made it (up to the
first that failed, or all) pass in the same order without any mutant, which is seen once for each such list of tests; else
the mutant is judged by the whole suite in its own order. Limits are processor time (a busy machine changes no verdict) with
a generous wall limit behind it for sleepers.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
import sys
import time
import types
import zlib

import pytest
from _pytest import config
from mutation_code import compile_quietly, replace_on_import
from mutation_forks import in_fork
from mutation_lines import executable_lines
from mutation_session import Fresh, Judging, Session, decisive, failing, pytest_arguments, run_pytest, verdict

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

        def work(plugin: Session, session: pytest.Session) -> None:
            if judging.imported.is_started:  # by the project's configuration: a fork here would come too late
                plugin.part = judging
                return
            first = in_fork(lambda: plugin.go_on(session, judging) or failing(plugin.reason(session=session)))
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

    def judge_cold(self, first: dict, original: types.CodeType, session) -> None:
        """Judge the mutants that need a fresh import; `session` does a part in the child that calls it."""
        seconds = first["seconds"] + first["import_seconds"]
        controls: dict[tuple[str, ...], bool] = {}

        def attempt(code: types.CodeType, tests: list[str]) -> dict | None:
            def work() -> dict:
                replace_on_import(self.target, code)
                return session(Fresh(tests)) or {"killer": 0}

            return self.bounded(work, seconds)

        def passes(tests: list[str]) -> bool:
            key = tuple(tests)
            if key not in controls:
                controls[key] = attempt(original, tests) == {"killer": None}
            return controls[key]

        for index, tests in first["cold"]:
            if self.is_over():
                first["left"].append(index)
                continue
            outcome = attempt(compile_quietly(self.mutated(index), self.target), tests)
            is_sound = any(passes(wanted) for wanted in (tests, decisive(tests, outcome)))
            first["verdicts"].append(verdict(index, outcome, tests) if is_sound else [index, "invalid", None])
        first["cold"] = []

    def bounded(self, work, seconds: float) -> dict | None:
        """Run in a child with the limits of something that takes this long when clean."""
        return in_fork(work, wall=wall_limit(seconds), cpu=cpu_limit(seconds), memory_mb=self.job["memory_mb"])

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
