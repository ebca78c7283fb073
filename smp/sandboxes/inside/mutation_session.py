"""A pytest session that can be gone on with in forks: one that judges by swapped code, and one for each fresh import.

Runs inside a box, standard library and pytest only, beside `mutation_runner.py`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import os
import random
import time
import types

import pytest
from _pytest.runner import runtestprotocol
from mutation_code import Statements, live_functions, on_first_import, plan_swaps
from mutation_forks import in_fork
from mutation_lines import LineRecorder, statement_starts

OUTPUT_CHARS = 20_000


class Session:
    """A pytest plugin that runs single tests by pytest's own protocol; what it runs is said by its `part`.

    A part is called with the plugin and pytest's session once the tests are collected; its value becomes the `result`.
    Without a part the session stops before it collects and calls `host` instead.
    """

    def __init__(self, *, part=None, host=None) -> None:
        self.part, self.host = part, host
        self.result: dict | None = None
        self.reports: list[str] = []
        self.failures: list[str] = []
        self.is_brief = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.reports.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failures.append(str(report.longrepr))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool | None:
        if self.part is None:
            self.host(self, session)
        return None if self.part is not None else True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if self.part is not None:
            self.result = self.part(self, session)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not self.is_brief:
            return None
        self.failures += ["" for report in runtestprotocol(item, log=False, nextitem=None) if report.failed]
        return True

    def go_on(self, session: pytest.Session, part) -> dict | None:
        """In a child: collect, then do a part; its value."""
        self.part = part
        try:
            session.config.hook.pytest_collection(session=session)
            session.config.hook.pytest_runtestloop(session=session)
        except BaseException as error:  # noqa: BLE001 - the edge of the child: whatever stops pytest is its answer
            self.reports.append(f"{type(error).__name__}: {error}")
        return self.result

    def run(self, item: pytest.Item) -> list[str]:
        """Failures of one test, set-up and tear-down included; fixtures of wider scope end with it.

        Python seeds `random` anew in each fork; a verdict must not hang on that.
        """
        self.failures = []
        random.seed(0)
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return self.failures

    def first_failure(self, items: list[pytest.Item]) -> int | None:
        """Place of the first test that fails. Nobody reads how: no text is made of failures, no progress is shown."""
        if not items:
            return None
        implementations = items[0].ihook.pytest_runtest_protocol.get_hookimpls()
        plain = [one for one in implementations if not (one.hookwrapper or getattr(one, "wrapper", False))]
        # A plugin with a protocol of its own (one that repeats failing tests, say) is left its way.
        self.is_brief = all(one.plugin is self or one.plugin_name == "runner" for one in plain)
        for place, item in enumerate(items):
            item.repr_failure = item._repr_failure_py = no_text
            if self.run(item):
                return place
        return None

    def reason(self, code: int | None = None, text: str = "", session: pytest.Session | None = None) -> str:
        """Why there is no result."""
        if session is not None and not session.items:
            code = pytest.ExitCode.NO_TESTS_COLLECTED
        reasons = {2: "pytest was interrupted while it collected", 5: "no tests were collected"}
        return "\n".join(self.reports) or reasons.get(code) or text or "pytest ended before a test ran"


def no_text(*arguments: object, **options: object) -> str:
    return "failed"


class Judging:
    """The part that measures the clean run and judges every mutant that can be swapped into live functions.

    It never runs a test itself: the clean run and each mutant have a child of their own.
    """

    def __init__(self, run, original: types.CodeType) -> None:
        self.run, self.original = run, original
        self.imported = LineRecorder(run.target)
        self.good: list[tuple[int, ...]] = []
        self.bad: set[tuple[int, ...]] = set()
        self.began = time.monotonic()
        on_first_import(run.target, self.imported.start)

    def __call__(self, plugin: Session, session: pytest.Session) -> dict | None:
        import_lines = self.imported.stop()
        import_seconds = time.monotonic() - self.began
        self.plugin, self.items = plugin, session.items
        if session.testsfailed or not session.items:
            return None
        live = live_functions(self.run.target)
        clean = in_fork(self.measure)
        if clean is None:
            return failing("the test process died", failed=len(self.items))
        if clean["failed"]:
            return failing(clean["output"], failed=clean["failed"], passed=clean["passed"])
        result = {
            "state": "clean", "failed": 0, "passed": clean["passed"], "output": "", "seconds": sum(clean["seconds"]),
            "import_seconds": import_seconds, "tests": [item.nodeid for item in self.items],
            "lines": clean["lines"], "import_lines": sorted(import_lines), "verdicts": [], "cold": [], "left": [],
        }  # fmt: skip
        plan = self.planned(result, clean["costs"], live)
        gc.collect()
        gc.freeze()  # a child that collects garbage would otherwise copy every page of the parent
        self.judge_all(result, plan, clean["seconds"])
        return result

    def measure(self) -> dict:
        """The clean run: failures, seconds and lines of each test."""
        recorder = LineRecorder(self.run.target)
        lines, seconds, costs, failed, output = [], [], [], 0, []
        for item in self.items:
            began = time.process_time()
            recorder.start()
            failures = self.plugin.run(item)
            lines.append(sorted(recorder.stop()))
            seconds.append(time.process_time() - began)
            costs.append(cost(seconds[-1], recorder.calls, len(lines[-1])))
            failed += bool(failures)
            output += [f"{item.nodeid}\n{text}\n" for text in failures]
        passed = len(self.items) - failed
        return {
            "lines": lines, "seconds": seconds, "costs": costs, "failed": failed, "passed": passed,
            "output": "\n".join(output),
        }  # fmt: skip

    def planned(self, result: dict, costs: list[list[int]], live: dict) -> list[tuple[int, list[int], list]]:
        """(mutant, its tests, what to swap) of those that need a run; verdicts without one are in the result at once.

        All of it is done before the first mutant's child: what a parent touches between two forks has to be copied anew.
        """
        starts = statement_starts(self.run.source)
        statements = Statements(self.run.source, self.run.target, self.original)
        import_lines = set(result["import_lines"])
        reaching: dict[int, set[int]] = {}
        for test, lines in enumerate(result["lines"]):
            for line in lines:
                reaching.setdefault(line, set()).add(test)
        reached = set().union(*reaching.values()) or set(range(len(self.items)))
        order = {test: (*spent, test) for test, spent in enumerate(costs)}
        plan = []
        for index, line, first, last, text in self.run.mutants.values():
            start = starts.get(line, line)
            tests = reaching.get(line, set()) | reaching.get(start, set())
            at_import = line in import_lines or start in import_lines
            if not tests and not at_import:
                result["verdicts"].append([index, "not_covered", None])
                continue
            before, after = statements.compiled(first, last, text)
            if after is None or statements.are_equal(before, after):
                result["verdicts"].append([index, "invalid" if after is None else "equivalent", None])
                continue
            swaps = plan_swaps(before, after, live) if tests else None
            chosen = sorted(reached if swaps is None else tests, key=order.__getitem__)
            if swaps is None:
                result["cold"].append([index, [self.items[test].nodeid for test in chosen]])
            else:
                plan.append((index, chosen, swaps))
        return plan

    def judge_all(self, result: dict, plan: list[tuple[int, list[int], list]], seconds: list[float]) -> None:
        for index, tests, swaps in plan:
            if self.run.is_over():
                result["left"].append(index)
            else:
                result["verdicts"].append(self.judge(index, tests, swaps, seconds))

    def judge(self, index: int, tests: list[int], swaps: list, seconds: list[float]) -> list:
        outcome = self.attempt(tests, swaps, seconds)
        if not self.pass_alone(decisive(tests, outcome), seconds):
            tests = list(range(len(self.items)))  # the whole suite is known to pass in its own order
            outcome = self.attempt(tests, swaps, seconds)
        return verdict(index, outcome, [self.items[test].nodeid for test in tests])

    def attempt(self, tests: list[int], swaps: list, seconds: list[float]) -> dict | None:
        def work() -> dict:
            for function, code in swaps:
                function.__code__ = code
            return {"killer": self.plugin.first_failure([self.items[test] for test in tests])}

        return self.run.bounded(work, sum(seconds[test] for test in tests))

    def pass_alone(self, tests: list[int], seconds: list[float]) -> bool:
        """Whether these tests pass without a mutant, in this order and without the rest of the suite."""
        wanted = tuple(tests)
        if any(one[: len(wanted)] == wanted for one in self.good):
            return True
        if wanted not in self.bad:
            if self.attempt(tests, [], seconds) == {"killer": None}:
                self.good.append(wanted)
                return True
            self.bad.add(wanted)
        return False


class Fresh:
    """The part for a mutant that acts at import: only the chosen tests (by id), until the first failure."""

    def __init__(self, tests: list[str]) -> None:
        self.tests = tests

    def __call__(self, plugin: Session, session: pytest.Session) -> dict:
        by_id = {item.nodeid: item for item in session.items}
        if session.testsfailed or any(test not in by_id for test in self.tests):
            return {"killer": 0}
        return {"killer": plugin.first_failure([by_id[test] for test in self.tests])}


def decisive(tests: list, outcome: dict | None) -> list:
    """The tests whose passing without the mutant makes a verdict: up to the one that noticed it, or all."""
    killer = outcome.get("killer") if outcome else None
    return tests if killer is None else tests[: killer + 1]


def verdict(index: int, outcome: dict | None, tests: list[str]) -> list:
    """A child that died took its test session with it: that is a killed mutant, without a name for the test."""
    if outcome is None:
        return [index, "killed", None]
    if outcome.get("timeout"):
        return [index, "timeout", None]
    killer = outcome["killer"]
    return [index, "survived", None] if killer is None else [index, "killed", tests[killer]]


def failing(output: str, *, failed: int = 0, passed: int = 0) -> dict:
    return {"state": "failing", "output": output[-OUTPUT_CHARS:], "failed": failed, "passed": passed}


def cost(seconds: float, calls: int, lines: int) -> tuple[int, int, int]:
    """What tests are ordered by: quick ones first, and of those the ones that reach most of the target.

    A clock would name now this test and now that one, so it only tells quick from slow. Below some thousand calls a test costs
    less than the fork around it.
    """
    return int(seconds * 4).bit_length(), max(0, calls.bit_length() - 12), -lines


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


def run_pytest(arguments: list[str], plugin: Session) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = int(pytest.main(arguments, plugins=[plugin]))
    return code, out.getvalue()
