"""Runs inside a box: one warm test session, one fork per mutant, results as JSON. Needs the standard library and pytest.

    python mutation_runner.py < job        # writes $SMP_OUT/mutation.json

The job is base64 of zlib of JSON, because it travels in a command line.

The process splits in three, so that nothing a test leaves behind can change a verdict:

- the *root* has imported pytest and nothing of the project;
- the *warm* child of the root collects the tests once and never runs one itself. It forks a child that runs the clean
  suite and records which lines each test reaches, then a child per mutant that swaps the changed code into the live
  functions (`f.__code__`) and runs the tests that reach the line;
- mutants that act while a module is imported (constants, defaults, decorators, class bodies) get a fork of the root,
  where the import system hands out the changed code and pytest starts anew.

No file is written, so an interrupted run leaves no mutant behind. Tests that fail without any mutant when run apart from
the suite are found by a control run of the same tests; such a set is replaced by the whole suite in its own order.
Limits are processor time (a busy machine changes no verdict) with a generous wall limit behind it for sleepers.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import hashlib
import importlib.util
import io
import json
import os
import sys
import time
import types
import zlib

import pytest
from mutation_code import code_key, compile_quietly, live_functions, plan_swaps, replace_on_import
from mutation_forks import in_fork
from mutation_lines import LineRecorder, executable_lines, statement_starts

MIN_CPU_SECONDS = 2
"""Processor time that any mutant gets; RLIMIT_CPU counts whole seconds."""
CPU_FACTOR = 5
MIN_WALL_SECONDS = 20.0
WALL_FACTOR = 20
OUTPUT_CHARS = 20_000


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
        first = in_fork(lambda: self.warm(original))
        if first is None:
            return failing("the test session ended without a result")
        if first["state"] == "clean":
            self.run_cold(first, original)
            first["verdicts"].sort()
            first["executable"] = sorted(executable_lines(original))
        return first

    def warm(self, original: types.CodeType) -> dict:
        session = WarmSession(self, original)
        code, text = run_pytest(self.arguments, session)
        return session.result or failing(session.reason(code, text))

    def run_cold(self, first: dict, original: types.CodeType) -> None:
        seconds = first["seconds"] + first["import_seconds"]
        controls: dict[tuple[str, ...], bool] = {}
        for index, tests in first.pop("cold"):
            if self.is_over():
                first["left"].append(index)
                continue
            key = tuple(tests)
            if key not in controls:
                controls[key] = self.cold(original, tests, seconds) == {"killer": None}
            if not controls[key]:
                first["verdicts"].append([index, "invalid", None])
                continue
            mutated = compile_quietly(self.mutated(index), self.target)
            first["verdicts"].append(verdict(index, self.cold(mutated, tests, seconds)))

    def cold(self, code: types.CodeType, tests: list[str], seconds: float) -> dict | None:
        def work() -> dict:
            replace_on_import(self.target, code)
            session = ColdSession(tests)
            status, _ = run_pytest(self.arguments, session)
            return {"killer": tests[0] if status and session.killer is None else session.killer}

        return self.bounded(work, seconds)

    def bounded(self, work, seconds: float) -> dict | None:
        """Run in a child with the limits of something that takes this long when clean."""
        return in_fork(work, wall=wall_limit(seconds), cpu=cpu_limit(seconds), memory_mb=self.job["memory_mb"])

    def mutated(self, index: int) -> bytes:
        _, _, start, end, text = self.mutants[index]
        return self.source[:start] + text.encode() + self.source[end:]

    def is_over(self) -> bool:
        return time.monotonic() - self.started > self.job["budget_seconds"]


class TestSession:
    """A pytest plugin that runs single tests through pytest's own protocol and keeps the texts of their failures."""

    __test__ = False

    def __init__(self) -> None:
        self.failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failures.append(str(report.longrepr))

    def run(self, item: pytest.Item) -> list[str]:
        """Failures of one test, set-up and tear-down included; fixtures of wider scope end with it."""
        self.failures = []
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return self.failures


class WarmSession(TestSession):
    """The plugin of the warm child: collects, then measures and judges instead of running."""

    def __init__(self, job: Run, original: types.CodeType) -> None:
        super().__init__()
        self.job, self.original = job, original
        self.items: list[pytest.Item] = []
        self.result: dict | None = None
        self.reports: list[str] = []
        self.controls: dict[tuple[int, ...], bool] = {}
        self.imported = LineRecorder(job.target)
        self.imported.start()
        self.began = time.monotonic()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.reports.append(str(report.longrepr))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        import_lines = self.imported.stop()
        import_seconds = time.monotonic() - self.began
        self.items = session.items
        if session.testsfailed or not session.items:
            return True
        live = live_functions(self.job.target)
        gc.collect()
        gc.freeze()  # a child that collects garbage would otherwise copy every page of the parent
        clean = in_fork(self.measure)
        if clean is None:
            self.result = failing("the test process died", failed=len(self.items))
        elif clean["failed"]:
            self.result = failing(clean["output"], failed=clean["failed"], passed=clean["passed"])
        else:
            self.result = {
                "state": "clean", "failed": 0, "passed": clean["passed"], "output": "", "seconds": sum(clean["seconds"]),
                "import_seconds": import_seconds, "tests": [item.nodeid for item in self.items],
                "lines": clean["lines"], "import_lines": sorted(import_lines), "verdicts": [], "cold": [], "left": [],
            }  # fmt: skip
            self.judge_all(clean, import_lines, live)
        return True

    def measure(self) -> dict:
        """The clean run: failures, seconds and lines of each test."""
        recorder = LineRecorder(self.job.target)
        lines, seconds, failed, output = [], [], 0, []
        for item in self.items:
            began = time.process_time()
            recorder.start()
            failures = self.run(item)
            lines.append(sorted(recorder.stop()))
            seconds.append(time.process_time() - began)
            failed += bool(failures)
            output += [f"{item.nodeid}\n{text}\n" for text in failures]
        passed = len(self.items) - failed
        return {"lines": lines, "seconds": seconds, "failed": failed, "passed": passed, "output": "\n".join(output)}

    def judge_all(self, clean: dict, import_lines: set[int], live: dict) -> None:
        starts = statement_starts(self.job.source)
        reaching: dict[int, set[int]] = {}
        for test, lines in enumerate(clean["lines"]):
            for line in lines:
                reaching.setdefault(line, set()).add(test)
        reached = set().union(*reaching.values()) or set(range(len(self.items)))
        # Buckets, so that the noise of a clock does not decide which of two quick tests is named.
        order = {test: (bucket(seconds), test) for test, seconds in enumerate(clean["seconds"])}
        for index, line, *_ in self.job.mutants.values():
            start = starts.get(line, line)
            tests = reaching.get(line, set()) | reaching.get(start, set())
            at_import = line in import_lines or start in import_lines
            if not tests and not at_import:
                self.result["verdicts"].append([index, "not_covered", None])
                continue
            mutated = compile_quietly(self.job.mutated(index), self.job.target)
            if mutated is None or code_key(mutated) == code_key(self.original):
                self.result["verdicts"].append([index, "invalid" if mutated is None else "equivalent", None])
                continue
            swaps = plan_swaps(self.original, mutated, live) if tests else None
            chosen = sorted(tests if swaps is not None else reached, key=order.__getitem__)
            if self.job.is_over():
                self.result["left"].append(index)
            elif swaps is None:
                self.result["cold"].append([index, [self.items[test].nodeid for test in self.settled(chosen, clean)]])
            else:
                self.result["verdicts"].append(self.judge(index, self.settled(chosen, clean), swaps, clean))

    def judge(self, index: int, tests: list[int], swaps: list, clean: dict) -> list:
        def work() -> dict:
            for function, code in swaps:
                function.__code__ = code
            return {"killer": self.first_failure(tests)}

        seconds = sum(clean["seconds"][test] for test in tests)
        return verdict(index, self.job.bounded(work, seconds))

    def first_failure(self, tests: list[int]) -> str | None:
        return next((self.items[test].nodeid for test in tests if self.run(self.items[test])), None)

    def settled(self, tests: list[int], clean: dict) -> list[int]:
        """These tests if they pass by themselves, else the whole suite, which is known to pass in its own order."""
        key = tuple(tests)
        if key not in self.controls:
            seconds = sum(clean["seconds"][test] for test in tests)
            control = self.job.bounded(lambda: {"killer": self.first_failure(tests)}, seconds)
            self.controls[key] = control == {"killer": None}
        return tests if self.controls[key] else list(range(len(self.items)))

    def reason(self, code: int, text: str) -> str:
        reasons = {2: "pytest was interrupted while it collected", 5: "no tests were collected"}
        return "\n".join(self.reports) or reasons.get(code) or text or f"pytest ended with {code} before a test ran"


class ColdSession(TestSession):
    """The plugin for a mutant that acts at import: only the chosen tests, until the first failure."""

    def __init__(self, tests: list[str]) -> None:
        super().__init__()
        self.tests = tests
        self.killer: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        by_id = {item.nodeid: item for item in session.items}
        failed = bool(session.testsfailed)
        self.killer = next((t for t in self.tests if failed or t not in by_id or self.run(by_id[t])), None)
        return True


def pytest_arguments(tests: list[str]) -> list[str]:
    """Keeps the project's own configuration but takes out what would run the tests elsewhere, slower or shuffled."""
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return [*arguments, *tests]
    if importlib.util.find_spec("xdist"):
        arguments += ["-n0", "--dist=no"]
    if importlib.util.find_spec("pytest_cov"):
        arguments.append("--no-cov")
    return [*arguments, *tests]


def run_pytest(arguments: list[str], plugin: TestSession) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = int(pytest.main(arguments, plugins=[plugin]))
    return code, out.getvalue()


def verdict(index: int, outcome: dict | None) -> list:
    """A child that died took its test session with it: that is a killed mutant, without a name for the test."""
    if outcome is None:
        return [index, "killed", None]
    if outcome.get("timeout"):
        return [index, "timeout", None]
    killer = outcome["killer"]
    return [index, "survived" if killer is None else "killed", killer]


def failing(output: str, *, failed: int = 0, passed: int = 0) -> dict:
    return {"state": "failing", "output": output[-OUTPUT_CHARS:], "failed": failed, "passed": passed}


def cpu_limit(seconds: float) -> int:
    return int(MIN_CPU_SECONDS + CPU_FACTOR * seconds + 1)


def wall_limit(seconds: float) -> float:
    return MIN_WALL_SECONDS + WALL_FACTOR * seconds


def bucket(seconds: float) -> int:
    return int(seconds * 100).bit_length() // 2


if __name__ == "__main__":
    sys.exit(main())
